// What all figures share. `figures.py` puts it before each of them, so that each is one module.

const SVG = "http://www.w3.org/2000/svg";
const MINUS = "\u2212";

// ---- elements -----------------------------------------------------------------------------------

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") node.addEventListener(name, value);
    else node.setAttribute(name, value);
  }
  node.append(...children);
  return node;
}

function html(name, attributes = {}, ...children) {
  return fill(document.createElement(name), attributes, children);
}

function svg(name, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, name), attributes, children);
}

function button(label, click, more = {}) {
  return html("button", { type: "button", click, ...more }, label);
}

/** A key of the picture: rows of [what is drawn, in 24 x 16 pixels, and its words]. */
function legend(rows) {
  const drawing = (shape) => svg("svg", { width: 24, height: 16, "aria-hidden": "true" }, shape);
  return html("ul", { class: "row key" }, ...rows.map(([shape, words]) =>
    html("li", {}, drawing(shape), words)));
}

/** Arrow keys move the focus within a row of buttons; Tab goes through them as well. */
function arrows(event) {
  const step = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 }[event.key];
  const all = [...event.currentTarget.querySelectorAll("button:enabled")];
  const at = all.indexOf(event.target);
  if (!step || at < 0) return;
  event.preventDefault();
  all[(at + step + all.length) % all.length].focus();
}

// ---- the frame ----------------------------------------------------------------------------------

/** The outermost element of a figure, with its style. */
function frame(el, label) {
  // In JupyterLab keys that are pressed here must not be shortcuts of the notebook.
  const more = { "aria-label": label, "data-lm-suppress-shortcuts": "true" };
  const root = html("section", { class: "ptf", ...more }, html("style", {}, STYLE));
  el.append(root);
  return root;
}

/** Call `redraw` now and whenever the room or the colours of the page change; returns an end. */
function follow(root, redraw) {
  const all = () => {
    root.classList.toggle("dark", isLight(getComputedStyle(root).color));
    root.style.setProperty("--paper", ground(root));
    redraw();
  };
  let width = 0;
  const sizes = new ResizeObserver(() => {
    if (root.clientWidth !== width) all();
    width = root.clientWidth;
  });
  const themes = new MutationObserver(all);
  const scheme = matchMedia("(prefers-color-scheme: dark)");
  sizes.observe(root);
  for (const node of [document.documentElement, document.body]) {
    themes.observe(node, { attributes: true, attributeFilter: ["class", "style", "data-theme", "data-jp-theme-name"] });
  }
  scheme.addEventListener("change", all);
  return () => {
    sizes.disconnect();
    themes.disconnect();
    scheme.removeEventListener("change", all);
  };
}

function isLight(colour) {
  const [r, g, b] = colour.match(/[\d.]+/g).map(Number);
  return 0.3 * r + 0.59 * g + 0.11 * b > 140;
}

/** The colour behind an element: that of the first ancestor that has one. */
function ground(node) {
  for (let at = node; at; at = at.parentElement) {
    const colour = getComputedStyle(at).backgroundColor;
    if (!/^rgba\(.*, 0\)$|^transparent$/.test(colour)) return colour;
  }
  return node.classList.contains("dark") ? "#121212" : "#fff";
}

function calm() {
  return matchMedia("(prefers-reduced-motion: reduce)").matches;
}

/** Listen to several traits of the model; returns an end. */
function listen(model, names, heard) {
  for (const name of names) model.on(`change:${name}`, heard);
  return () => names.forEach((name) => model.off(`change:${name}`, heard));
}

// ---- numbers ------------------------------------------------------------------------------------

/** mulberry32: the same seed gives the same whole numbers from 0 to 2^32 - 1. */
function generator(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return (t ^ (t >>> 14)) >>> 0;
  };
}

/** The coin of a random number: whether labels are swapped, or the sign is minus. */
function coin(random) {
  return random() >>> 31 === 1;
}

function gcd(a, b) {
  return b ? gcd(b, a % b) : a;
}

/**
 * The exact law of a sum of differences of fair signs. It lives on a lattice: `p[i]` is the
 * probability of the sum `low + i * unit`. Nothing is subtracted, so that each probability keeps
 * its leading digits; those below 1e-308 are lost.
 */
class Law {
  constructor(differences) {
    const widths = differences.map(Math.abs).filter((x) => x > 0);
    const step = widths.reduce(gcd, 0) || 1;
    this.low = -widths.reduce((sum, x) => sum + x, 0);
    this.unit = 2 * step;
    this.p = new Float64Array(-this.low / step + 1);
    this.p[0] = 1;
    let end = 0;
    for (const width of widths) {
      const w = width / step;
      end += w;
      for (let i = end; i >= 0; i--) {
        this.p[i] = 0.5 * (this.p[i] + (i >= w ? this.p[i - w] : 0));
      }
    }
  }

  /** P[|sum| >= |observed|]. */
  twoSided(observed) {
    const bound = Math.abs(observed);
    if (bound === 0) return 1;
    let tail = 0;
    for (let i = 0; this.low + i * this.unit <= -bound; i++) tail += this.p[i];
    return 2 * tail;
  }

  /** P[sum = value]; 0 between the places of the lattice. */
  at(value) {
    return this.p[(value - this.low) / this.unit] ?? 0;
  }

  get peak() {
    return this.p.reduce((a, b) => Math.max(a, b), 0);
  }
}

/** A list of numbers; that of a static page is a text. */
function numbers(list) {
  return typeof list === "string" ? list.split(" ").map(Number) : [...list];
}

// ---- words --------------------------------------------------------------------------------------

function whole(x) {
  return x.toLocaleString("en-US").replace("-", MINUS);
}

function signed(x) {
  return (x > 0 ? "+" : "") + whole(x);
}

/** Three digits, as a p-value or a probability is written. */
function digits(x) {
  return x === 0 || x >= 1e-4 ? String(Number(x.toPrecision(3))) : x.toPrecision(3);
}

/** "1 word", "4 words": the plural is given. */
function counted(n, plural) {
  return `${whole(n)} ${n === 1 ? plural.replace(/s$/, "") : plural}`;
}

/** A name that may be broken after _, - or /. */
function breakable(name) {
  return name.split(/(?<=[_/-])/).flatMap((part) => [part, html("wbr")]);
}

/** A text of at most so many letters. */
function short(text, most) {
  return text.length <= most ? text : `${text.slice(0, most - 1)}\u2026`;
}

/**
 * A horizontal axis at `base`, with its name below; it ends at `from` and `to`, within a picture of
 * this width. Numbers without room are left out.
 */
function axis({ x, low, high, from, to, base, width, name, words = signed }) {
  const middle = { "text-anchor": "middle" };
  const parts = [
    svg("path", { class: "line", d: `M${from} ${base + 0.5}H${to}` }),
    svg("text", { x: (from + to) / 2, y: base + 42, ...middle }, short(name, Math.floor((to - from) / 9))),
  ];
  for (const tick of ticks(low, high, (to - from) / 70)) {
    const [at, text] = [x(tick), words(tick)];
    const room = 4.5 * text.length;
    parts.push(svg("path", { class: "line", d: `M${at} ${base}v6` }));
    if (at > room && at < width - room) parts.push(svg("text", { x: at, y: base + 21, ...middle }, text));
  }
  return parts;
}

/** Round places for ticks from low to high, at most so many. */
function ticks(low, high, most) {
  const rough = (high - low) / most;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = Math.max(1, [1, 2, 5, 10].map((x) => x * power).find((x) => x >= rough));
  const found = [];
  for (let x = Math.ceil(low / step) * step; x <= high; x += step) found.push(x);
  return found;
}
