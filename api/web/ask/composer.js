/** The box in which questions are written; its button sends, and stops while an answer is worked out. */

import { element, icon } from "../dom.js";

const MOST_HEIGHT_PX = 200;

export class Composer {
  /** What was typed before a question was put in its place; null if none was. */
  #typed = /** @type {string | null} */ (null);
  /** Asks the edited question; null if none is being edited. */
  #askEdited = /** @type {((question: string) => void) | null} */ (null);
  #hint = element("p", { class: "composer-hint soft", id: "composer-hint" });

  /**
   * @param {{ask: (question: string) => void, stop: () => void, add: (files: File[]) => void}} chat
   */
  constructor(chat) {
    this.chat = chat;
    this.isRunning = false;
    this.text = element("textarea", {
      id: "question",
      rows: 1,
      placeholder: "Ask about your courses",
      "aria-label": "Your question",
      "aria-describedby": "composer-hint",
      dir: "auto",
      enterkeyhint: "send",
      input: () => this.#grow(),
      keydown: (/** @type {KeyboardEvent} */ event) => this.#key(event),
    });
    this.button = element("button", { class: "button send", type: "submit" });
    this.files = element("input", {
      type: "file",
      multiple: true,
      class: "hidden",
      tabindex: -1,
      "aria-hidden": "true",
      change: () => this.#add(),
    });
    const add = element(
      "button",
      { class: "icon-button", type: "button", title: "Add documents", click: () => this.files.click() },
      icon("clip"),
      element("span", { class: "hidden" }, "Add documents"),
    );
    this.node = element(
      "form",
      { class: "composer", submit: (/** @type {Event} */ event) => this.#submit(event) },
      element("div", { class: "composer-box" }, add, this.files, this.text, this.button),
      this.#hint,
    );
    this.setRunning(false);
    this.#edits(null);
  }

  /** @param {boolean} isRunning */
  setRunning(isRunning) {
    this.isRunning = isRunning;
    const name = isRunning ? "Stop" : "Send";
    this.button.replaceChildren(
      icon(isRunning ? "stop" : "send"),
      element("span", { class: "hidden" }, name),
    );
    this.button.title = name;
  }

  /**
   * Puts a question into the box, to be sent or changed; Esc brings back what was typed there.
   * @param {string} question
   */
  fill(question) {
    this.#edits(null);
    this.#typed ??= this.text.value;
    this.#write(question);
    this.text.focus();
  }

  /**
   * Puts a question into the box to be changed; it is then asked as another version.
   * @param {string} question
   * @param {(question: string) => void} ask
   */
  edit(question, ask) {
    this.fill(question);
    this.#edits(ask);
  }

  /** @param {((question: string) => void) | null} ask */
  #edits(ask) {
    this.#askEdited = ask;
    this.#hint.className = ask === null ? "composer-hint soft" : "notice";
    this.#hint.textContent =
      ask === null
        ? "Enter sends, Shift+Enter starts a new line. Drop files here to add documents."
        : "Enter asks this in place of the question above, which stays as its earlier version. Esc cancels.";
  }

  /** @param {string} text */
  #write(text) {
    this.text.value = text;
    this.#grow();
  }

  #grow() {
    this.text.style.height = "auto";
    this.text.style.height = `${Math.min(this.text.scrollHeight, MOST_HEIGHT_PX)}px`;
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    // Both also end the writing of a character in some scripts; then they are not meant for us.
    if (event.isComposing) return;
    if (event.key === "Escape" && this.#typed !== null) {
      this.#write(this.#typed);
      this.#typed = null;
      this.#edits(null);
    }
    if (event.key !== "Enter" || event.shiftKey) return;
    event.preventDefault();
    if (!this.isRunning) this.#send();
  }

  /** @param {Event} event */
  #submit(event) {
    event.preventDefault();
    if (this.isRunning) this.chat.stop();
    else this.#send();
  }

  #send() {
    const question = this.text.value.trim();
    if (!question) {
      this.text.focus();
      return;
    }
    this.#write("");
    this.#typed = null;
    const ask = this.#askEdited ?? this.chat.ask;
    this.#edits(null);
    ask(question);
  }

  #add() {
    this.chat.add([...(this.files.files ?? [])]);
    this.files.value = "";
  }
}
