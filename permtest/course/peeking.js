// Peeking: nothing is different, but someone looks at p after every item and stops when it is small.

const ALPHA = 0.05;
const LIMIT = 20; // 1 / ALPHA: where an e-process rejects
const LASTS = 1500; // ms that an experiment takes
const BETS = Array.from({ length: 12 }, (_, k) => 2 ** (k - 10)).flatMap((x) => [x, -x]);
const MOST = 5000; // experiments
const DRAWN = 100; // that are drawn at a time

/** Two-sided p of n fair signs, by n and the size of their sum: exact binomial tails. */
function tails(items) {
  const found = [];
  let row = [1];
  for (let n = 1; n <= items; n++) {
    row = Array.from({ length: n + 1 }, (_, k) => 0.5 * ((row[k] ?? 0) + (row[k - 1] ?? 0)));
    const p = new Float64Array(n + 1);
    let tail = 0;
    for (let k = 0; 2 * k < n; k++) {
      tail += row[k];
      p[n - 2 * k] = 2 * tail;
    }
    if (n % 2 === 0) p[0] = 1;
    found[n] = p;
  }
  return found;
}

class PeekingFigure {
  constructor(model, el) {
    this.model = model;
    this.build(el);
    this.again(model.get("experiments"));
    this.cleanUp = [
      follow(this.root, () => this.draw()),
      listen(model, ["items", "seed"], () => this.again(model.get("experiments"))),
      () => cancelAnimationFrame(this.frame),
    ];
  }

  // ---- experiments ------------------------------------------------------------------------------

  again(number = 0) {
    this.items = this.model.get("items");
    this.random = generator(this.model.get("seed"));
    this.table = tails(this.items);
    this.number = 0;
    // How many experiments found something after n items and no sooner; and at the end alone.
    this.first = { p: new Uint32Array(this.items + 1), e: new Uint32Array(this.items + 1) };
    this.once = 0;
    this.run(number, false);
  }

  run(number, slowly) {
    this.shown = Array.from({ length: number }, () => this.experiment()).slice(slowly ? -DRAWN : -1);
    this.began = slowly && !calm() ? performance.now() : -Infinity;
    this.show();
  }

  /** Signs of fair coins come in; after each of them p and the e-process are known. */
  experiment() {
    const p = [];
    const e = [];
    const logs = BETS.map(() => 0);
    let sum = 0;
    for (let n = 1; n <= this.items; n++) {
      const sign = coin(this.random) ? -1 : 1;
      sum += sign;
      p.push(this.table[n][Math.abs(sum)]);
      // The bet is made before the item comes in; nothing is known before the first one.
      if (n > 1) BETS.forEach((bet, k) => (logs[k] += Math.LN2 - Math.log1p(Math.exp(-2 * bet * sign))));
      e.push(logs.reduce((total, x) => total + Math.exp(x), 0) / BETS.length);
    }
    const stops = { p: 1 + p.findIndex((x) => x < ALPHA), e: 1 + e.findIndex((x) => x >= LIMIT) };
    for (const kind of ["p", "e"]) if (stops[kind]) this.first[kind][stops[kind]]++;
    if (p[this.items - 1] < ALPHA) this.once++;
    this.number++;
    return { p, e, stops };
  }

  get found() {
    const total = (counts) => counts.reduce((sum, x) => sum + x, 0);
    return { p: total(this.first.p), e: total(this.first.e) };
  }

  // ---- words ------------------------------------------------------------------------------------

  sentence() {
    if (!this.number) return "No experiment yet. Run one: nothing is different in any of them, every sign is a fair coin.";
    const { p, stops } = this.shown.at(-1);
    const story = stops.p
      ? `Experiment ${whole(this.number)}: after ${counted(stops.p, "items")} p = ${digits(p[stops.p - 1])}, and a peeker stops and reports a difference that is not there.`
      : `Experiment ${whole(this.number)}: p never falls below ${ALPHA}, and the peeker finds nothing.`;
    const other = stops.e
      ? `The e-process reaches ${LIMIT} after ${counted(stops.e, "items")}.`
      : `The e-process never reaches ${LIMIT}.`;
    const share = (n) => `${whole(n)} (${Math.round((1000 * n) / this.number) / 10}%)`;
    const { p: peeked, e } = this.found;
    return (
      `${story} ${other} Of ${counted(this.number, "experiments")} without any difference, ` +
      `${share(peeked)} found one by peeking at p, ${share(this.once)} by looking at p once, ` +
      `at the end, and ${share(e)} by the e-process.`
    );
  }

  // ---- elements ---------------------------------------------------------------------------------

  build(el) {
    this.root = frame(el, "Looking at p after every item");
    this.buttons = [
      [1, "Run one experiment", () => this.run(1, true)],
      [100, "Run a hundred", () => this.run(100, true)],
    ].map(([n, words, click]) => button(words, click, { "data-runs": n }));
    this.panels = ["p-value", "e-process", "share that found something"].map((title) => ({
      title,
      picture: svg("svg", { role: "img", "aria-label": `${title}, described below` }),
    }));
    this.note = html("div", { class: "note", role: "status", "aria-live": "polite" });
    this.root.append(
      html("div", { class: "row", keydown: arrows }, ...this.buttons, button("Start again", () => this.again())),
      legend([
        [svg("path", { d: "M0 8H24", class: "peeker" }), "p, looked at after every item"],
        [svg("path", { d: "M0 8H24", class: "careful" }), "e-process"],
        [svg("path", { d: "M0 8H24", class: "level" }), `level ${ALPHA}, or 1/${ALPHA} = ${LIMIT}`],
        [svg("rect", { x: 7, y: 3, width: 10, height: 10, fill: "currentColor" }), "stop"],
        [svg("circle", { cx: 12, cy: 8, r: 5, class: "line" }), "p, looked at once"],
      ]),
      html("div", { class: "panels" }, ...this.panels.map(({ title, picture }) =>
        html("div", {}, html("div", { class: "title", "aria-hidden": "true" }, title), picture))),
      this.note,
    );
  }

  show() {
    for (const one of this.buttons) one.disabled = this.number + Number(one.dataset.runs) > MOST;
    this.note.textContent = this.sentence();
    this.root.dataset.found = JSON.stringify({ number: this.number, ...this.found, once: this.once });
    this.root.dataset.paths = JSON.stringify(this.shown.at(-1) ?? null);
    this.draw();
  }

  // ---- drawing ----------------------------------------------------------------------------------

  draw() {
    if (!this.root.clientWidth) return;
    const [left, middle, right] = this.panels.map(({ picture }) => picture);
    this.windows = [
      this.panel(left, { low: 0.001, high: 1, level: ALPHA, labels: [0.001, 0.01, ALPHA, 0.1, 1] },
        (to) => this.paths(to, "p", "peeker")),
      this.panel(middle, { low: 0.01, high: 1000, level: LIMIT, labels: [0.01, 0.1, 1, LIMIT, 100, 1000] },
        (to) => this.paths(to, "e", "careful")),
      this.panel(right, { low: 0, high: this.top, level: ALPHA, labels: [0, ALPHA, 0.2, 0.4, 0.6, 0.8, 1] },
        (to) => this.shares(to)),
    ];
    cancelAnimationFrame(this.frame);
    this.open(performance.now());
  }

  /** Items come in: the curves are seen through windows that open to the right. */
  open(now) {
    const part = Math.min(1, Math.max(0, (now - this.began) / LASTS));
    for (const { window, left, end } of this.windows) {
      window.setAttribute("width", part < 1 ? left + part * (end - left) : end + 16);
    }
    if (part < 1) this.frame = requestAnimationFrame((time) => this.open(time));
  }

  get top() {
    const share = this.number ? Math.max(this.found.p, this.found.e) / this.number : 0;
    return share > 0.55 ? 1.05 : share > 0.36 ? 0.62 : 0.42;
  }

  /** Axes: items from left to right; upwards logarithms, or shares from 0. */
  panel(picture, { low, high, level, labels }, curves) {
    const [width, height] = [picture.parentElement.clientWidth, 240];
    const [left, base, top, end] = [52, height - 48, 8, width - 16];
    fill(picture, { width, height }, []);
    const logs = low > 0;
    const part = (value) => {
      if (!logs) return value / high;
      return Math.log(Math.min(high, Math.max(low, value)) / low) / Math.log(high / low);
    };
    const to = {
      x: (n) => left + ((end - left) * n) / this.items,
      y: (value) => base - (base - top) * part(value),
    };
    const name = "items so far";
    const parts = axis({ x: to.x, low: 0, high: this.items, from: left, to: end, base, width, name, words: whole });
    parts.push(svg("path", { class: "line", d: `M${left} ${top}V${base}` }));
    for (const value of labels.filter((x) => x <= high)) {
      const words = logs ? whole(value).replace(/^0$/, String(value)) : `${Math.round(100 * value)}%`;
      parts.push(
        svg("path", { class: "line", d: `M${left} ${to.y(value)}h-6` }),
        svg("text", { x: left - 9, y: to.y(value) + 5, "text-anchor": "end" }, logs && value < 1 ? String(value) : words),
      );
    }
    parts.push(
      svg("path", { class: "level", d: `M${left} ${to.y(level)}H${end}` }),
    );
    const window = svg("svg", { height }, ...(this.number ? curves(to) : []));
    picture.replaceChildren(...parts, window);
    return { window, left, end };
  }

  /** The path of the last experiment, faint after a stop; of others, faint and up to theirs. */
  paths(to, kind, look) {
    const line = (values, from, end) => {
      let d = "";
      for (let n = from; n <= end; n++) d += `${d ? "L" : "M"}${to.x(n).toFixed(1)} ${to.y(values[n - 1]).toFixed(1)}`;
      return d;
    };
    const mark = (stop, values, size) => svg("rect", {
      x: to.x(stop) - size, y: to.y(values[stop - 1]) - size, width: 2 * size, height: 2 * size, fill: "currentColor",
    });
    const parts = [];
    for (const one of this.shown.slice(0, -1)) {
      const stop = one.stops[kind];
      parts.push(svg("path", { class: `${look} faint`, d: line(one[kind], 1, stop || this.items) }));
      if (stop) parts.push(mark(stop, one[kind], 2.5));
    }
    const { [kind]: values, stops: { [kind]: stop } } = this.shown.at(-1);
    if (stop) parts.push(svg("path", { class: `${look} faint`, d: line(values, stop, this.items) }));
    parts.push(svg("path", { class: look, d: line(values, 1, stop || this.items) }));
    if (stop) {
      const side = stop > 0.6 * this.items ? -1 : 1;
      const at = { x: to.x(stop) + 10 * side, y: to.y(values[stop - 1]) + (kind === "p" ? 22 : -10) };
      parts.push(
        mark(stop, values, 6),
        svg("text", { class: "over", ...at, "text-anchor": side < 0 ? "end" : "start" }, `stop after ${whole(stop)}`),
      );
    }
    return parts;
  }

  /** The share of all experiments that had found something after n items. */
  shares(to) {
    const curve = (counts, look) => {
      let [d, total] = [`M${to.x(0)} ${to.y(0)}`, 0];
      for (let n = 1; n <= this.items; n++) {
        total += counts[n];
        d += `H${to.x(n).toFixed(1)}V${to.y(total / this.number).toFixed(1)}`;
      }
      return svg("path", { class: look, d });
    };
    return [
      curve(this.first.p, "peeker"),
      curve(this.first.e, "careful"),
      svg("circle", { class: "line once", cx: to.x(this.items), cy: to.y(this.once / this.number), r: 5 }),
    ];
  }
}

export default {
  render({ model, el }) {
    const figure = new PeekingFigure(model, el);
    return () => figure.cleanUp.forEach((end) => end());
  },
};
