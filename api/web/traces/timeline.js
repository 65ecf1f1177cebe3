/** The timeline of a trace: lanes for the parts of the service, width is time, arrows follow causes. */

import { drawing, element } from "../dom.js";
import { BAR, Lanes } from "./lanes.js";
import { count } from "../text.js";
import { TROUBLE } from "./model.js";
import { kindName, lineOf, since } from "./saying.js";

/** Beyond so many events the arrows of all causes would be a blot: then only those of the chosen event are drawn. */
const MOST_ARROWS = 1200;
const MARGIN = 14;
/** As wide as the longest name of a tick, such as "2000 ms". */
const NAME_WIDTH = 56;
const NAMES = 80;
const CHARACTER = 6.6;
const ZOOMS = [1, 2, 4, 8, 16, 32];

export class Timeline {
  /**
   * @param {import("./model.js").Trace} trace
   * @param {(seq: number) => void} choose Called with the event that was clicked.
   */
  constructor(trace, choose) {
    this.trace = trace;
    this.choose = choose;
    this.zoom = 0;
    this.byTime = true;
    this.seq = 1;
    this.width = 0;
    this.lanes = new Lanes(trace);
    this.labels = drawing("svg", { class: "lane-names", "aria-hidden": "true" });
    this.base = drawing("svg", { class: "timeline-base", role: "img" });
    this.over = drawing("svg", { class: "timeline-over", "aria-hidden": "true" });
    this.tip = element("div", { class: "timeline-tip", hidden: true, "aria-hidden": "true" });
    this.canvas = element("div", { class: "timeline-canvas" }, this.base, this.over, this.tip);
    this.scroller = element(
      "div",
      { class: "timeline-scroller", tabindex: 0, role: "region", "aria-label": "Timeline, scrolls sideways" },
      this.canvas,
    );
    this.element = element(
      "section",
      { class: "timeline", "aria-label": "Timeline" },
      this.#head(),
      element("div", { class: "timeline-body" }, this.labels, this.scroller),
    );
    this.canvas.addEventListener("click", (event) => this.#click(event));
    this.canvas.addEventListener("pointermove", (event) => this.#hover(event));
    this.canvas.addEventListener("pointerleave", () => {
      this.tip.hidden = true;
    });
    this.watcher = new ResizeObserver(() => {
      if (this.scroller.clientWidth !== this.width) this.draw();
    });
    this.watcher.observe(this.scroller);
  }

  #head() {
    const scale = element(
      "button",
      { class: "quiet", type: "button", "aria-pressed": "false" },
      "Equal steps",
    );
    scale.addEventListener("click", () => {
      this.byTime = !this.byTime;
      scale.setAttribute("aria-pressed", String(!this.byTime));
      this.draw();
    });
    const zoom = (/** @type {number} */ by, /** @type {string} */ sign, /** @type {string} */ name) =>
      element(
        "button",
        { class: "quiet zoom", type: "button", click: () => this.#zoomBy(by) },
        element("span", { "aria-hidden": "true" }, sign),
        element("span", { class: "hidden" }, name),
      );
    const key = (/** @type {string} */ name, /** @type {string} */ text) =>
      element("span", { class: "row tight" }, element("span", { class: `swatch ${name}` }), text);
    return element(
      "div",
      { class: "row spread timeline-head" },
      element(
        "p",
        { class: "row soft keys" },
        key("call", "model"),
        key("tool", "tool"),
        key("early", "tool started early"),
        key("trouble", "trouble"),
        key("doubt", "doubt"),
      ),
      element("div", { class: "timeline-tools" }, scale, zoom(-1, "−", "Zoom out"), zoom(1, "+", "Zoom in")),
    );
  }

  /** @param {number} by */
  #zoomBy(by) {
    this.zoom = Math.max(0, Math.min(ZOOMS.length - 1, this.zoom + by));
    this.draw();
  }

  /**
   * How far right an event stands.
   * @param {import("../types.js").Recorded} recorded
   */
  x(recorded) {
    const inner = this.canvasWidth - 2 * MARGIN;
    const count = this.trace.events.length;
    if (!this.byTime) return MARGIN + (inner * (recorded.seq - 1)) / Math.max(1, count - 1);
    const seconds = this.trace.seconds || 1;
    return MARGIN + (inner * (recorded.at - this.trace.beganAt)) / seconds;
  }

  get canvasWidth() {
    return Math.max(240, this.width) * (ZOOMS[this.zoom] ?? 1);
  }

  /** @param {number} seq */
  #xOf(seq) {
    const recorded = this.trace.event(seq);
    return recorded === null ? MARGIN : this.x(recorded);
  }

  /** Draws all of it anew. */
  draw() {
    this.lanes = new Lanes(this.trace);
    this.width = this.scroller.clientWidth;
    const size = { width: this.canvasWidth, height: this.lanes.height };
    for (const [svg, width] of /** @type {[SVGElement, number][]} */ ([
      [this.base, size.width],
      [this.over, size.width],
      [this.labels, NAMES],
    ])) {
      svg.setAttribute("width", String(width));
      svg.setAttribute("height", String(size.height));
    }
    this.base.setAttribute("aria-label", this.#inWords());
    this.labels.replaceChildren(
      ...[...this.lanes.lanes.values()].map((lane) =>
        drawing("text", { x: NAMES - 8, y: lane.top + lane.height / 2 + 4, "text-anchor": "end" }, lane.name),
      ),
    );
    this.base.replaceChildren(
      ...this.#ground(size.width),
      ...this.#axis(size),
      ...this.#stops(size.height),
      this.#causes(),
      ...this.lanes.spans.flatMap((span) => this.#bar(span)),
      ...this.#points(),
    );
    this.show(this.seq);
  }

  #inWords() {
    const { rounds, tools, events, seconds } = this.trace;
    return `${count(events.length, "event")} in ${since(seconds)}, ${count(rounds.length, "round")} and ${count(tools.size, "tool call")}. The slider below goes from event to event.`;
  }

  /** @param {number} width */
  #ground(width) {
    return [...this.lanes.lanes.values()].map((lane, place) =>
      drawing("rect", {
        class: place % 2 === 0 ? "lane" : "lane odd",
        x: 0,
        y: lane.top,
        width,
        height: lane.height,
      }),
    );
  }

  /** @param {{width: number, height: number}} size */
  #axis(size) {
    if (!this.byTime) return [];
    const inner = size.width - 2 * MARGIN;
    const step = niceStep((this.trace.seconds || 1) / Math.max(1, inner / 110));
    const marks = [];
    for (let at = 0; at <= this.trace.seconds + 1e-9; at += step) {
      const x = MARGIN + (inner * at) / (this.trace.seconds || 1);
      marks.push(drawing("line", { class: "tick", x1: x, x2: x, y1: 16, y2: size.height }));
      // The last one stands before its line where there is no room behind it.
      const fits = x + NAME_WIDTH <= size.width;
      const place = fits ? { x: x + 3, "text-anchor": "start" } : { x: x - 3, "text-anchor": "end" };
      marks.push(drawing("text", { class: "tick-name", y: 13, ...place }, axisTime(at, step)));
    }
    return marks;
  }

  /**
   * The limits that were reached, through all lanes.
   * @param {number} height
   */
  #stops(height) {
    const stops = [];
    for (const recorded of this.trace.events) {
      const { kind } = recorded.event;
      if (kind !== "breaker_tripped" && kind !== "recovery_started") continue;
      const x = this.x(recorded);
      stops.push(drawing("line", { class: `stop ${kind}`, x1: x, x2: x, y1: 20, y2: height }));
    }
    return stops;
  }

  #causes() {
    const curves = [];
    if (this.trace.events.length <= MOST_ARROWS) {
      for (const recorded of this.trace.events) {
        const cause = this.trace.event(recorded.cause);
        if (cause !== null) curves.push(this.#curve(cause, recorded));
      }
    }
    return drawing("path", { class: "causes", d: curves.join("") });
  }

  /**
   * @param {import("../types.js").Recorded} from
   * @param {import("../types.js").Recorded} to
   */
  #curve(from, to) {
    const [x1, y1, x2, y2] = [this.x(from), this.lanes.y(from), this.x(to), this.lanes.y(to)];
    if (y1 === y2) {
      const high = y1 - Math.min(10, 3 + Math.abs(x2 - x1) / 6);
      return `M${x1} ${y1}Q${(x1 + x2) / 2} ${high} ${x2} ${y2}`;
    }
    const bend = Math.min(30, Math.max(4, (x2 - x1) / 2));
    return `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`;
  }

  /** @param {import("./lanes.js").Span} span */
  #bar(span) {
    const from = this.#xOf(span.from);
    const to = span.to === null ? this.canvasWidth - MARGIN : this.#xOf(span.to);
    const width = Math.max(3, to - from);
    const states = [span.isFailed && "failed", span.isEarly && "early", span.to === null && "running"];
    const bar = drawing("rect", {
      class: ["bar", span.kind, ...states.filter(Boolean)].join(" "),
      "data-seq": span.seq,
      x: from,
      y: span.y - BAR / 2,
      width,
      height: BAR,
      rx: 4,
    });
    const fits = Math.floor((width - 8) / CHARACTER);
    if (fits < 3) return [bar];
    const name = span.name.length > fits ? `${span.name.slice(0, fits - 1)}…` : span.name;
    return [bar, drawing("text", { class: `bar-name ${span.kind}`, x: from + 5, y: span.y + 4 }, name)];
  }

  #points() {
    let usual = "";
    let trouble = "";
    for (const recorded of this.trace.events) {
      const dot = `M${this.x(recorded).toFixed(1)} ${this.lanes.y(recorded)}h0`;
      if (TROUBLE.has(recorded.event.kind)) trouble += dot;
      else usual += dot;
    }
    const rings = [];
    for (const { event_seq: seq } of this.trace.indicators) {
      const ring = this.#ring("doubt", seq);
      if (ring !== null) rings.push(ring);
    }
    return [
      drawing("path", { class: "points", d: usual }),
      drawing("path", { class: "points trouble", d: trouble }),
      ...rings,
    ];
  }

  /**
   * @param {string} name
   * @param {number} seq
   */
  #ring(name, seq) {
    const recorded = this.trace.event(seq);
    if (recorded === null) return null;
    return drawing("circle", { class: name, cx: this.x(recorded), cy: this.lanes.y(recorded), r: 6 });
  }

  /**
   * Marks an event, what led to it and what it led to.
   * @param {number} seq
   */
  show(seq) {
    this.seq = seq;
    const recorded = this.trace.event(seq);
    if (recorded === null) return;
    const x = this.x(recorded);
    const chain = [recorded, ...this.trace.chain(recorded)];
    const led = [];
    for (const [place, cause] of chain.slice(1).entries()) {
      const effect = chain[place];
      if (effect !== undefined) led.push(this.#arrow("chain", cause, effect));
    }
    const effects = (this.trace.effects.get(seq) ?? []).slice(0, 200);
    for (const effect of effects) {
      const found = this.trace.event(effect);
      if (found !== null) led.push(this.#arrow("effect", recorded, found));
    }
    const dot = this.#ring("here", seq);
    this.over.replaceChildren(
      arrowHead("chain"),
      arrowHead("effect"),
      drawing("line", { class: "cursor", x1: x, x2: x, y1: 18, y2: this.lanes.height }),
      ...led,
      ...(dot === null ? [] : [dot]),
    );
    this.#bringIntoView(x);
  }

  /**
   * @param {"chain" | "effect"} name
   * @param {import("../types.js").Recorded} from
   * @param {import("../types.js").Recorded} to
   */
  #arrow(name, from, to) {
    return drawing("path", { class: name, d: this.#curve(from, to), "marker-end": `url(#head-${name})` });
  }

  /** @param {number} x */
  #bringIntoView(x) {
    // Without zoom there is nothing to scroll, and asking where it stands would lay the page out once more.
    if (this.zoom === 0) return;
    const left = this.scroller.scrollLeft;
    if (x < left + 20 || x > left + this.width - 20) this.scroller.scrollLeft = x - this.width / 2;
  }

  /** @param {MouseEvent} event */
  #click(event) {
    const seq = this.#nearest(event);
    if (seq !== null) this.choose(seq);
  }

  /** @param {PointerEvent} event */
  #hover(event) {
    const seq = this.#nearest(event);
    const recorded = seq === null ? null : this.trace.event(seq);
    this.tip.hidden = recorded === null;
    if (recorded === null) return;
    this.tip.textContent = `${recorded.seq} ${kindName(recorded.event.kind)}, ${since(recorded.at - this.trace.beganAt)}. ${lineOf(recorded.event)}`;
    const x = this.x(recorded);
    const isRight = x - this.scroller.scrollLeft > this.width / 2;
    this.tip.classList.toggle("left", isRight);
    this.tip.style.left = `${x + (isRight ? -10 : 10)}px`;
    this.tip.style.top = `${this.lanes.y(recorded) + 12}px`;
  }

  /**
   * The event at a place of the drawing: that of a bar, or the nearest of the lane, or of all.
   * @param {MouseEvent} event
   */
  #nearest(event) {
    const target = /** @type {Element} */ (event.target);
    const named = target.getAttribute("data-seq");
    if (named !== null) return Number(named);
    const box = this.canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    let best = null;
    let least = Infinity;
    for (const recorded of this.trace.events) {
      const off = Math.abs(this.x(recorded) - x) + 3 * Math.abs(this.lanes.y(recorded) - y);
      if (off < least) {
        least = off;
        best = recorded.seq;
      }
    }
    return best;
  }

  /** Is to be called when it is left. */
  leave() {
    this.watcher.disconnect();
  }
}

/** @param {string} name */
function arrowHead(name) {
  return drawing(
    "marker",
    {
      id: `head-${name}`,
      class: `arrow-head ${name}`,
      viewBox: "0 0 8 8",
      refX: 7,
      refY: 4,
      markerWidth: 7,
      markerHeight: 7,
      orient: "auto-start-reverse",
      markerUnits: "userSpaceOnUse",
    },
    drawing("path", { d: "M0 0.8L7 4L0 7.2z" }),
  );
}

/**
 * A round number of seconds that is at least so large.
 * @param {number} least
 */
function niceStep(least) {
  const power = 10 ** Math.floor(Math.log10(least));
  for (const factor of [1, 2, 5]) if (factor * power >= least) return factor * power;
  return 10 * power;
}

/**
 * @param {number} seconds
 * @param {number} step
 */
function axisTime(seconds, step) {
  if (step < 0.001) return `${(seconds * 1000).toFixed(1)} ms`;
  if (step < 1) return `${Math.round(seconds * 1000)} ms`;
  return `${Math.round(seconds)} s`;
}
