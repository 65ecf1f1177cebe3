/** A fork: what is to be different, in place, and then it runs from there on. */

import { element } from "../dom.js";
import { Launch, forkSettings } from "./launch.js";
import { eventLink } from "./links.js";
import { kindName, lineOf, toolCall } from "./saying.js";

/**
 * One thing that a fork can change: what it is called, and how it is edited. `make` returns the editor, and what the
 * request is then.
 * @typedef {{body: () => Record<string, unknown> | null, element: HTMLElement}} Editor
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
        element("p", { class: "empty" }, String(/** @type {Error} */ (error).message)),
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
      { id: "setting", name: "A setting", make: async (changed) => this.#setting(changed) },
      ...(this.trace.facts.size > 0
        ? [
            {
              id: "facts",
              name: "The facts: leave some out",
              make: async (/** @type {() => void} */ changed) => this.#facts(changed),
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
          this.#text(
            replyText(event),
            changed,
            "Reply",
            (value) => ({ at: seq, change: { kind: "reply", value } }),
            "Plain text, or the content blocks as JSON.",
          ),
      };
    if (event.kind === "tool_succeeded" || event.kind === "tool_failed")
      return {
        id: `result@${seq}`,
        name: `The result of ${event.name} (event ${seq})`,
        make: (changed) => this.#result(recorded, changed),
      };
    if (event.kind === "tool_requested")
      return {
        id: `arguments@${seq}`,
        name: `What is asked of a tool: ${toolCall(event.call.name, event.call.arguments).slice(0, 60)} (event ${seq})`,
        make: async (changed) =>
          this.#text(
            event.call.arguments,
            changed,
            "Arguments",
            (value) => ({ at: seq, change: { kind: "set", name: "call.arguments", value } }),
            "A JSON object.",
          ),
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
    return this.#text(
      this.trace.question.query ?? "",
      changed,
      "Question",
      (value) => ({ at: 1, change: { kind: "set", name: "query", value } }),
      "All of the query happens anew.",
    );
  }

  /**
   * @param {import("../types.js").Recorded} recorded
   * @param {() => void} changed
   */
  async #result(recorded, changed) {
    const { event } = await this.trace.readWhole(recorded);
    const { output = "", passages = [], detail = "" } = event;
    if (passages.length > 0) return this.#passages(recorded.seq, event, changed);
    return this.#text(
      output || detail,
      changed,
      "Result",
      (value) => ({ at: recorded.seq, change: { kind: "tool", name: event.tool_call_id, value } }),
      "What the tool says, as plain text.",
    );
  }

  /**
   * The passages of a result, each to be rewritten in its place.
   * @param {number} seq
   * @param {import("../types.js").TraceEvent} event
   * @param {() => void} changed
   * @returns {Editor}
   */
  #passages(seq, event, changed) {
    const areas = event.passages.map((/** @type {any} */ passage) => {
      const area = element("textarea", { class: "text-input", rows: 5, dir: "auto", spellcheck: "false" });
      area.value = passage.text;
      area.addEventListener("input", changed);
      return area;
    });
    const body = () => {
      const texts = areas.map((/** @type {HTMLTextAreaElement} */ area) => area.value);
      const value = rewritten(event, texts);
      return { at: seq, change: { kind: "tool", name: event.tool_call_id, value } };
    };
    const labels = areas.map((/** @type {HTMLTextAreaElement} */ area, /** @type {number} */ place) =>
      element("label", { class: "field", dir: "auto" }, event.passages[place].source, area),
    );
    return {
      body,
      element: element(
        "div",
        { class: "stack editor" },
        ...labels,
        element("p", { class: "soft" }, "A passage without text is left out."),
      ),
    };
  }

  /**
   * @param {string} value
   * @param {() => void} changed
   * @param {string} name
   * @param {(value: string) => Record<string, unknown>} bodyOf
   * @param {string} about
   * @returns {Editor}
   */
  #text(value, changed, name, bodyOf, about) {
    const area = element("textarea", {
      class: "text-input",
      rows: Math.min(18, 3 + value.split("\n").length),
      dir: "auto",
      "aria-label": name,
      spellcheck: "false",
    });
    area.value = value;
    area.addEventListener("input", changed);
    return {
      body: () => bodyOf(area.value),
      element: element("div", { class: "stack editor" }, area, element("p", { class: "soft" }, about)),
    };
  }

  /**
   * @param {() => void} changed
   * @returns {Promise<Editor>}
   */
  async #setting(changed) {
    const settings = await forkSettings();
    const names = element("select", { class: "text-input", "aria-label": "Setting" });
    for (const each of settings) names.append(element("option", { value: each.name }, kindName(each.name)));
    const about = element("p", { class: "soft" });
    const place = element("div", {});
    /** @type {HTMLInputElement | HTMLSelectElement} */
    let value = element("input", {});
    const chosen = () => {
      const setting = settings.find(({ name }) => name === names.value);
      if (setting === undefined) return;
      value = valueInput(setting, this.trace.question.settings?.[setting.name]);
      value.addEventListener("input", changed);
      place.replaceChildren(value);
      const limit =
        setting.fork === "lower" ? ` The service's own, ${setting.value ?? "no limit"}, is the most.` : "";
      about.textContent = `${setting.meaning}${limit}`;
      changed();
    };
    names.addEventListener("change", chosen);
    chosen();
    return {
      body: () => ({ at: this.seq, change: { kind: "setting", name: names.value, value: value.value } }),
      element: element(
        "div",
        { class: "stack editor" },
        element("div", { class: "form-row" }, names, place),
        about,
      ),
    };
  }

  /**
   * @param {() => void} changed
   * @returns {Editor}
   */
  #facts(changed) {
    /** @type {Set<string>} */
    const dropped = new Set();
    const items = [...this.trace.facts.values()].slice(0, 100).map(({ fact }) => {
      const box = element("input", { type: "checkbox", checked: true });
      box.addEventListener("change", () => {
        if (box.checked) dropped.delete(fact.id);
        else dropped.add(fact.id);
        changed();
      });
      return element(
        "label",
        { class: "choice", dir: "auto" },
        box,
        element(
          "span",
          {},
          element("strong", {}, fact.id),
          ` ${fact.passage.source}: `,
          element("span", { class: "soft" }, fact.passage.text.slice(0, 120)),
        ),
      );
    });
    return {
      body: () => {
        if (dropped.size === 0) return null;
        return { change: [...dropped].slice(0, 20).map((name) => ({ kind: "drop", name })) };
      },
      element: element(
        "fieldset",
        { class: "choices" },
        element("legend", {}, "Facts to keep; the fork starts where the first removed fact was found"),
        ...items,
      ),
    };
  }
}

/**
 * A tool's result with other texts in its passages.
 * @param {import("../types.js").TraceEvent} event
 * @param {string[]} texts
 */
function rewritten(event, texts) {
  const passages = [];
  for (const [place, passage] of event.passages.entries()) {
    const text = texts[place] ?? "";
    if (text === passage.text) passages.push(passage);
    // Where its sentences begin, and where it stands in its lesson, is not known of another text.
    else if (text.trim()) passages.push({ ...passage, text, starts: [0], start: null, places: [] });
  }
  const output = passages.map((passage) => `[${passage.source}]\n${passage.text}`).join("\n\n");
  return { output, passages };
}

/** @param {import("../types.js").TraceEvent} event */
function replyText(event) {
  if (event.tool_calls.length === 0 && event.citations.length === 0) return event.text;
  return JSON.stringify(
    event.content.map((/** @type {string} */ block) => JSON.parse(block)),
    null,
    2,
  );
}

/**
 * @param {{name: string, value: any, choices: string[]}} setting
 * @param {any} recorded
 */
function valueInput(setting, recorded) {
  const now = recorded ?? setting.value;
  const choices = typeof setting.value === "boolean" ? ["true", "false"] : setting.choices;
  if (choices.length === 0)
    return element("input", {
      class: "text-input",
      "aria-label": "Value",
      value: now === null ? "" : String(now),
    });
  const select = element("select", { class: "text-input", "aria-label": "Value" });
  for (const choice of choices) select.append(element("option", { value: choice }, choice));
  select.value = String(now);
  return select;
}
