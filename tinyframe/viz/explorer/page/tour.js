// The first visit's five cards, and the list of keys.

import { byId, element } from "./api.js";

const CARDS = [
  ["What ran", "On the left is every kernel that your script ran, the slowest on top, with the line that it comes from. Click one."],
  ["How it came about", "In the middle is its graph. Choose a stage to see what the compiler had made of your line by then, from loops and indices to the instructions of the program."],
  ["One rule at a time", "Below the graph, ▶ plays the rewrites. Orange is what a rule found, then what it made of that; the rule's own line of tinyframe is beneath."],
  ["Why it is fast, or slow", "On the right: how near the kernel comes to what this machine can do, which plan shaped its loops and why, its C, and the machine code of its hottest loop."],
  ["When", "At the bottom is the time: compiling above, kernels below, then the memory in use. Wheel to zoom, drag to move, click a kernel. Press ? for the keys."],
];

const KEYS = [
  ["← →", "the rewrite before, or the next"], ["[ ]", "the pass before, or the next"], ["space", "play, pause"],
  ["↑ ↓", "another kernel"], ["/", "search kernels"], ["g", "search the graph"], ["f", "fit the graph"],
  ["+ −", "zoom the graph"], ["1 … 5", "speed, source, assembly, node, rewrites"], ["t", "light, dark"], ["?", "this list"],
];

let card = 0;

export function tour(first = false) {
  if (first && remembered()) return;
  card = 0;
  draw();
  if (!byId("tour").open) byId("tour").showModal();
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
  const [title, text] = CARDS[card];
  const close = () => dialog.close();
  const go = (by) => () => { card += by; draw(); };
  const last = card === CARDS.length - 1;
  dialog.setAttribute("aria-label", title);
  dialog.replaceChildren(
    element("h2", {}, title), element("p", {}, text),
    element("div", { class: "bar" }, element("span", {}, `${card + 1} of ${CARDS.length}`), element("span", { class: "space" }),
      element("button", { onclick: close }, "Skip"),
      card ? element("button", { onclick: go(-1) }, "Back") : null,
      element("button", { onclick: last ? close : go(1), autofocus: "", "aria-pressed": "true" }, last ? "Begin" : "Next")));
}

export function keys() {
  const dialog = byId("keys");
  dialog.replaceChildren(
    element("h2", {}, "Keys"),
    element("table", {}, ...KEYS.map(([key, text]) => element("tr", {}, element("td", {}, element("kbd", {}, key)), element("td", {}, text)))),
    element("p", {}, "The address of the page says what you are looking at: paste it into an issue, and whoever has the trace sees the same."),
    element("div", { class: "bar" }, element("button", { onclick: () => { dialog.close(); tour(); } }, "Show the tour"), element("span", { class: "space" }),
      element("button", { onclick: () => dialog.close(), autofocus: "" }, "Close")));
  dialog.showModal();
}
