/** Goes through a trace event by event: a slider, buttons, the arrow keys, and the events around the current one. */

import { element } from "../dom.js";
import { kindName } from "../wording.js";
import { bringIntoView } from "./marking.js";
import { TROUBLE } from "./model.js";
import { lineOf } from "./saying.js";

const AROUND = 6;

export class Stepper {
  /**
   * @param {import("./model.js").Trace} trace
   * @param {(seq: number) => void} choose
   */
  constructor(trace, choose) {
    this.trace = trace;
    this.choose = choose;
    this.seq = 1;
    this.slider = element("input", { type: "range", min: 1, step: 1, "aria-label": "Event" });
    this.slider.addEventListener("input", () => choose(Number(this.slider.value)));
    this.place = element("p", { class: "step-place soft number" });
    this.list = element("ol", { class: "around", "aria-label": "Events around this one" });
    this.bar = element(
      "div",
      { class: "row spread stepper", role: "group", "aria-label": "Steps" },
      this.#button("‹", "Event before", () => this.seq - 1),
      this.slider,
      this.#button("›", "Next event", () => this.seq + 1),
      this.place,
    );
    this.press = (/** @type {KeyboardEvent} */ event) => this.#press(event);
    document.addEventListener("keydown", this.press);
  }

  /**
   * @param {string} sign
   * @param {string} name
   * @param {() => number} to
   */
  #button(sign, name, to) {
    return element(
      "button",
      { class: "icon-button", type: "button", title: name, click: () => this.choose(to()) },
      element("span", { "aria-hidden": "true" }, sign),
      element("span", { class: "hidden" }, name),
    );
  }

  /** @param {KeyboardEvent} event */
  #press(event) {
    if (event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    // There the keys move what they always move.
    if (event.target instanceof Element && event.target.closest("input, textarea, select, pre")) return;
    const to = {
      ArrowLeft: this.seq - 1,
      ArrowRight: this.seq + 1,
      Home: 1,
      End: this.trace.events.length,
    }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    this.choose(to);
  }

  /** @param {number} seq */
  show(seq) {
    this.seq = seq;
    const recorded = this.trace.event(seq);
    if (recorded === null) return;
    const count = this.trace.events.length;
    const name = `${seq} of ${count}, ${kindName(recorded.event.kind)}`;
    this.slider.max = String(count);
    this.slider.value = String(seq);
    this.slider.setAttribute("aria-valuetext", name);
    this.place.textContent = `${seq} of ${count.toLocaleString("en")}`;
    const first = Math.max(1, Math.min(seq - AROUND, count - 2 * AROUND));
    const around = [];
    for (let near = first; near <= Math.min(count, first + 2 * AROUND); near += 1) {
      const found = this.trace.event(near);
      if (found !== null) around.push(this.#item(found));
    }
    this.list.replaceChildren(...around);
    const current = this.list.querySelector("[aria-current]");
    if (current) bringIntoView(this.list, current);
  }

  /** @param {import("../types.js").Recorded} recorded */
  #item(recorded) {
    const { kind } = recorded.event;
    return element(
      "li",
      {},
      element(
        "button",
        {
          type: "button",
          class: TROUBLE.has(kind) ? "event trouble" : "event",
          "aria-current": recorded.seq === this.seq ? "step" : null,
          tabindex: -1,
          click: () => this.choose(recorded.seq),
        },
        element("span", { class: "event-seq soft number" }, String(recorded.seq)),
        element("span", { class: "event-kind" }, kindName(kind)),
        element("span", { class: "event-line", dir: "auto" }, lineOf(recorded.event)),
      ),
    );
  }

  leave() {
    document.removeEventListener("keydown", this.press);
  }
}
