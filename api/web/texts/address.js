/** The address of a place in a course, as the reader of documents takes it. */

import { ROOT } from "../api.js";

/** As many characters of a passage find it again. */
const MOST_WORDS_CHARS = 400;

/**
 * Returns the address of these words in the reader; null if no course holds them.
 * @param {{course?: string | null, lesson?: number | null}} where
 * @param {string} words As the lesson has them, character for character.
 * @param {number | null} start Their beginning in the lesson, in characters; null if that is not known.
 */
export function readerPath({ course, lesson }, words, start = null) {
  if (course == null) return null;
  const query = new URLSearchParams({ course });
  if (lesson != null) query.set("lesson", String(lesson));
  // The lesson may hold the same words more than once.
  if (start !== null) query.set("start", String(start));
  query.set("words", words.slice(0, MOST_WORDS_CHARS));
  // All of a longer one is marked, from its beginning.
  if (words.length > MOST_WORDS_CHARS) query.set("length", String(Array.from(words).length));
  return `${ROOT}/read?${query}`;
}
