// @ts-check
// Lets the book be read without a network: a worker keeps its pages (tools/site/after/scripts). It begins when
// the page is there and the browser has nothing else to do, and says nothing where it cannot.
(() => {
  const here = location.protocol === "https:" || location.hostname.endsWith(".localhost");
  // A book that its author serves from the own machine is to be the one just built.
  if (!("serviceWorker" in navigator) || !here) return;

  const root = new URL(document.documentElement.dataset.content_root ?? "./", location.href);
  const controlled = navigator.serviceWorker.controller !== null;
  let left = false;
  addEventListener("pagehide", () => { left = true; });
  // A newer edition has begun, in another tab: its scripts are not this page's.
  navigator.serviceWorker.addEventListener("controllerchange", () => {
    if (controlled && !left) location.reload();
  });

  async function begin() {
    const url = new URL("service_worker.js", root);
    const registration = await navigator.serviceWorker.register(url, { scope: root.pathname });
    const { active } = await navigator.serviceWorker.ready;
    const next = /** @type {HTMLLinkElement | null} */ (document.querySelector('link[rel="next"]'));
    const hidden = document.documentElement.dataset.theme === "dark" ? "only-light" : "only-dark";
    active?.postMessage({ reading: [location.href, ...(next ? [next.href] : [])], hidden });
    offer(active);
    // Whether there is a newer edition: a browser asks by itself too, when it gets round to it.
    if (controlled) await registration.update();
  }

  /** On the page about it: a button that fetches the pictures of all pages. @param {ServiceWorker | null} active */
  function offer(active) {
    const box = document.getElementById("offline-pictures");
    if (!box || !active) return;
    const button = document.createElement("button");
    const said = document.createElement("span");
    Object.assign(button, { type: "button", className: "btn btn-sm btn-outline-primary" });
    button.textContent = "Keep all pictures";
    said.setAttribute("role", "status");
    button.addEventListener("click", () => {
      button.disabled = true;
      active.postMessage({ everything: true });
    });
    navigator.serviceWorker.addEventListener("message", ({ data }) => {
      const { done, of, failed } = data;
      button.disabled = !failed && done < of;
      if (failed) said.textContent = " Not all of them could be fetched: try again.";
      else if (done === of) said.textContent = ` All ${of} pictures are kept.`;
      else if (done % 10 === 0) said.textContent = ` ${done} of ${of}`;
    });
    navigator.serviceWorker.startMessages();
    box.replaceChildren(button, said);
  }

  // A busy browser may never be idle.
  const idle = globalThis.requestIdleCallback ?? ((/** @type {() => void} */ call) => setTimeout(call, 1000));
  const soon = () => idle(() => begin().catch(() => {}), { timeout: 3000 }); // refused, or no memory: it is read as ever
  if (document.readyState === "complete") soon();
  else addEventListener("load", soon);
})();
