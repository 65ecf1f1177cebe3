/** The part of a conversation in view: a new question at the top, then what its reader wants. */

import { element, icon } from "../dom.js";

/** So few pixels of an answer below the window need no hint. */
const NEAR_END_PX = 40;

export class Scroller {
  /** The reader is at the end of an answer that grows, and wants to stay there. */
  #isFollowing = false;
  #resized = new ResizeObserver(() => this.#afterResize());

  /**
   * @param {HTMLElement} intro
   * @param {HTMLElement} thread
   */
  constructor(intro, thread) {
    this.thread = thread;
    this.node = element("div", { class: "scroller", tabindex: -1 }, intro, thread);
    this.jump = element(
      "button",
      { class: "button jump", type: "button", hidden: true, click: () => this.toEnd() },
      icon("down"),
      "Jump to the latest",
    );
    this.node.addEventListener("scroll", () => this.#noteScroll(), { passive: true });
    this.#resized.observe(thread);
    this.#resized.observe(this.node);
  }

  leave() {
    this.#resized.disconnect();
  }

  /**
   * Brings a question that was just asked to the top of the window.
   * @param {HTMLElement} exchange
   */
  showAsked(exchange) {
    // Room below it, so that it can be at the top from the beginning.
    exchange.classList.add("asked");
    this.#isFollowing = false;
    exchange.scrollIntoView({ block: "start" });
  }

  toEnd() {
    this.node.scrollTop = this.node.scrollHeight;
  }

  /** Returns a function to call after content was added above: it brings back what was in view. */
  holdFromEnd() {
    const { scrollHeight, scrollTop } = this.node;
    return () => {
      this.node.scrollTop = scrollTop + this.node.scrollHeight - scrollHeight;
    };
  }

  /** Pixels of the last answer that lie below the window; the room under a new question does not count. */
  #below() {
    const last = this.thread.lastElementChild?.querySelector(".reply");
    if (!last) return 0;
    return last.getBoundingClientRect().bottom - this.node.getBoundingClientRect().bottom;
  }

  #noteScroll() {
    const left = this.node.scrollHeight - this.node.scrollTop - this.node.clientHeight;
    const last = /** @type {HTMLElement | null} */ (this.thread.lastElementChild);
    this.#isFollowing = left < NEAR_END_PX && (last?.offsetHeight ?? 0) > this.node.clientHeight;
    this.jump.hidden = this.#below() < NEAR_END_PX;
  }

  #afterResize() {
    if (this.#isFollowing && this.thread.querySelector("[aria-busy]") !== null) this.toEnd();
    this.jump.hidden = this.#below() < NEAR_END_PX;
  }
}
