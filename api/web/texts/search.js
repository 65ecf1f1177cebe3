/** The search page: the passages that the search tool would find, best first, with scores and reasons. */

import { ROOT, getJson } from "../api.js";
import { formulasIn, passageParts } from "../ask/passage.js";
import { announce, element, icon } from "../dom.js";
import { count } from "../text.js";
import { readerPath } from "./address.js";

const LIMIT = 20;

/**
 * @typedef {object} Found
 * @property {string} source
 * @property {string | null} course
 * @property {number | null} lesson
 * @property {string | null} place
 * @property {number} score
 * @property {string} text
 * @property {{meaning: number, words: number, matched: string[]} | null} signals
 */

/**
 * Shows the page; returns a function to call when it is left.
 * @param {HTMLElement} main
 */
export function show(main) {
  const input = element("input", {
    type: "search",
    id: "search-words",
    class: "text-input",
    placeholder: "A question, or words",
    "aria-label": "Search the courses",
    dir: "auto",
  });
  input.value = new URLSearchParams(location.search).get("q") ?? "";
  const results = element("ol", { class: "stack" });
  const line = element("p", { class: "soft" });
  const form = element("form", { class: "row" }, input, submitButton());
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const words = input.value.trim();
    history.replaceState(null, "", `${ROOT}/search?${new URLSearchParams({ q: words })}`);
    search(words, results, line);
  });
  const about = "Search the texts of the courses directly: no model is called and nothing is recorded.";
  main.replaceChildren(
    element(
      "div",
      { class: "page search-page" },
      element("h1", {}, "Search"),
      element("p", { class: "soft" }, about),
      form,
      line,
      results,
    ),
  );
  input.focus();
  search(input.value.trim(), results, line);
  return () => {};
}

function submitButton() {
  return element("button", { class: "button", type: "submit" }, icon("search"), "Search");
}

/**
 * @param {string} words
 * @param {HTMLElement} results
 * @param {HTMLElement} line
 */
async function search(words, results, line) {
  results.replaceChildren();
  line.textContent = "";
  if (!words) return;
  document.title = `${words.slice(0, 80)} · Search · Antiphon`;
  line.textContent = "Searching…";
  try {
    const query = new URLSearchParams({ q: words, limit: String(LIMIT), why: "true" });
    /** @type {{passages: Found[]}} */
    const { passages } = await getJson(`/api/search?${query}`);
    line.textContent = passages.length === 0 ? "Nothing was found." : count(passages.length, "passage");
    results.replaceChildren(...passages.map(result));
  } catch (error) {
    line.textContent = String(/** @type {Error} */ (error).message);
  }
  announce(line.textContent ?? "");
}

/** @param {Found} found */
function result(found) {
  const path = readerPath(found, found.text);
  const name = path === null ? found.source : element("a", { href: path, "data-view": true }, found.source);
  const nowhere = { first: 0, end: 0 };
  const whole = { first: 0, end: found.text.length };
  const text = element(
    "div",
    { class: "passage-text prose", dir: "auto" },
    ...passageParts(found.text, whole, nowhere),
  );
  formulasIn(found.text).then((formulas) => {
    if (formulas.length > 0) text.replaceChildren(...passageParts(found.text, whole, nowhere, formulas));
  });
  return element(
    "li",
    { class: "card result" },
    element("h2", { dir: "auto" }, name, found.place ? ` · ${found.place}` : ""),
    text,
    element("p", { class: "result-why soft" }, reasons(found)),
  );
}

/** @param {Found} found */
function reasons({ score, signals }) {
  const parts = [`Score ${score.toFixed(2)}`];
  if (signals !== null) {
    parts.push(`meaning ${signals.meaning.toFixed(1)}`, `words ${signals.words.toFixed(1)}`);
    if (signals.matched.length > 0) parts.push(`shared: ${signals.matched.join(", ")}`);
  }
  return parts.join(" · ");
}
