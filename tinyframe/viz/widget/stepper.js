// One kernel's rewrites, step by step. Python draws each stop on demand (stepper.py).
// Interface: https://anywidget.dev/en/afm

const PAUSE = 900; // ms between stops while it plays
const KEYS = { ArrowLeft: -1, ArrowRight: 1 };

function make(kind, attributes = {}, ...children) {
  const element = document.createElement(kind);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

function panel(title) {
  const words = make("code");
  const image = make("img", { alt: "" });
  const text = make("pre");
  const body = make("div", { class: "drawn", tabindex: "0", "aria-label": title }, image, text);
  const element = make("figure", {}, make("figcaption", {}, make("b", {}, title), " ", words), body);
  const show = (side, expression) => {
    words.textContent = expression;
    image.hidden = !side.svg;
    text.hidden = !image.hidden;
    text.textContent = side.text;
    image.alt = `${title}: ${side.text}`;
    body.classList.toggle("fit", expression !== ""); // all of one rewrite; a whole kernel is scrolled
    if (side.svg) image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(side.svg);
    body.scrollTop = body.scrollLeft = 0;
  };
  return { element, show };
}

function build(model) {
  const count = model.get("count");
  const parts = {
    previous: make("button", { type: "button", title: "Previous (left arrow)" }, "◀ Previous"),
    next: make("button", { type: "button", title: "Next (right arrow)" }, "Next ▶"),
    play: make("button", { type: "button", "aria-pressed": "false" }, "Play"),
    slider: make("input", { type: "range", min: 0, max: count - 1, step: 1, "aria-label": "Step" }),
    stage: make("select", { "aria-label": "Stage" }),
    count: make("span", { class: "count" }),
    place: make("b", { class: "place" }),
    rule: make("p", { class: "rule" }),
    code: make("pre", { class: "code" }),
    where: make("p", { class: "where" }),
    before: panel("Before"),
    after: panel("After"),
  };
  for (const { name, rewrites, first } of model.get("outline")) {
    const many = rewrites === 1 ? " (1 rewrite)" : ` (${rewrites.toLocaleString("en")} rewrites)`;
    parts.stage.append(make("option", { value: first }, name + (rewrites ? many : "")));
  }
  const controls = make(
    "div", { class: "controls" },
    parts.previous, parts.play, parts.next, parts.slider, parts.count, parts.stage,
  );
  const said = make("div", { class: "said", "aria-live": "polite" }, parts.place, parts.rule, parts.code);
  const root = make(
    "section", { class: "tinyframe-stepper", "aria-label": `Rewrites of ${model.get("headline")}`, tabindex: "0" },
    make("h4", {}, model.get("headline")), controls, said,
    make("div", { class: "sides" }, parts.before.element, parts.after.element), parts.where,
  );
  return { root, parts, count };
}

function render({ model, el }) {
  const { root, parts, count } = build(model);
  let wanted = model.get("at");
  let asked = wanted;
  let timer = null;

  // Only one request is open at a time; when its answer arrives, the latest one is sent.
  const isAnswered = () => model.get("shown").at === model.get("at");
  const ask = () => {
    if (model.get("at") === wanted || !isAnswered()) return;
    asked = wanted;
    model.set("at", wanted);
    model.save_changes();
  };
  const go = (to) => {
    wanted = Math.max(0, Math.min(count - 1, to));
    showPlace();
    ask();
  };
  const pause = () => {
    clearInterval(timer);
    timer = null;
    parts.play.textContent = "Play";
    parts.play.setAttribute("aria-pressed", "false");
  };
  const play = () => {
    if (timer !== null) return pause();
    if (wanted === count - 1) go(0);
    parts.play.textContent = "Pause";
    parts.play.setAttribute("aria-pressed", "true");
    timer = setInterval(() => {
      if (wanted === count - 1) pause();
      else if (isAnswered()) go(wanted + 1);
    }, PAUSE);
  };

  function showPlace() {
    parts.slider.value = wanted;
    parts.slider.setAttribute("aria-valuetext", `${wanted + 1} of ${count}`);
    parts.count.textContent = `${(wanted + 1).toLocaleString("en")} of ${count.toLocaleString("en")}`;
    const stage = model.get("outline").findLast(({ first }) => first <= wanted);
    parts.stage.value = stage.first;
    parts.previous.disabled = wanted === 0;
    parts.next.disabled = wanted === count - 1;
  }
  function showStop() {
    const stop = model.get("shown");
    parts.place.textContent = stop.place;
    parts.rule.textContent = stop.rule;
    parts.code.textContent = stop.code;
    parts.code.hidden = !stop.code;
    parts.where.textContent = stop.where && `where ${stop.where}`;
    parts.before.show(stop.pictures[0], stop.before);
    parts.after.show(stop.pictures[1], stop.after);
    root.dataset.at = stop.at;
    ask();
  }
  function followOthers() { // the same widget may be shown twice
    if (model.get("at") !== asked) wanted = asked = model.get("at");
    showPlace();
  }

  const step = (by) => { pause(); go(wanted + by); };
  parts.previous.onclick = () => step(-1);
  parts.next.onclick = () => step(1);
  parts.play.onclick = play;
  parts.slider.oninput = () => { pause(); go(Number(parts.slider.value)); };
  parts.stage.onchange = () => { pause(); go(Number(parts.stage.value)); };
  root.onkeydown = (event) => {
    if (!(event.key in KEYS) || event.target.matches("select, .drawn")) return;
    event.preventDefault();
    event.stopPropagation(); // or the notebook would take it
    step(KEYS[event.key]);
  };

  model.on("change:shown", showStop);
  model.on("change:at", followOthers);
  el.append(root);
  showPlace();
  showStop();
  return () => {
    pause();
    model.off("change:shown", showStop);
    model.off("change:at", followOthers);
  };
}

export default { render };
