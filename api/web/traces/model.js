/** A trace as the views read it: its events, and what they say together of rounds, calls and tools. */

import { getJson } from "../api.js";
import { RULES } from "./folding.js";
import { api } from "./links.js";

/**
 * One attempt of a reasoning call; without an end while it runs.
 * @typedef {object} Attempt
 * @property {number} number
 * @property {import("../types.js").Recorded} started
 * @property {import("../types.js").Recorded | null} ended
 *
 * One call of a model.
 * @typedef {object} Call
 * @property {string} id
 * @property {boolean} isSummary
 * @property {import("../types.js").Recorded | null} briefing
 * @property {import("../types.js").Recorded | null} requested
 * @property {Attempt[]} attempts
 * @property {import("../types.js").Recorded | null} ended
 *
 * One tool call.
 * @typedef {object} ToolRun
 * @property {string} id
 * @property {string} name
 * @property {string} input The arguments as JSON, as the model wrote them.
 * @property {number} round
 * @property {import("../types.js").Recorded | null} streamed
 * @property {import("../types.js").Recorded} requested
 * @property {import("../types.js").Recorded | null} started
 * @property {import("../types.js").Recorded[]} substituted
 * @property {import("../types.js").Recorded | null} ended
 *
 * @typedef {object} Round
 * @property {number} number
 * @property {boolean} isFinal
 * @property {import("../types.js").Recorded} opened
 * @property {import("../types.js").Recorded | null} ended
 *
 * A fact with the event by which it came into the memory.
 * @typedef {{fact: any, seq: number}} KnownFact
 *
 * @typedef {{kind: string, emitted_by: string[], heard_by: string[], says: string}} EventKind
 */

/** Events by which something went wrong, or was mended. */
export const TROUBLE = new Set([
  "breaker_tripped",
  "calls_abandoned",
  "deadline_neared",
  "deadline_passed",
  "handler_failed",
  "query_cancelled",
  "query_resumed",
  "reasoning_failed",
  "reasoning_retried",
  "recording_failed",
  "recovery_started",
  "session_stalled",
  "summary_failed",
  "tool_answered_late",
  "tool_failed",
  "tool_substituted",
]);

export class Trace {
  /**
   * @param {string} id
   * @param {EventKind[]} kinds
   */
  constructor(id, kinds) {
    this.id = id;
    /** Fields that were not read yet, by the kind of event: whole requests, and the texts of results. */
    /** @type {Record<string, string[]>} */
    this.leftOut = {};
    /** @type {Map<number, Promise<import("../types.js").Recorded>>} */
    this.whole = new Map();
    this.kinds = new Map(kinds.map((each) => [each.kind, each]));
    /** @type {import("../types.js").Recorded[]} */
    this.events = [];
    /** @type {Map<number, number[]>} */
    this.effects = new Map();
    /** @type {Map<string, Call>} */
    this.calls = new Map();
    /** @type {Map<string, ToolRun>} */
    this.tools = new Map();
    /** @type {Round[]} */
    this.rounds = [];
    /** @type {Map<string, KnownFact>} */
    this.facts = new Map();
    /** @type {import("../types.js").Recorded | null} */
    this.response = null;
    /** @type {string | null} */
    this.status = null;
    /** @type {Promise<any[]> | null} */
    this.sentences = null;
  }

  get beganAt() {
    return this.events[0]?.at ?? 0;
  }

  /** Seconds from the first event to the last. */
  get seconds() {
    return (this.events.at(-1)?.at ?? 0) - this.beganAt;
  }

  get isOver() {
    return this.status !== null;
  }

  /** The names of the tools that were called, and of those that took their place. */
  get toolNames() {
    const runs = [...this.tools.values()];
    return runs.flatMap(({ name, substituted }) => [
      name,
      ...substituted.map(({ event }) => event.substitute),
    ]);
  }

  /** @returns {import("../types.js").TraceEvent} */
  get question() {
    return this.events[0]?.event ?? { kind: "" };
  }

  /** @returns {{kind: string, detail: string, event_seq: number}[]} */
  get indicators() {
    return this.response?.event.indicators ?? [];
  }

  /** @param {number} seq */
  event(seq) {
    return this.events[seq - 1] ?? null;
  }

  /**
   * The fields of an event that were not read with the trace.
   * @param {import("../types.js").Recorded} recorded
   */
  missing(recorded) {
    return this.leftOut[recorded.event.kind] ?? [];
  }

  /**
   * Reads an event whole, once.
   * @param {import("../types.js").Recorded} recorded
   * @returns {Promise<import("../types.js").Recorded>}
   */
  readWhole(recorded) {
    if (this.missing(recorded).length === 0) return Promise.resolve(recorded);
    let reading = this.whole.get(recorded.seq);
    if (reading === undefined) {
      reading = getJson(api(this.id, `/event?at=${recorded.seq}`));
      this.whole.set(recorded.seq, reading);
    }
    return reading;
  }

  /**
   * Reads the sentences of the answer with the origin of each, once.
   * @returns {Promise<any[]>}
   */
  readSentences() {
    this.sentences ??= getJson(api(this.id, "/lineage")).then((found) => found.sentences);
    return this.sentences;
  }

  /**
   * The events that led to one, the nearest first.
   * @param {import("../types.js").Recorded} recorded
   */
  chain(recorded) {
    const chain = [];
    let cause = recorded.cause;
    let last = recorded.seq;
    // A trace from a file may claim anything: causes go backwards, or are none.
    while (cause > 0 && cause < last) {
      const found = this.event(cause);
      if (found === null) break;
      chain.push(found);
      last = cause;
      cause = found.cause;
    }
    return chain;
  }

  /**
   * The part of the service that emits an event; "unknown" if its subscriber is not loaded.
   * @param {import("../types.js").Recorded} recorded
   */
  emitter(recorded) {
    return this.kinds.get(recorded.event.kind)?.emitted_by[0] ?? "unknown";
  }

  /**
   * The last event of a kind at or before a place, in no more steps than that takes.
   * @param {string} kind
   * @param {number} seq
   */
  lastBefore(kind, seq) {
    for (let place = Math.min(seq, this.events.length); place > 0; place -= 1) {
      const found = this.events[place - 1];
      if (found?.event.kind === kind) return found;
    }
    return null;
  }

  /**
   * Takes in the next event.
   * @param {import("../types.js").Recorded} recorded
   */
  take(recorded) {
    if (recorded.seq !== this.events.length + 1) return;
    this.events.push(recorded);
    const effects = this.effects.get(recorded.cause);
    if (effects === undefined) this.effects.set(recorded.cause, [recorded.seq]);
    else effects.push(recorded.seq);
    RULES[recorded.event.kind]?.(this, recorded);
  }

  /** @param {string} id */
  call(id) {
    let call = this.calls.get(id);
    if (call === undefined) {
      call = { id, isSummary: false, briefing: null, requested: null, attempts: [], ended: null };
      this.calls.set(id, call);
    }
    return call;
  }

  /** @param {import("../types.js").Recorded} recorded */
  endRound(recorded) {
    const round = this.rounds.at(-1);
    if (round !== undefined) round.ended ??= recorded;
  }
}

/**
 * Whether a tool ran before the reply that asked for it was whole.
 * @param {Trace} trace
 * @param {ToolRun} tool
 */
export function isEarly(trace, tool) {
  if (tool.streamed === null || tool.started === null) return false;
  const reply = trace.calls.get(tool.streamed.event.call_id)?.ended;
  return reply === null || reply === undefined || tool.started.seq < reply.seq;
}

/**
 * The sentences of a passage. Its places count characters, and not the halves of some that JavaScript counts.
 * @param {{text: string, starts?: number[]}} passage
 * @returns {string[]}
 */
export function sentencesOf(passage) {
  const characters = Array.from(passage.text);
  const starts = passage.starts ?? [0];
  return starts.map((start, place) => characters.slice(start, starts[place + 1]).join(""));
}

/**
 * The value of a JSON text, or the text itself if it is not JSON.
 * @param {string} text
 * @returns {any}
 */
export function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
