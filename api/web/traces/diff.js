/** Two traces beside one another: what each came to, the answers sentence by sentence, what differs and why. */

import { getJson } from "../api.js";
import { element } from "../dom.js";
import { sentenceBySentence, table } from "../side_by_side.js";
import { cost, count, seconds, tone } from "../text.js";
import { CompareForm } from "./compare_form.js";
import { CAUSES, eventsThatDiffer } from "./differences.js";
import { address, api } from "./links.js";

export class Comparison {
  /** @param {import("./model.js").Trace} trace */
  constructor(trace) {
    this.trace = trace;
    this.other = "";
    this.element = element("div", { class: "stack diff" });
  }

  /** @param {string | undefined} item The other trace's id. */
  async show(item) {
    this.other = item ?? "";
    if (item === undefined) {
      this.element.replaceChildren(new CompareForm(this.trace).element);
      return;
    }
    this.element.replaceChildren(element("span", { class: "spinner" }));
    try {
      const shown = await this.#compared(item);
      if (this.other === item) this.element.replaceChildren(...shown);
    } catch (error) {
      if (this.other !== item) return;
      this.element.replaceChildren(
        element("p", { class: "notice" }, String(/** @type {Error} */ (error).message)),
        new CompareForm(this.trace).element,
      );
    }
  }

  update() {}

  leave() {
    this.other = "";
  }

  /** @param {string} other */
  async #compared(other) {
    const found = await getJson(api(this.trace.id, `/diff/${encodeURIComponent(other)}`));
    return [
      element(
        "section",
        { class: "card" },
        element("h2", {}, verdict(found)),
        element("p", { dir: "auto" }, element("strong", {}, "What changed: "), changes(found)),
        element("p", {}, costs(found)),
        sides(found),
        element(
          "p",
          {},
          element("a", { href: address(this.trace.id, "diff"), "data-view": true }, "Compare with another"),
        ),
      ),
      answers(found),
      eventsThatDiffer(found),
    ];
  }
}

/** @param {any} found */
function verdict({ left, right, differences }) {
  if (left.answer === right.answer)
    return differences.length === 0 ? "The same run" : "The same answer, reached differently";
  return "A different answer";
}

/**
 * What was changed by hand, or else what the events differ by, the most first.
 * @param {any} found
 */
function changes({ change, groups, left, right }) {
  const [before, now] = [left.confidence || "no", right.confidence || "no"];
  const confidence = before === now ? "" : ` From ${before} to ${now} confidence.`;
  if (change) return `${change}.${confidence}`;
  const causes = groups.map((/** @type {any} */ { because }) => CAUSES[because] ?? because);
  return `${causes.length === 0 ? "nothing" : [...new Set(causes)].join("; ")}.${confidence}`;
}

/**
 * What the other trace took, and by how much that is more or less than this one.
 * @param {any} found
 */
function costs({ left, right }) {
  const [before, now] = [left.usage.cost_usd, right.usage.cost_usd];
  const price = now === null ? "an unknown amount" : cost(now);
  const difference = before === null || now === null ? "" : ` (${compared(before, now, cost)})`;
  const time = compared(left.duration_ms, right.duration_ms, (ms) => seconds(ms / 1000));
  const tokens = compared(tokensOf(left), tokensOf(right), (number) => number.toLocaleString("en"));
  return [
    `The other one cost ${price}${difference},`,
    `took ${seconds(right.duration_ms / 1000)} (${time})`,
    `and used ${count(tokensOf(right), "token")} (${tokens}).`,
  ].join(" ");
}

/** @param {any} side */
function tokensOf({ usage }) {
  return usage.input_tokens + usage.output_tokens;
}

/**
 * @param {number} before
 * @param {number} now
 * @param {(difference: number) => string} words
 */
function compared(before, now, words) {
  if (before === now) return "the same";
  return `${words(Math.abs(now - before))} ${now > before ? "more" : "less"}`;
}

/** @param {any} found */
function sides({ left, right }) {
  /** @type {[string, (side: any) => string | Node][]} */
  const rows = [
    [
      "Trace",
      (side) => element("a", { href: address(side.query_id), "data-view": true }, side.query_id.slice(0, 8)),
    ],
    ["Outcome", (side) => element("span", { class: `outcome ${tone(side.status)}` }, side.status)],
    [
      "Confidence",
      (side) => element("span", { class: `confidence ${tone(side.confidence)}` }, side.confidence || "–"),
    ],
    ["Rounds", (side) => `${side.rounds}, ${count(side.calls, "call")}`],
    ["Events", (side) => side.events.toLocaleString("en")],
    [
      "Tokens",
      (side) =>
        `${side.usage.input_tokens.toLocaleString("en")} in, ${side.usage.output_tokens.toLocaleString("en")} out`,
    ],
    ["Cost", (side) => cost(side.usage.cost_usd)],
    ["Time", (side) => seconds(side.duration_ms / 1000)],
  ];
  return table(
    "The two side by side",
    "",
    [
      ["This trace", left],
      ["The other trace", right],
    ],
    rows,
  );
}

/** @param {any} found */
function answers({ sentences }) {
  if (sentences.length === 0) return element("p", { class: "soft" }, "Neither trace has an answer.");
  return element(
    "section",
    { class: "card" },
    element("h2", {}, "The answers, sentence by sentence"),
    sentenceBySentence(sentences),
  );
}
