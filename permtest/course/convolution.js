// Convolution: with each coin, two copies of the distribution move apart, halve, and add up.

const PARTS = [250, 500, 350]; // ms: the distribution splits, its halves move, they stack
const CHOICES = [1, 2, 3, 5]; // differences to choose from
const REACH = 4.2; // standard deviations in view
const LARGEST = 1000; // coins

class ConvolutionFigure {
  constructor(model, el) {
    this.model = model;
    this.units = model.get("unit");
    this.build(el);
    this.read();
    this.cleanUp = [
      follow(this.root, () => this.draw()),
      listen(model, ["differences", "start"], () => this.read()),
      () => this.halt(),
    ];
  }

  // ---- what one can do --------------------------------------------------------------------------

  read() {
    this.data = numbers(this.model.get("differences"));
    this.again(this.model.get("start"));
  }

  /** So many items of the data, and nothing else. */
  again(number = 0) {
    this.halt();
    this.taken = number;
    this.coins = this.data.slice(0, number).map(Math.abs);
    this.law = new Law(this.coins);
    this.before = new Law(this.coins.slice(0, -1));
    this.began = -Infinity;
    this.show();
  }

  add(width) {
    this.before = this.law;
    this.coins.push(width);
    this.law = new Law(this.coins);
    this.began = calm() ? -Infinity : performance.now();
    this.show();
  }

  next() {
    this.taken++;
    if (this.full) this.halt();
    this.add(Math.abs(this.data[this.taken - 1]));
  }

  get full() {
    return this.taken >= this.data.length || this.coins.length >= LARGEST;
  }

  /** Later coins come sooner, as they change less. */
  get pace() {
    const n = this.coins.length;
    return n < 8 ? 1 : n < 20 ? 0.4 : 0.08;
  }

  play() {
    if (this.playing) {
      this.halt();
      this.show();
      return;
    }
    const step = () => {
      this.playing = setTimeout(step, this.pace * 1500);
      this.next();
    };
    step();
  }

  halt() {
    clearTimeout(this.playing);
    this.playing = null;
  }

  // ---- words ------------------------------------------------------------------------------------

  sentence() {
    const n = this.coins.length;
    if (!n) return `There is no coin yet: the ${this.model.get("label")} is 0 for certain. Add one.`;
    const { p, low, unit } = this.law;
    const width = this.coins[n - 1];
    const mode = low + unit * p.lastIndexOf(this.law.peak);
    const terms = [mode - width, mode + width].map((value) => `1/2 \u00d7 ${digits(this.before.at(value))}`);
    const values = p.filter((x) => x > 0).length;
    const last = -low;
    return (
      `Coin ${n} adds ${signed(width)} or ${signed(-width)}, with probability 1/2 each. ` +
      `The ${this.model.get("label")} now has ${whole(values)} possible values, from ${signed(-last)} to ${signed(last)}. ` +
      `For ${signed(mode)} the two copies give ${terms.join(" + ")} = ${digits(this.law.peak)}.`
    );
  }

  listed() {
    const n = this.coins.length;
    const some = this.coins.slice(-10).map((x) => `\u00b1${whole(x)}`).join(" ");
    return n ? `${counted(n, "coins")} so far: ${n > 10 ? "\u2026 " : ""}${some}` : "No coin so far";
  }

  // ---- elements ---------------------------------------------------------------------------------

  build(el) {
    this.root = frame(el, "A null distribution grows, coin by coin");
    this.id = `ptf${Math.random().toString(36).slice(2)}`;
    this.item = this.model.get("item");
    const box = (colour, side) =>
      svg("path", { d: "M3 3h18v11h-18z", fill: `url(#${this.id}${side})`, stroke: colour, "stroke-width": 1.5 });
    this.choices = CHOICES.map((width) =>
      button(`\u00b1${width}`, () => this.add(width), { "aria-label": `\u00b1${width}: add a coin of ${counted(width, this.units)}` }));
    this.following = button("", () => this.next());
    this.player = button("", () => this.play());
    const restart = button("Start again", () => this.again());
    this.list = html("p", { class: "hint" });
    this.picture = svg("svg", { role: "img" });
    this.note = html("div", { class: "note", role: "status", "aria-live": "polite" });
    this.root.append(
      html("div", { class: "row", keydown: arrows, role: "group", "aria-label": `Add a coin (${this.units})` },
        html("span", {}, "Add a coin:"), ...this.choices, this.following, this.player, restart),
      this.list,
      legend([
        [box("var(--null)", "up"), "half of the old distribution, moved up"],
        [box("var(--tail)", "down"), "half of it, moved down"],
        [svg("path", { d: "M3 16V8h6V3h6v5h6v8", class: "line" }), "their sum, the new distribution"],
      ]),
      html("div", {}, this.picture),
      this.note,
    );
  }

  show() {
    const next = this.data[this.taken];
    this.following.textContent = next ? `next ${this.item} (\u00b1${whole(Math.abs(next))})` : `no ${this.item} left`;
    for (const one of [this.following, this.player]) one.disabled = this.full;
    for (const one of this.choices) one.disabled = this.coins.length >= LARGEST;
    this.player.textContent = this.playing ? "Stop" : "Play";
    this.player.setAttribute("aria-pressed", Boolean(this.playing));
    this.list.textContent = this.listed();
    // While it plays, nobody could listen as fast.
    this.note.setAttribute("aria-live", this.playing ? "off" : "polite");
    const text = this.sentence();
    if (this.note.textContent !== text) this.note.textContent = text;
    this.picture.setAttribute("aria-label", `Distribution of the sum of ${counted(this.coins.length, "coins")}, described below`);
    this.root.dataset.law = JSON.stringify({ low: this.law.low, unit: this.law.unit, p: [...this.law.p] });
    this.draw();
  }

  // ---- drawing ----------------------------------------------------------------------------------

  draw() {
    const width = this.root.clientWidth;
    if (!width) return;
    const height = width < 600 ? 260 : 320;
    fill(this.picture, { width, height }, []);
    const sd = Math.sqrt(this.coins.reduce((sum, x) => sum + x * x, 0));
    const need = Math.min(-this.law.low, REACH * sd) + this.law.unit;
    let reach = 8; // doubled where needed, so that the axis mostly stands still
    while (reach < need) reach *= 2;
    const [left, base, top] = [66, height - 48, 10];
    const middle = (left + width - 20) / 2;
    const scale = (width - left - 20) / (2 * reach);
    this.at = { width, left, base, top, reach, x: (value) => middle + scale * value };
    cancelAnimationFrame(this.frame);
    this.paint(performance.now());
  }

  /** The axis of probabilities ends a little above 1, 1/2, 1/4, ..., the lowest that holds all. */
  paint(now) {
    const time = (now - this.began) / this.pace;
    const [split, moved, stacked] = PARTS.map((length, k) => {
      const start = PARTS.slice(0, k).reduce((sum, x) => sum + x, 0);
      return Math.min(1, Math.max(0, (time - start) / length));
    });
    const done = stacked === 1;
    const peak = done ? this.law.peak : Math.max(this.law.peak, this.before.peak);
    const highest = 1.08 * 2 ** Math.ceil(Math.log2(peak) - 1e-9);
    const { base, top } = this.at;
    const y = (probability) => base - ((base - top) * probability) / highest;
    const [up, down] = this.copies(moved, moved < 1 ? 1 - split : stacked, y);
    const area = (d, colour, side) =>
      svg("path", { d, fill: `url(#${this.id}${side})`, stroke: colour, "stroke-width": 1.2 });
    const parts = [
      svg("defs", {}, this.pattern("up", "var(--null)", "M-1 -1L9 9M-9 -1L1 9M7 -1L17 9"),
        this.pattern("down", "var(--tail)", "M-1 9L9 -1M-9 9L1 -1M7 9L17 -1")),
      ...this.axes(y, highest),
      area(up, "var(--null)", "up"),
      area(down, "var(--tail)", "down"),
    ];
    if (done) parts.push(svg("path", { class: "line", d: this.outline(y) }));
    this.picture.replaceChildren(...parts);
    if (!done) this.frame = requestAnimationFrame((later) => this.paint(later));
  }

  pattern(side, colour, d) {
    return svg("pattern", { id: this.id + side, width: 8, height: 8, patternUnits: "userSpaceOnUse" },
      svg("rect", { width: 8, height: 8, fill: colour, "fill-opacity": 0.3 }),
      svg("path", { d, stroke: colour, "stroke-width": 1.2 }));
  }

  /** Columns of both copies: how far they have moved, and how far the second stands on the first. */
  copies(moved, stacked, y) {
    const n = this.coins.length;
    const { p, low, unit } = this.before;
    const width = n ? this.coins[n - 1] : 0;
    const share = n ? 0.5 : 1;
    const paths = ["", ""];
    for (let i = 0; i < p.length; i++) {
      if (p[i] < 1e-4 * this.before.peak) continue;
      const value = low + i * unit;
      // On what its column stands: nothing, or the first copy's column at the same place.
      const ground = moved === 1 ? this.before.at(value - 2 * width) : moved === 0 ? p[i] : 0;
      paths[0] += this.column(value + moved * width, 0, share * p[i], y);
      if (n) {
        const foot = share * stacked * ground;
        paths[1] += this.column(value - moved * width, foot, foot + share * p[i], y);
      }
    }
    return paths;
  }

  column(value, low, high, y) {
    const half = this.law.unit / 2;
    const [a, b] = [this.at.x(value - half), this.at.x(value + half)];
    const gap = b - a > 6 ? 1 : 0;
    return `M${a + gap} ${y(low)}V${y(high)}H${b - gap}V${y(low)}Z`;
  }

  outline(y) {
    const { p, low, unit } = this.law;
    let d = "";
    for (let i = 0; i < p.length; i++) {
      const value = low + i * unit;
      if (p[i] < 1e-4 * this.law.peak) continue;
      d += this.column(value, 0, p[i], y);
    }
    return d;
  }

  axes(y, highest) {
    const { x, base, left, width, reach } = this.at;
    const name = `${this.model.get("label")} (${this.units})`;
    const parts = axis({ x, low: -reach, high: reach, from: left, to: width - 20, base, width, name });
    for (const share of [0.25, 0.5, 1]) {
      const value = (share * highest) / 1.08;
      parts.push(
        svg("path", { class: "line", d: `M${left} ${y(value)}h-6` }),
        svg("text", { x: left - 9, y: y(value) + 5, "text-anchor": "end" }, value === 1 ? "1" : `1/${Math.round(1 / value)}`),
      );
    }
    parts.push(
      svg("path", { class: "line", d: `M${left} ${base}V${this.at.top}` }),
      svg("text", { x: left + 8, y: this.at.top + 8, class: "over" }, "probability"),
    );
    return parts;
  }
}

export default {
  render({ model, el }) {
    const figure = new ConvolutionFigure(model, el);
    return () => figure.cleanUp.forEach((end) => end());
  },
};
