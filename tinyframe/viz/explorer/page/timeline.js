// At the bottom: what ran when, on which device and in which compiler, and the memory in use.

import { ask, byId, bytes, seconds } from "./api.js";
import { listen, state } from "./state.js";

const canvas = byId("timeline");
const LANE = 17;
const LEFT = 92; // pixels, for the names of the lanes
const MEMORY = 40;
const AXIS = 16;
let spans = []; // {lane, name, begin, end, of, kernel}
let memory = []; // [time, bytes]
let lanes = [];
let range = [0, 1];
let all = [0, 1];

export function begin(show, report) {
  byId("time-fit").onclick = () => { range = [...all]; paint(); };
  byId("time-kernels").onclick = () => {
    const ran = spans.filter((s) => rank(s.lane) === 2);
    if (!ran.length) return;
    // the last stretch without compiling: what comes before it happens once
    const compiled = Math.max(...spans.filter((s) => rank(s.lane) < 2).map((s) => s.end), 0);
    const last = ran.filter((s) => s.begin >= compiled);
    const shown = last.length ? last : ran;
    const [from, to] = [shown[0].begin, Math.max(...shown.map((s) => s.end))];
    range = [from - (to - from) * 0.02, to + (to - from) * 0.02];
    paint();
  };
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    const t = timeAt(event.offsetX);
    const factor = Math.exp(event.deltaY * 0.0015);
    range = [t - (t - range[0]) * factor, t + (range[1] - t) * factor];
    paint();
  }, { passive: false });
  let down = null;
  let moved = 0;
  canvas.onpointerdown = (event) => { down = event; moved = 0; canvas.setPointerCapture(event.pointerId); };
  canvas.onpointermove = (event) => {
    if (down) {
      const by = (down.offsetX - event.offsetX) * (range[1] - range[0]) / (canvas.clientWidth - LEFT);
      range = range.map((t) => t + by);
      moved += Math.abs(down.offsetX - event.offsetX);
      down = event;
      paint();
    }
    const over = spanAt(event.offsetX, event.offsetY);
    byId("under").textContent = over ? `${over.lane}: ${over.name}, ${seconds(over.end - over.begin)}` : memoryWords(event);
    canvas.style.cursor = over?.of ? "pointer" : "default";
  };
  canvas.onpointerup = (event) => {
    const over = moved < 4 && spanAt(event.offsetX, event.offsetY);
    down = null;
    if (over && over.of) show(over.of);
  };
  canvas.onkeydown = (event) => {
    const by = { ArrowLeft: -0.1, ArrowRight: 0.1 }[event.key];
    const factor = { "+": 0.8, "-": 1.25 }[event.key];
    if (by) range = range.map((t) => t + by * (range[1] - range[0]));
    else if (factor) {
      const middle = (range[0] + range[1]) / 2;
      range = range.map((t) => middle + (t - middle) * factor);
    } else return;
    event.stopPropagation();
    event.preventDefault();
    paint();
  };
  new ResizeObserver(paint).observe(canvas);
  listen((changed) => {
    if (changed.has("overview")) load(report);
    else if (changed.has("of") || changed.has("theme")) paint();
  });
}

async function load(report) {
  try {
    const { traceEvents } = await ask("chrome", {}, { fresh: true });
    const names = new Map(traceEvents.filter((e) => e.ph === "M").map((e) => [e.tid, e.args.name]));
    const numbers = new Map(state.overview.kernels.map((k, n) => [k.name, n]));
    spans = traceEvents.filter((e) => e.ph === "X").map((e) => {
      const n = numbers.get(e.name.replace(/^compile /, ""));
      return { lane: names.get(e.tid), name: e.name, begin: e.ts / 1e6, end: (e.ts + e.dur) / 1e6, of: n === undefined ? null : `kernel/${n}` };
    });
    spans.sort((a, b) => a.begin - b.begin);
    memory = traceEvents.filter((e) => e.ph === "C").map((e) => [e.ts / 1e6, e.args.bytes]);
    lanes = [...new Set(spans.map((s) => s.lane))].sort((a, b) => rank(a) - rank(b) || a.localeCompare(b));
    const was = all;
    all = spans.length ? [spans[0].begin, Math.max(...spans.map((s) => s.end))] : [0, 1];
    const slack = (all[1] - all[0]) * 0.01 || 1e-3;
    all = [all[0] - slack, all[1] + slack];
    if (range[0] === was[0] && range[1] === was[1]) range = [...all];
    paint();
  } catch (error) {
    report(error);
  }
}

const rank = (lane) => (lane === "Python" ? 0 : lane.startsWith("compiler") ? 1 : 2);
const x = (t) => LEFT + (t - range[0]) / (range[1] - range[0]) * (canvas.clientWidth - LEFT);
const timeAt = (px) => range[0] + (px - LEFT) / (canvas.clientWidth - LEFT) * (range[1] - range[0]);

function spanAt(px, py) {
  const lane = lanes[Math.floor((py - AXIS) / LANE)];
  if (!lane || px < LEFT) return null;
  const t = timeAt(px);
  const near = 2 * (range[1] - range[0]) / canvas.clientWidth;
  return spans.filter((s) => s.lane === lane && s.begin - near <= t && t <= s.end + near)
    .sort((a, b) => (a.end - a.begin) - (b.end - b.begin))[0] ?? null;
}

function memoryAt(t) {
  let found = 0;
  for (const [when, size] of memory) { if (when > t) break; found = size; }
  return found;
}

function memoryWords(event) {
  return memory.length && event.offsetX > LEFT ? `${bytes(memoryAt(timeAt(event.offsetX)))} in use` : "";
}

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

export function paint() {
  const ratio = devicePixelRatio || 1;
  const [w, h] = [canvas.clientWidth, canvas.clientHeight];
  if (!w || !h) return;
  canvas.width = w * ratio;
  canvas.height = h * ratio;
  const c = canvas.getContext("2d");
  c.scale(ratio, ratio);
  c.font = "11.5px system-ui, sans-serif";
  c.textBaseline = "middle";
  const [text, muted, line, accent, warm, chosen, panel] = ["--text", "--muted", "--line", "--accent", "--warm", "--chosen", "--panel"].map(colour);
  c.fillStyle = colour("--back");
  c.fillRect(0, 0, w, h);
  axis(c, w, h, muted, line);
  lanes.forEach((lane, n) => {
    const top = AXIS + n * LANE;
    if (n % 2 === 0) { c.fillStyle = panel; c.fillRect(0, top, w, LANE); }
    c.fillStyle = muted;
    c.fillText(lane, 8, top + LANE / 2, LEFT - 12);
    let drawnTo = -1; // spans that would lie on the same pixel are drawn once
    c.save();
    c.beginPath(); c.rect(LEFT, 0, w - LEFT, h); c.clip();
    for (const s of spans) {
      if (s.lane !== lane || s.end < range[0] || s.begin > range[1]) continue;
      const [a, b] = [x(s.begin), x(s.end)];
      if (b < drawnTo && s.of !== state.of) continue;
      const wide = Math.max(1, b - a - 0.5);
      c.fillStyle = s.of === state.of ? warm : rank(lane) === 2 ? accent : muted;
      c.fillRect(a, top + 3, wide, LANE - 6);
      if (wide > 46) { c.fillStyle = colour("--back"); c.save(); c.beginPath(); c.rect(a, top, wide - 3, LANE); c.clip(); c.fillText(s.name, a + 4, top + LANE / 2); c.restore(); }
      drawnTo = a + 1;
    }
    c.restore();
  });
  paintMemory(c, w, h, muted, chosen, accent, text);
}

function axis(c, w, h, muted, line) {
  const span = range[1] - range[0];
  let step = 10 ** Math.floor(Math.log10(span / 5));
  step *= span / step > 25 ? 5 : span / step > 10 ? 2 : 1;
  c.strokeStyle = line;
  c.lineWidth = 1;
  for (let t = Math.ceil(range[0] / step) * step; t < range[1]; t += step) {
    const at = x(t);
    if (at < LEFT) continue;
    c.beginPath(); c.moveTo(at, AXIS - 3); c.lineTo(at, h); c.stroke();
    c.fillStyle = muted;
    c.fillText(seconds(Math.abs(t) < step / 2 ? 0 : t), at + 3, AXIS / 2);
  }
}

function paintMemory(c, w, h, muted, chosen, accent) {
  if (!memory.length) return;
  const top = Math.max(AXIS + lanes.length * LANE + 6, h - MEMORY);
  const tall = h - top - 4;
  if (tall < 10) return;
  const most = Math.max(...memory.map((m) => m[1])) || 1;
  const y = (size) => top + tall - tall * size / most;
  c.fillStyle = muted;
  c.fillText("memory", 8, top + tall / 2 - 6);
  c.fillText(bytes(most), 8, top + tall / 2 + 7);
  c.save();
  c.beginPath(); c.rect(LEFT, 0, w - LEFT, h); c.clip();
  c.beginPath();
  c.moveTo(x(memory[0][0]), top + tall);
  let size = 0;
  for (const [t, next] of memory) { c.lineTo(x(t), y(size)); c.lineTo(x(t), y(next)); size = next; }
  c.lineTo(w, y(size)); c.lineTo(w, top + tall); c.closePath();
  c.fillStyle = chosen; c.fill();
  c.strokeStyle = accent; c.stroke();
  c.restore();
}
