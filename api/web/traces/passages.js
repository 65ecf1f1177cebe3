/** Passages as a search found them: their places, their scores, and their text. */

import { element } from "../dom.js";
import { readerPath } from "../texts/address.js";
import { bar } from "./bars.js";

/**
 * Whether a passage is another, or a part of it.
 * @param {any} passage
 * @param {any} whole
 */
export function isIn(passage, whole) {
  if (passage.id === whole.id) return true;
  return passage.source === whole.source && whole.text.includes(passage.text.trim());
}

/**
 * @param {any[]} passages
 * @param {(passage: any) => Node[]} fates What became of each.
 */
export function passageList(passages, fates = () => []) {
  const most = Math.max(1, ...passages.map(signalSum));
  return element(
    "ol",
    { class: "stack passages" },
    ...passages.map((passage) => passageItem(passage, most, fates(passage))),
  );
}

/**
 * The name of a source, which leads to its words in the reader if a course holds them.
 * @param {string | null} path
 * @param {string} source
 */
export function sourceLink(path, source) {
  if (path === null) return element("strong", {}, source);
  return element("a", { href: path, "data-view": true, title: "Read it in its document" }, source);
}

/** @param {any} passage */
function signalSum(passage) {
  return Math.max(0, passage.signals?.meaning ?? 0) + Math.max(0, passage.signals?.words ?? 0);
}

/**
 * @param {any} passage
 * @param {number} most
 * @param {Node[]} fates
 */
function passageItem(passage, most, fates) {
  const place = [passage.title, passage.place].filter(Boolean).join(", ");
  const path = passage.kind === "outline" ? null : readerPath(passage, passage.text, passage.start ?? null);
  return element(
    "li",
    { class: "passage" },
    element(
      "p",
      { class: "row passage-head unmarked", dir: "auto" },
      sourceLink(path, passage.source),
      place ? element("span", { class: "soft" }, place) : null,
      element("span", { class: "number soft" }, `score ${(passage.score ?? 0).toFixed(2)}`),
    ),
    element("p", { class: "passage-words", dir: "auto" }, passage.text),
    passage.signals ? signalsOf(passage.signals, most) : null,
    fates.length > 0 ? element("ul", { class: "row" }, ...fates) : null,
  );
}

/**
 * @param {{meaning: number, words: number, matched: string[]}} signals
 * @param {number} most
 */
function signalsOf(signals, most) {
  const meaning = signals.meaning.toFixed(2);
  const words = signals.words.toFixed(2);
  const matched = signals.matched.length > 0 ? ` (${signals.matched.join(", ")})` : "";
  return element(
    "div",
    { class: "row signals unmarked" },
    bar(
      [
        { name: "input", value: Math.max(0, signals.meaning), words: `by meaning ${meaning}` },
        { name: "output", value: Math.max(0, signals.words), words: `by words ${words}` },
      ],
      most,
    ),
    element("span", { class: "soft", dir: "auto" }, `meaning ${meaning}, words ${words}${matched}`),
  );
}
