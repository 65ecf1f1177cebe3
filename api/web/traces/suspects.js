/** "What went wrong?": what may have made the answer of a trace a bad one, the likeliest first, each with its event. */

import { getJson } from "../api.js";
import { element, icon } from "../dom.js";
import { count } from "../text.js";
import { inPlainWords } from "../wording.js";
import { address, api } from "./links.js";

/** As many are open before the reader asks for more. */
const FIRST = 3;
/** Below this weight a suspect says only what the answer rests on. */
const LEAST_TELLING = 0.35;
const STRONG = 0.7;

/** @type {Record<string, string>} */
const AREAS = {
  document: "Document",
  search: "Search",
  tool: "Tool",
  memory: "What was shown",
  model: "Model",
  conversation: "Conversation",
  limit: "Limit",
  service: "Service",
};

/**
 * @typedef {object} Suspect
 * @property {string} kind
 * @property {string} area
 * @property {string} text
 * @property {number} event_seq
 * @property {number} weight
 * @property {string} advice
 */

/** The panel, which reads its suspects itself. */
export class Suspects {
  /**
   * @param {import("./model.js").Trace} trace
   * @param {() => void} drawn Called once they are drawn.
   */
  constructor(trace, drawn) {
    this.trace = trace;
    /** @type {Suspect[]} */
    this.found = [];
    /** @type {Map<HTMLElement, Suspect>} */
    this.links = new Map();
    /** The one that was clicked: several may name the same event. */
    /** @type {Suspect | null} */
    this.chosen = null;
    this.body = element("div", { class: "stack" }, element("p", { class: "soft" }, "Looking…"));
    this.element = element(
      "section",
      { class: "card suspects", "aria-labelledby": "suspects-title", "aria-busy": "true", tabindex: 0 },
      element("h2", { id: "suspects-title" }, "What went wrong?"),
      this.body,
    );
    this.#read().then(drawn);
  }

  /**
   * What is suspected of an event, first what somebody has clicked or weighs most.
   * @param {number} seq
   */
  at(seq) {
    const found = this.found.filter((suspect) => suspect.event_seq === seq);
    const first = found.findIndex((suspect) => suspect === this.chosen);
    if (first > 0) found.unshift(...found.splice(first, 1));
    return found.map(({ text }) => text);
  }

  /** A link to the suspect after the current one; null if it is the last. */
  next() {
    const links = [...this.links.keys()];
    const shown = links.findIndex((link) => link.hasAttribute("aria-current"));
    const following = shown === -1 ? undefined : links[shown + 1];
    if (following === undefined) return null;
    return element(
      "button",
      { class: "quiet next-cause", type: "button", click: () => following.click() },
      "Next cause ›",
    );
  }

  /** The event of the likeliest cause; null if no suspect is likely. */
  get likeliest() {
    const [first] = this.found;
    return first !== undefined && first.weight >= LEAST_TELLING ? first.event_seq : null;
  }

  /**
   * Marks the current one, which is never hidden.
   * @param {number} seq
   */
  show(seq) {
    const [shown] = this.at(seq);
    for (const [link, suspect] of this.links) {
      const isShown = suspect.event_seq === seq && suspect.text === shown;
      if (isShown) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
      if (isShown && link.parentElement) link.parentElement.hidden = false;
    }
  }

  async #read() {
    try {
      /** @type {{suspects: Suspect[]}} */
      const { suspects } = await getJson(api(this.trace.id, "/suspects"));
      this.found = suspects.map((each) => ({ ...each, text: inPlainWords(each.text, this.trace.toolNames) }));
      this.body.replaceChildren(...summary(this.found), ...this.#list());
    } catch (error) {
      const text = String(/** @type {Error} */ (error).message);
      this.body.replaceChildren(element("p", { class: "notice" }, icon("warn"), text));
    }
    this.element.removeAttribute("aria-busy");
  }

  #list() {
    if (this.found.length === 0) return [];
    const items = this.found.map((suspect, index) => this.#item(suspect, index));
    const list = element("ol", { class: "stack suspect-list" }, ...items);
    const rest = items.slice(FIRST);
    if (rest.length === 0) return [list];
    for (const each of rest) each.hidden = true;
    const more = element(
      "button",
      { class: "quiet", type: "button" },
      `Show ${count(rest.length, "weaker suspect")}`,
    );
    more.addEventListener("click", () => {
      for (const each of rest) each.hidden = false;
      more.remove();
      rest[0]?.querySelector("a")?.focus();
    });
    return [list, more];
  }

  /**
   * @param {Suspect} suspect
   * @param {number} index
   */
  #item(suspect, index) {
    const { area, text, event_seq: seq, weight, advice } = suspect;
    const strength = weight >= STRONG ? "bad" : weight >= LEAST_TELLING ? "fair" : "weak";
    const link = element(
      "a",
      { class: "row suspect", href: address(this.trace.id, "events", seq), "data-view": true },
      element("span", { class: `suspect-rank tag ${strength}`, "aria-hidden": "true" }, String(index + 1)),
      element(
        "span",
        { class: "stack tight" },
        element("span", { class: "suspect-text", dir: "auto" }, text),
        element("span", { class: "soft suspect-advice" }, advice),
        element(
          "span",
          { class: "soft", title: `Weight ${weight.toFixed(2)}: a rule of thumb, not a probability` },
          `${AREAS[area] ?? area}, event ${seq}`,
        ),
      ),
    );
    this.links.set(link, suspect);
    link.addEventListener("click", () => {
      this.chosen = suspect;
    });
    return element("li", {}, link);
  }
}

/** @param {Suspect[]} suspects */
function summary(suspects) {
  const [first] = suspects;
  if (first !== undefined && first.weight >= LEAST_TELLING) return [];
  const words =
    first === undefined
      ? "Nothing stands out: no failure, no lost evidence, no claim without support."
      : "Nothing stands out. If the answer is still wrong, check its sources.";
  return [element("p", { class: "soft" }, words)];
}
