// The widget's own runs, in Node, as fast as they go. A list of cases comes in, a line goes out for each run.
import fs from "node:fs";

const [runUrl, productUrl] = process.argv.slice(2);
const { Run } = await import(runUrl);
const { plainEngine, simdEngine } = await import(productUrl);
const { state, cases, seeds, size } = JSON.parse(fs.readFileSync(0, "utf8"));
const engine = (await simdEngine(size)) ?? plainEngine(size);
const milliseconds = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};
const rounded = (number, decimals) => Number(number.toFixed(decimals));

/** What a page draws of a run: some losses, the head that looks best, and one sequence. */
function picture(run) {
  const stride = Math.max(1, Math.ceil(run.step / 100));
  const losses = run.losses.map((loss, i) => [i + 1, rounded(loss, 3)]).filter((_, i) => i % stride === 0);
  const words = (tokens) => tokens.map((token) => run.task.words[token]);
  const [{ source }] = run.shown;
  const written = run.writtenFor(0);
  const [rows, columns] = [written.length, source.length + 1];
  const strength = (head) => written.reduce((sum, _, r) =>
    sum + Math.max(...head.subarray(r * run.task.places, r * run.task.places + columns)), 0);
  const [best] = run.heads("cross").sort((a, b) => strength(b) - strength(a));
  const weights = best ? Array.from({ length: rows }, (_, r) => Array.from({ length: columns },
    (_, c) => rounded(best[r * run.task.places + c], 3))) : [];
  return { losses, right: run.right, weights, source: words([...source, 2]), written: words(written) };
}

for (const { task, changes, steps } of cases) {
  for (const seed of seeds) {
    const values = { ...state, task, steps, seed, ...changes };
    const get = (name) => values[name];
    const run = new Run(get);
    const began = milliseconds();
    for (const event of run.life(engine)) if (event === "step" && run.ended) break;
    for (const _ of run.look()) ; // what it writes now
    console.log(JSON.stringify({ seed, learned: run.learned, steps: run.step, right: run.right.at(-1),
      longer: run.longer.length ? run.rightOfLonger : null, loss: rounded(run.losses.at(-1), 3),
      milliseconds: rounded(milliseconds() - began, 0), engine: engine.kind,
      picture: seed === seeds[0] ? picture(run) : null }));
  }
}
