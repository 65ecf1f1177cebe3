/** One event of a trace after another: the event, and what was remembered and shown by then. */

import { announce, element } from "../dom.js";
import { budgetSection } from "./budget.js";
import { eventCard, inWords } from "./event.js";
import { address } from "./links.js";
import { bringIntoView, mark } from "./marking.js";
import { MemoryPanel } from "./memory.js";

/** Browsers allow so many changes of the address a second, and no more. */
const ADDRESS_MS = 350;

export class Steps {
  /**
   * @param {import("./model.js").Trace} trace
   * @param {import("./trace.js").Page} page
   */
  constructor(trace, page) {
    this.trace = trace;
    this.page = page;
    this.seq = 1;
    this.timer = 0;
    this.settle = () => this.#settle();
    // A reader who follows a link comes back to the event that they left.
    document.addEventListener("click", this.settle, { capture: true });
    this.memory = new MemoryPanel(trace);
    this.card = element("div", { class: "event-place" });
    this.budget = element("div", {}, budgetSection(trace));
    this.element = element(
      "div",
      { class: "stack" },
      this.card,
      this.memory.memory,
      this.memory.briefing,
      this.budget,
    );
  }

  /** @param {string | undefined} item The event's number. */
  show(item) {
    clearTimeout(this.timer);
    this.timer = 0;
    const wanted = Number(item ?? 1);
    this.#show(Number.isFinite(wanted) ? wanted : 1);
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

  /** Writes the current event into the address. */
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
    this.page.chose(seq);
    this.draw();
    this.memory.show(seq);
    announce(inWords(recorded));
  }

  /** Draws the event, with what is known of it by now. */
  draw() {
    const { seq } = this;
    const recorded = this.trace.event(seq);
    if (recorded === null) return;
    const notes = this.page.notes(seq);
    const drawn = () => {
      if (this.seq !== seq || !card.isConnected) return;
      const body = card.querySelector(".event-body");
      if (body === null) return;
      card.removeAttribute("aria-busy");
      const marks = mark(body, this.page.meant());
      // In a reply, the reader sees first what it says, and then what it should have heeded.
      const isReply = recorded.event.kind === "reasoning_completed";
      const first = isReply ? marks.find((each) => body.firstElementChild?.contains(each)) : marks[0];
      bringIntoView(this.page.pane, first);
      if (marks.length > 1) card.querySelector(".event-head")?.append(this.#nextMark(marks));
    };
    const card = eventCard(this.trace, recorded, notes, drawn);
    card.querySelector(".doubt-note")?.append(this.page.next() ?? "");
    this.card.replaceChildren(card);
  }

  /** @param {HTMLElement[]} marks */
  #nextMark(marks) {
    let at = 0;
    const name = () => `Match ${at + 1} of ${marks.length} ›`;
    const button = element("button", { class: "quiet", type: "button" }, name());
    button.addEventListener("click", () => {
      at = (at + 1) % marks.length;
      bringIntoView(this.page.pane, marks[at]);
      button.textContent = name();
    });
    return button;
  }

  /** Draws what has changed in a trace that goes on. */
  update() {
    this.budget.replaceChildren(budgetSection(this.trace));
  }

  leave() {
    clearTimeout(this.timer);
    document.removeEventListener("click", this.settle, { capture: true });
    this.memory.leave();
  }
}
