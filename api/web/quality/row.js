/** One question with its two answers: what changed, what it cost, and which of them somebody finds better. */

import { getJson, send, sendJson } from "../api.js";
import { answerText, facts, label } from "../ask/answer.js";
import { announce, element } from "../dom.js";
import { sentenceBySentence } from "../side_by_side.js";
import { address, api } from "../traces/links.js";

/**
 * @typedef {import("../types.js").Answer} Answer
 * @typedef {import("./sets.js").SavedQuestion} SavedQuestion
 * @typedef {import("./sets.js").Verdict} Verdict
 */

/** @type {[Verdict, string, "up" | "down", "up" | "down"][]} */
const VERDICTS = [
  ["left", "Left is better", "up", "down"],
  ["right", "Right is better", "down", "up"],
  ["both_good", "Both are good", "up", "up"],
  ["both_bad", "Both are bad", "down", "down"],
];

export class Row {
  /** @type {Answer[]} */
  answers = [];
  /** The share of sentences that differ. */
  changed = 0;
  element = element("li", { class: "card" });

  /**
   * @param {SavedQuestion} question
   * @param {[string, string]} names Of the two sides.
   * @param {() => Promise<unknown>} save
   */
  constructor(question, names, save) {
    this.question = question;
    this.names = names;
    this.save = save;
    this.say("Not asked yet.");
  }

  /** @param {string} text */
  say(text) {
    this.element.replaceChildren(this.#title(), element("p", { class: "soft" }, text));
  }

  #title() {
    return element("h2", { dir: "auto" }, this.question.question);
  }

  /** Reads both answers and what differs; returns false if one is missing. */
  async read() {
    const { left, right } = this.question;
    if (!left || !right) return false;
    try {
      const [diff, ...answers] = await Promise.all([
        getJson(api(left, `/diff/${encodeURIComponent(right)}`)),
        getJson(api(left, "/answer?html=true")),
        getJson(api(right, "/answer?html=true")),
      ]);
      // A fork's own duration counts from the question of its parent; the comparison leaves out what lies between.
      answers[0].duration_ms = diff.left.duration_ms;
      answers[1].duration_ms = diff.right.duration_ms;
      this.answers = answers;
      this.#draw(diff.sentences);
      return true;
    } catch (error) {
      this.say(String(/** @type {Error} */ (error).message));
      return false;
    }
  }

  /** @param {[string, string][]} sentences */
  #draw(sentences) {
    const [left, right] = /** @type {[Answer, Answer]} */ (this.answers);
    const differing = sentences.filter(([mark]) => mark !== "=").length;
    this.changed = sentences.length === 0 ? 0 : differing / sentences.length;
    const parts = [
      this.#title(),
      element(
        "div",
        { class: "grid pair" },
        ...[left, right].map((answer, index) => side(this.names[index] ?? "", answer)),
      ),
      differing === 0
        ? element("p", { class: "soft" }, "The same answer.")
        : element(
            "details",
            {},
            element(
              "summary",
              {},
              `What changed, sentence by sentence (${differing} of ${sentences.length})`,
            ),
            sentenceBySentence(sentences),
          ),
      citations("Cited only on the left", left, right),
      citations("Cited only on the right", right, left),
      this.#verdicts(left, right),
    ];
    this.element.replaceChildren(...parts.filter((each) => each !== null));
  }

  /**
   * @param {Answer} left
   * @param {Answer} right
   */
  #verdicts(left, right) {
    const group = element("div", { class: "row", role: "group", "aria-label": "Your verdict" });
    group.append(element("span", { class: "soft" }, "Which is better?"));
    for (const [verdict, name, ...ratings] of VERDICTS) {
      const button = element(
        "button",
        { class: "quiet", type: "button", "aria-pressed": String(this.question.verdict === verdict) },
        name,
      );
      button.addEventListener("click", async () => {
        const isWithdrawn = this.question.verdict === verdict;
        try {
          for (const [index, { query_id }] of [left, right].entries())
            await rate(query_id, isWithdrawn ? null : (ratings[index] ?? null));
          this.question.verdict = isWithdrawn ? null : verdict;
          await this.save();
          announce(isWithdrawn ? "Verdict withdrawn." : `${name}: saved.`);
        } catch (error) {
          announce(String(/** @type {Error} */ (error).message));
        }
        for (const [index, each] of group.querySelectorAll("button").entries())
          each.setAttribute("aria-pressed", String(VERDICTS[index]?.[0] === this.question.verdict));
      });
      group.append(button);
    }
    return group;
  }
}

/**
 * @param {string} queryId
 * @param {"up" | "down" | null} rating
 */
async function rate(queryId, rating) {
  const path = api(queryId, "/feedback");
  if (rating === null) await send(path, { method: "DELETE" });
  else await sendJson(path, { rating, note: "Compared with another answer on the quality page." }, "PUT");
}

/**
 * @param {string} name
 * @param {Answer} answer
 */
function side(name, answer) {
  return element(
    "section",
    { class: "stack" },
    element("h3", {}, name),
    answerText(answer),
    element(
      "p",
      { class: "row soft" },
      element("span", {}, label(answer)),
      element("a", { href: address(answer.query_id), "data-view": true }, "Trace"),
    ),
    facts(answer),
  );
}

/**
 * What one answer cites and the other does not.
 * @param {string} title
 * @param {Answer} answer
 * @param {Answer} other
 */
function citations(title, answer, other) {
  const there = new Set(other.citations.map(({ cited_text }) => cited_text));
  const own = new Map(answer.citations.map((each) => [each.cited_text, each.source]));
  const lines = [...own]
    .filter(([text]) => !there.has(text))
    .map(([text, source]) =>
      element("li", { dir: "auto" }, `${source}: `, element("q", { class: "soft" }, text)),
    );
  if (lines.length === 0) return null;
  return element(
    "details",
    {},
    element("summary", {}, `${title} (${lines.length})`),
    element("ul", { class: "stack" }, ...lines),
  );
}
