// On the right: how fast the kernel is and why, its source, its machine code, a node, the rewrites.

import { ask, byId, bytes, element, many, percent, place, seconds } from "./api.js";
import { chosen } from "./graph.js";
import { change, kernelNow, kernelNumber, listen, state } from "./state.js";
import { ruleText } from "./stepping.js";

const box = byId("details");
const TABS = { why, source, assembly, node, steps };
let drawing = 0;
let drawn = "";

export function begin(report) {
  for (const button of document.querySelectorAll("[data-tab]")) {
    button.onclick = () => change({ tab: button.dataset.tab });
  }
  listen((changed) => {
    if (["overview", "of", "stages", "tab", "node"].some((name) => changed.has(name))
      || (state.tab === "steps" && (changed.has("stage") || changed.has("step")))) draw(report);
  });
}

async function draw(report) {
  for (const button of document.querySelectorAll("[data-tab]")) {
    button.setAttribute("aria-selected", button.dataset.tab === state.tab);
  }
  const question = ++drawing;
  try {
    const parts = state.stages ? await TABS[state.tab]() : [];
    if (question !== drawing) return;
    box.replaceChildren(...parts.filter(Boolean));
    const now = `${state.of} ${state.tab}`;
    if (now !== drawn) box.scrollTop = 0; // what is shown anew is shown from its beginning
    drawn = now;
  } catch (error) {
    if (question === drawing) report(error);
  }
}

const paragraph = (...words) => element("p", {}, ...words);

function lines(numbers) {
  const places = numbers.map((n) => place(state.overview, n)).filter(Boolean);
  if (!places.length) return [];
  return [element("h3", {}, "From your lines"), ...places.slice(0, 6).map((p) =>
    paragraph(element("span", { title: p.long }, p.short), " ", element("code", { class: "code" }, p.text))),
  places.length > 6 ? paragraph(`and ${many(places.length - 6, "line")} more`) : null];
}

function meter(words, share) {
  return [paragraph(words), element("div", { class: "meter", role: "img", "aria-label": percent(share) },
    element("i", { style: `width:${Math.min(100, 100 * share).toFixed(1)}%` }))];
}

function why() {
  const kernel = kernelNow();
  if (!kernel) return ofSchedule();
  const { roof } = state.overview;
  const parts = [element("h2", {}, kernel.name)];
  if (kernel.best) {
    const flops = kernel.ops / kernel.best;
    const moved = kernel.bytes / kernel.best;
    parts.push(element("p", { class: "verdict" }, state.stages.verdict ?? ""),
      element("dl", {},
        element("dt", {}, "time"), element("dd", {}, `${seconds(kernel.best)}${kernel.runs > 1 ? ` at best; ${seconds(kernel.seconds)} in ${kernel.runs} runs` : ""}`),
        element("dt", {}, "work"), element("dd", {}, `${kernel.ops.toLocaleString("en")} operations`),
        element("dt", {}, "memory"), element("dd", {}, `${bytes(kernel.bytes)} read and written`)),
      ...meter(`Arithmetic: ${(flops / 1e9).toFixed(1)} of ${(roof.flops / 1e9).toFixed(0)} GFLOP/s (${percent(flops / roof.flops)})`, flops / roof.flops),
      ...meter(`Memory: ${(moved / 1e9).toFixed(1)} of ${(roof.bandwidth / 1e9).toFixed(0)} GB/s (${percent(moved / roof.bandwidth)})${moved > roof.bandwidth ? ": from a cache" : ""}`, moved / roof.bandwidth));
    if (!kernel.lines.length) parts.push(paragraph("No line of your script asked for it by itself: the compiler added it."));
  } else {
    parts.push(paragraph("Compiled, but it has not run yet."));
  }
  const { plan, opts } = state.stages;
  if (plan) parts.push(element("h3", {}, "Plan"), paragraph(element("b", {}, plan[0]), `, because ${plan[1]}`));
  const before = state.stages["before it"] ?? [];
  if (before.length) parts.push(element("details", {}, element("summary", {}, "Plans tried first, and why they do not apply"),
    ...before.map(([names, said]) => paragraph(element("b", {}, names), `: ${said}`))));
  if (opts) parts.push(element("h3", {}, "Loop optimizations (Opts)"), opts.length ? element("div", {}, ...opts.map((opt) => element("span", { class: "chip" }, opt))) : paragraph("none: the loops are as they were written"));
  parts.push(...lines(kernel.lines));
  const [python, ...compilers] = kernel.compile;
  if (python) parts.push(element("h3", {}, "Compiled in"), paragraph(`${seconds(python[2] - python[1])} in Python (${many(kernel.rewrites, "rewrite")})${compilers.length ? `, ${seconds(compilers[0][2] - compilers[0][1])} in the C compiler or its cache` : ""}`));
  return parts;
}

function ofSchedule() {
  const { kernels } = state.stages;
  return [element("h2", {}, "How the kernels were formed"),
    paragraph(`${many(kernels.length, "kernel")}. Unneeded work is removed (prepare), the compiler decides which values to store (kernels), and each group becomes a loop nest (lower to ranges).`),
    ...kernels.map((kernel, n) => {
      const where = place(state.overview, kernel.lines[0]);
      return paragraph(element("b", {}, `${n + 1}. `), kernel.words, where ? element("span", { class: "place" }, ` · ${where.short} `) : null, where ? element("code", { class: "code" }, where.text) : null);
    })];
}

function source() {
  const text = state.stages.source;
  if (!text) return [paragraph("A schedule has no source. Choose one of its kernels.")];
  return [element("pre", { class: "code" }, ...coloured(text))];
}

const WORDS = /(\/\/.*|\/\*[\s\S]*?\*\/)|("(?:[^"\\]|\\.)*")|\b(for|if|else|return|static|inline|const|void|typedef|struct|while|restrict|__attribute__|union|sizeof|extern|__global__|__kernel|__shared__)\b|\b(float\d*|int\d*|long|char|short|double|unsigned|signed|bool|half|size_t|u?int\d+_t|_Bool|_Float16)\b|\b(0x[\da-fA-F]+|\d[\d.]*(?:e[+-]?\d+)?[fFuUlL]*)\b|\b([A-Za-z_]\w*)(?=\()/g;

/** Source text with syntax colours and line numbers. */
function* coloured(text) {
  let number = 1;
  const digits = () => element("span", { class: "n" }, String(number++));
  yield digits();
  let last = 0;
  function* plain(part, kind) {
    const rows = part.split("\n");
    for (const [n, row] of rows.entries()) {
      if (n) { yield "\n"; yield digits(); }
      if (row) yield kind ? element("span", { class: kind }, row) : row;
    }
  }
  const whole = text.replace(/\n+$/, "");
  for (const match of whole.matchAll(WORDS)) {
    yield* plain(whole.slice(last, match.index), null);
    yield* plain(match[0], ["c", "d", "k", "t", "d", "f"][match.slice(1).findIndex((group) => group !== undefined)]);
    last = match.index + match[0].length;
  }
  yield* plain(whole.slice(last), null);
}

async function assembly() {
  if (kernelNumber() === null) return [paragraph("A schedule has no machine code. Choose one of its kernels.")];
  const answer = await ask("assembly", { n: kernelNumber() });
  if (answer.text === null) return [paragraph(answer.why)];
  return [paragraph(answer.loop ? "The hottest loop:" : "The kernel has no loop of vector or float arithmetic; all of its code:"), element("pre", { class: "code" }, answer.text)];
}

function node() {
  const known = chosen();
  if (!known) return [paragraph("Click a node of the graph: here it says what it is, and where it was written.")];
  const rows = [["kind", known.kind], ["dtype", known.dtype], ["shape", known.shape?.length ? known.shape.join(" × ") : null],
    ["argument", known.arg], ["value", known.value], ["holds", known.note], ["from … to", known.interval ? known.interval.map((n) => n.toLocaleString("en")).join(" … ") : null]];
  return [element("h2", {}, known.title),
    element("dl", {}, ...rows.filter(([, value]) => value).flatMap(([name, value]) => [element("dt", {}, name), element("dd", {}, String(value))])),
    known.expression ? element("h3", {}, "As an expression") : null,
    known.expression ? element("code", { class: "code" }, known.expression) : null,
    ...lines(known.line === null || known.line === undefined ? [] : [known.line])];
}

const PAGE = 200;
let stepPages = { of: "", pages: 1 };

async function steps() {
  const key = `${state.of} ${state.stage}`;
  if (stepPages.of !== key) stepPages = { of: key, pages: 1 };
  if (state.step !== null) stepPages.pages = Math.max(stepPages.pages, Math.floor(state.step / PAGE) + 1);
  const found = [];
  let total = 0;
  for (let page = 0; page < stepPages.pages; page++) {
    const answer = await ask("steps", { of: state.of, stage: state.stage, from: page * PAGE, count: PAGE });
    total = answer.total;
    found.push(...answer.steps);
    if (found.length >= total) break;
  }
  if (!total) return [paragraph("No step-by-step rewrites in this stage.")];
  const rows = found.map((step) => element("li", { "aria-current": step.n === state.step, onclick: () => change({ step: step.n, after: true }) },
    `${step.n + 1}. `, ruleText(step.rule), element("div", { class: "code" }, `${step.before}  →  ${step.after}`)));
  if (found.length < total) {
    rows.push(element("li", { onclick: () => { stepPages.pages += 1; draw(() => {}); } }, `Show ${Math.min(PAGE, total - found.length)} more of ${total.toLocaleString("en")} …`));
  }
  return [element("ol", { class: "steps" }, ...rows)];
}
