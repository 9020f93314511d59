// The first visit's five cards, and the list of keys.

import { byId, element } from "./api.js";

// Each card points at the part of the page that it explains.
const CARDS = [
  ["left", "What ran", "Every kernel that your script ran, slowest first, with the line it comes from. Click one to look at it."],
  ["middle", "How it was compiled", "The graph of that kernel. Choose a stage to see what your line looked like at that point: a tensor graph, loops and indices, the instructions of the program."],
  ["middle", "One rule at a time", "▶ Play steps through the rewrites. Orange marks what a rule matched, then what replaced it. Below is the rule's own line in tinyframe."],
  ["right", "Why it is fast, or slow", "How close the kernel gets to this machine's limits, which plan shaped its loops and why, its C, and the machine code of its hottest loop."],
  ["bottom", "Timeline", "Compiling above, kernels below, then the memory in use. Scroll to zoom, drag to move, click a kernel. Press ? for the keys."],
];

const KEYS = [
  ["← →", "previous, next rewrite"], ["[ ]", "previous, next stage"], ["space", "play, pause"],
  ["↑ ↓", "previous, next kernel"], ["/", "search kernels"], ["g", "search the graph"], ["f", "fit the graph"],
  ["+ −", "zoom the graph"], ["1 … 5", "overview, source, assembly, node, rewrites"], ["t", "light, dark"], ["?", "this list"],
];

let card = 0;

export function tour(first = false) {
  if (first && remembered()) return;
  card = 0;
  draw();
  if (!byId("tour").open) byId("tour").showModal();
  byId("tour").onclose = () => { point(null); document.querySelector("#tabs [data-pane=left]").click(); };
}

function remembered() {
  try {
    if (localStorage.getItem("tinyframe tour")) return true;
    localStorage.setItem("tinyframe tour", "seen");
  } catch { /* a browser that keeps nothing shows it again */ }
  return false;
}

function draw() {
  const dialog = byId("tour");
  const [pane, title, text] = CARDS[card];
  point(pane);
  const close = () => dialog.close();
  const go = (by) => () => { card += by; draw(); };
  const last = card === CARDS.length - 1;
  dialog.setAttribute("aria-label", title);
  dialog.replaceChildren(
    element("h2", {}, title), element("p", {}, text),
    element("div", { class: "bar" }, element("span", {}, `${card + 1} of ${CARDS.length}`), element("span", { class: "space" }),
      element("button", { onclick: close }, "Skip"),
      card ? element("button", { onclick: go(-1) }, "Back") : null,
      element("button", { onclick: last ? close : go(1), autofocus: "", "aria-pressed": "true" }, last ? "Start" : "Next")));
}

/** Outlines a part of the page; on a phone, shows it. */
function point(pane) {
  for (const part of document.querySelectorAll("main > section")) part.classList.toggle("pointed", part.id === pane);
  byId("tour").dataset.beside = pane ?? "";
  if (pane) document.querySelector(`#tabs [data-pane=${pane}]`).click();
}

export function keys() {
  const dialog = byId("keys");
  dialog.replaceChildren(
    element("h2", {}, "Keys"),
    element("table", {}, ...KEYS.map(([key, text]) => element("tr", {}, element("td", {}, element("kbd", {}, key)), element("td", {}, text)))),
    element("p", {}, "The part of the address after # says what you are looking at: paste it into an issue, and whoever has the trace sees the same."),
    element("div", { class: "bar" }, element("button", { onclick: () => { dialog.close(); tour(); } }, "Show the tour"), element("span", { class: "space" }),
      element("button", { onclick: () => dialog.close(), autofocus: "" }, "Close")));
  dialog.showModal();
}
