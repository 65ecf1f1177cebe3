/** What an event is about, input first and then output, as a person reads it: queries, passages, requests, replies. */

import { element, icon } from "../dom.js";
import { count } from "../text.js";
import { kindName, toolName } from "../wording.js";
import { Sources } from "./briefing.js";
import { address, eventLink } from "./links.js";
import { parsed, sentencesOf } from "./model.js";
import { passageList } from "./passages.js";
import { argumentName, toolCall } from "./saying.js";

/** Facts of one event to show; a trace from elsewhere may hold any number. */
const MOST_FACTS = 50;
/**
 * @typedef {import("./model.js").Trace} Trace
 * @typedef {import("../types.js").Recorded} Recorded
 * @typedef {(trace: Trace, recorded: Recorded) => (Node | null)[] | Promise<(Node | null)[]>} Body
 */

/** @type {Record<string, Body>} */
const BODIES = {
  query_received: asked,
  tool_call_streamed: (trace, recorded) => toolBody(trace, recorded.event.call.id, recorded),
  tool_requested: (trace, recorded) => toolBody(trace, recorded.event.call.id, recorded),
  tool_started: (trace, recorded) => toolBody(trace, recorded.event.tool_call_id, recorded),
  tool_succeeded: (trace, recorded) => toolBody(trace, recorded.event.tool_call_id, recorded),
  tool_failed: (trace, recorded) => toolBody(trace, recorded.event.tool_call_id, recorded),
  tool_substituted: (trace, recorded) => toolBody(trace, recorded.event.tool_call_id, recorded),
  briefing_prepared: callBody,
  reasoning_requested: callBody,
  reasoning_started: callBody,
  reasoning_completed: replyBody,
  reasoning_failed: failed,
  reasoning_retried: failed,
  summary_failed: failed,
  summary_completed: (_, { event }) => [section("Message", prose(event.text))],
  context_synthesized: (_, { event }) => [section("Facts", factList(event.facts))],
  breaker_tripped: (_, { event }) => [warning(`${kindName(event.limit)}: ${event.detail}`)],
  recovery_started: (_, { event }) => [warning(`${kindName(event.level)}: ${event.why}`)],
  round_opened: roundBody,
  response_assembled: answered,
};

/**
 * @param {Trace} trace
 * @param {Recorded} recorded
 * @returns {Promise<Node[]>}
 */
export async function bodyOf(trace, recorded) {
  const parts = (await BODIES[recorded.event.kind]?.(trace, recorded)) ?? [];
  return parts.filter((part) => part !== null);
}

/**
 * @param {string} name
 * @param {...(Node | string | null)} content
 */
function section(name, ...content) {
  return element("section", { class: "stack" }, element("h3", {}, name), ...content);
}

/** @param {string} text */
function prose(text) {
  return element("p", { class: "passage-words", dir: "auto" }, text);
}

/** @param {string} text */
function warning(text) {
  return element("p", { class: "notice", dir: "auto" }, icon("warn"), element("span", {}, text));
}

/**
 * @param {[string, string][]} rows
 */
function rowList(rows) {
  const parts = rows.flatMap(([name, text]) => [
    element("dt", {}, name),
    element("dd", { dir: "auto" }, text),
  ]);
  return element("dl", { class: "rows" }, ...parts);
}

/** @type {Body} */
function asked(_, { event }) {
  const history = event.history.flatMap((/** @type {any} */ each) => [
    ["Asked", each.question],
    ["Answered", each.answer],
  ]);
  return [
    section("Question", prose(event.query)),
    history.length > 0 ? section("Earlier conversation", rowList(history)) : null,
    event.change ? section("Changed in this fork", prose(event.change)) : null,
    event.imported ? section("Imported", rowList(importRows(event.imported))) : null,
  ];
}

/** @param {{form: string, agent: string, missing: string[]}} imported */
function importRows({ form, agent, missing }) {
  /** @type {[string, string][]} */
  const rows = [["From", agent ? `${form}, ${agent}` : form]];
  if (missing.length > 0) rows.push(["Not recorded", missing.join("; ")]);
  return rows;
}

/**
 * What a tool was asked, and what it brought.
 * @param {Trace} trace
 * @param {string} id
 * @param {Recorded} recorded The current event.
 */
async function toolBody(trace, id, recorded) {
  const tool = trace.tools.get(id);
  const call = tool ?? recorded.event.call;
  if (call === undefined) return [];
  const input = section("Input", rowList(argumentsOf(call.input ?? call.arguments)));
  const substitutes = (tool?.substituted ?? []).map(({ event }) =>
    warning(
      `${toolName(event.failed)} failed (${event.why}), so ${toolName(event.substitute)} was used instead.`,
    ),
  );
  if (!tool?.ended) return [input, ...substitutes, section("Output", element("p", {}, "Nothing yet."))];
  const link =
    tool.ended.seq === recorded.seq
      ? null
      : element("p", {}, eventLink(trace.id, tool.ended.seq, `event ${tool.ended.seq}`));
  if (tool.ended.event.kind === "tool_failed") {
    const { failure, detail } = tool.ended.event;
    return [input, ...substitutes, section("Output", warning(`${kindName(failure)}: ${detail}`), link)];
  }
  const { event } = await trace.readWhole(tool.ended);
  const passages = event.passages;
  const output =
    passages.length === 0
      ? section("Output", prose(event.output), link)
      : section(`Output: ${count(passages.length, "passage")}`, passageList(passages), link);
  return [input, ...substitutes, output];
}

/**
 * The arguments of a tool call, named as people name them.
 * @param {string} input
 * @returns {[string, string][]}
 */
export function argumentsOf(input) {
  const values = parsed(input);
  if (typeof values !== "object" || values === null) return [["Input", String(input)]];
  return Object.entries(values)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => [argumentName(name), typeof value === "string" ? value : JSON.stringify(value)]);
}

/**
 * What the model got in a call, with what was left out of it, and what it replied.
 * @type {Body}
 */
function callBody(trace, recorded) {
  const call = trace.calls.get(recorded.event.call_id);
  const briefing = recorded.event.kind === "briefing_prepared" ? recorded : call?.briefing;
  const ended = call?.ended;
  const reply = ended?.event.text || ended?.event.detail;
  return [
    section("Input", prose(trace.question.query ?? ""), requestLink(trace, recorded.event.call_id)),
    ...sourcesOf(trace, briefing),
    ended
      ? section(
          "Output",
          reply ? prose(reply) : toolCalls(ended.event.tool_calls),
          element("p", {}, eventLink(trace.id, ended.seq, `event ${ended.seq}`)),
        )
      : null,
  ];
}

/** @type {Body} */
function replyBody(trace, { event }) {
  const briefing = trace.calls.get(event.call_id)?.briefing;
  const cited = event.citations.map((/** @type {any} */ each) => {
    const claim = Array.from(event.text).slice(each.start, each.end).join("");
    return citation(claim, citedBy(trace, briefing?.event.sources[each.source], each));
  });
  return [
    section(
      "Output",
      event.text ? prose(event.text) : null,
      event.tool_calls.length > 0 ? toolCalls(event.tool_calls) : null,
      event.stop_reason === "max_tokens" ? warning("Cut off: the reply reached its limit of tokens.") : null,
    ),
    cited.length > 0
      ? section("What it cites", element("ul", { class: "stack facts-list" }, ...cited))
      : null,
    section("Input", requestLink(trace, event.call_id)),
    ...sourcesOf(trace, briefing),
  ];
}

/**
 * What a reply cites, which names blocks of its own request.
 * @param {Trace} trace
 * @param {{fact_id: string, sentences: number[]} | undefined} row The source, as it was shown.
 * @param {any} cited
 */
function citedBy(trace, row, cited) {
  const fact = trace.facts.get(row?.fact_id ?? "")?.fact;
  if (row === undefined || fact === undefined) return { source: "", cited_text: cited.cited_text };
  const sentences = sentencesOf(fact.passage);
  const places = row.sentences.slice(cited.first_block, cited.end_block);
  const text = places.map((place) => sentences[place] ?? "").join("");
  return { source: fact.passage.source, cited_text: cited.cited_text || text };
}

/**
 * A claim, and what is cited for it.
 * @param {string} claim
 * @param {{source: string, cited_text: string}} cited
 */
function citation(claim, cited) {
  return element(
    "li",
    { dir: "auto" },
    element("p", { class: "soft" }, claim),
    prose(cited.cited_text),
    element("p", { class: "soft" }, cited.source),
  );
}

/**
 * @param {Trace} trace
 * @param {Recorded | null | undefined} briefing
 */
function sourcesOf(trace, briefing) {
  if (!briefing) return [];
  return new Sources(trace, briefing.event.call_id).all(briefing.event);
}

/**
 * @param {Trace} trace
 * @param {string} callId
 */
function requestLink(trace, callId) {
  if (!trace.calls.get(callId)?.attempts.length) return null;
  const link = element(
    "a",
    { href: address(trace.id, "requests", callId), "data-view": true },
    "The whole request",
  );
  return element("p", {}, link);
}

/** @param {any[]} calls */
function toolCalls(calls) {
  const items = calls.map(({ name, arguments: input }) =>
    element("li", { dir: "auto" }, `Asks for ${toolCall(name, input)}`),
  );
  return element("ul", { class: "stack" }, ...items);
}

/** @type {Body} */
function failed(_, { event }) {
  return [warning(`${kindName(event.failure ?? "failed")}: ${event.detail}`)];
}

/** @type {Body} */
function roundBody(trace, { event }) {
  const most = trace.question.settings?.max_rounds;
  const left = event.final
    ? "The final call: no more tools may be used."
    : `${count(event.rounds_left, "round")} left after this one.`;
  return [
    section(event.final ? "Final call" : `Round ${event.round}`, element("p", {}, left)),
    most ? rowList([["Round limit", String(most)]]) : null,
    event.note ? section("Sent to the model", prose(event.note)) : null,
  ];
}

/** @param {any[]} facts */
function factList(facts) {
  const items = facts
    .slice(0, MOST_FACTS)
    .map(({ id, passage }) =>
      element(
        "li",
        { dir: "auto" },
        element("p", {}, element("strong", {}, passage.source), element("span", { class: "soft" }, ` ${id}`)),
        prose(passage.text),
      ),
    );
  return element("ul", { class: "stack facts-list" }, ...items);
}

/** @type {Body} */
function answered(_, { event }) {
  const doubts = event.indicators.map((/** @type {any} */ { detail }) =>
    element("li", { dir: "auto" }, detail),
  );
  const cited = event.citations.map((/** @type {any} */ each) =>
    citation(Array.from(event.answer).slice(each.start, each.end).join(""), each),
  );
  return [
    section("Output", prose(event.answer)),
    doubts.length > 0 ? section("Reasons for doubt", element("ul", { class: "stack" }, ...doubts)) : null,
    cited.length > 0
      ? section("What it cites", element("ul", { class: "stack facts-list" }, ...cited))
      : null,
  ];
}
