// Queries to the server. Each is sent once: answers about a finished script do not change.

const answers = new Map();

/** The server's answer to `name` with these parameters; an Error with its message if it refuses. */
export async function ask(name, parameters = {}, { fresh = false } = {}) {
  const url = `api/${name}?${new URLSearchParams(parameters)}`;
  if (!fresh && answers.has(url)) return answers.get(url);
  let response;
  try {
    response = await fetch(url);
  } catch {
    throw new Error("The server is gone: the script, or python -m tinyframe.viz, has ended. What is on this page stays until you close it.");
  }
  const data = await response.json();
  if (!response.ok) throw new Error(data.error);
  if (answers.size > 300) answers.delete(answers.keys().next().value);
  answers.set(url, data);
  return data;
}

/** An element with attributes and children; text is always text, never HTML. */
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) made.setAttribute(name, value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

export const byId = (id) => document.getElementById(id);

export function seconds(s) {
  if (s === null || s === undefined) return "–";
  if (s < 1e-3) return `${(s * 1e6).toFixed(s < 1e-5 ? 1 : 0)} µs`;
  if (s < 1) return `${(s * 1e3).toFixed(s < 1e-2 ? 2 : s < 0.1 ? 1 : 0)} ms`;
  return `${s.toFixed(2)} s`;
}

export function bytes(n) {
  for (const unit of ["B", "kB", "MB", "GB"]) {
    if (n < 1000 || unit === "GB") return `${n < 10 && unit !== "B" ? n.toFixed(1) : Math.round(n)} ${unit}`;
    n /= 1000;
  }
}

export const percent = (x) => (x >= 0.995 ? "100 %" : x < 0.01 ? `${(100 * x).toFixed(1)} %` : `${Math.round(100 * x)} %`);
export const many = (n, word) => `${n.toLocaleString("en")} ${word}${n === 1 ? "" : "s"}`;

/** The last part of a path: the name that people know a file by. */
export const fileName = (path) => path.split(/[\\/]/).pop();

export function place(overview, line) {
  if (line === null || line === undefined || !overview.lines[line]) return null;
  const [file, number, text] = overview.lines[line];
  return { short: `${fileName(file)}:${number}`, long: `${file}:${number}`, text };
}
