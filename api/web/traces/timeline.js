/** The timeline of a trace: lanes for the parts of the service, width is time, arrows follow causes. */

import { drawing, element } from "../dom.js";
import { count } from "../text.js";
import { kindName } from "../wording.js";
import { lineOf, since } from "./saying.js";
import { Plan, arrowHead } from "./timeline_plan.js";

const NAMES = 80;
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
    this.plan = new Plan(trace, this.canvasWidth, this.byTime);
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

  get canvasWidth() {
    return Math.max(240, this.width) * (ZOOMS[this.zoom] ?? 1);
  }

  /** Draws all of it again. */
  draw() {
    this.width = this.scroller.clientWidth;
    this.plan = new Plan(this.trace, this.canvasWidth, this.byTime);
    const height = String(this.plan.lanes.height);
    for (const [svg, width] of /** @type {[SVGElement, number][]} */ ([
      [this.base, this.plan.width],
      [this.over, this.plan.width],
      [this.labels, NAMES],
    ])) {
      svg.setAttribute("width", String(width));
      svg.setAttribute("height", height);
    }
    this.base.setAttribute("aria-label", this.#inWords());
    this.labels.replaceChildren(
      ...[...this.plan.lanes.lanes.values()].map((lane) =>
        drawing("text", { x: NAMES - 8, y: lane.top + lane.height / 2 + 4, "text-anchor": "end" }, lane.name),
      ),
    );
    this.base.replaceChildren(...this.plan.parts());
    this.show(this.seq);
  }

  #inWords() {
    const { rounds, tools, events, seconds } = this.trace;
    return `${count(events.length, "event")} in ${since(seconds)}, ${count(rounds.length, "round")} and ${count(tools.size, "tool call")}. The slider below goes from event to event.`;
  }

  /**
   * Marks an event, what led to it and what it led to.
   * @param {number} seq
   */
  show(seq) {
    this.seq = seq;
    const recorded = this.trace.event(seq);
    if (recorded === null) return;
    const x = this.plan.x(recorded);
    const chain = [recorded, ...this.trace.chain(recorded)];
    const led = [];
    for (const [place, cause] of chain.slice(1).entries()) {
      const effect = chain[place];
      if (effect !== undefined) led.push(this.plan.arrow("chain", cause, effect));
    }
    const effects = (this.trace.effects.get(seq) ?? []).slice(0, 200);
    for (const effect of effects) {
      const found = this.trace.event(effect);
      if (found !== null) led.push(this.plan.arrow("effect", recorded, found));
    }
    const dot = this.plan.ring("here", seq);
    this.over.replaceChildren(
      arrowHead("chain"),
      arrowHead("effect"),
      drawing("line", { class: "cursor", x1: x, x2: x, y1: 18, y2: this.plan.lanes.height }),
      ...led,
      ...(dot === null ? [] : [dot]),
    );
    this.#bringIntoView(x);
  }

  /** @param {number} x */
  #bringIntoView(x) {
    // Without zoom there is nothing to scroll, and reading the position would lay the page out once more.
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
    const x = this.plan.x(recorded);
    const isRight = x - this.scroller.scrollLeft > this.width / 2;
    this.tip.classList.toggle("left", isRight);
    this.tip.style.left = `${x + (isRight ? -10 : 10)}px`;
    this.tip.style.top = `${this.plan.lanes.y(recorded) + 12}px`;
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
      const off = Math.abs(this.plan.x(recorded) - x) + 3 * Math.abs(this.plan.lanes.y(recorded) - y);
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
