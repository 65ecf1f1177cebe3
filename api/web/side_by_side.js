/** Two answers beside one another: what each came to in a table, and their sentences in one list. */

import { element } from "./dom.js";
import { withoutSigns } from "./wording.js";

/** @type {Record<string, [string, string, string]>} */
const MARKS = {
  "=": ["same", " ", "in both"],
  "-": ["left", "−", "only in this one"],
  "+": ["right", "+", "only in the other one"],
};

/**
 * @template Side
 * @param {string} label Of the table.
 * @param {string} about What its first cell says.
 * @param {[string, Side][]} sides The two, by their names.
 * @param {[string, (side: Side) => string | Node][]} rows Facts about each.
 */
export function table(label, about, sides, rows) {
  const heads = sides.map(([name]) => element("th", { scope: "col" }, name));
  const body = rows.map(([name, of]) =>
    element(
      "tr",
      {},
      element("th", { scope: "row" }, name),
      ...sides.map(([, side]) => element("td", {}, of(side))),
    ),
  );
  return element(
    "div",
    { class: "table-scroller", tabindex: 0, role: "region", "aria-label": label },
    element(
      "table",
      { class: "table sides" },
      element("thead", {}, element("tr", {}, element("td", {}, about), ...heads)),
      element("tbody", {}, ...body),
    ),
  );
}

/**
 * @param {[string, string][]} sentences Each with the mark that says which of the two has it.
 */
export function sentenceBySentence(sentences) {
  const lines = sentences.map(([mark, text]) => {
    const [name, sign, words] = MARKS[mark] ?? ["same", " ", ""];
    return element(
      "li",
      { class: `answer-line ${name}`, dir: "auto" },
      element("span", { "aria-hidden": "true" }, sign),
      element("span", {}, element("span", { class: "hidden" }, `${words}: `), withoutSigns(text)),
    );
  });
  return element("ul", {}, ...lines);
}
