// Below the graph: the passes, and the rewrites in each, one at a time.

import { ask, byId, element, many } from "./api.js";
import { change, listen, state } from "./state.js";

const choice = byId("stage");
const slider = byId("slider");
const PAGE = 200; // rewrites that the server lists at once
const PAUSE = 900; // ms that each is shown while playing
let playing = null;

export function begin(report) {
  choice.onchange = () => show(Number(choice.value), null);
  slider.oninput = () => toPosition(Number(slider.value));
  byId("previous").onclick = () => go(-1);
  byId("next").onclick = () => go(1);
  byId("play").onclick = play;
  listen((changed) => {
    if (changed.has("stages")) list();
    if (["stages", "stage", "step", "after"].some((name) => changed.has(name))) draw(report);
  });
}

const stageNow = () => state.stages?.stages[state.stage];

function list() {
  choice.replaceChildren(...(state.stages?.stages ?? []).map((stage, n) =>
    element("option", { value: n }, `${n + 1}. ${stage.name}${stage.steps ? ` · ${stage.steps}` : ""}`)));
}

function show(stage, step) {
  change({ stage, step, after: true });
}

// The slider's positions: 0 is the graph before the first rewrite, n after the n-th.
const position = () => (state.step === null ? (stageNow()?.steps ?? 0) : state.step + (state.after ? 1 : 0));

function toPosition(n) {
  const steps = stageNow()?.steps ?? 0;
  if (!steps) return;
  if (n >= steps) change({ step: steps - 1, after: true });
  else if (n <= 0) change({ step: 0, after: false });
  else change({ step: n - 1, after: true });
}

/** One rewrite forwards or back; past the end of a pass, on to the next. */
export function go(by) {
  const stages = state.stages?.stages;
  if (!stages) return false;
  const steps = stageNow().steps;
  if (state.step === null) {
    if (by > 0) return goToStage(1);
    if (steps) { toPosition(steps - 1); return true; }
    return goToStage(-1);
  }
  // each rewrite is shown twice: the nodes that match, then the result
  if (by > 0) {
    if (!state.after) { change({ after: true }); return true; }
    if (state.step + 1 < steps) { change({ step: state.step + 1, after: false }); return true; }
    return goToStage(1);
  }
  if (state.after) { change({ after: false }); return true; }
  if (state.step > 0) { change({ step: state.step - 1, after: true }); return true; }
  return goToStage(-1);
}

/** The next pass, or the previous one, at its first rewrite if it has any. */
export function goToStage(by) {
  const stages = state.stages?.stages;
  if (!stages) return false;
  const stage = state.stage + by;
  if (stage < 0 || stage >= stages.length) return false;
  const steps = stages[stage].steps;
  if (by > 0 && steps) change({ stage, step: 0, after: false });
  else change({ stage, step: null, after: true });
  return true;
}

export function play() {
  if (playing !== null) return stop();
  if (state.step === null && stageNow()?.steps) change({ step: 0, after: false });
  playing = setInterval(() => { if (!go(1)) stop(); }, PAUSE);
  byId("play").textContent = "❚❚ Pause";
}

function stop() {
  clearInterval(playing);
  playing = null;
  byId("play").textContent = "▶ Play";
}

/** The rewrite with this number in the current stage. */
export async function stepOf(n) {
  const from = n - (n % PAGE);
  const page = await ask("steps", { of: state.of, stage: state.stage, from, count: PAGE });
  return page.steps[n - from];
}

async function draw(report) {
  const stage = stageNow();
  const box = byId("rule");
  if (!stage) return box.replaceChildren();
  choice.value = state.stage;
  slider.max = stage.steps;
  slider.value = position();
  slider.disabled = !stage.steps;
  byId("play").disabled = !state.stages.stages.some((s) => s.steps);
  byId("stage-note").textContent = `${many(stage.nodes, stage.program ? "instruction" : "node")}`;
  byId("count").textContent = !stage.steps ? "no rewrites" : state.step === null ? many(stage.steps, "rewrite")
    : `${state.step + 1} of ${stage.steps}: ${state.after ? "new" : "matched"}`;
  if (state.step === null) {
    const rules = stage.rules.slice(0, 4).map(([rule, count]) => element("div", {}, `${count}×  `, ruleText(rule)));
    box.replaceChildren(stage.steps
      ? element("div", {}, `After this stage: ${many(stage.steps, "rewrite")} by ${many(stage.rules.length, "rule")}. Used most:`)
      : element("div", {}, "No step-by-step rewrites here: this stage rebuilds its graph in one go, or changed nothing. ▶ leads to the next stage."), ...rules);
    return undefined;
  }
  try {
    const wanted = `${state.of} ${state.stage} ${state.step}`;
    const step = await stepOf(state.step);
    if (wanted !== `${state.of} ${state.stage} ${state.step}` || !step) return undefined;
    box.replaceChildren(
      element("div", {}, ruleText(step.rule)),
      element("div", { class: "change" },
        element("b", {}, "matched"), element("code", {}, step.before),
        element("b", {}, "new"), element("code", {}, step.after)));
  } catch (error) {
    report(error);
  }
  return undefined;
}

export function ruleText(n) {
  const [file, line, text] = state.overview.rules[n] ?? ["?", 0, ""];
  return element("span", {}, element("code", {}, text), " ", element("span", { class: "where" }, line ? `tinyframe/${file}:${line}` : ""));
}
