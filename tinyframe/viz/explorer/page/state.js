// What the page shows, and the listeners to its changes. It is also in the address, so a link with
// #kernel=…&pass=…&step=… shows somebody else the same.

export const state = {
  overview: null,
  of: null, // "kernel/3" or "schedule/0"
  stages: null, // what the server says of it
  stage: 0,
  step: null, // null: the stage as a whole; else the number of a rewrite
  after: true, // whether that rewrite has been made
  tab: "why",
  node: null, // what is known of the node that was clicked
};

const listeners = [];

export function listen(listener) {
  listeners.push(listener);
}

/** Changes the state, and tells all listeners which parts of it changed. */
export function change(part) {
  const changed = Object.keys(part).filter((name) => state[name] !== part[name]);
  if (!changed.length) return;
  Object.assign(state, part);
  for (const listener of listeners) listener(new Set(changed));
}

export const kernelNumber = () => (state.of?.startsWith("kernel/") ? Number(state.of.slice(7)) : null);
export const kernelNow = () => (kernelNumber() === null ? null : state.overview.kernels[kernelNumber()]);

/** The address of the current state. */
export function address() {
  if (!state.of || !state.stages) return "";
  const said = new URLSearchParams();
  const kernel = kernelNow();
  if (kernel) said.set("kernel", kernel.name);
  else said.set("schedule", state.of.slice(9));
  const stage = state.stages.stages[state.stage];
  if (stage) said.set("pass", stage.name);
  if (state.step !== null) said.set("step", state.step);
  return `#${said}`;
}

/** The state in an address: {of, pass, step}; of is null if there is no such thing. */
export function asked(hash, overview) {
  const said = new URLSearchParams(hash.slice(1));
  let of = null;
  if (said.has("kernel")) {
    const n = overview.kernels.findIndex((k) => k.name === said.get("kernel"));
    of = n < 0 ? null : `kernel/${n}`;
  } else if (/^\d+$/.test(said.get("schedule") ?? "") && Number(said.get("schedule")) < overview.schedules) {
    of = `schedule/${said.get("schedule")}`;
  }
  const step = /^\d+$/.test(said.get("step") ?? "") ? Number(said.get("step")) : null;
  return { of, pass: said.get("pass"), step };
}
