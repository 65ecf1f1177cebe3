/** Numbers and times in words. */

/**
 * @param {number} number
 * @param {string} noun In the singular.
 */
export function count(number, noun) {
  return `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;
}

/** @param {number} value */
export function seconds(value) {
  if (value < 1) return `${Math.round(value * 1000)} ms`;
  if (value < 60) return `${value.toFixed(1)} s`;
  return `${Math.floor(value / 60)} min ${Math.round(value % 60)} s`;
}

/**
 * What an answer cost; null if the model's price is not known.
 * @param {number | null} dollars
 */
export function cost(dollars) {
  if (dollars === null) return "price not known";
  if (dollars === 0) return "$0";
  if (dollars < 0.01) return `$${dollars.toFixed(4)}`;
  return `$${dollars.toFixed(2)}`;
}

/**
 * @param {number} at Seconds since the epoch.
 */
export function when(at) {
  const date = new Date(at * 1000);
  const today = new Date().toDateString() === date.toDateString();
  return date.toLocaleString(
    "en-GB",
    today ? { timeStyle: "short" } : { dateStyle: "medium", timeStyle: "short" },
  );
}

/** @param {number} bytes */
export function size(bytes) {
  if (bytes < 1000) return count(bytes, "byte");
  if (bytes < 1_000_000) return `${Math.round(bytes / 1000)} kB`;
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}

/** @type {Record<string, "good" | "fair" | "bad">} */
const TONES = {
  high: "good",
  answered: "good",
  medium: "fair",
  partial: "fair",
  open: "fair",
  low: "bad",
  failed: "bad",
  cancelled: "bad",
};

/**
 * How good a confidence or an outcome is, as colours say it.
 * @param {string | null} word
 */
export function tone(word) {
  return TONES[word ?? ""] ?? "";
}
