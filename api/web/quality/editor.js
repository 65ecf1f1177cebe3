/** A set of questions as it is written: typed, out of a file, out of rated answers or out of a chat. */

import { getJson } from "../api.js";
import { element } from "../dom.js";
import { count } from "../text.js";
import { onOneLine, questionsIn } from "./sets.js";

/** @typedef {import("./sets.js").SavedQuestion} SavedQuestion */

const MOST = 50;

export class Editor {
  #name = element("input", { class: "text-input", maxlength: 120, required: true, dir: "auto" });
  #text = element("textarea", { class: "text-input", rows: 6, required: true, dir: "auto" });
  #said = element("p", { class: "soft", role: "status" });
  /** What is known of a question besides its text. @type {Map<string, SavedQuestion>} */
  #known = new Map();

  /**
   * @param {{name: string, questions: SavedQuestion[]}} set
   * @param {(name: string, questions: SavedQuestion[]) => Promise<void>} save
   * @param {...Node} more What else can be done with it.
   */
  constructor(set, save, ...more) {
    this.#name.value = set.name;
    this.#add(set.questions);
    this.#said.textContent = "";
    this.element = element(
      "form",
      { class: "stack", submit: (/** @type {Event} */ event) => this.#submit(event, save) },
      element("label", { class: "stack" }, "Name", this.#name),
      element("label", { class: "stack" }, "Questions, one per line", this.#text),
      element(
        "div",
        { class: "row", role: "group", "aria-label": "Add questions" },
        this.#adder("Add those rated bad", () => rated("down")),
        this.#adder("Add those rated good", () => rated("up")),
        this.#chats(),
        this.#file(),
      ),
      this.#said,
      element(
        "div",
        { class: "row" },
        element("button", { class: "button", type: "submit" }, "Save"),
        ...more,
      ),
    );
  }

  get name() {
    return this.#name.value;
  }

  /** How many questions there are, those that cannot be read included. */
  get count() {
    return this.#text.value.split("\n").filter((line) => line.trim() !== "").length;
  }

  questions() {
    const found = questionsIn(this.#text.value).map((each) => this.#known.get(each.question) ?? each);
    // The answers are those of a comparison.
    return found.map(({ left, right, verdict, ...each }) => each);
  }

  /** @param {SavedQuestion[]} questions */
  #add(questions) {
    const there = new Set(questionsIn(this.#text.value).map(({ question }) => question));
    const lines = this.#text.value.trim() === "" ? [] : [this.#text.value.trimEnd()];
    let added = 0;
    for (const each of questions) {
      const question = onOneLine(each.question);
      if (question === "" || there.has(question)) continue;
      there.add(question);
      this.#known.set(question, { ...each, question });
      lines.push(question);
      added += 1;
    }
    this.#text.value = lines.join("\n");
    this.#text.dispatchEvent(new Event("input", { bubbles: true }));
    const left = questions.length - added;
    this.#say(`${count(added, "question")} added${left > 0 ? `, ${left} there already` : ""}.`);
  }

  /** @param {string} text */
  #say(text) {
    this.#said.textContent = text;
  }

  /** @param {() => Promise<SavedQuestion[]>} read */
  async #from(read) {
    try {
      this.#add(await read());
    } catch (error) {
      this.#say(String(/** @type {Error} */ (error).message));
    }
  }

  /**
   * @param {string} name
   * @param {() => Promise<SavedQuestion[]>} read
   */
  #adder(name, read) {
    const press = () => this.#from(read);
    return element("button", { class: "button plain-button", type: "button", click: press }, name);
  }

  #chats() {
    const choice = element(
      "select",
      { class: "text-input", "aria-label": "Add the questions of a chat" },
      element("option", { value: "" }, "Add a chat…"),
    );
    getJson("/api/conversations?limit=50").then(
      ({ conversations }) => {
        for (const { session_id, title } of conversations)
          choice.append(element("option", { value: session_id }, title));
      },
      () => {},
    );
    choice.addEventListener("change", () => {
      const id = choice.value;
      choice.value = "";
      if (id !== "") this.#from(() => ofChat(id));
    });
    return choice;
  }

  #file() {
    const input = element("input", {
      type: "file",
      hidden: true,
      accept: ".jsonl,.json,.txt",
    });
    input.addEventListener("change", () => {
      const [file] = input.files ?? [];
      if (file) this.#from(async () => questionsIn(await file.text()));
      input.value = "";
    });
    const press = () => input.click();
    return element(
      "span",
      {},
      element("button", { class: "button plain-button", type: "button", click: press }, "Add a file…"),
      input,
    );
  }

  /**
   * @param {Event} event
   * @param {(name: string, questions: SavedQuestion[]) => Promise<void>} save
   */
  async #submit(event, save) {
    event.preventDefault();
    try {
      await save(this.#name.value, this.questions());
      this.#say("Saved.");
    } catch (error) {
      this.#say(String(/** @type {Error} */ (error).message));
    }
  }
}

/**
 * @param {"up" | "down"} rating
 * @returns {Promise<SavedQuestion[]>}
 */
async function rated(rating) {
  const { traces } = await getJson(`/api/traces?feedback=${rating}&limit=${MOST}`);
  return traces
    .filter((/** @type {import("../types.js").TraceSummary} */ { parent }) => parent === null)
    .map((/** @type {import("../types.js").TraceSummary} */ { query_id, query, feedback }) => ({
      id: query_id.slice(0, 8),
      question: query,
      rating,
      note: feedback?.note ?? null,
    }));
}

/**
 * @param {string} sessionId
 * @returns {Promise<SavedQuestion[]>}
 */
async function ofChat(sessionId) {
  const { exchanges } = await getJson(`/api/conversations/${encodeURIComponent(sessionId)}`);
  return exchanges.map((/** @type {{question: string}} */ { question }) => ({ question }));
}
