// Swap: six sentences as cards. Swap the two scores of a card, or toss a coin for every sentence.

const FALL = 200; // ms that a dot takes to fall
const SPREAD = 600; // ms within which many dots begin to fall
const MOST = 10000; // dots
const PIXELS = 14; // that a score is dragged over for one more

class SwapFigure {
  constructor(model, el) {
    this.model = model;
    this.first = { u: numbers(model.get("u")), v: numbers(model.get("v")) };
    this.random = generator(model.get("seed"));
    this.names = model.get("names");
    this.units = model.get("unit");
    this.things = `${model.get("item")}s`;
    this.places = numbers(model.get("cards"));
    this.editing = false;
    this.build(el);
    this.read();
    this.toss(model.get("tosses"), false);
    this.cleanUp = [
      follow(this.root, () => {
        this.showCards(); // names may need more lines now
        this.draw();
      }),
      listen(model, ["u", "v", "view"], () => this.saving || this.read()),
    ];
  }

  // ---- what is there ----------------------------------------------------------------------------

  /** Take scores and view from the model. */
  read() {
    this.u = numbers(this.model.get("u"));
    this.v = numbers(this.model.get("v"));
    this.view = this.model.get("view");
    this.swapped = this.places.map(() => false);
    this.count();
    this.clear();
    this.buildCards();
    this.show();
  }

  /** All that follows from the scores: differences, lead, and its exact null distribution. */
  count() {
    const all = this.view === "all";
    const gap = (i) => this.u[i] - this.v[i];
    const items = all ? this.u.map((_, i) => i) : this.places;
    this.size = items.length;
    // Sentences on which both score the same need no coin, unless one sees them.
    this.items = items.filter((i) => gap(i) !== 0 || this.places.includes(i));
    this.d = this.items.map(gap);
    this.observed = this.d.reduce((sum, x) => sum + x, 0);
    this.law = new Law(this.d);
    this.p = this.law.twoSided(this.observed);
  }

  /** No dots. */
  clear() {
    this.leads = [];
    this.births = [];
    this.levels = [];
    this.stacks = new Map();
    this.every = this.exact = false;
  }

  /** The lead of the labelling on the cards. */
  get lead() {
    const back = this.places.filter((_, k) => this.swapped[k]);
    return this.observed - 2 * back.reduce((sum, i) => sum + this.u[i] - this.v[i], 0);
  }

  extreme(lead) {
    return Math.abs(lead) >= Math.abs(this.observed);
  }

  // ---- what one can do --------------------------------------------------------------------------

  swap(k) {
    this.swapped[k] = !this.swapped[k];
    this.dropped = performance.now();
    const what = this.swapped[k] ? "swapped" : "put back";
    this.said = `You ${what} ${this.title(k)}. ${this.ahead(this.lead, "now leads")} `;
    this.show();
  }

  toss(number, loud = true) {
    if (this.every) this.clear();
    const now = loud && !calm() ? performance.now() : -Infinity;
    for (let n = 0; n < number; n++) {
      let lead = 0;
      for (let i = 0; i < this.d.length; i++) {
        const back = coin(this.random);
        lead += back ? -this.d[i] : this.d[i];
        if (n === number - 1 && loud && !this.editing) this.place(this.items[i], back);
      }
      this.drop(lead, now + (SPREAD * n) / Math.max(number, 10));
    }
    this.dropped = now;
    this.said = "";
    this.show();
  }

  place(item, back) {
    const k = this.places.indexOf(item);
    if (k >= 0) this.swapped[k] = back;
  }

  drop(lead, birth) {
    const level = this.stacks.get(lead) ?? 0;
    this.stacks.set(lead, level + 1);
    this.leads.push(lead);
    this.levels.push(level);
    this.births.push(birth);
  }

  /** Each labelling once, where they can be listed; else their exact distribution. */
  all() {
    if (this.view === "all") {
      this.exact = true;
    } else {
      this.clear();
      const now = calm() ? -Infinity : performance.now();
      const number = 2 ** this.d.length;
      for (let labels = 0; labels < number; labels++) {
        const lead = this.d.reduce((sum, x, i) => sum + ((labels >> i) & 1 ? -x : x), 0);
        this.drop(lead, now + (SPREAD * labels) / number);
      }
      this.every = true;
    }
    this.said = "";
    this.show();
  }

  /** Another score on one card: dots of the old scores go, the exact distribution follows. */
  change(k, side, score, done) {
    const [low, high] = this.range;
    const scores = side ? this.v : this.u;
    scores[this.places[k]] = Math.min(high, Math.max(low, score));
    this.count();
    this.clear();
    this.exact = true;
    this.said = "";
    if (done) this.save();
    this.show();
  }

  get range() {
    const all = [...this.first.u, ...this.first.v];
    const [low, high] = all.reduce(([a, b], x) => [Math.min(a, x), Math.max(b, x)], [0, 20]);
    return [low, high];
  }

  save() {
    this.saving = true;
    this.model.set("u", [...this.u]);
    this.model.set("v", [...this.v]);
    this.model.set("view", this.view);
    this.model.save_changes();
    this.saving = false;
  }

  again() {
    this.u = [...this.first.u];
    this.v = [...this.first.v];
    this.save();
    this.said = "";
    this.read();
  }

  look(view) {
    this.view = view;
    this.save();
    this.said = "";
    this.read();
    if (view === "all") this.toss(100);
  }

  edit() {
    this.editing = !this.editing;
    this.swapped.fill(false);
    if (this.editing) {
      this.clear();
      this.exact = true;
    }
    this.said = "";
    this.buildCards();
    this.show();
  }

  // ---- words ------------------------------------------------------------------------------------

  title(k) {
    return this.model.get("labels")[k];
  }

  ahead(lead, leads = "leads") {
    if (lead === 0) return `${this.names[0]} and ${this.names[1]} are level.`;
    const name = this.names[lead > 0 ? 0 : 1];
    return `${name} ${leads} by ${counted(Math.abs(lead), this.units)}.`;
  }

  sentence() {
    const [number, size] = [this.leads.length, 2 ** this.d.length];
    const bound = `lead by at least ${counted(Math.abs(this.observed), this.units)} in either direction`;
    const all = whole(this.size);
    const where = `on ${this.view === "all" ? "all" : "these"} ${all} ${this.things}`;
    if (this.observed === 0) {
      return `Both systems score the same ${where}. Every labelling is at least as extreme as that: p = 1.`;
    }
    if (this.every || (this.exact && this.view !== "all")) {
      const found = Math.round(this.p * size);
      return `${this.said}${found} of all ${size} labellings ${bound}: p = ${found}/${size} = ${digits(this.p)}, exactly.`;
    }
    let text = this.said;
    if (this.exact) {
      const coins = this.d.filter((x) => x).length;
      const exactly = this.p > 0 ? `p = ${digits(this.p)}, exactly.` : "p is less than 1e-300.";
      text += `${this.ahead(this.observed)} Counting every labelling of the ${all} ${this.things}, of which ${whole(coins)} differ: ${exactly} `;
    }
    if (number) {
      text += this.share(bound);
    } else if (!this.exact && !this.said) {
      text += `${this.ahead(this.observed).slice(0, -1)} ${where}. Is that more than coins would make of it?`;
    }
    return text;
  }

  /** What the dots say of p. Where none is extreme, p is below 3 / n in 95 of 100 such cases. */
  share(bound) {
    const number = this.leads.length;
    const found = this.leads.filter((lead) => this.extreme(lead)).length;
    const some = `${found ? whole(found) : "None"} of ${counted(number, "labellings")} ${bound}`;
    if (found) return `${some}: p is about ${digits(found / number)}.`;
    return number < 10 ? `${some}; toss more.` : `${some}: p is most likely below ${digits(3 / number)}.`;
  }

  // ---- elements ---------------------------------------------------------------------------------

  build(el) {
    this.root = frame(el, `What if the labels ${this.names.join(" and ")} meant nothing?`);
    this.cards = html("div", { class: "cards", keydown: arrows, role: "group", "aria-label": "Cards" });
    const views = [["few", `${this.places.length} ${this.things}`]];
    const total = this.first.u.length;
    if (total > this.places.length) views.push(["all", `all ${whole(total)} ${this.things}`]);
    this.views = views.map(([view, words]) => button(words, () => this.look(view), { "data-view": view }));
    this.editor = button("Change the scores", () => this.edit());
    this.tosses = [[1, "Toss once"], [10, "10 times"], [1000, "1,000 times"]].map(([n, words]) =>
      button(words, () => this.toss(n), { "data-tosses": n }));
    this.whole = button("", () => this.all());
    this.hint = html("p", { class: "hint" });
    const restart = button("Start again", () => this.again());
    this.canvas = html("canvas", {});
    this.axis = svg("svg", { "aria-hidden": "true" });
    this.picture = html("div", { class: "picture", role: "img" }, this.canvas, this.axis);
    this.note = html("div", { class: "note", role: "status", "aria-live": "polite" });
    const row = (...parts) => html("div", { class: "row", keydown: arrows }, ...parts);
    this.root.append(
      row(...(views.length > 1 ? this.views : []), this.editor, this.hint),
      this.cards,
      row(...this.tosses, this.whole, restart),
      legend([
        [svg("circle", { cx: 12, cy: 8, r: 5, fill: "var(--null)" }), "a labelling"],
        [svg("rect", { x: 7, y: 3, width: 10, height: 10, fill: "var(--tail)" }), "at least as extreme"],
        [svg("circle", { cx: 12, cy: 8, r: 5.5, class: "line", "stroke-width": 2.5 }), "the one on the cards"],
        [svg("path", { d: "M12 0v16", class: "observed" }), "observed"],
        [svg("path", { d: "M12 0v16", class: "mirrored" }), "mirrored"],
        [svg("path", { d: "M3 16V8h6V3h6v5h6v8", class: "line" }), "all labellings"],
      ]),
      this.picture,
      this.note,
    );
  }

  buildCards() {
    this.scores = [];
    this.gaps = [];
    this.cards.replaceChildren();
    this.places.forEach((_, k) => {
      const card = this.editing
        ? html("div", { class: "card", role: "group", "aria-label": this.title(k) })
        : button("", () => this.swap(k), { class: "card" });
      const marks = [0, 1].map((side) => html("span", { class: `score ${"ab"[side]}` }));
      if (this.editing) marks.forEach((mark, side) => this.handle(mark, k, side));
      const gap = html("span", { class: "gap" });
      card.append(html("span", { class: "title" }, this.title(k)));
      this.names.forEach((name, side) => card.append(html("span", { class: "name" }, ...breakable(name)), marks[side]));
      card.append(gap);
      this.scores.push(marks);
      this.gaps.push(gap);
      this.cards.append(card);
    });
  }

  /** Let a score be dragged, or moved by arrow keys. */
  handle(mark, k, side) {
    const [low, high] = this.range;
    const label = `${this.names[side]}, ${this.title(k)}`;
    fill(mark, { role: "slider", tabindex: 0, "aria-label": label, "aria-valuemin": low, "aria-valuemax": high }, []);
    const value = () => (side ? this.v : this.u)[this.places[k]];
    let from = null;
    mark.addEventListener("pointerdown", (event) => {
      mark.setPointerCapture(event.pointerId);
      from = { x: event.clientX, y: event.clientY, value: value() };
    });
    mark.addEventListener("pointermove", (event) => {
      if (!from) return;
      const way = event.clientX - from.x - (event.clientY - from.y);
      const next = from.value + Math.round(way / PIXELS);
      if (next !== value()) this.change(k, side, next, false);
    });
    for (const end of ["pointerup", "pointercancel"]) {
      mark.addEventListener(end, () => {
        from = null;
        this.save();
      });
    }
    mark.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageUp: 5, PageDown: -5 }[event.key];
      if (!step) return;
      event.preventDefault();
      this.change(k, side, value() + step, true);
    });
  }

  // ---- drawing ----------------------------------------------------------------------------------

  /** Bring everything that is seen up to date. */
  show() {
    for (const one of this.views) {
      one.setAttribute("aria-pressed", one.dataset.view === this.view);
    }
    this.editor.setAttribute("aria-pressed", this.editing);
    this.hint.textContent = this.editing
      ? "Drag a score to change it, or use the arrow keys. The exact distribution follows."
      : `Click a card to swap its two scores, or toss a coin for every ${this.model.get("item")}.`;
    for (const one of this.tosses) one.disabled = this.leads.length + Number(one.dataset.tosses) > MOST;
    this.whole.textContent = this.view === "all" ? "Count all labellings" : `All ${2 ** this.d.length} labellings`;
    this.showCards();
    const text = this.sentence();
    if (this.note.textContent !== text) this.note.textContent = text;
    this.picture.setAttribute("aria-label", `Leads of ${counted(this.leads.length, "labellings")}, described below`);
    this.root.dataset.p = this.p;
    this.draw();
  }

  showCards() {
    this.places.forEach((place, k) => {
      const [a, b] = this.scores[k];
      const [u, v] = [this.u[place], this.v[place]];
      const back = this.swapped[k];
      [a, b].forEach((mark, side) => {
        mark.textContent = whole([u, v][side]);
        if (this.editing) mark.setAttribute("aria-valuenow", [u, v][side]);
      });
      const way = back ? b.offsetTop + b.offsetHeight / 2 - a.offsetTop - a.offsetHeight / 2 : 0;
      a.style.transform = `translateY(${way}px)`;
      b.style.transform = `translateY(${-way}px)`;
      this.gaps[k].textContent = `difference ${signed(back ? v - u : u - v)}`;
      if (this.editing) return;
      const card = this.cards.children[k];
      const [x, y] = back ? [v, u] : [u, v];
      card.setAttribute("aria-pressed", back);
      card.setAttribute("aria-label",
        `${this.title(k)}: ${this.names[0]} ${whole(x)}, ${this.names[1]} ${whole(y)}, ${back ? "swapped" : "as observed"}`);
    });
  }

  draw() {
    const width = this.picture.clientWidth;
    if (!width) return;
    const height = width < 600 ? 250 : 280; // all fits on a projector
    const scale = devicePixelRatio || 1;
    this.picture.style.height = `${height}px`;
    this.canvas.width = width * scale;
    this.canvas.height = height * scale;
    this.canvas.style.width = `${width}px`;
    this.canvas.style.height = `${height}px`;
    fill(this.axis, { width, height }, []);
    this.layOut(width, height);
    this.drawAxis(width);
    const look = getComputedStyle(this.root);
    this.colours = ["--null", "--tail", "--paper"].map((name) => look.getPropertyValue(name));
    this.colours.push(look.color);
    cancelAnimationFrame(this.next);
    this.paint(performance.now());
  }

  /** Where leads and dots are. */
  layOut(width, height) {
    const { p, low, unit } = this.law;
    let spread = -low;
    if (this.view === "all") {
      const sd = Math.sqrt(this.d.reduce((sum, x) => sum + x * x, 0));
      const seen = Math.max(Math.abs(this.observed), Math.abs(this.lead), ...this.leads.map(Math.abs));
      spread = Math.min(spread, Math.max(4 * sd, seen));
    }
    const reach = Math.max(spread, 1) + unit / 2;
    const [margin, base, top] = [18, height - 48, 30];
    const pitch = ((width - 2 * margin) * unit) / (2 * reach);
    const number = this.leads.length;
    const peak = Math.max(...this.stacks.values(), this.exact ? number * this.law.peak : 0, 1);
    const room = (base - top) / peak;
    const radius = Math.max(1, Math.min(0.46 * pitch, 11, Math.max(3.5, room / 2 - 0.5)));
    const step = Math.min(2 * radius + 1, (base - top - radius) / peak);
    this.at = {
      x: (lead) => width / 2 + ((width - 2 * margin) * lead) / (2 * reach),
      base, top, pitch, radius, step, reach,
      // Pixels for a probability of 1: what is expected of so many tosses, or as high as can be.
      unit: number ? number * step : (0.9 * (base - top)) / this.law.peak,
      p, low,
    };
  }

  drawAxis(width) {
    const { x, base, reach } = this.at;
    const name = `lead of ${this.names[0]} (${this.units})`;
    const parts = axis({ x, low: -reach, high: reach, from: 0, to: width, base, width, name });
    const rules = [["observed", this.observed]];
    if (this.observed) rules.push(["mirrored", -this.observed]);
    for (const [word, lead] of rules) {
      const at = x(lead);
      // Words stand on the outer side of their line if there is room, else on the inner one.
      const text = `${word} ${signed(lead)}`;
      const outer = lead >= 0 ? 1 : -1;
      const side = Math.abs(at + outer * (9 * text.length + 6) - width / 2) > width / 2 ? -outer : outer;
      parts.push(
        svg("path", { class: word, d: `M${at} 4V${base}` }),
        svg("text", { class: "over", x: at + 6 * side, y: 16, "text-anchor": side > 0 ? "start" : "end" }, text),
      );
    }
    this.axis.replaceChildren(...parts);
  }

  /** One frame; another one follows while something falls. */
  paint(now) {
    const { x, base, pitch, radius, step } = this.at;
    const [blue, brown, paper, ink] = this.colours;
    const pen = this.canvas.getContext("2d");
    const scale = devicePixelRatio || 1;
    pen.setTransform(scale, 0, 0, scale, 0, 0);
    pen.clearRect(0, 0, this.canvas.width, this.canvas.height);
    if (this.exact) this.paintLaw(pen);
    let falling = false;
    const fallen = (birth, y) => {
      const part = (now - birth) / FALL;
      if (part >= 1) return y;
      falling = true;
      return part < 0 ? -99 : y * part * part;
    };
    for (const tail of [false, true]) {
      pen.fillStyle = tail ? brown : blue;
      pen.beginPath();
      for (let i = 0; i < this.leads.length; i++) {
        const lead = this.leads[i];
        if (this.extreme(lead) !== tail) continue;
        const y = fallen(this.births[i], base - radius - this.levels[i] * step);
        if (tail || radius < 2) {
          pen.rect(x(lead) - 0.9 * radius, y - 0.9 * radius, 1.8 * radius, 1.8 * radius);
        } else {
          pen.moveTo(x(lead) + radius, y);
          pen.arc(x(lead), y, radius, 0, 7);
        }
      }
      pen.fill();
    }
    this.paintRing(pen, fallen(this.dropped ?? -Infinity, base - 7), paper, ink);
    if (falling) this.next = requestAnimationFrame((time) => this.paint(time));
  }

  /** The labelling on the cards. */
  paintRing(pen, y, paper, ink) {
    pen.beginPath();
    pen.arc(this.at.x(this.lead), y, 6, 0, 7);
    pen.lineWidth = 5.5;
    pen.strokeStyle = paper;
    pen.stroke();
    pen.lineWidth = 3;
    pen.strokeStyle = ink;
    pen.stroke();
  }

  /** The exact distribution as columns, those at least as extreme hatched. */
  paintLaw(pen) {
    const { x, base, pitch, unit, p, low } = this.at;
    const [blue, brown, , ink] = this.colours;
    const wide = pitch > 3 ? pitch - 1 : pitch;
    const lines = hatch(pen, brown);
    for (let i = 0; i < p.length; i++) {
      const lead = low + i * this.law.unit;
      const column = [x(lead) - wide / 2, base - p[i] * unit, wide, p[i] * unit];
      const tail = this.extreme(lead);
      pen.globalAlpha = 0.35;
      pen.fillStyle = tail ? brown : blue;
      pen.fillRect(...column);
      pen.globalAlpha = 1;
      pen.fillStyle = lines;
      if (tail) pen.fillRect(...column);
    }
    pen.strokeStyle = ink;
    pen.lineWidth = 1.2;
    pen.beginPath();
    for (let i = 0; i < p.length; i++) {
      const left = x(low + i * this.law.unit) - pitch / 2;
      pen.lineTo(left, base - p[i] * unit);
      pen.lineTo(left + pitch, base - p[i] * unit);
    }
    pen.stroke();
  }
}

/** Diagonal lines to fill an area with. */
function hatch(pen, colour) {
  const tile = html("canvas", { width: 8, height: 8 });
  const line = tile.getContext("2d");
  line.strokeStyle = colour;
  for (const at of [-8, 0, 8]) {
    line.moveTo(at - 1, 9);
    line.lineTo(at + 9, -1);
  }
  line.stroke();
  return pen.createPattern(tile, "repeat");
}

export default {
  render({ model, el }) {
    const figure = new SwapFigure(model, el);
    return () => figure.cleanUp.forEach((end) => end());
  },
};
