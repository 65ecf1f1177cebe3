/** The course of a query below its answer: the timeline, the steps near the current one, and a slider through all. */

import { element } from "../dom.js";
import { Stepper } from "./stepper.js";
import { Timeline } from "./timeline.js";

const FOLDED = "antiphon.timeline-folded";

export class Dock {
  /**
   * @param {import("./model.js").Trace} trace
   * @param {(seq: number) => void} choose
   */
  constructor(trace, choose) {
    this.timeline = new Timeline(trace, choose);
    this.stepper = new Stepper(trace, choose);
    const fold = element("button", { class: "quiet", type: "button" }, "Timeline");
    fold.addEventListener("click", () => this.#fold(!this.element.classList.contains("folded")));
    this.button = fold;
    this.stepper.bar.append(fold);
    this.element = element(
      "section",
      { class: "course-dock", "aria-label": "What happened" },
      element("div", { class: "dock-course" }, this.timeline.element, this.stepper.list),
      this.stepper.bar,
    );
    this.#fold(localStorage.getItem(FOLDED) === "true");
  }

  /** @param {boolean} isFolded */
  #fold(isFolded) {
    this.element.classList.toggle("folded", isFolded);
    this.button.setAttribute("aria-pressed", String(!isFolded));
    try {
      localStorage.setItem(FOLDED, String(isFolded));
    } catch {
      // Then it is as it was when the page is opened again.
    }
  }

  /** @param {number} seq */
  show(seq) {
    this.timeline.show(seq);
    this.stepper.show(seq);
  }

  /** Draws all of it again: it has come onto the page, or the trace has gone on. */
  draw() {
    this.timeline.draw();
    this.stepper.show(this.stepper.seq);
  }

  leave() {
    this.timeline.leave();
    this.stepper.leave();
  }
}
