/** A fork: what is to be different, in place, and then it runs from there on. */

import { element } from "../dom.js";
import { kindName, toolName } from "../wording.js";
import { argumentsEditor, factsEditor, passagesEditor, settingEditor, textEditor } from "./editors.js";
import { Launch } from "./launch.js";
import { eventLink } from "./links.js";
import { lineOf, toolCall } from "./saying.js";

/**
 * One thing that a fork can change: what it is called, and how it is edited. `make` returns the editor, and what the
 * request is then.
 * @typedef {import("./editors.js").Editor} Editor
 * @typedef {{id: string, name: string, make: (changed: () => void) => Promise<Editor>}} Choice
 */

export class Fork {
  /** @param {import("./model.js").Trace} trace */
  constructor(trace) {
    this.trace = trace;
    this.seq = 1;
    /** @type {Editor | null} */
    this.editor = null;
    this.made = 0;
    this.what = element("select", { class: "text-input", id: "fork-what" });
    this.what.addEventListener("change", () => this.#edit());
    this.place = element("div", { class: "stack editor" });
    this.about = element("p", { class: "soft" });
    this.launch = new Launch(trace.id, () => this.editor?.body() ?? null);
    this.element = element(
      "section",
      { class: "card fork-form", "aria-labelledby": "fork-title" },
      element("h2", { id: "fork-title" }, "Fork: run it again with a change"),
      this.about,
      element("label", { for: "fork-what" }, "What is different"),
      this.what,
      this.place,
      this.launch.element,
    );
    /** @type {Choice[]} */
    this.choices = [];
  }

  /** @param {string | undefined} item */
  show(item) {
    this.seq = Math.max(1, Math.min(Number(item) || 1, this.trace.events.length));
    const recorded = this.trace.event(this.seq);
    if (recorded === null) return;
    this.about.replaceChildren(
      "From ",
      eventLink(this.trace.id, this.seq, `event ${this.seq}, ${kindName(recorded.event.kind)}`),
      ` on. ${lineOf(recorded.event)}`,
    );
    this.choices = this.#choices();
    this.what.replaceChildren(...this.choices.map(({ id, name }) => element("option", { value: id }, name)));
    const own = this.choices.find(({ id }) => id.endsWith(`@${this.seq}`));
    this.what.value = own?.id ?? (this.seq === 1 ? "question" : "nothing");
    this.#edit();
  }

  update() {}

  leave() {
    this.made += 1;
  }

  async #edit() {
    const choice = this.choices.find(({ id }) => id === this.what.value);
    if (choice === undefined) return;
    this.made += 1;
    const mine = this.made;
    this.editor = null;
    try {
      const editor = await choice.make(() => this.launch.refresh());
      if (mine !== this.made) return;
      this.editor = editor;
      this.place.replaceChildren(editor.element);
      this.launch.refresh();
    } catch (error) {
      this.place.replaceChildren(
        element("p", { class: "soft" }, String(/** @type {Error} */ (error).message)),
      );
    }
  }

  /** @returns {Choice[]} */
  #choices() {
    /** @type {Choice[]} */
    const edits = [];
    for (const recorded of this.trace.events) {
      const choice = this.#ofEvent(recorded);
      // The event that one comes from, and what lies nearby; a trace may hold thousands of replies.
      if (choice !== null && (Math.abs(recorded.seq - this.seq) < 200 || edits.length < 20))
        edits.push(choice);
    }
    return [
      { id: "nothing", name: "Nothing: run it again from here", make: async () => this.#nothing() },
      { id: "question", name: "The question", make: async (changed) => this.#question(changed) },
      { id: "setting", name: "A setting", make: (changed) => settingEditor(this.trace, this.seq, changed) },
      ...(this.trace.facts.size > 0
        ? [
            {
              id: "facts",
              name: "The facts: leave some out",
              make: async (/** @type {() => void} */ changed) => factsEditor(this.trace, changed),
            },
          ]
        : []),
      ...edits,
    ];
  }

  /**
   * @param {import("../types.js").Recorded} recorded
   * @returns {Choice | null}
   */
  #ofEvent(recorded) {
    const { seq, event } = recorded;
    if (event.kind === "reasoning_completed")
      return {
        id: `reply@${seq}`,
        name: `The reply of ${event.call_id} (event ${seq})`,
        make: async (changed) =>
          textEditor(
            event.text,
            changed,
            "Reply",
            (value) => ({ at: seq, change: { kind: "reply", value } }),
            "What the model should say instead, as plain text. For citations or tool calls, write content blocks as JSON.",
          ),
      };
    if (event.kind === "tool_succeeded" || event.kind === "tool_failed")
      return {
        id: `result@${seq}`,
        name: `The result of ${toolName(event.name)} (event ${seq})`,
        make: (changed) => this.#result(recorded, changed),
      };
    if (event.kind === "tool_requested")
      return {
        id: `arguments@${seq}`,
        name: `What is asked of a tool: ${toolCall(event.call.name, event.call.arguments).slice(0, 60)} (event ${seq})`,
        make: (changed) =>
          argumentsEditor(event.call.arguments, changed, (value) => ({
            at: seq,
            change: { kind: "set", name: "call.arguments", value },
          })),
      };
    return null;
  }

  /** @returns {Editor} */
  #nothing() {
    return {
      body: () => ({ at: this.seq }),
      element: element("p", { class: "soft" }, "Everything after this event runs again."),
    };
  }

  /** @param {() => void} changed */
  #question(changed) {
    return textEditor(
      this.trace.question.query ?? "",
      changed,
      "Question",
      (value) => ({ at: 1, change: { kind: "set", name: "query", value } }),
      "The whole query runs again.",
    );
  }

  /**
   * @param {import("../types.js").Recorded} recorded
   * @param {() => void} changed
   */
  async #result(recorded, changed) {
    const { event } = await this.trace.readWhole(recorded);
    const { output = "", passages = [], detail = "" } = event;
    if (passages.length > 0) return passagesEditor(recorded.seq, event, changed);
    return textEditor(
      output || detail,
      changed,
      "Result",
      (value) => ({ at: recorded.seq, change: { kind: "tool", name: event.tool_call_id, value } }),
      "What the tool says, as plain text.",
    );
  }
}
