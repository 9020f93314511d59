// The graph in the middle: drawn by the server, moved and zoomed here.

import { ask, byId, element, many } from "./api.js";
import { change, listen, state } from "./state.js";

const box = byId("graph");
const search = byId("search-graph");
const SMALLEST = 0.05;
const LARGEST = 5;
const READABLE = 0.65; // smaller letters are not read
let svg = null;
let nodes = [];
let at = { x: 0, y: 0, scale: 1 };
let whole = false;
let asking = 0; // only the last question's answer is drawn
let drawnOf = null;

export function begin(report) {
  byId("fit").onclick = fit;
  byId("whole").onclick = () => {
    whole = !whole;
    byId("whole").setAttribute("aria-pressed", whole);
    draw(report);
  };
  search.oninput = mark;
  search.onkeydown = (event) => { if (event.key === "Enter") nextFound(); };
  box.addEventListener("wheel", (event) => {
    event.preventDefault();
    const corner = box.getBoundingClientRect();
    zoom(Math.exp(-event.deltaY * (event.ctrlKey ? 0.01 : 0.0015)), event.clientX - corner.left, event.clientY - corner.top);
  }, { passive: false });
  drag();
  listen((changed) => {
    if (["of", "stages", "stage", "step", "after"].some((name) => changed.has(name))) draw(report);
    else if (changed.has("node")) mark();
  });
}

async function draw(report) {
  if (!state.stages) return;
  const question = ++asking;
  box.classList.add("loading");
  const parameters = { of: state.of, stage: state.stage };
  if (state.step !== null) Object.assign(parameters, { step: state.step, when: state.after ? "after" : "before" });
  if (whole) parameters.whole = 1;
  let answer;
  try {
    answer = await ask("graph", parameters);
  } catch (error) {
    if (question === asking) { box.classList.remove("loading"); report(error); }
    return;
  }
  if (question !== asking) return;
  box.classList.remove("loading");
  nodes = answer.nodes;
  if (answer.svg === null) {
    svg = null;
    mark();
    box.replaceChildren(element("pre", { class: "code" }, answer.why ? `There is no picture: ${answer.why}\n\n${answer.text}` : answer.text));
    return;
  }
  const parsed = new DOMParser().parseFromString(answer.svg, "image/svg+xml").documentElement;
  for (const script of parsed.querySelectorAll("script, foreignObject")) script.remove();
  svg = document.importNode(parsed, true);
  box.replaceChildren(svg);
  box.setAttribute("aria-label", `${answer.headline}. Drag to move, wheel to zoom, click a node.`);
  const place = `${state.of} ${state.stage}`;
  const marked = nodes.findIndex((node) => node.mark);
  if (drawnOf !== place || state.step === null) start();
  else move();
  if (state.step !== null && marked >= 0) bringIntoView(marked, 0.5, 0.5);
  drawnOf = place;
  change({ node: null });
  mark();
}

const width = () => svg.viewBox.baseVal.width * 4 / 3; // points in pixels
const height = () => svg.viewBox.baseVal.height * 4 / 3;

/** Shows the whole graph, however small. */
export function fit() {
  if (!svg || !box.clientWidth) return;
  const scale = Math.min((box.clientWidth - 16) / width(), (box.clientHeight - 16) / height(), 1.15);
  at = { scale, x: (box.clientWidth - width() * scale) / 2, y: Math.max(8, (box.clientHeight - height() * scale) / 2) };
  move();
}

/** The first view: the whole graph, or its beginning if it would be too small to read. */
export function start() {
  fit();
  if (!svg || !box.clientWidth || at.scale >= READABLE) return;
  at.scale = READABLE;
  move();
  const top = (n) => svg.querySelector(`[data-node="${n}"]`)?.getBoundingClientRect().top ?? Infinity;
  bringIntoView(nodes.reduce((highest, _, n) => (top(n) < top(highest) ? n : highest), 0), 0.5, 0.12);
}

function move() {
  if (svg) svg.style.transform = `translate(${at.x}px, ${at.y}px) scale(${at.scale})`;
}

export function zoom(factor, x = box.clientWidth / 2, y = box.clientHeight / 2) {
  const scale = Math.max(SMALLEST, Math.min(LARGEST, at.scale * factor));
  at.x = x - (x - at.x) * scale / at.scale;
  at.y = y - (y - at.y) * scale / at.scale;
  at.scale = scale;
  move();
}

/** Moves the graph so that a node is at this fraction of the width and height. */
function bringIntoView(n, across, down) {
  const drawn = svg.querySelector(`[data-node="${n}"]`);
  if (!drawn) return;
  const of = drawn.getBoundingClientRect();
  const inside = box.getBoundingClientRect();
  at.x += inside.left + inside.width * across - (of.left + of.right) / 2;
  at.y += inside.top + inside.height * down - (of.top + of.bottom) / 2;
  move();
}

function drag() {
  const fingers = new Map();
  let moved = 0;
  box.onpointerdown = (event) => {
    fingers.set(event.pointerId, event);
    moved = 0;
  };
  box.onpointermove = (event) => {
    const before = fingers.get(event.pointerId);
    if (!before) return;
    if (fingers.size === 2) {
      const [a, b] = [...fingers.values()];
      const other = a.pointerId === event.pointerId ? b : a;
      const was = Math.hypot(before.clientX - other.clientX, before.clientY - other.clientY);
      const now = Math.hypot(event.clientX - other.clientX, event.clientY - other.clientY);
      const corner = box.getBoundingClientRect();
      if (was > 0) zoom(now / was, (event.clientX + other.clientX) / 2 - corner.left, (event.clientY + other.clientY) / 2 - corner.top);
    } else {
      at.x += event.clientX - before.clientX;
      at.y += event.clientY - before.clientY;
      move();
    }
    moved += Math.abs(event.clientX - before.clientX) + Math.abs(event.clientY - before.clientY);
    if (moved > 4 && !box.hasPointerCapture(event.pointerId)) {
      box.setPointerCapture(event.pointerId);
      box.classList.add("dragging");
    }
    fingers.set(event.pointerId, event);
  };
  box.onpointerup = box.onpointercancel = (event) => {
    fingers.delete(event.pointerId);
    box.classList.remove("dragging");
    if (moved > 4 || event.type === "pointercancel") return;
    const node = event.target.closest("[data-node]");
    change(node ? { node: Number(node.dataset.node), tab: "node" } : { node: null });
    if (node && document.body.dataset.pane === "middle" && matchMedia("(max-width: 760px)").matches) byId("tabs").querySelector("[data-pane=right]").click();
  };
}

/** The details of the node that was clicked. */
export const chosen = () => (state.node === null ? null : nodes[state.node]);

const isFound = (node, wanted) => [node.title, node.op, node.shape, node.dtype, node.arg, node.value, node.note]
  .some((value) => String(value ?? "").toLowerCase().includes(wanted));

function mark() {
  if (!svg) return;
  const wanted = search.value.trim().toLowerCase();
  let found = 0;
  for (const drawn of svg.querySelectorAll("[data-node]")) {
    const n = Number(drawn.dataset.node);
    const is = Boolean(wanted) && isFound(nodes[n], wanted);
    found += is;
    drawn.classList.toggle("found", is);
    drawn.classList.toggle("chosen", n === state.node);
  }
  byId("found").textContent = wanted ? (found ? `${many(found, "node")}; Enter shows the next` : "no node") : "";
}

let lastFound = -1;
function nextFound() {
  const wanted = search.value.trim().toLowerCase();
  const found = nodes.map((node, n) => n).filter((n) => wanted && isFound(nodes[n], wanted));
  if (!found.length) return;
  lastFound = found.find((n) => n > lastFound) ?? found[0];
  bringIntoView(lastFound, 0.5, 0.5);
  change({ node: lastFound, tab: "node" });
}

export const focusSearch = () => search.focus();
addEventListener("resize", start);
