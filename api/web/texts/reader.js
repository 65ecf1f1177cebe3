/** The reader of documents: the text of a lesson as it is indexed, with the cited words marked and in view. */

import { getJson } from "../api.js";
import { formulasIn, passageParts } from "../ask/passage.js";
import { element, icon } from "../dom.js";

/** As much one request returns. */
const PIECE_CHARS = 20_000;
/** What of a longer lesson lies behind is not shown, which the page says. */
const MOST_CHARS = 400_000;

/**
 * @typedef {object} Stretch
 * @property {string} course
 * @property {number | null} lesson
 * @property {string} title
 * @property {string} file
 * @property {number} length
 * @property {string} text
 */

/**
 * Shows the page; returns a function to call when it is left.
 * @param {HTMLElement} main
 */
export function show(main) {
  const wanted = new URLSearchParams(location.search);
  const page = element("div", { class: "page reader" }, element("p", { class: "soft" }, "Loading…"));
  main.replaceChildren(page);
  let isLeft = false;
  fill(page, wanted, () => isLeft);
  return () => {
    isLeft = true;
  };
}

/**
 * @param {HTMLElement} page
 * @param {URLSearchParams} wanted
 * @param {() => boolean} isLeft
 */
async function fill(page, wanted, isLeft) {
  try {
    const stretch = await wholeText(wanted, isLeft);
    if (isLeft()) return;
    const cited = citedIn(stretch.text, wanted);
    const plain = body(stretch.text, cited, []);
    page.replaceChildren(...head(stretch), ...missing(wanted, cited), plain);
    document.title = `${stretch.title || stretch.course} · Antiphon`;
    page.querySelector("mark")?.scrollIntoView({ block: "center" });
    const formulas = await formulasIn(stretch.text);
    if (formulas.length === 0 || isLeft()) return;
    const { top = -1 } = page.querySelector("mark")?.getBoundingClientRect() ?? {};
    plain.replaceWith(body(stretch.text, cited, formulas));
    // Unless its reader has gone elsewhere in it.
    if (top >= 0 && top < innerHeight) page.querySelector("mark")?.scrollIntoView({ block: "center" });
  } catch (error) {
    page.replaceChildren(
      element("h1", {}, "This text cannot be shown"),
      element("p", { class: "notice" }, icon("warn"), String(/** @type {Error} */ (error).message)),
    );
  }
}

/**
 * @param {URLSearchParams} wanted
 * @param {() => boolean} isLeft
 * @returns {Promise<Stretch>}
 */
async function wholeText(wanted, isLeft) {
  const query = new URLSearchParams({ course: wanted.get("course") ?? "", length: String(PIECE_CHARS) });
  const lesson = wanted.get("lesson");
  if (lesson !== null) query.set("lesson", lesson);
  query.set("start", "0");
  /** @type {Stretch} */
  const whole = await getJson(`/api/text?${query}`);
  for (let at = PIECE_CHARS; at < Math.min(whole.length, MOST_CHARS) && !isLeft(); at += PIECE_CHARS) {
    query.set("start", String(at));
    whole.text += (await getJson(`/api/text?${query}`)).text;
  }
  return whole;
}

/**
 * Returns the place of the cited words; an empty one if the text has changed since.
 * @param {string} text
 * @param {URLSearchParams} wanted
 */
function citedIn(text, wanted) {
  const words = wanted.get("words");
  const start = Number(wanted.get("start") ?? 0);
  const length = Number(wanted.get("length") ?? 0);
  // The service counts characters, a browser the halves of those beyond the first 65,536.
  const there = offset(text, start);
  if (words === null) return { first: there, end: offset(text, length, there) };
  const first = text.startsWith(words, there) ? there : text.indexOf(words);
  if (first === -1) return { first: 0, end: 0 };
  return { first, end: Math.max(first + words.length, offset(text, length, first)) };
}

/**
 * @param {string} text
 * @param {number} characters
 * @param {number} at The place from which they count.
 */
function offset(text, characters, at = 0) {
  for (let passed = 0; passed < characters && at < text.length; passed++) {
    at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
  }
  return at;
}

/** @param {Stretch} stretch */
function head({ course, lesson, title, file, length }) {
  const name = lesson === null ? title : `Lesson ${lesson}${title ? `: ${title}` : ""}`;
  const cut = length > MOST_CHARS ? `; the first ${MOST_CHARS.toLocaleString("en")} are shown` : "";
  const size = `${length.toLocaleString("en")} characters${cut}`;
  return [
    element("p", { class: "soft", dir: "auto" }, course),
    element("h1", { dir: "auto" }, name || course),
    element("p", { class: "soft", dir: "auto" }, `${file}, as indexed: ${size}.`),
  ];
}

/**
 * @param {URLSearchParams} wanted
 * @param {{first: number, end: number}} cited
 */
function missing(wanted, cited) {
  if (wanted.get("words") === null || cited.end > 0) return [];
  const text = "The cited words are not in the text that is shown: it may have changed since the answer.";
  return [element("p", { class: "notice" }, icon("warn"), text)];
}

/**
 * @param {string} text
 * @param {{first: number, end: number}} cited
 * @param {import("../ask/passage.js").Formula[]} formulas
 */
function body(text, cited, formulas) {
  const whole = { first: 0, end: text.length };
  const attributes = {
    class: "passage-text prose",
    dir: "auto",
    tabindex: 0,
    role: "region",
    "aria-label": "Text",
  };
  return element("div", attributes, ...passageParts(text, whole, cited, formulas));
}
