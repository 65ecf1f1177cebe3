/** What a call got of each fact, and what was left out by which rule; a fork can show a sentence that was left out. */

import { drawing, element } from "../dom.js";
import { count } from "../text.js";
import { Launch } from "./launch.js";
import { sentencesOf } from "./model.js";
import { flat, ordersIn } from "./orders.js";

/**
 * Why a sentence was left out.
 * @typedef {{rule: string, why: string, score: number | null, bar: number | null}} LeftOut
 */

/** The sources of one call. */
export class Sources {
  /**
   * @param {import("./model.js").Trace} trace
   * @param {string} callId
   */
  constructor(trace, callId) {
    this.trace = trace;
    this.callId = callId;
  }

  /**
   * A source: the part in the briefing black, the rest grey; null if its fact is not known.
   * @param {{fact_id: string, sentences: number[]}} row
   * @param {number} number
   * @param {any} briefing
   */
  shown(row, number, briefing) {
    const known = this.trace.facts.get(row.fact_id);
    if (known === undefined) return null;
    const { fact } = known;
    return this.#fact(
      `Source ${number}: ${fact.id}, ${fact.passage.source}`,
      fact,
      new Set(row.sentences),
      briefing,
    );
  }

  /**
   * All that a briefing shows, and then what it leaves out.
   * @param {any} briefing
   */
  all(briefing) {
    const rows = briefing.sources.map((/** @type {any} */ row, /** @type {number} */ place) =>
      this.shown(row, place + 1, briefing),
    );
    return [...rows, this.dropped(briefing)];
  }

  /** @param {any} briefing */
  dropped(briefing) {
    const shown = new Set(briefing.facts);
    const facts = new Set(briefing.dropped.map((/** @type {any} */ row) => row.what));
    const parts = [];
    for (const id of facts) {
      const known = this.trace.facts.get(id);
      if (!shown.has(id) && known !== undefined)
        parts.push(this.#fact(`${id}, ${known.fact.passage.source}`, known.fact, new Set(), briefing));
    }
    const others = briefing.dropped.filter((/** @type {any} */ row) => !this.trace.facts.has(row.what));
    for (const row of others) parts.push(element("p", { class: "soft" }, `${row.what}: ${row.why}`));
    if (parts.length === 0) return null;
    return element(
      "section",
      { class: "stack" },
      element("h3", {}, `Left out entirely: ${count(parts.length, "source")}`),
      ...parts,
    );
  }

  /**
   * @param {string} title
   * @param {any} fact
   * @param {Set<number>} shown
   * @param {any} briefing
   */
  #fact(title, fact, shown, briefing) {
    const reasons = reasonsFor(fact.id, briefing);
    const orders = ordersIn(this.trace);
    const place = element("div", { class: "show-place" });
    const sentences = sentencesOf(fact.passage).map((text, number) => {
      if (shown.has(number)) return shownSentence(text, orders);
      const reason = reasons.get(number) ?? reasons.get(-1) ?? null;
      return this.#leftOut(fact.id, number, text, reason, place);
    });
    return element(
      "details",
      { class: "card request-part", open: true },
      element("summary", { dir: "auto" }, title),
      element("div", { class: "sentences", dir: "auto" }, ...sentences, place),
    );
  }

  /**
   * @param {string} factId
   * @param {number} number
   * @param {string} text
   * @param {LeftOut | null} reason
   * @param {HTMLElement} place
   */
  #leftOut(factId, number, text, reason, place) {
    const button = element(
      "button",
      { type: "button", class: "left-out", title: "Fork with this sentence shown to the model" },
      text.trim(),
    );
    button.addEventListener("click", () => this.#offer(factId, number, place));
    return element("span", { class: "left-out-line" }, button, reason === null ? null : worth(reason));
  }

  /**
   * Offers a fork whose briefing shows a sentence.
   * @param {string} factId
   * @param {number} number
   * @param {HTMLElement} place
   */
  #offer(factId, number, place) {
    const briefing = this.trace.calls.get(this.callId)?.briefing;
    if (briefing === null || briefing === undefined) return;
    const change = { kind: "show", name: factId, value: [number] };
    const launch = new Launch(this.trace.id, () => ({ at: briefing.seq, change }));
    place.replaceChildren(
      element(
        "section",
        { class: "card offer", "aria-label": "Show it" },
        element("h4", {}, `Show ${this.callId} sentence ${number + 1} of ${factId}`),
        launch.element,
      ),
    );
    launch.begin.scrollIntoView({ block: "nearest" });
  }
}

/**
 * Why sentences of a fact were left out, by their number; -1 is all that no row names.
 * @param {string} factId
 * @param {any} briefing
 * @returns {Map<number, LeftOut>}
 */
function reasonsFor(factId, briefing) {
  /** @type {Map<number, LeftOut>} */
  const reasons = new Map();
  for (const row of briefing.dropped) {
    if (row.what !== factId) continue;
    const { rule, why, bar } = row;
    if (row.sentences.length === 0) reasons.set(-1, { rule, why, score: null, bar });
    row.scores.forEach((/** @type {number} */ score, /** @type {number} */ place) => {
      reasons.set(row.sentences[place] ?? place, { rule, why, score, bar });
    });
  }
  return reasons;
}

/**
 * The rule that left a sentence out, and what it was worth beside what would have been enough.
 * @param {LeftOut} reason
 */
function worth({ rule, why, score, bar }) {
  const words =
    score === null || bar === null ? rule : `${rule}: score ${score.toFixed(2)}, needed ${bar.toFixed(2)}`;
  const most = Math.max(1, score ?? 0, bar ?? 0);
  const drawn =
    score === null
      ? null
      : drawing(
          "svg",
          { class: "worth-bar", viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" },
          drawing("rect", { class: "worth", x: 0, y: 0, width: (100 * score) / most, height: 10 }),
          bar === null
            ? null
            : drawing("rect", { class: "enough", x: (100 * bar) / most - 1, y: 0, width: 2, height: 10 }),
        );
  return element("span", { class: "row soft reason", title: why }, drawn, words);
}

/**
 * @param {string} text
 * @param {string[]} orders
 */
function shownSentence(text, orders) {
  const isOrder = orders.some((words) => words !== "" && flat(text).includes(words));
  if (!isOrder) return element("span", { class: "shown" }, text);
  return element(
    "span",
    { class: "shown orders" },
    text,
    element("span", { class: "tag" }, "contains instructions"),
  );
}
