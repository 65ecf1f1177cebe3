/** The plots over the list of traces: what each shows of a stretch of time, and says of all. */

import { cost, count, seconds } from "../text.js";

/**
 * @typedef {{since: number, until: number, traces: number, high: number, medium: number, low: number, up: number,
 *   down: number, cost_usd: number, unpriced: number, input_tokens: number, output_tokens: number,
 *   p50_ms: number | null, p95_ms: number | null}} Period
 *
 * One plot: its parts from the bottom up, what a bar of full height is (null: the highest bar's sum), a value in words,
 * and what all periods come to.
 * @typedef {object} Plot
 * @property {string} title
 * @property {{name: string, colour: string, value: (period: Period) => number}[]} parts
 * @property {((period: Period) => number) | null} whole
 * @property {(value: number) => string} words
 * @property {(periods: Period[]) => string} all
 */

/** @type {Plot[]} */
export const PLOTS = [
  {
    title: "Questions",
    parts: [{ name: "asked", colour: "var(--accent)", value: (period) => period.traces }],
    whole: null,
    words: (value) => value.toLocaleString("en"),
    all: (periods) => total(periods, (period) => period.traces).toLocaleString("en"),
  },
  {
    title: "Confidence",
    parts: [
      { name: "high", colour: "var(--good)", value: (period) => period.high },
      { name: "medium", colour: "var(--fair)", value: (period) => period.medium },
      { name: "low", colour: "var(--bad)", value: (period) => period.low },
    ],
    whole: answers,
    words: (value) => value.toLocaleString("en"),
    all: (periods) => {
      const high = total(periods, (period) => period.high);
      return `${Math.round((100 * high) / Math.max(1, total(periods, answers)))}% high`;
    },
  },
  {
    title: "Feedback",
    parts: [
      { name: "good", colour: "var(--good)", value: (period) => period.up },
      { name: "bad", colour: "var(--bad)", value: (period) => period.down },
    ],
    whole: null,
    words: (value) => value.toLocaleString("en"),
    all: (periods) =>
      `${total(periods, (period) => period.up)} good, ${total(periods, (period) => period.down)} bad`,
  },
  {
    title: "Cost",
    parts: [{ name: "known", colour: "var(--accent)", value: (period) => period.cost_usd }],
    whole: null,
    words: cost,
    all: (periods) => {
      const unpriced = total(periods, (period) => period.unpriced);
      const known = cost(total(periods, (period) => period.cost_usd));
      return unpriced === 0 ? known : `${known}, ${count(unpriced, "price")} not known`;
    },
  },
  {
    title: "Tokens",
    parts: [
      { name: "read", colour: "var(--tool)", value: (period) => period.input_tokens },
      { name: "written", colour: "var(--accent)", value: (period) => period.output_tokens },
    ],
    whole: null,
    words: short,
    all: (periods) => short(total(periods, (period) => period.input_tokens + period.output_tokens)),
  },
  {
    title: "Time",
    parts: [
      { name: "half of them at most", colour: "var(--accent)", value: (period) => period.p50_ms ?? 0 },
      {
        name: "95% at most",
        colour: "var(--tool)",
        value: (period) => (period.p95_ms ?? 0) - (period.p50_ms ?? 0),
      },
    ],
    whole: null,
    words: (value) => seconds(value / 1000),
    all: (periods) => `95% within ${seconds(Math.max(...periods.map(({ p95_ms: ms }) => ms ?? 0)) / 1000)}`,
  },
];

/** @param {Period} period */
function answers({ high, medium, low }) {
  return high + medium + low;
}

/**
 * @template T
 * @param {T[]} values
 * @param {(value: T) => number} of
 */
export function total(values, of) {
  return values.reduce((sum, value) => sum + of(value), 0);
}

/** @param {number} number */
export function short(number) {
  return new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 }).format(number);
}
