/** What an event says, in a line. */

import { count } from "../text.js";
import { TOOLS, kindName, toolName } from "../wording.js";
import { parsed } from "./model.js";

/** @type {Record<string, (event: import("../types.js").TraceEvent) => string>} */
const LINES = {
  query_received: (event) => event.query,
  round_opened: (event) => (event.final ? "the final call, without tools" : `round ${event.round}`),
  briefing_prepared: (event) =>
    `${event.call_id}: ${count(event.sources.length, "source")}, ${event.tokens.toLocaleString("en")} tokens`,
  // Not its model: the built-in reasoner answers for any name.
  reasoning_requested: (event) => `${event.call_id} of the ${event.reasoner} reasoner`,
  reasoning_started: (event) =>
    `${event.call_id}, sent to ${event.reasoner}${event.attempt > 1 ? `, attempt ${event.attempt}` : ""}`,
  tool_call_streamed: (event) => toolCall(event.call.name, event.call.arguments),
  tool_requested: (event) => toolCall(event.call.name, event.call.arguments),
  tool_started: (event) => toolName(event.name),
  tool_succeeded: (event) =>
    event.passages.length === 0
      ? toolName(event.name)
      : `${toolName(event.name)}: ${count(event.passages.length, "passage")}`,
  tool_failed: (event) => `${toolName(event.name)}: ${event.detail}`,
  tool_substituted: (event) => `${toolName(event.substitute)} instead of ${toolName(event.failed)}`,
  reasoning_completed: (event) =>
    event.tool_calls.length === 0 ? event.text : `asks for ${count(event.tool_calls.length, "tool call")}`,
  reasoning_retried: (event) => event.detail,
  reasoning_failed: (event) => event.detail,
  summary_completed: (event) => event.text,
  summary_failed: (event) => event.detail,
  context_synthesized: (event) => `${count(event.facts.length, "new fact")}`,
  breaker_tripped: (event) => `${kindName(event.limit)}: ${event.detail}`,
  recovery_started: (event) => `${event.level}: ${event.why}`,
  answer_requested: (event) => (event.mode === "reply" ? `from the reply of ${event.call_id}` : event.why),
  response_assembled: (event) => event.answer,
  query_closed: (event) => event.status,
  calls_abandoned: (event) => event.why,
  query_resumed: (event) => event.why,
  query_cancelled: (event) => event.why,
  session_stalled: (event) => event.waiting_for.join(", "),
  handler_failed: (event) => `${event.handler}: ${event.error}`,
  recording_failed: (event) => event.detail,
  draft_reviewed: (event) =>
    event.accepted ? `${event.reviewer}: accepted` : `${event.reviewer}: ${event.why}`,
};

/**
 * @param {import("../types.js").TraceEvent} event
 * @returns {string}
 */
export function lineOf(event) {
  try {
    return String(LINES[event.kind]?.(event) ?? "").slice(0, 200);
  } catch {
    // An event of a subscriber may have the fields of ours, and other values in them.
    return "";
  }
}

/** Words for the arguments that narrow a search; the model's own reason for it is elsewhere. @type {Record<string, (value: any) => string>} */
const NARROWING = {
  course_name: (value) => `in ${value}`,
  lesson_number: (value) => `lesson ${value}`,
  why: () => "",
};

/** @type {Record<string, string>} */
const ARGUMENTS = {
  query: "Query",
  course_name: "Only in course",
  lesson_number: "Only in lesson",
  why: "Why",
};

/**
 * An argument's name as people say it.
 * @param {string} name
 */
export function argumentName(name) {
  return ARGUMENTS[name] ?? kindName(name);
}

/**
 * A tool call as a line: its name, and what it was asked.
 * @param {string} name
 * @param {string} input
 */
export function toolCall(name, input) {
  const values = parsed(input);
  if (typeof values !== "object" || values === null) return `${toolName(name)}: ${input}`;
  const shown = Object.entries(values).map(([argument, value]) => {
    if (value === null) return "";
    const words = typeof value === "string" ? value : JSON.stringify(value);
    return (TOOLS[name] && NARROWING[argument]?.(words)) ?? words;
  });
  const asked = shown.filter(Boolean).join(", ");
  return asked ? `${toolName(name)}: ${asked}` : toolName(name);
}

/**
 * A time since the question came.
 * @param {number} seconds
 */
export function since(seconds) {
  if (seconds < 1) return `${(seconds * 1000).toFixed(1)} ms`;
  return `${seconds.toFixed(2)} s`;
}
