/** How a query is worked out: a fold over its events into rounds, and the rounds as a list. */

import { element, icon, plain } from "../dom.js";
import { count, seconds } from "../text.js";

/**
 * One tool call.
 * @typedef {object} Step
 * @property {string} id
 * @property {string} title
 * @property {"running" | "done" | "failed"} state
 * @property {string} result
 *
 * One round: a call of the model, the tools that it asked for, and what went wrong meanwhile.
 * @typedef {object} Round
 * @property {number} number
 * @property {boolean} final
 * @property {boolean} over
 * @property {string} thought How long the model thought before it said something; empty if it did not.
 * @property {Step[]} steps
 * @property {string[]} notes
 *
 * @typedef {object} Progress
 * @property {Round[]} rounds
 * @property {number | null} beganAt Seconds since the epoch.
 * @property {number | null} endedAt
 */

/** @returns {Progress} */
export function noProgress() {
  return { rounds: [], beganAt: null, endedAt: null };
}

/**
 * Takes an event into the progress. Unknown kinds change nothing.
 * @param {Progress} progress
 * @param {import("../types.js").Recorded} recorded
 */
export function take(progress, recorded) {
  const rule = RULES[recorded.event.kind];
  if (rule !== undefined) rule(progress, recorded.event, recorded.at);
}

/** @type {Record<string, (progress: Progress, event: import("../types.js").TraceEvent, at: number) => void>} */
const RULES = {
  query_received(progress, _event, at) {
    progress.beganAt = at;
  },
  round_opened(progress, event) {
    endRounds(progress);
    progress.rounds.push({
      number: event.round,
      final: event.final,
      over: false,
      thought: "",
      steps: [],
      notes: [],
    });
  },
  tool_requested(progress, event) {
    const { id, name, arguments: given } = event.call;
    current(progress)?.steps.push({ id, title: titleOf(name, given), state: "running", result: "" });
  },
  tool_succeeded(progress, event) {
    const found = event.passages.length;
    settle(progress, event.tool_call_id, "done", found === 0 ? "nothing found" : count(found, "passage"));
  },
  tool_failed(progress, event) {
    settle(progress, event.tool_call_id, "failed", event.detail);
  },
  tool_substituted(progress, event) {
    note(progress, `${event.failed} failed; ${event.substitute} is used instead.`);
  },
  reasoning_completed(progress, event) {
    const round = current(progress);
    if (round !== undefined) round.thought = thoughtOf(event);
  },
  reasoning_retried(progress, event) {
    note(progress, `The call failed (${words(event.why)}). Trying again.`);
  },
  reasoning_failed(progress, event) {
    note(progress, `The call failed: ${event.detail}`);
  },
  breaker_tripped(progress, event) {
    note(progress, event.detail);
  },
  recovery_started(progress, event) {
    note(progress, `Trying another way: ${event.why}`);
  },
  query_closed(progress, _event, at) {
    endRounds(progress);
    progress.endedAt = at;
  },
};

/** @param {Progress} progress */
function current(progress) {
  return progress.rounds.at(-1);
}

/** @param {Progress} progress */
function endRounds(progress) {
  for (const round of progress.rounds) round.over = true;
}

/**
 * @param {Progress} progress
 * @param {string} id
 * @param {Step["state"]} state
 * @param {string} result
 */
function settle(progress, id, state, result) {
  for (const step of progress.rounds.flatMap((round) => round.steps)) {
    if (step.id !== id) continue;
    step.state = state;
    step.result = result;
  }
}

/**
 * @param {Progress} progress
 * @param {string} text
 */
function note(progress, text) {
  current(progress)?.notes.push(text);
}

/** @param {import("../types.js").TraceEvent} reply */
function thoughtOf(reply) {
  if (reply.thought_s >= 0.1) return `Thought for ${seconds(reply.thought_s)}`;
  // A reply that came in one piece does not tell how long it thought.
  const tokens = reply.usage.thinking_tokens ?? 0;
  return tokens > 0 ? `Thought for ${count(tokens, "token")}` : "";
}

/** @param {string} name */
function words(name) {
  return name.replaceAll("_", " ");
}

/**
 * Says what a tool call does; the two tools of the courses in words of their own.
 * @param {string} tool
 * @param {string} given The arguments as JSON, as the model wrote them.
 */
function titleOf(tool, given) {
  /** @type {Record<string, unknown>} */
  let values = {};
  try {
    values = JSON.parse(given);
  } catch {
    // A model may not have written JSON; then the tool's name must do.
  }
  const course = values.course_name;
  const lesson = values.lesson_number;
  let where = "";
  if (lesson !== undefined && lesson !== null) where += `, lesson ${lesson}`;
  if (course) where += ` in ${course}`;
  if (tool === "search_course_content") return `Searching “${values.query ?? ""}”${where}`;
  if (tool === "get_course_outline")
    return course ? `Reading the outline of ${course}` : "Reading the list of courses";
  const shown = Object.values(values).map(String).join(", ");
  return shown ? `${words(tool)}: ${shown}` : words(tool);
}

/**
 * Says what the query does now, for a line and for screen readers.
 * @param {Progress} progress
 */
export function now(progress) {
  const round = current(progress);
  if (round === undefined) return "Asking…";
  const running = round.steps.filter((step) => step.state === "running");
  const last = running.at(-1);
  if (last !== undefined) return `${last.title}…`;
  if (round.final || progress.rounds.length > 1) return "Writing the answer…";
  if (round.steps.length > 0) return "Reading what was found…";
  return "Thinking about the question…";
}

/**
 * Sums up a query that is over: "2 rounds, 3 searches, 1.2 s".
 * @param {Progress} progress
 */
export function summary(progress) {
  const rounds = progress.rounds.filter((round) => round.steps.length > 0).length;
  const steps = progress.rounds.flatMap((round) => round.steps).length;
  const parts = [
    steps === 0 ? "No tool was needed" : `${count(rounds, "round")}, ${count(steps, "tool call")}`,
  ];
  if (progress.beganAt !== null && progress.endedAt !== null)
    parts.push(seconds(progress.endedAt - progress.beganAt));
  return parts.join(", ");
}

/**
 * Draws the rounds.
 * @param {Progress} progress
 */
export function roundsList(progress) {
  const list = element("ol", { class: "stack rounds" });
  for (const round of progress.rounds) {
    const isEmpty = round.steps.length === 0 && round.notes.length === 0 && round.thought === "";
    // A round in which the model asked for nothing wrote the answer.
    if (round.over && isEmpty && !round.final && round !== current(progress)) continue;
    list.append(roundItem(round, progress));
  }
  return list;
}

/**
 * @param {Round} round
 * @param {Progress} progress
 */
function roundItem(round, progress) {
  const wrote = round.steps.length === 0 && (round.final || round === current(progress));
  const title = wrote && (round.over || progress.rounds.length > 1) ? "Answer" : `Round ${round.number}`;
  const item = element(
    "li",
    { class: round.over ? "stack tight round over" : "stack tight round" },
    element("p", { class: "round-title soft" }, title),
  );
  if (round.thought !== "") item.append(element("p", { class: "step note" }, round.thought));
  for (const step of round.steps) item.append(stepLine(step));
  if (!round.over && round.steps.every((step) => step.state !== "running")) {
    item.append(
      element("p", { class: "step running" }, element("span", { class: "spinner" }), now(progress)),
    );
  }
  for (const text of round.notes)
    item.append(element("p", { class: "step note" }, icon("warn"), plain(text).slice(0, 300)));
  return item;
}

/** @param {Step} step */
function stepLine(step) {
  const sign =
    step.state === "running"
      ? element("span", { class: "spinner" })
      : icon(step.state === "done" ? "tick" : "warn");
  return element(
    "p",
    { class: `step ${step.state}` },
    sign,
    element("span", { class: "clamped step-title", dir: "auto" }, step.title),
    step.result
      ? element("span", { class: "step-result soft", dir: "auto" }, step.result.slice(0, 300))
      : null,
  );
}
