/** The columns of the list of traces: how each is called, sorted and shown, and which of them somebody wants to see. */

import { ROOT } from "../api.js";
import { element, icon } from "../dom.js";
import { cost, seconds, tone, when } from "../text.js";
import { withoutSigns } from "../wording.js";

/** The sign for something that is not known. */
export const UNKNOWN = "–";

/** @param {import("../types.js").TraceSummary} trace */
export function started(trace) {
  return trace.started_at;
}

/** @param {import("../types.js").TraceSummary} trace */
function tokens(trace) {
  if (trace.input_tokens == null && trace.output_tokens == null) return null;
  return (trace.input_tokens ?? 0) + (trace.output_tokens ?? 0);
}

/**
 * The columns beside the question: the value that each sorts by, and what it shows.
 * @typedef {import("../types.js").TraceSummary} Summary
 * @type {Record<string, {title: string, isNumber?: boolean, isExtra?: boolean, value: (trace: Summary) => string | number | null, show: (trace: Summary) => string | Node}>}
 */
export const COLUMNS = {
  asked: { title: "Asked", value: started, show: (trace) => when(trace.started_at) },
  outcome: {
    title: "Outcome",
    value: (trace) => trace.status,
    show: (trace) => element("span", { class: `outcome ${tone(trace.status)}` }, trace.status),
  },
  confidence: {
    title: "Confidence",
    value: (trace) => ["low", "medium", "high"].indexOf(trace.confidence ?? ""),
    show: ({ confidence }) =>
      confidence ? element("span", { class: `confidence ${tone(confidence)}` }, confidence) : UNKNOWN,
  },
  model: {
    title: "Model",
    value: (trace) => trace.reasoner,
    show: ({ reasoner }) => (reasoner === "offline" ? "built-in" : (reasoner ?? UNKNOWN)),
  },
  rounds: numbers("Rounds", (trace) => trace.rounds ?? null),
  tokens: numbers("Tokens", tokens),
  cost: numbers("Cost", (trace) => trace.cost_usd ?? null, cost),
  time: numbers(
    "Time",
    (trace) => trace.duration_ms,
    (value) => seconds(value / 1000),
  ),
  events: { ...numbers("Events", (trace) => trace.events), isExtra: true },
  feedback: {
    title: "Feedback",
    value: (trace) => trace.feedback?.rating ?? null,
    show: ({ feedback }) => (feedback ? judged(feedback.rating) : UNKNOWN),
  },
};

/**
 * @param {string} title
 * @param {(trace: Summary) => number | null} value
 * @param {(value: number) => string} words
 */
function numbers(title, value, words = (number) => number.toLocaleString("en")) {
  const show = (/** @type {Summary} */ trace) => {
    const number = value(trace);
    return number === null ? UNKNOWN : words(number);
  };
  return { title, isNumber: true, value, show };
}

/** @param {"up" | "down"} rating */
function judged(rating) {
  return element("span", {}, icon(`thumb-${rating}`), rating === "up" ? " good" : " bad");
}

const COLUMNS_KEPT = "antiphon.trace-columns";

/** The columns that somebody has chosen, or the usual ones. */
export function keptColumns() {
  const usual = Object.entries(COLUMNS).filter(([, { isExtra }]) => !isExtra);
  try {
    const kept = JSON.parse(localStorage.getItem(COLUMNS_KEPT) ?? "null");
    if (Array.isArray(kept)) return kept.filter((name) => name in COLUMNS);
  } catch {
    // Then the list shows the usual ones.
  }
  return usual.map(([name]) => name);
}

/** @param {string[]} names */
export function keepColumns(names) {
  try {
    localStorage.setItem(COLUMNS_KEPT, JSON.stringify(names));
  } catch {
    // Then the list shows the usual ones next time.
  }
}

/** @param {Summary} trace */
export function questionCell(trace) {
  const link = element(
    "a",
    { href: `${ROOT}/traces/${encodeURIComponent(trace.query_id)}`, "data-view": true, dir: "auto" },
    trace.query || "(empty)",
  );
  return element(
    "td",
    { class: "trace-question" },
    link,
    trace.parent !== null ? element("span", { class: "tag" }, "fork") : null,
    trace.answer
      ? element("p", { class: "soft clamped trace-answer", dir: "auto" }, withoutSigns(trace.answer))
      : null,
  );
}
