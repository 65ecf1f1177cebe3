/** The form that chooses the trace to compare one with: related and recent ones, or any by its words or its id. */

import { getJson } from "../api.js";
import { element } from "../dom.js";
import { cost, seconds, when } from "../text.js";
import { address, go } from "./links.js";

const TYPING_MS = 250;
const SHOWN = 20;
/** As many characters the service takes as words to look for. */
const MOST_WORDS_CHARS = 200;

const AN_ID = /^[0-9a-f]{4,32}$/i;

/** @typedef {import("../types.js").TraceSummary} Summary */

export class CompareForm {
  /** @param {import("./model.js").Trace} trace */
  constructor(trace) {
    this.trace = trace;
    this.typing = 0;
    /** @type {[string, Summary[]][]} */
    this.related = [];
    this.lists = element("div", { class: "stack", role: "status" }, element("span", { class: "spinner" }));
    this.input = element("input", {
      type: "search",
      class: "text-input",
      "aria-label": "Find a trace",
      placeholder: "Its words, or its id",
    });
    this.input.addEventListener("input", () => {
      clearTimeout(this.typing);
      this.typing = setTimeout(() => this.#find(), TYPING_MS);
    });
    const form = element(
      "form",
      { class: "row spread", role: "search" },
      this.input,
      element("button", { class: "button plain-button", type: "submit" }, "Compare"),
    );
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#compare();
    });
    this.element = element(
      "section",
      { class: "card" },
      element("h2", {}, "Compare this trace with"),
      form,
      this.lists,
    );
    this.#read();
  }

  async #read() {
    try {
      this.related = await this.#related();
      if (this.#words() === "") this.#show(this.related);
    } catch (error) {
      this.lists.replaceChildren(notice(error));
    }
  }

  /**
   * The traces that this one is likely to be compared with, each in the first group that it belongs to.
   * @returns {Promise<[string, Summary[]][]>}
   */
  async #related() {
    const { id, question } = this.trace;
    const { parent, session_id: session, query = "" } = question;
    const alike = listed({ text: query.slice(0, MOST_WORDS_CHARS) });
    /** @type {[string, Promise<Summary[]>][]} */
    const asked = [
      ["Its forks", listed({ parent: id })],
      ["Forks of the same trace", parent ? listed({ parent }) : Promise.resolve([])],
      ["The same question", alike.then((found) => found.filter((each) => each.query === query))],
      ["The same chat", session ? listed({ session_id: session }) : Promise.resolve([])],
      ["Asked recently", listed({})],
    ];
    const known = new Set([id, parent]);
    /** @type {[string, Summary[]][]} */
    const groups = [];
    for (const [name, found] of asked) {
      const others = (await found).filter((each) => !known.has(each.query_id));
      for (const each of others) known.add(each.query_id);
      groups.push([name, others]);
    }
    return groups;
  }

  #words() {
    return this.input.value.trim();
  }

  async #find() {
    const words = this.#words();
    if (words === "") return this.#show(this.related);
    try {
      const found = await listed({ text: words.slice(0, MOST_WORDS_CHARS) });
      const others = found.filter((each) => each.query_id !== this.trace.id);
      if (words === this.#words()) this.#show([["Found", others]]);
    } catch (error) {
      this.lists.replaceChildren(notice(error));
    }
  }

  /** Takes what was typed as an id, or else the first trace that is found by it. */
  async #compare() {
    const words = this.#words();
    if (words === "") return;
    if (!AN_ID.test(words)) {
      await this.#find();
      const first = this.lists.querySelector("li a");
      if (first instanceof HTMLElement) first.click();
      return;
    }
    go(address(this.trace.id, "diff", words));
  }

  /** @param {[string, Summary[]][]} groups */
  #show(groups) {
    const { parent } = this.trace.question;
    const lists = groups.filter(([, found]) => found.length > 0).flatMap((group) => this.#list(...group));
    if (parent && this.#words() === "")
      lists.unshift(
        element(
          "p",
          {},
          element(
            "a",
            { href: address(parent, "diff", this.trace.id), "data-view": true },
            "The trace it was forked from",
          ),
        ),
      );
    if (lists.length === 0) lists.push(element("p", { class: "soft" }, "No other trace was found."));
    this.lists.replaceChildren(...lists);
  }

  /**
   * @param {string} name
   * @param {Summary[]} traces
   */
  #list(name, traces) {
    const items = traces.map((trace) =>
      element(
        "li",
        {},
        element(
          "a",
          { href: address(this.trace.id, "diff", trace.query_id), "data-view": true, dir: "auto" },
          trace.query || "(empty)",
        ),
        element("p", { class: "soft" }, inWords(trace)),
      ),
    );
    return [element("h3", {}, name), element("ul", { class: "stack" }, ...items)];
  }
}

/**
 * @param {Record<string, string>} where
 * @returns {Promise<Summary[]>}
 */
async function listed(where) {
  const parameters = new URLSearchParams({ ...where, limit: String(SHOWN) });
  return (await getJson(`/api/traces?${parameters}`)).traces;
}

/** @param {Summary} trace */
function inWords(trace) {
  const model = trace.reasoner === "offline" ? "built-in" : trace.reasoner;
  const parts = [
    when(trace.started_at),
    trace.status,
    trace.confidence && `${trace.confidence} confidence`,
    model,
    trace.duration_ms !== null && seconds(trace.duration_ms / 1000),
    trace.cost_usd != null && cost(trace.cost_usd),
    trace.query_id.slice(0, 8),
  ];
  return parts.filter(Boolean).join(" · ");
}

/** @param {unknown} error */
function notice(error) {
  return element("p", { class: "notice" }, String(/** @type {Error} */ (error).message));
}
