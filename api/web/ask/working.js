/** How an answer is worked out: open while there is nothing else to see, closed once the text is there. */

import { getJson } from "../api.js";
import { element } from "../dom.js";
import { noProgress, now, roundsList, summary, take } from "./progress.js";

export class Working {
  #progress = noProgress();
  #title = element("summary", {});
  #rounds = element("div", { class: "progress" });
  /** The reader opened or closed it, and wants it so. */
  #isChosen = false;
  #isWriting = false;
  /** @type {string | null} The query, once it is over. */
  #queryId = null;

  constructor() {
    this.node = element("details", { class: "how", open: true }, this.#title, this.#rounds);
    this.#title.addEventListener("click", () => {
      this.#isChosen = true;
    });
    this.node.addEventListener("toggle", () => this.#readTrace());
    this.#draw();
  }

  /** What is being done now. */
  get now() {
    return now(this.#progress);
  }

  /** @param {import("../types.js").Recorded} recorded */
  take(recorded) {
    take(this.#progress, recorded);
    this.#draw();
  }

  /** @param {boolean} isWriting Text of the answer is on the page. */
  setWriting(isWriting) {
    if (isWriting === this.#isWriting) return;
    this.#isWriting = isWriting;
    if (!this.#isChosen) this.node.open = !isWriting;
    this.#draw();
  }

  /** @param {string} queryId */
  end(queryId) {
    this.#queryId = queryId;
    if (!this.#isChosen) this.node.open = false;
    this.#draw();
  }

  #draw() {
    const isOver = this.#queryId !== null;
    this.#title.replaceChildren(...(isOver ? this.#summary() : this.#doing()));
    if (isOver && this.#progress.endedAt === null) return;
    this.#rounds.replaceChildren(roundsList(this.#progress));
    if (this.#progress.rounds.length === 0) {
      this.#rounds.append(
        element("p", { class: "step running" }, element("span", { class: "spinner" }), "Asking…"),
      );
    }
  }

  #doing() {
    if (!this.#isWriting) return ["How it is being worked out"];
    return [element("span", { class: "spinner" }), this.now];
  }

  #summary() {
    const title = "How it was worked out";
    if (this.#progress.endedAt === null) return [title];
    return [title, element("span", { class: "how-much" }, `: ${summary(this.#progress)}`)];
  }

  /** Reads the rounds from the trace if the page was not there to see them. */
  async #readTrace() {
    if (!this.node.open || this.#queryId === null || this.#progress.endedAt !== null) return;
    try {
      /** @type {{events: import("../types.js").Recorded[]}} */
      const trace = await getJson(`/api/traces/${this.#queryId}?without_texts=true`);
      this.#progress = noProgress();
      for (const recorded of trace.events) take(this.#progress, recorded);
      this.#rounds.replaceChildren(roundsList(this.#progress));
    } catch (error) {
      this.#rounds.replaceChildren(
        element("p", { class: "notice" }, String(/** @type {Error} */ (error).message)),
      );
    }
  }
}
