"""What a reader would see in the drawing of the shapes explorer, on a page and on a slide."""

# The shapes that an arrow crosses: those whose ground does not hide it over all of their letters.
CROSSED = """root => {
  const grounds = [...root.querySelectorAll(".tfw-shapes-ground")];
  const labels = [...root.querySelectorAll(".tfw-shapes-label")];
  if (!labels.length || labels.length !== grounds.length) return ["no shapes"];
  return labels.filter((label, i) => {
    const [letters, ground] = [label, grounds[i]].map((node) => node.getBoundingClientRect());
    const slack = letters.width / 20;
    return ground.left > letters.left + slack || ground.right < letters.right - slack
      || ground.top > letters.top + letters.height / 3
      || ground.bottom < letters.bottom - letters.height / 3;
  }).map((label) => label.textContent);
}"""

# Where the roles of an attention's inputs stand on a shape.
ON_A_SHAPE = """root => {
  const boxes = (name) => [...root.querySelectorAll(name)].map((node) =>
    [node.textContent, node.getBoundingClientRect()]);
  const roles = boxes(".tfw-shapes-role-encoder, .tfw-shapes-role-decoder");
  if (!roles.length) return ["no roles"];
  return roles.flatMap(([role, a]) => boxes(".tfw-shapes-label")
    .filter(([, b]) => a.left < b.right && b.left < a.right
      && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > a.height / 3)
    .map(([shape]) => `${role} on ${shape}`));
}"""
