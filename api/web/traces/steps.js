/** The trace event by event: the timeline, the steps, the event, and what was remembered and shown by then. */

import { announce, element } from "../dom.js";
import { budgetSection } from "./budget.js";
import { eventCard, inWords } from "./event.js";
import { address } from "./links.js";
import { MemoryPanel } from "./memory.js";
import { Stepper } from "./stepper.js";
import { Timeline } from "./timeline.js";

/** Browsers allow so many changes of the address a second, and no more. */
const ADDRESS_MS = 350;

export class Steps {
  /**
   * @param {import("./model.js").Trace} trace
   * @param {(seq: number) => void} chosen Told of each event that is gone to.
   */
  constructor(trace, chosen) {
    this.trace = trace;
    this.chosen = chosen;
    this.seq = 1;
    this.timer = 0;
    this.settle = () => this.#settle();
    // Whoever follows a link comes back to the event that they left.
    document.addEventListener("click", this.settle, { capture: true });
    const choose = (/** @type {number} */ seq) => this.choose(seq);
    this.timeline = new Timeline(trace, choose);
    this.stepper = new Stepper(trace, choose);
    this.memory = new MemoryPanel(trace);
    this.card = element("div", { class: "event-place" });
    this.budget = element("div", {}, budgetSection(trace));
    this.element = element(
      "div",
      { class: "steps" },
      element("div", { class: "steps-top" }, this.timeline.element, this.stepper.bar),
      element(
        "div",
        { class: "steps-columns" },
        element("div", { class: "steps-side" }, this.stepper.list, this.memory.briefing),
        element("div", { class: "steps-main" }, this.card, this.memory.memory),
      ),
      this.budget,
    );
  }

  /** @param {string | undefined} item The event's number; one that is named is brought into view. */
  show(item) {
    clearTimeout(this.timer);
    this.timer = 0;
    const wanted = Number(item ?? 1);
    this.#show(Number.isFinite(wanted) ? wanted : 1);
    if (this.timeline.width === 0) this.timeline.draw();
    if (item !== undefined) this.reveal();
  }

  /** Brings the event's card into view, which stands below what was found out and the timeline. */
  reveal() {
    this.card.firstElementChild?.scrollIntoView({ block: "nearest" });
  }

  /**
   * Goes to an event; one that is not there changes nothing.
   * @param {number} seq
   */
  choose(seq) {
    if (this.trace.event(seq) === null || seq === this.seq) return;
    this.#show(seq);
    clearTimeout(this.timer);
    this.timer = setTimeout(this.settle, ADDRESS_MS);
  }

  /** Writes the event that is shown into the address. */
  #settle() {
    if (this.timer === 0) return;
    clearTimeout(this.timer);
    this.timer = 0;
    history.replaceState(null, "", address(this.trace.id, "events", this.seq));
  }

  /** @param {number} wanted */
  #show(wanted) {
    const seq = Math.max(1, Math.min(wanted, this.trace.events.length));
    const recorded = this.trace.event(seq);
    if (recorded === null) return;
    this.seq = seq;
    this.timeline.show(seq);
    this.stepper.show(seq);
    this.card.replaceChildren(eventCard(this.trace, recorded));
    this.memory.show(seq);
    this.chosen(seq);
    announce(inWords(recorded));
  }

  /** Draws what has changed in a trace that goes on. */
  update() {
    this.timeline.draw();
    this.stepper.show(this.seq);
    this.budget.replaceChildren(budgetSection(this.trace));
  }

  leave() {
    clearTimeout(this.timer);
    document.removeEventListener("click", this.settle, { capture: true });
    this.timeline.leave();
    this.stepper.leave();
    this.memory.leave();
  }
}
