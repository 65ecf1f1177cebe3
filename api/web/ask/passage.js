/** A passage as it stands in its course: prose in its lines, code as code, a table as a table, the cited words marked. */

import { element, plain } from "../dom.js";

const FENCE = /^\s*(?:```|~~~)/;
/** One that names a language begins code, and never ends it. */
const NAMED_FENCE = /^\s*(?:```|~~~)\s*\w/;
const ROW = /^\s*\|(.*)\|\s*$/;
const SEPARATOR = /^\s*\|(?:\s*:?-+:?\s*\|)+\s*$/;

/**
 * Returns a part of a passage as elements.
 * @param {string} text The whole passage.
 * @param {{first: number, end: number}} part What of it is shown, in characters.
 * @param {{first: number, end: number}} cited What of it is marked.
 * @returns {HTMLElement[]}
 */
export function passageParts(text, part, cited) {
  const lines = text.split("\n");
  const parts = new Parts(cited, beginsInCode(lines));
  let at = 0;
  for (const line of lines) {
    const end = at + line.length;
    if (FENCE.test(line)) parts.fence();
    else if (end > part.first && at < part.end) {
      const from = Math.max(at, part.first);
      const shown = text.slice(from, Math.min(end, part.end));
      // Of a row that is cut nothing could be told.
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
   */
  constructor(cited, isCode) {
    this.cited = cited;
    this.#isCode = isCode;
  }

  fence() {
    this.#isCode = !this.#isCode;
    this.#table = null;
  }

  /**
   * @param {string} line
   * @param {number} at Where it begins in the passage.
   */
  line(line, at) {
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
    code.append(...this.#marked(line, at), "\n");
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
   * Returns a text with a mark round those of its characters that are cited.
   * @param {string} text
   * @param {number} at
   * @returns {(Node | string)[]}
   */
  #marked(text, at) {
    const first = Math.max(this.cited.first - at, 0);
    const end = Math.min(this.cited.end - at, text.length);
    if (first >= end) return [plain(text)];
    return [plain(text.slice(0, first)), element("mark", {}, text.slice(first, end)), plain(text.slice(end))];
  }
}
