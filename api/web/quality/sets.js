/** Saved sets of questions as the service keeps them, and as the lines of a file. */

import { ROOT, getJson, send, sendJson } from "../api.js";

/**
 * @typedef {"left" | "right" | "both_good" | "both_bad"} Verdict
 *
 * @typedef {object} SavedQuestion
 * @property {string} question
 * @property {string} [id]
 * @property {string[]} [earlier]
 * @property {"up" | "down" | null} [rating]
 * @property {string | null} [note]
 * @property {string | null} [left] The trace of the one answer.
 * @property {string | null} [right]
 * @property {Verdict | null} [verdict]
 *
 * @typedef {Record<string, string>} Settings By their names; none: as the service answers.
 * @typedef {{of: string, left: Settings, right: Settings}} Comparison
 * @typedef {{set_id: string, name: string, at: number, questions: SavedQuestion[], comparison: Comparison | null}} QuestionSet
 */

/** @returns {Promise<QuestionSet[]>} */
export async function readSets() {
  return (await getJson("/api/question-sets")).sets;
}

/**
 * Stores a set in place of the one with its id.
 * @param {Omit<QuestionSet, "at">} set
 * @returns {Promise<QuestionSet>}
 */
export function saveSet({ set_id, name, questions, comparison }) {
  return sendJson(`/api/question-sets/${set_id}`, { name, questions, comparison }, "PUT");
}

/** @param {string} id */
export function deleteSet(id) {
  return send(`/api/question-sets/${id}`, { method: "DELETE" });
}

/** @param {string} [id] */
export function setAddress(id) {
  return id === undefined ? `${ROOT}/quality` : `${ROOT}/quality/${encodeURIComponent(id)}`;
}

export function newId() {
  const bytes = crypto.getRandomValues(new Uint8Array(8));
  return `set-${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

/**
 * Reads one question a line, as plain text or as `antiphon traces questions` prints it.
 * @param {string} text
 * @returns {SavedQuestion[]}
 */
export function questionsIn(text) {
  /** @type {SavedQuestion[]} */
  const found = [];
  for (const [index, line] of text
    .replace(/^\uFEFF/, "")
    .split(/\r?\n/)
    .entries()) {
    if (line.trim() === "") continue;
    found.push(line.trim().startsWith("{") ? ofJson(line, index + 1) : { question: line.trim() });
  }
  return found;
}

/**
 * @param {string} line
 * @param {number} number
 * @returns {SavedQuestion}
 */
function ofJson(line, number) {
  let read;
  try {
    read = JSON.parse(line);
  } catch {
    read = null;
  }
  if (typeof read?.question !== "string")
    throw new Error(
      `Line ${number} is not a question: write one per line, as text or as {"question": "What is BM25?"}.`,
    );
  // What else a file may say of a question, such as how its answers are judged, is of no use here.
  const { question, id = "", earlier = [], rating = null, note = null } = read;
  return { question: onOneLine(question), id: String(id), earlier, rating, note };
}

/** @param {string} text */
export function onOneLine(text) {
  return text.replace(/\s+/g, " ").trim();
}

/**
 * Writes questions as `antiphon traces questions` does, for `antiphon compare --questions`.
 * @param {SavedQuestion[]} questions
 */
export function asLines(questions) {
  const lines = questions.map(({ question, id, earlier, rating, note }, index) => {
    const line = { id: id || String(index + 1), question };
    const conversation = earlier?.length ? { earlier } : {};
    return JSON.stringify({ ...line, ...conversation, ...(rating ? { rating, note: note ?? null } : {}) });
  });
  return `${lines.join("\n")}\n`;
}
