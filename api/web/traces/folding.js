/** What each event changes of what is known of its trace. */

/** @typedef {(trace: import("./model.js").Trace, recorded: import("../types.js").Recorded) => void} Rule */

/** @type {Rule} */
function endAttempt(trace, recorded) {
  const attempt = trace.call(recorded.event.call_id).attempts.at(-1);
  if (attempt !== undefined) attempt.ended ??= recorded;
}

/** @type {Rule} */
function endCall(trace, recorded) {
  endAttempt(trace, recorded);
  trace.call(recorded.event.call_id).ended = recorded;
}

/** @type {Rule} */
function endTool(trace, recorded) {
  const tool = trace.tools.get(recorded.event.tool_call_id);
  if (tool !== undefined) tool.ended ??= recorded;
}

/** @type {Record<string, Rule>} */
export const RULES = {
  round_opened(trace, recorded) {
    trace.endRound(recorded);
    const { round, final } = recorded.event;
    trace.rounds.push({ number: round, isFinal: final, opened: recorded, ended: null });
  },
  briefing_prepared(trace, recorded) {
    trace.call(recorded.event.call_id).briefing = recorded;
  },
  reasoning_requested(trace, recorded) {
    trace.call(recorded.event.call_id).requested = recorded;
  },
  summary_requested(trace, recorded) {
    const call = trace.call(recorded.event.call_id);
    call.requested = recorded;
    call.isSummary = true;
  },
  reasoning_started(trace, recorded) {
    const attempts = trace.call(recorded.event.call_id).attempts;
    attempts.push({ number: recorded.event.attempt, started: recorded, ended: null });
  },
  reasoning_retried: endAttempt,
  reasoning_completed: endCall,
  reasoning_failed: endCall,
  summary_completed: endCall,
  summary_failed: endCall,
  tool_requested(trace, recorded) {
    const { call, round } = recorded.event;
    const streamed = trace.event(recorded.cause);
    trace.tools.set(call.id, {
      id: call.id,
      name: call.name,
      input: call.arguments,
      round,
      streamed: streamed?.event.kind === "tool_call_streamed" ? streamed : null,
      requested: recorded,
      started: null,
      substituted: [],
      ended: null,
    });
  },
  tool_started(trace, recorded) {
    const tool = trace.tools.get(recorded.event.tool_call_id);
    if (tool !== undefined) tool.started ??= recorded;
  },
  tool_substituted(trace, recorded) {
    trace.tools.get(recorded.event.tool_call_id)?.substituted.push(recorded);
  },
  tool_succeeded: endTool,
  tool_failed: endTool,
  context_synthesized(trace, recorded) {
    for (const fact of recorded.event.facts) trace.facts.set(fact.id, { fact, seq: recorded.seq });
  },
  answer_requested(trace, recorded) {
    trace.endRound(recorded);
  },
  response_assembled(trace, recorded) {
    trace.response = recorded;
  },
  query_closed(trace, recorded) {
    trace.endRound(recorded);
    trace.status = recorded.event.status;
  },
};
