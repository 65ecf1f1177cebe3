/** What a timeline draws: each event at its place, bars for what takes time, arrows from causes to effects. */

import { drawing } from "../dom.js";
import { BAR, Lanes } from "./lanes.js";
import { TROUBLE } from "./model.js";

/** Beyond so many events the arrows of all causes would be a blot: then only those of the chosen event are drawn. */
const MOST_ARROWS = 1200;
const MARGIN = 14;
/** As wide as the longest name of a tick, such as "2000 ms". */
const NAME_WIDTH = 56;
const CHARACTER = 6.6;

/** A trace on a canvas of some width, by time or in equal steps. */
export class Plan {
  /**
   * @param {import("./model.js").Trace} trace
   * @param {number} width
   * @param {boolean} byTime
   */
  constructor(trace, width, byTime) {
    this.trace = trace;
    this.lanes = new Lanes(trace);
    this.width = width;
    this.byTime = byTime;
  }

  /** All that the timeline draws for any current event. */
  parts() {
    return [
      ...this.#ground(),
      ...this.#axis(),
      ...this.#stops(),
      this.#causes(),
      ...this.lanes.spans.flatMap((span) => this.#bar(span)),
      ...this.#points(),
    ];
  }

  /**
   * The horizontal position of an event.
   * @param {import("../types.js").Recorded} recorded
   */
  x(recorded) {
    const inner = this.width - 2 * MARGIN;
    const count = this.trace.events.length;
    if (!this.byTime) return MARGIN + (inner * (recorded.seq - 1)) / Math.max(1, count - 1);
    const seconds = this.trace.seconds || 1;
    return MARGIN + (inner * (recorded.at - this.trace.beganAt)) / seconds;
  }

  /** @param {number} seq */
  #xOf(seq) {
    const recorded = this.trace.event(seq);
    return recorded === null ? MARGIN : this.x(recorded);
  }

  #ground() {
    return [...this.lanes.lanes.values()].map((lane, place) =>
      drawing("rect", {
        class: place % 2 === 0 ? "lane" : "lane odd",
        x: 0,
        y: lane.top,
        width: this.width,
        height: lane.height,
      }),
    );
  }

  #axis() {
    if (!this.byTime) return [];
    const inner = this.width - 2 * MARGIN;
    const step = niceStep((this.trace.seconds || 1) / Math.max(1, inner / 110));
    const marks = [];
    for (let at = 0; at <= this.trace.seconds + 1e-9; at += step) {
      const x = MARGIN + (inner * at) / (this.trace.seconds || 1);
      marks.push(drawing("line", { class: "tick", x1: x, x2: x, y1: 16, y2: this.lanes.height }));
      // The last name goes before its line if there is no room behind it.
      const fits = x + NAME_WIDTH <= this.width;
      const place = fits ? { x: x + 3, "text-anchor": "start" } : { x: x - 3, "text-anchor": "end" };
      marks.push(drawing("text", { class: "tick-name", y: 13, ...place }, axisTime(at, step)));
    }
    return marks;
  }

  /** The limits that were reached, through all lanes. */
  #stops() {
    const stops = [];
    for (const recorded of this.trace.events) {
      const { kind } = recorded.event;
      if (kind !== "breaker_tripped" && kind !== "recovery_started") continue;
      const x = this.x(recorded);
      stops.push(drawing("line", { class: `stop ${kind}`, x1: x, x2: x, y1: 20, y2: this.lanes.height }));
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
    const to = span.to === null ? this.width - MARGIN : this.#xOf(span.to);
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
      const ring = this.ring("doubt", seq);
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
  ring(name, seq) {
    const recorded = this.trace.event(seq);
    if (recorded === null) return null;
    return drawing("circle", { class: name, cx: this.x(recorded), cy: this.lanes.y(recorded), r: 6 });
  }

  /**
   * @param {"chain" | "effect"} name
   * @param {import("../types.js").Recorded} from
   * @param {import("../types.js").Recorded} to
   */
  arrow(name, from, to) {
    return drawing("path", { class: name, d: this.#curve(from, to), "marker-end": `url(#head-${name})` });
  }
}

/** @param {string} name */
export function arrowHead(name) {
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
