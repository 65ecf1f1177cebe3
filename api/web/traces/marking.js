/** Marks words within what is on the page: a quotation is found again despite markup and spaces within it. */

import { element } from "../dom.js";

const LETTER = /[\p{L}\p{N}]/u;
/** Shorter ones occur everywhere. */
const FEWEST_LETTERS = 3;
/** Of one text, so that the largest request does not hold up the page. */
const MOST_CHARACTERS = 400_000;

/**
 * What a sentence quotes, “like this”; the service cuts a long quotation and ends it with "…".
 * @param {string} text
 */
export function quotesIn(text) {
  return [...text.matchAll(/“([^”]+)”/g)].map(([, quoted = ""]) => quoted);
}

/**
 * Marks quotations everywhere below an element, and returns the first mark of each.
 * @param {Element} root
 * @param {string[]} quotes
 */
export function mark(root, quotes) {
  const read = readLetters(root);
  /** @type {{from: number, to: number}[]} */
  const found = [];
  for (const quote of quotes) {
    const wanted = lettersOf(quote);
    const at = wanted.length < FEWEST_LETTERS ? -1 : read.letters.indexOf(wanted);
    if (at === -1) continue;
    const from = read.at[at] ?? 0;
    const end = (read.at[at + wanted.length - 1] ?? from) + 1;
    const to = quote.endsWith("…") ? endOfSentence(read.text, end) : end;
    if (!found.some((other) => from < other.to && other.from < to)) found.push({ from, to });
  }
  // From the last to the first: a text that is cut keeps its beginning.
  found.sort((one, other) => other.from - one.from);
  return found.flatMap((range) => wrap(read.nodes, range) ?? []).reverse();
}

/**
 * Takes all marks of `mark` away again.
 * @param {Element} root
 */
export function unmark(root) {
  for (const each of root.querySelectorAll("mark.meant")) {
    const parent = each.parentNode;
    each.replaceWith(...each.childNodes);
    parent?.normalize();
  }
}

/**
 * Brings a mark into the middle of the box that scrolls, if it is drawn and out of sight, and moves nothing else.
 * @param {Element} scroller
 * @param {Element | undefined} found
 */
export function bringIntoView(scroller, found) {
  if (found === undefined || found.getClientRects().length === 0) return;
  const box = scroller.getBoundingClientRect();
  const at = found.getBoundingClientRect();
  if (at.bottom <= box.bottom && at.top >= box.top) return;
  scroller.scrollTop += at.top - box.top - Math.max(0, (box.height - at.height) / 2);
}

/** @param {string} text */
function lettersOf(text) {
  let letters = "";
  for (const character of text) if (LETTER.test(character)) letters += small(character);
  return letters;
}

/**
 * A character in lower case, if that is as long as it was.
 * @param {string} character
 */
function small(character) {
  const lower = character.toLowerCase();
  return lower.length === character.length ? lower : character;
}

/**
 * The letters below an element, the place of each in its text, and the nodes that hold it.
 * @param {Element} root
 */
function readLetters(root) {
  /** @type {{node: Text, start: number}[]} */
  const nodes = [];
  /** @type {number[]} */
  const at = [];
  let text = "";
  let letters = "";
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  while (walker.nextNode() && text.length < MOST_CHARACTERS) {
    const node = /** @type {Text} */ (walker.currentNode);
    // The numbers of citations are within sentences, and what only screen readers say is beside them.
    if (node.parentElement?.closest("sup, summary, .hidden, .unmarked")) continue;
    nodes.push({ node, start: text.length });
    let offset = text.length;
    for (const character of node.data) {
      if (LETTER.test(character)) {
        const kept = small(character);
        for (let unit = 0; unit < kept.length; unit += 1) at.push(offset + unit);
        letters += kept;
      }
      offset += character.length;
    }
    text += node.data;
  }
  return { nodes, at, text, letters };
}

/**
 * @param {string} text
 * @param {number} from
 */
function endOfSentence(text, from) {
  const end = /[.!?…](\s|$)|\n/.exec(text.slice(from, from + 1000));
  return end === null ? from : from + end.index + 1;
}

/**
 * Puts marks around a range of the text, in each node that holds a part of it.
 * @param {{node: Text, start: number}[]} nodes
 * @param {{from: number, to: number}} range
 */
function wrap(nodes, { from, to }) {
  /** @type {HTMLElement | null} */
  let first = null;
  for (const { node, start } of nodes) {
    const begins = Math.max(0, from - start);
    const ends = Math.min(node.data.length, to - start);
    if (begins >= ends || !node.data.slice(begins, ends).trim()) continue;
    const range = document.createRange();
    range.setStart(node, begins);
    range.setEnd(node, ends);
    const made = element("mark", { class: "meant" });
    range.surroundContents(made);
    first ??= made;
  }
  return first;
}
