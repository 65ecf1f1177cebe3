/** Whether an answer was good, and a note on it: stored with its trace. */

import { send, sendJson } from "../api.js";
import { announce, element, icon } from "../dom.js";

/** @typedef {import("../types.js").Feedback} Feedback */

/** The thumbs, and a form for a note, which is there once one of them is chosen. */
export class FeedbackControls {
  #up = this.#thumb("up", "Good answer");
  #down = this.#thumb("down", "Bad answer");
  #note = element("input", {
    class: "note text-input",
    maxlength: 2000,
    placeholder: "What was good or bad about it? (optional)",
    "aria-label": "Note on the answer",
    dir: "auto",
  });
  #said = element("span", { class: "note-said soft" });
  form = element(
    "form",
    { class: "row note-form", hidden: true, submit: (/** @type {Event} */ event) => this.#submit(event) },
    this.#note,
    element("button", { class: "quiet", type: "submit" }, "Save note"),
    this.#said,
  );

  /**
   * @param {string} queryId
   * @param {Feedback | null} given
   */
  constructor(queryId, given) {
    this.path = `/api/traces/${queryId}/feedback`;
    this.given = given;
    this.#note.value = given?.note ?? "";
    this.thumbs = [this.#up, this.#down];
    this.#draw();
    this.form.hidden = !given?.note;
  }

  /**
   * @param {"up" | "down"} rating
   * @param {string} name
   */
  #thumb(rating, name) {
    return element(
      "button",
      { class: "quiet thumb", type: "button", title: name, click: () => this.#rate(rating) },
      icon(`thumb-${rating}`),
      element("span", { class: "hidden" }, name),
    );
  }

  /** @param {"up" | "down"} rating */
  async #rate(rating) {
    const isWithdrawn = this.given?.rating === rating;
    await this.#store(isWithdrawn ? null : rating);
    this.form.hidden = this.given === null;
    if (this.given !== null) this.#note.focus();
  }

  /** @param {Event} event */
  async #submit(event) {
    event.preventDefault();
    if (this.given !== null) await this.#store(this.given.rating);
  }

  /** @param {"up" | "down" | null} rating */
  async #store(rating) {
    const note = this.#note.value.trim();
    try {
      const stored =
        rating === null
          ? await (await send(this.path, { method: "DELETE" })).json()
          : await sendJson(this.path, note ? { rating, note } : { rating }, "PUT");
      this.given = stored.feedback;
      this.#say(this.given === null ? "Rating withdrawn." : "Saved.");
    } catch (error) {
      this.form.hidden = false;
      this.#say(String(/** @type {Error} */ (error).message));
    }
    this.#draw();
  }

  /** @param {string} text */
  #say(text) {
    this.#said.textContent = text;
    this.#said.scrollIntoView({ block: "nearest" });
    announce(text);
  }

  #draw() {
    this.#up.setAttribute("aria-pressed", String(this.given?.rating === "up"));
    this.#down.setAttribute("aria-pressed", String(this.given?.rating === "down"));
  }
}
