/** A passage as it is in its course: prose in its lines, code as code, a table as a table, the cited words marked. */

import { sendJson } from "../api.js";
import { element, plain } from "../dom.js";
import { fragmentOf } from "../safe_html.js";

const FENCE = /^\s*(?:```|~~~)/;
/** One that names a language begins code, and never ends it. */
const NAMED_FENCE = /^\s*(?:```|~~~)\s*\w/;
const ROW = /^\s*\|(.*)\|\s*$/;
const SEPARATOR = /^\s*\|(?:\s*:?-+:?\s*\|)+\s*$/;

/** As much as the service reads at once. */
const MOST_CHARS = 20_000;
/** Without one of these there is no formula. */
const MAY_HOLD_FORMULAS = /\$|\\[([]/;

/**
 * A formula in a text: its first and last place, and its MathML.
 * @typedef {{first: number, end: number, html: string}} Formula
 */

/**
 * Fetches the formulas in a text; none if that fails, and then they stay as written.
 * @param {string} text
 * @returns {Promise<Formula[]>}
 */
export async function formulasIn(text) {
  /** @type {Formula[]} */
  const found = [];
  for (let at = 0; at < text.length; at += MOST_CHARS) {
    const piece = text.slice(at, at + MOST_CHARS);
    if (!MAY_HOLD_FORMULAS.test(piece)) continue;
    const { formulas } = await sendJson("/api/formulas", { text: piece }).catch(() => ({ formulas: {} }));
    // The longest first: `$x$` may be inside another one.
    const written = Object.keys(formulas).sort((one, other) => other.length - one.length);
    for (const words of written) {
      for (
        let first = piece.indexOf(words);
        first !== -1;
        first = piece.indexOf(words, first + words.length)
      ) {
        const formula = { first: at + first, end: at + first + words.length, html: formulas[words] };
        if (!found.some((each) => each.first < formula.end && formula.first < each.end)) found.push(formula);
      }
    }
  }
  return found.sort((one, other) => one.first - other.first);
}

/**
 * Returns a part of a passage as elements.
 * @param {string} text The whole passage.
 * @param {{first: number, end: number}} part The part to show, in characters.
 * @param {{first: number, end: number}} cited The part to mark.
 * @param {Formula[]} formulas
 * @returns {HTMLElement[]}
 */
export function passageParts(text, part, cited, formulas = []) {
  const lines = text.split("\n");
  // One that is cut stays as written.
  const whole = formulas.filter((each) => each.first >= part.first && each.end <= part.end);
  const parts = new Parts(cited, beginsInCode(lines), whole);
  let at = 0;
  for (const line of lines) {
    const end = at + line.length;
    if (FENCE.test(line)) parts.fence();
    else if (end > part.first && at < part.end) {
      const from = Math.max(at, part.first);
      const shown = text.slice(from, Math.min(end, part.end));
      // A row that is cut has lost its columns.
      if (shown === line || !ROW.test(line)) parts.line(shown, from);
    }
    at = end + 1;
  }
  return parts.nodes;
}

/**
 * Tells whether a passage was cut out of the middle of some code.
 * @param {string[]} lines
 */
function beginsInCode(lines) {
  const fences = lines.filter((line) => FENCE.test(line));
  return fences.findIndex((line) => NAMED_FENCE.test(line)) % 2 === 1;
}

class Parts {
  #isCode;
  /** @type {HTMLElement[]} */
  nodes = [];
  /** @type {HTMLTableElement | null} */
  #table = null;

  /**
   * @param {{first: number, end: number}} cited
   * @param {boolean} isCode
   * @param {Formula[]} formulas
   */
  constructor(cited, isCode, formulas) {
    this.cited = cited;
    this.formulas = formulas;
    this.#isCode = isCode;
  }

  fence() {
    this.#isCode = !this.#isCode;
    this.#table = null;
  }

  /**
   * @param {string} line
   * @param {number} at Its beginning in the passage.
   */
  line(line, at) {
    // One of several lines is drawn on its first.
    const long = this.formulas.find((each) => each.first < at + line.length && at < each.end);
    if (long && !this.#isCode && (long.first < at || long.end > at + line.length)) {
      if (long.first >= at) this.nodes.push(element("p", {}, this.#drawn(long)));
      return;
    }
    const row = this.#isCode ? null : ROW.exec(line);
    if (row === null) this.#table = null;
    if (this.#isCode) this.#code(line, at);
    else if (SEPARATOR.test(line)) this.#table?.querySelector("tr")?.classList.add("head");
    else if (row !== null) this.#row(row[1] ?? "", at + line.indexOf("|") + 1);
    else if (line.trim()) this.nodes.push(element("p", {}, ...this.#marked(line, at)));
  }

  /**
   * @param {string} line
   * @param {number} at
   */
  #code(line, at) {
    let code = this.nodes.at(-1);
    if (code?.tagName !== "PRE") {
      code = element("pre", {});
      this.nodes.push(code);
    }
    code.append(...this.#words(line, at), "\n");
  }

  /**
   * @param {string} cells
   * @param {number} at
   */
  #row(cells, at) {
    if (this.#table === null) {
      this.#table = element("table", {});
      this.nodes.push(this.#table);
    }
    const row = this.#table.insertRow();
    for (const cell of cells.split("|")) {
      row.insertCell().append(...this.#marked(cell, at));
      at += cell.length + 1;
    }
  }

  /**
   * Returns a text with its formulas drawn, and a mark around its cited characters.
   * @param {string} text
   * @param {number} at
   * @returns {(Node | string)[]}
   */
  #marked(text, at) {
    /** @type {(Node | string)[]} */
    const pieces = [];
    let done = 0;
    for (const formula of this.formulas) {
      if (formula.first < at + done || formula.end > at + text.length) continue;
      pieces.push(...this.#words(text.slice(done, formula.first - at), at + done), this.#drawn(formula));
      done = formula.end - at;
    }
    return [...pieces, ...this.#words(text.slice(done), at + done)];
  }

  /** @param {Formula} formula */
  #drawn(formula) {
    const isCited = formula.first < this.cited.end && this.cited.first < formula.end;
    const drawn = fragmentOf(formula.html);
    return isCited ? element("mark", {}, drawn) : drawn;
  }

  /**
   * Returns words with a mark around their cited characters.
   * @param {string} text
   * @param {number} at
   * @returns {(Node | string)[]}
   */
  #words(text, at) {
    const first = Math.max(this.cited.first - at, 0);
    const end = Math.min(this.cited.end - at, text.length);
    if (first >= end) return [plain(text)];
    return [plain(text.slice(0, first)), element("mark", {}, text.slice(first, end)), plain(text.slice(end))];
  }
}
