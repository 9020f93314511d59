// Puts the parts of the page together: loading, the address, the theme, the keys.

import { ask, byId, fileName } from "./api.js";
import * as details from "./details.js";
import * as graph from "./graph.js";
import * as kernels from "./kernels.js";
import { address, asked, change, listen, state } from "./state.js";
import * as stepping from "./stepping.js";
import * as timeline from "./timeline.js";
import { keys, tour } from "./tour.js";

const REFRESH = 2000; // ms, while the script still runs; longer where there is more to send

let following = false; // whether it is the address that changes what is shown

function report(error) {
  byId("problem").textContent = error.message;
  byId("problem").hidden = false;
}

function noProblem() {
  byId("problem").hidden = true;
}

/** Shows a kernel or a schedule, at its last stage or the one asked for. */
async function show(of, { pass = null, step = null, turn = true } = {}) {
  try {
    const stages = await ask("stages", { of });
    const wanted = pass ?? state.stages?.stages[state.stage]?.name; // so that kernels can be compared
    const named = stages.stages.findIndex((s) => s.name === wanted);
    const stage = named >= 0 ? named : 0;
    const is = step !== null && step < (stages.stages[stage]?.steps ?? 0);
    noProblem();
    const tab = of.startsWith("schedule") && ["source", "assembly"].includes(state.tab) ? "why" : state.tab;
    change({ of, stages, stage, step: is ? step : null, after: true, node: null, tab });
    if (turn && document.body.dataset.pane === "left") pane("right");
  } catch (error) {
    report(error);
  }
}

function followAddress() {
  const { of, pass, step } = asked(location.hash, state.overview);
  if (of) return show(of, { pass, step, turn: false });
  if (location.hash.length > 1) report(new Error("This trace has nothing by the name in the address."));
  const busiest = state.overview.kernels.reduce((best, k, n, all) => (best < 0 || k.seconds > all[best].seconds ? n : best), -1);
  return busiest < 0 ? undefined : show(`kernel/${busiest}`, { turn: false });
}

// ---- theme, panes, keys --------------------------------------------------------------------------

const system = matchMedia("(prefers-color-scheme: dark)");
function theme(name) {
  document.documentElement.dataset.theme = name;
  timeline.paint();
}
const otherTheme = () => theme(document.documentElement.dataset.theme === "dark" ? "light" : "dark");

function pane(name) {
  document.body.dataset.pane = name;
  for (const button of document.querySelectorAll("#tabs button")) button.setAttribute("aria-pressed", button.dataset.pane === name);
  if (name === "middle") graph.start();
  if (name === "bottom") timeline.paint();
}

const TAB_KEYS = ["why", "source", "assembly", "node", "steps"];
const KEYS = {
  ArrowLeft: () => stepping.go(-1), ArrowRight: () => stepping.go(1),
  "[": () => stepping.goToStage(-1), "]": () => stepping.goToStage(1), " ": stepping.play,
  "/": () => { pane("left"); kernels.focusSearch(); }, g: () => { pane("middle"); graph.focusSearch(); },
  f: graph.fit, "+": () => graph.zoom(1.25), "=": () => graph.zoom(1.25), "-": () => graph.zoom(0.8),
  t: otherTheme, "?": keys,
  ArrowUp: () => kernels.go("ArrowUp"), ArrowDown: () => kernels.go("ArrowDown"),
};
TAB_KEYS.forEach((tab, n) => { KEYS[n + 1] = () => change({ tab }); });

addEventListener("keydown", (event) => {
  const typing = event.target.closest("input[type=search], select, dialog");
  if (event.key === "Escape" && typing) return event.target.blur();
  if (typing || event.ctrlKey || event.metaKey || event.altKey) return undefined;
  if (event.target.id === "slider" && event.key.startsWith("Arrow")) return undefined;
  if (event.key === " " && event.target.closest("button, a")) return undefined;
  const act = KEYS[event.key];
  if (!act) return undefined;
  event.preventDefault();
  return act();
});

// ---- start ---------------------------------------------------------------------------------------

async function load() {
  const before = state.overview;
  const overview = await ask("overview", {}, { fresh: true });
  const size = (o) => (o ? JSON.stringify([o.realizes.length, o.kernels.length]) : "");
  if (size(before) === size(overview)) { if (before) before.live = overview.live; return; }
  change({ overview });
  byId("script").textContent = `${overview.script.map(fileName).join(" ")} · ${overview.device} · ${overview.threads} threads`;
  document.title = `${fileName(overview.script[0] ?? "") || "tinyframe"} · explorer`;
  if (!state.of) await followAddress();
}

async function begin() {
  theme(system.matches ? "dark" : "light");
  system.onchange = () => theme(system.matches ? "dark" : "light");
  byId("theme").onclick = otherTheme;
  byId("help").onclick = keys;
  for (const button of document.querySelectorAll("#tabs button")) button.onclick = () => pane(button.dataset.pane);
  kernels.begin((of) => show(of));
  graph.begin(report);
  stepping.begin(report);
  details.begin(report);
  timeline.begin((of) => show(of), report);
  pane("left");
  listen((changed) => {
    const now = address();
    if (!now || now === location.hash) return;
    // The back button leads to the previous kernel, not to each rewrite.
    const another = changed.has("of") && location.hash.length > 1 && !following;
    history[another ? "pushState" : "replaceState"](null, "", now);
  });
  addEventListener("popstate", async () => {
    following = true;
    await followAddress();
    following = false;
  });
  try {
    await load();
  } catch (error) {
    report(error);
  }
  tour(true);
  const again = async () => {
    try {
      await load();
    } catch (error) {
      return report(error);
    }
    return state.overview?.live && later();
  };
  const later = () => setTimeout(again, REFRESH * (1 + state.overview.realizes.length / 500));
  if (state.overview?.live) later();
}

begin();
