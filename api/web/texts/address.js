/** The address of a place in a course, as the reader of documents takes it. */

import { ROOT } from "../api.js";

/** As many characters of a passage find it again. */
const MOST_WORDS_CHARS = 400;

/**
 * Returns the address at which these words stand; null if they stand in no course.
 * @param {{course: string | null, lesson: number | null}} where
 * @param {string} words As the lesson has them, character for character.
 */
export function readerPath({ course, lesson }, words) {
  if (course === null) return null;
  const query = new URLSearchParams({ course });
  if (lesson !== null) query.set("lesson", String(lesson));
  query.set("words", words.slice(0, MOST_WORDS_CHARS));
  return `${ROOT}/read?${query}`;
}
