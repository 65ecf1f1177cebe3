/** Marks of citations: hover or focus shows the passage with the cited words marked, a click opens the lesson. */

import { getJson } from "../api.js";
import { element, plain, webLink } from "../dom.js";
import { readerPath } from "../texts/address.js";
import { formulasIn, passageParts } from "./passage.js";

const GAP_PX = 8;
const EDGE_PX = 12;
/** Characters of the passage before and behind the cited words: the most that need not be scrolled. */
const AROUND_CHARS = [220, 100, 40];
const MOST_CITED_CHARS = 500;
/** Long enough to move the pointer from the mark into the passage. */
const LEAVING_MS = 200;

/**
 * Makes each mark in the answer a link to its lesson, or a button if it has no link.
 * @param {ParentNode} answer
 * @param {import("../types.js").Answer} reply
 */
export function activateMarks(answer, reply) {
  const passages = new Passages(reply.query_id);
  for (const mark of answer.querySelectorAll("sup[data-citation]")) {
    const citation = reply.citations[Number(mark.getAttribute("data-citation"))];
    if (citation === undefined) continue;
    const number = mark.textContent ?? "";
    const control = controlFor(citation, number);
    mark.replaceChildren(control);
    attach(control, citation, passages);
  }
}

/**
 * @param {import("../types.js").Citation} citation
 * @param {string} number
 */
function controlFor(citation, number) {
  const link = webLink(citation.link);
  const name = plain(`Source ${number}: ${citation.source}`);
  const path = readerPath(citation, citation.cited_text);
  if (link === null && path !== null) {
    const told = `${name}, opens the text`;
    return element("a", { class: "mark", href: path, "data-view": true, "aria-label": told }, number);
  }
  if (link === null) return element("button", { class: "mark", type: "button", "aria-label": name }, number);
  return element(
    "a",
    {
      class: "mark",
      href: link,
      target: "_blank",
      rel: "noopener noreferrer",
      "aria-label": `${name}, opens the lesson`,
    },
    number,
  );
}

/** The passages of one answer, read once one of them is wanted. */
class Passages {
  /** @type {Promise<Map<string, string>> | null} */
  #texts = null;
  /** @type {Map<string, ReturnType<typeof formulasIn>>} */
  #formulas = new Map();

  /** @param {string} queryId */
  constructor(queryId) {
    this.queryId = queryId;
  }

  /**
   * Returns the text of a fact's passage; null if it cannot be read.
   * @param {string} fact
   * @returns {Promise<string | null>}
   */
  async text(fact) {
    this.#texts ??= this.#read();
    try {
      return (await this.#texts).get(fact) ?? null;
    } catch {
      this.#texts = null;
      return null;
    }
  }

  /** @param {string} text */
  formulas(text) {
    const found = this.#formulas.get(text) ?? formulasIn(text);
    this.#formulas.set(text, found);
    return found;
  }

  async #read() {
    /** @type {{facts: import("../types.js").FactView[]}} */
    const memory = await getJson(`/api/traces/${this.queryId}/memory`);
    return new Map(memory.facts.map((fact) => [fact.id, fact.sentences.join("")]));
  }
}

/** The one open passage; another mark's takes its place. */
/** @type {{card: HTMLElement, mark: HTMLElement, close: () => void} | null} */
let shown = null;

/**
 * @param {HTMLElement} mark
 * @param {import("../types.js").Citation} citation
 * @param {Passages} passages
 */
function attach(mark, citation, passages) {
  let leaving = 0;
  const open = () => {
    clearTimeout(leaving);
    if (shown?.mark === mark) return;
    shown?.close();
    const card = cardOf(citation);
    document.body.append(card);
    mark.setAttribute("aria-describedby", card.id);
    place(card, mark);
    const close = () => {
      card.remove();
      mark.removeAttribute("aria-describedby");
      shown = null;
    };
    shown = { card, mark, close };
    card.addEventListener("pointerenter", () => clearTimeout(leaving));
    card.addEventListener("pointerleave", later);
    passages.text(citation.fact).then(async (text) => {
      showPassage(card, mark, text, citation.cited_text, []);
      const formulas = await passages.formulas(text ?? "");
      if (formulas.length > 0 && card.isConnected)
        showPassage(card, mark, text, citation.cited_text, formulas);
    });
  };
  const close = () => {
    if (shown?.mark === mark) shown.close();
  };
  const later = () => {
    leaving = window.setTimeout(close, LEAVING_MS);
  };
  // A finger does not hover: its first touch shows the passage, its second opens the lesson.
  let wasOpen = true;
  mark.addEventListener("pointerenter", (event) => {
    if (event.pointerType !== "touch") open();
  });
  mark.addEventListener("pointerleave", (event) => {
    if (event.pointerType !== "touch") later();
  });
  mark.addEventListener("pointerdown", (event) => {
    wasOpen = event.pointerType !== "touch" || shown?.mark === mark;
  });
  mark.addEventListener("focus", open);
  mark.addEventListener("blur", close);
  mark.addEventListener("click", (event) => {
    if (!wasOpen) event.preventDefault();
    // A link within the pages leaves this one, and the passage with it.
    if (wasOpen && mark.dataset.view !== undefined) close();
    else open();
    wasOpen = true;
  });
}

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") shown?.close();
});
document.addEventListener("pointerdown", (event) => {
  const at = /** @type {Node} */ (event.target);
  if (shown !== null && !shown.mark.contains(at) && !shown.card.contains(at)) shown.close();
});
// The focus itself may scroll a mark into view: the passage moves with its mark, and closes if that leaves the window.
window.addEventListener("scroll", moveAlong, { capture: true, passive: true });

function moveAlong() {
  if (shown === null) return;
  const { top, bottom } = shown.mark.getBoundingClientRect();
  if (bottom < 0 || top > window.innerHeight) shown.close();
  else place(shown.card, shown.mark);
}

/** @param {import("../types.js").Citation} citation */
function cardOf(citation) {
  let hint = citation.course === null ? "" : "Opens the text at these words";
  if (webLink(citation.link)) hint = "Opens the lesson in a new tab";
  return element(
    "div",
    { class: "card tight passage-card", id: "passage-card", role: "tooltip" },
    element(
      "p",
      { dir: "auto" },
      element("strong", {}, citation.source),
      " ",
      citation.place ? element("span", { class: "soft" }, citation.place) : null,
    ),
    element(
      "blockquote",
      { class: "passage-text prose", dir: "auto" },
      ...excerpt(citation.cited_text, 0, citation.cited_text.length, 0, []),
    ),
    hint ? element("p", { class: "soft" }, hint) : null,
  );
}

/**
 * Puts the words of the passage around the cited ones, as many as fit; it holds these character for character.
 * @param {HTMLElement} card
 * @param {HTMLElement} mark
 * @param {string | null} text
 * @param {string} cited
 * @param {import("./passage.js").Formula[]} formulas
 */
function showPassage(card, mark, text, cited, formulas) {
  const at = text === null ? -1 : text.indexOf(cited);
  if (text === null || at === -1) return;
  const box = card.querySelector(".passage-text");
  for (const around of AROUND_CHARS) {
    box?.replaceChildren(...excerpt(text, at, cited.length, around, formulas));
    place(card, mark);
    if (card.scrollHeight <= card.clientHeight) return;
  }
  const inCited = formulas.map((each) => ({ ...each, first: each.first - at, end: each.end - at }));
  box?.replaceChildren(...excerpt(cited, 0, cited.length, 0, inCited));
  place(card, mark);
}

/**
 * Returns the cited words, and some of those around them.
 * @param {string} text
 * @param {number} at Their beginning in it.
 * @param {number} length
 * @param {number} around The most characters before and behind them.
 * @param {import("./passage.js").Formula[]} formulas
 */
function excerpt(text, at, length, around, formulas) {
  const cited = { first: at, end: at + Math.min(length, MOST_CITED_CHARS) };
  const first = Math.max(cited.first - around, 0);
  const end = Math.min(cited.end + (cited.end < at + length ? 0 : around), text.length);
  // Whole words, as far as there are any.
  const begun = first === 0 ? 0 : first + (/^\S*\s*/.exec(text.slice(first, cited.first))?.[0].length ?? 0);
  const ended =
    end === text.length ? end : end - (/\s*\S*$/.exec(text.slice(cited.first, end))?.[0].length ?? 0);
  const parts = passageParts(text, { first: begun, end: ended }, cited, formulas);
  if (begun > 0 && parts[0]?.tagName === "P") parts[0].prepend("\u2026 ");
  if (ended < text.length && parts.at(-1)?.tagName === "P") parts.at(-1)?.append(" \u2026");
  return parts;
}

/**
 * Places the card below its mark, or above it if it does not fit: within the window, and never over the mark, which
 * a second touch must reach.
 * @param {HTMLElement} card
 * @param {HTMLElement} mark
 */
function place(card, mark) {
  const at = mark.getBoundingClientRect();
  const above = at.top - GAP_PX - EDGE_PX;
  const below = window.innerHeight - at.bottom - GAP_PX - EDGE_PX;
  card.style.maxHeight = `${Math.max(above, below)}px`;
  const { offsetWidth: width, offsetHeight: height } = card;
  const left = Math.min(Math.max(EDGE_PX, at.left - 24), window.innerWidth - width - EDGE_PX);
  const top = height <= below ? at.bottom + GAP_PX : at.top - GAP_PX - height;
  card.style.left = `${left}px`;
  card.style.top = `${top}px`;
}
