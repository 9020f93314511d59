// The list on the left: kernels by total time, or each realize() in order.

import { byId, element, many, percent, place, seconds } from "./api.js";
import { listen, state } from "./state.js";

const list = byId("kernels");
const search = byId("search-kernels");
const SHOWN_AT_ONCE = 400;
const NAMES = "Names: r reduces, E is elementwise; then the sizes of its loops";
let inOrder = false;
let shown = SHOWN_AT_ONCE;

export function begin(show) {
  byId("by-time").onclick = () => order(false);
  byId("by-order").onclick = () => order(true);
  search.oninput = () => { shown = SHOWN_AT_ONCE; draw(); };
  search.onkeydown = (event) => {
    if (event.key === "Escape") { search.value = ""; search.oninput(); }
    if (event.key !== "Enter" && event.key !== "ArrowDown") return;
    event.preventDefault();
    const first = list.querySelector("li[data-of]");
    if (first) { show(first.dataset.of); list.focus(); }
  };
  list.onclick = (event) => {
    const row = event.target.closest("li[data-of]");
    if (row) show(row.dataset.of);
  };
  list.onkeydown = (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    event.stopPropagation();
    const rows = [...list.querySelectorAll("li[data-of]")];
    const now = rows.findIndex((row) => row.getAttribute("aria-current") === "true");
    const next = rows[now < 0 ? 0 : Math.max(0, Math.min(rows.length - 1, now + step))];
    if (next) { show(next.dataset.of); next.scrollIntoView({ block: "nearest" }); }
  };
  listen((changed) => {
    if (changed.has("overview")) draw();
    else if (changed.has("of")) mark();
  });
  order(false);
}

function order(value) {
  inOrder = value;
  byId("by-time").setAttribute("aria-selected", !value);
  byId("by-order").setAttribute("aria-selected", value);
  shown = SHOWN_AT_ONCE;
  draw();
}

function draw() {
  if (!state.overview) return;
  const rows = inOrder ? rowsInOrder() : rowsByTime();
  const wanted = search.value.trim().toLowerCase();
  const found = wanted ? rows.filter((row) => row.words.toLowerCase().includes(wanted)) : rows;
  const made = found.slice(0, shown).map((row) => row.make());
  if (found.length > shown) {
    const more = () => { shown += SHOWN_AT_ONCE; draw(); };
    made.push(element("li", { onclick: more }, `Show ${many(Math.min(SHOWN_AT_ONCE, found.length - shown), "more row")} …`));
  }
  if (!made.length) made.push(element("li", { class: "empty" }, wanted ? "No kernel or line matches." : "Nothing has run yet."));
  list.replaceChildren(...made);
  mark();
}

function mark() {
  for (const row of list.querySelectorAll("li[data-of]")) {
    row.setAttribute("aria-current", row.dataset.of === state.of);
  }
}

function total() {
  return state.overview.kernels.reduce((sum, k) => sum + k.seconds, 0) || 1;
}

function rowsByTime() {
  const { kernels } = state.overview;
  const all = total();
  const byTime = kernels.map((kernel, n) => ({ kernel, n })).sort((a, b) => b.kernel.seconds - a.kernel.seconds);
  return byTime.map(({ kernel, n }, rank) => {
    const places = kernel.lines.map((line) => place(state.overview, line)).filter(Boolean);
    const [where, also] = places;
    const share = kernel.seconds / all;
    const most = rank === 0 && kernel.seconds > 0 ? element("span", { class: "most", title: "More time than any other kernel" }, "▲ most time") : null;
    return {
      words: `${kernel.name} ${places.map((p) => `${p.long} ${p.text}`).join(" ")} ${kernel.plan ?? ""}`,
      make: () => element("li", { "data-of": `kernel/${n}`, title: `${where ? `${where.long}\n` : ""}${NAMES}` },
        element("div", { class: "row" },
          element("span", { class: "name" }, kernel.name),
          element("span", { class: "time", title: "Time in all runs" }, seconds(kernel.seconds))),
        element("div", { class: "place" }, most, most ? " " : null, `${percent(share)}${kernel.runs > 1 ? ` · ${kernel.runs} × ${seconds(kernel.seconds / kernel.runs)}` : ""}${where ? ` · ${where.short} ${where.text}` : " · no line of yours: the compiler added it"}${also ? ` · and ${also.short} ${also.text}` : ""}`),
        element("div", { class: "share", style: `width:${(100 * share).toFixed(1)}%` })),
    };
  });
}

function counted(realize) {
  const copies = realize.ran.filter(([k]) => k === null).length;
  return `${many(realize.ran.length - copies, "kernel")}${copies ? `, ${copies === 1 ? "1 copy" : `${copies} copies`}` : ""}`;
}

function rowsInOrder() {
  const { realizes, kernels } = state.overview;
  const rows = [];
  realizes.forEach((realize, n) => {
    const where = place(state.overview, realize.line);
    const words = where ? `${where.long} ${where.text}` : "";
    const of = realize.schedule === null ? null : `schedule/${realize.schedule}`;
    rows.push({
      words,
      make: () => element("li", { class: "realize", "data-of": of, title: of ? "Its graph, and how kernels were found" : "Replayed: nothing was scheduled" },
        element("div", { class: "row" },
          element("span", {}, `${n + 1}. ${where ? where.short : "realize"}`),
          element("span", { class: "time" }, seconds(realize.busy))),
        element("div", { class: "place" }, `${where ? `${where.text} · ` : ""}${counted(realize)}`)),
    });
    for (const [k, took] of realize.ran) {
      const line = k === null ? null : place(state.overview, kernels[k].lines[0]);
      const name = k === null ? "copy" : kernels[k].name;
      rows.push({
        words: `${name} ${line ? `${line.long} ${line.text}` : words}`,
        make: () => element("li", { "data-of": k === null ? null : `kernel/${k}`, title: NAMES },
          element("div", { class: "row" }, element("span", { class: "name" }, name), element("span", { class: "time" }, seconds(took))),
          line ? element("div", { class: "place" }, `${line.short} ${line.text}`) : null),
      });
    }
  });
  return rows;
}

/** The kernel above or below in the list. */
export const go = (key) => { list.focus(); list.dispatchEvent(new KeyboardEvent("keydown", { key })); };
export const focusSearch = () => search.focus();
