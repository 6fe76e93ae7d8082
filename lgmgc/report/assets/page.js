
"use strict";
(() => {
  const root = document.documentElement;
  const find = (id) => document.getElementById(id);
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const number = (value) => value.toFixed(2).replace("-", "\u2212");
  root.classList.add("js");

  // Theme.
  const theme = find("theme");
  const dark = () => root.dataset.theme
    ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  const name = () => { theme.textContent = dark() ? "Light" : "Dark"; };
  theme.hidden = false;
  theme.addEventListener("click", () => { root.dataset.theme = dark() ? "light" : "dark"; name(); });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", name);
  name();

  // Quiz.
  const quiz = find("quiz");
  if (quiz) {
    const mode = find("mode");
    const won = new Map();
    mode.hidden = false;
    const show = (on) => {
      quiz.hidden = !on;
      find("page").hidden = find("chart").hidden = on;
      mode.setAttribute("aria-pressed", on);
      mode.textContent = on ? "Back to the text" : "Quiz";
      scrollTo(0, 0);
      if (!on) measure();
    };
    mode.addEventListener("click", () => show(quiz.hidden));
    all(".choice button", quiz).forEach((button) => {
      button.hidden = false;
      button.addEventListener("click", () => {
        const choice = button.closest(".choice");
        const round = choice.closest(".round");
        choice.classList.add("chosen");
        round.classList.add("done");
        all("button", round).forEach((other) => { other.hidden = true; });
        all("details", round).forEach((details) => { details.open = true; });
        won.set(choice.dataset.name, (won.get(choice.dataset.name) || 0) + 1);
        find("tally").textContent =
          `Chosen so far: ${[...won].map(([who, times]) => `${who} ${times}`).join(", ")}.`;
      });
    });
    quiz.hidden = true;
  }

  const chart = find("chart");
  if (!chart) return;
  const { at, score, cuts, length } = JSON.parse(chart.dataset.numbers);
  const label = chart.dataset.label;
  const isCut = new Set(cuts);
  const strip = chart.querySelector(".plot svg") || chart.querySelector(".lane svg");
  const links = all("nav a");
  const lines = all('.cut[data-of="0"]');
  const here = find("here");
  const zoom = find("zoom");
  const column = document.querySelector(".row .cell") || find("text");
  const dense = chart.classList.contains("dense");

  /** The first place in a rising list that is not below a value. */
  const place = (list, value) => {
    let low = 0, high = list.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (list[middle] < value) low = middle + 1; else high = middle;
    }
    return low;
  };

  // Where the reader is: the parent under the chart.
  let parent = 0, span = [0, length];
  const reading = () => {
    const box = column.getBoundingClientRect();
    const found = document.elementFromPoint(box.left + box.width / 2, chart.getBoundingClientRect().bottom + 60);
    const start = found && found.closest("[data-start]");
    return start ? place(cuts, Number(start.dataset.start) + 1) : parent;
  };
  const update = () => {
    parent = reading();
    const x = cuts.length && parent ? cuts[parent - 1] : 0;
    here.hidden = false;
    here.style.left = `${x / Math.max(1, length) * 100}%`;
    const link = links[parent];
    if (link && !link.hasAttribute("aria-current")) {
      links.forEach((other) => other.removeAttribute("aria-current"));
      link.setAttribute("aria-current", "true");
      const nav = link.closest("nav"), top = link.getBoundingClientRect().top - nav.getBoundingClientRect().top;
      if (top < 0 || top > nav.clientHeight - 60) nav.scrollTop += top - nav.clientHeight / 2;
    }
    if (dense) draw(x);
  };
  const measure = () => {
    root.style.setProperty("--chart", `${chart.offsetHeight}px`);
    update();
  };

  // A part of the curve, large enough to see every candidate.
  const draw = (x) => {
    const middle = place(at, x), from = Math.max(0, Math.min(middle - 40, at.length - 120));
    const to = Math.min(at.length, from + 120), svg = zoom.firstElementChild;
    const wide = svg.clientWidth, tall = svg.clientHeight;
    span = [from ? at[from] : 0, at[to - 1]];
    const values = score.slice(from, to), low = Math.min(...values), high = Math.max(...values);
    const points = values.map((value, k) => [
      (at[from + k] - span[0]) / (span[1] - span[0] || 1) * wide,
      tall - 8 - (value - low) / (high - low || 1) * (tall - 26),
    ]);
    const dots = (wanted) => points.filter((_, k) => wanted === isCut.has(at[from + k]))
      .map(([a, b]) => `M${a} ${b}h0`).join("");
    const cutPoints = points.map((point, k) => [...point, values[k]]).filter((_, k) => isCut.has(at[from + k]));
    const add = (kind, attributes, text = "") => {
      const made = document.createElementNS("http://www.w3.org/2000/svg", kind);
      for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
      made.textContent = text;
      svg.append(made);
    };
    svg.setAttribute("viewBox", `0 0 ${wide} ${tall}`);
    svg.replaceChildren();
    add("path", { class: "stem", d: cutPoints.map(([a]) => `M${a} 0V${tall}`).join("") });
    const aim = (x - span[0]) / (span[1] - span[0] || 1) * wide;
    if (aim >= 0) add("path", { class: "aim", d: `M${aim} 0V${tall}` });
    add("path", { class: "line", d: `M${points.map((point) => point.join(" ")).join("L")}` });
    add("path", { class: "candidate", d: dots(false) });
    add("path", { class: "dot", d: dots(true) });
    let free = 0;
    for (const [a, b, value] of cutPoints) {
      if (a < free || a > wide - 30) continue;
      add("text", { x: a + 3, y: b - 6 }, number(value));
      free = a + 38;
    }
  };
  if (dense) zoom.hidden = false;

  // The score under the pointer, and a click that leads there.
  const readout = find("readout");
  const nearest = (event, svg) => {
    const box = svg.getBoundingClientRect(), [from, to] = svg === strip ? [0, length] : span;
    const wanted = from + (event.clientX - box.left) / box.width * (to - from);
    const k = place(at, wanted);
    return k && (k === at.length || wanted - at[k - 1] < at[k] - wanted) ? k - 1 : k;
  };
  [strip, zoom.firstElementChild].forEach((svg) => {
    svg.addEventListener("pointermove", (event) => {
      const k = nearest(event, svg);
      if (k >= at.length) return;
      const end = place(cuts, at[k]);
      readout.textContent = `${label} ${number(score[k])} at character ${at[k].toLocaleString("en")}, ` +
        (isCut.has(at[k]) ? `cut ${end + 1}` : `within parent ${end + 1}`);
    });
    svg.addEventListener("pointerleave", () => { readout.textContent = ""; });
    svg.addEventListener("click", (event) => {
      const k = nearest(event, svg);
      const target = at.length ? find(`p${place(cuts, at[k]) + 1}`) : null;
      if (target) target.scrollIntoView();
    });
  });

  // From cut to cut.
  const steps = { j: 1, n: 1, ArrowRight: 1, k: -1, p: -1, ArrowLeft: -1 };
  document.addEventListener("keydown", (event) => {
    const step = steps[event.key];
    if (!step || event.ctrlKey || event.altKey || event.metaKey || find("page").hidden) return;
    const focused = lines.indexOf(document.activeElement);
    const box = focused < 0 ? null : lines[focused].getBoundingClientRect();
    const seen = box && box.bottom > 0 && box.top < innerHeight;
    // Cut k ends parent k + 1, which the reader is in or has just left.
    const k = seen ? focused + step : step > 0 ? parent : parent - 1;
    if (!lines[k]) return;
    event.preventDefault();
    lines[k].scrollIntoView();
    lines[k].focus({ preventScroll: true });
    parent = k + 1;
    follow();
  });

  let waiting = false;
  const follow = () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => { waiting = false; if (!find("page").hidden) update(); });
  };
  addEventListener("scroll", follow, { passive: true });
  // A row far off is laid out only after the frame that scrolled to it: what the reader sees may then be another parent.
  document.addEventListener("contentvisibilityautostatechange", follow, true);
  addEventListener("resize", measure);
  measure();
})();
