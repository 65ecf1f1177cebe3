/** The places of a trace's events in the timeline: a lane for each part of the service, side by side what ran at once. */

/** The lanes from top to bottom: the parts of the service as events name them. */
const ROLES = [
  "caller",
  "coordinator",
  "synthesizer",
  "engine",
  "dispatcher",
  "assembler",
  "reviewer",
  "timer",
  "session",
];
const LANE = 19;
const ROUNDS = 22;
const AXIS = 22;
export const BAR = 16;

/**
 * A bar of the timeline: a round, an attempt of a call, or a tool call.
 * @typedef {object} Span
 * @property {"round" | "call" | "tool"} kind
 * @property {number} seq The event that it leads to.
 * @property {number} from The event that it begins with.
 * @property {number | null} to The event that it ends with; null while it runs.
 * @property {number} y Its middle.
 * @property {string} name
 * @property {boolean} isFailed
 * @property {boolean} isEarly
 *
 * @typedef {{name: string, top: number, height: number}} Lane
 */

import { isEarly } from "./model.js";
import { toolCall } from "./saying.js";

/** Places that are taken one below the other by what runs at the same time. */
class Tracks {
  constructor() {
    /** @type {(number | null)[]} */
    this.ends = [];
    /** @type {Map<string, number>} */
    this.of = new Map();
  }

  /**
   * @param {string} id
   * @param {number} from
   * @param {number | null} to The end, null if there is none yet.
   */
  place(id, from, to) {
    let track = this.ends.findIndex((end) => end !== null && end <= from);
    if (track < 0) track = this.ends.length;
    this.ends[track] = to;
    this.of.set(id, track);
  }

  get count() {
    return Math.max(1, this.ends.length);
  }
}

export class Lanes {
  /** @param {import("./model.js").Trace} trace */
  constructor(trace) {
    this.trace = trace;
    this.calls = new Tracks();
    this.tools = new Tracks();
    for (const call of trace.calls.values()) {
      const first = call.attempts[0];
      if (first !== undefined) this.calls.place(call.id, first.started.seq, call.ended?.seq ?? null);
    }
    for (const tool of trace.tools.values())
      this.tools.place(tool.id, (tool.started ?? tool.requested).seq, tool.ended?.seq ?? null);
    /** @type {Map<string, Lane>} */
    this.lanes = new Map();
    this.height = this.#stack();
    this.spans = [...this.#rounds(), ...this.#attempts(), ...this.#toolRuns()];
  }

  /** @returns {number} The height of all lanes together. */
  #stack() {
    const present = new Set(this.trace.events.map((recorded) => this.trace.emitter(recorded)));
    const roles = ROLES.filter((role) => present.has(role));
    // Parts of the service that came from outside.
    for (const role of present) if (!roles.includes(role)) roles.push(role);
    this.lanes.set("rounds", { name: "rounds", top: AXIS, height: ROUNDS });
    let top = AXIS + ROUNDS;
    for (const role of roles) {
      let tracks = 1;
      if (role === "engine") tracks = this.calls.count;
      if (role === "dispatcher") tracks = this.tools.count;
      const height = Math.max(LANE, tracks * (BAR + 3) + 5);
      this.lanes.set(role, { name: role, top, height });
      top += height;
    }
    return top + 4;
  }

  /**
   * The vertical position of an event.
   * @param {import("../types.js").Recorded} recorded
   */
  y(recorded) {
    const role = this.trace.emitter(recorded);
    const event = recorded.event;
    if (role === "engine") return this.#track(role, this.calls, event.call_id);
    if (role === "dispatcher") return this.#track(role, this.tools, event.tool_call_id);
    return this.#middle(role);
  }

  /** @param {string} role */
  #middle(role) {
    const lane = this.lanes.get(role) ?? { top: 0, height: 0 };
    return lane.top + lane.height / 2;
  }

  /**
   * @param {string} role
   * @param {Tracks} tracks
   * @param {string} id
   */
  #track(role, tracks, id) {
    const track = tracks.of.get(id);
    const lane = this.lanes.get(role);
    if (track === undefined || lane === undefined) return this.#middle(role);
    return lane.top + 3 + track * (BAR + 3) + BAR / 2;
  }

  /** @returns {Span[]} */
  #rounds() {
    return this.trace.rounds.map((round) => ({
      kind: "round",
      seq: round.opened.seq,
      from: round.opened.seq,
      to: round.ended?.seq ?? null,
      y: this.#middle("rounds"),
      name: round.isFinal ? "Final call" : `Round ${round.number}`,
      isFailed: false,
      isEarly: false,
    }));
  }

  /** @returns {Span[]} */
  #attempts() {
    /** @type {Span[]} */
    const spans = [];
    for (const call of this.trace.calls.values()) {
      for (const { number, started, ended } of call.attempts) {
        const kind = ended?.event.kind ?? "";
        spans.push({
          kind: "call",
          seq: started.seq,
          from: started.seq,
          to: ended?.seq ?? null,
          y: this.#track("engine", this.calls, call.id),
          name: number > 1 ? `${call.id}, attempt ${number}` : call.id,
          isFailed: kind.endsWith("_failed") || kind.endsWith("_retried"),
          isEarly: false,
        });
      }
    }
    return spans;
  }

  /** @returns {Span[]} */
  #toolRuns() {
    return [...this.trace.tools.values()].map((tool) => ({
      kind: "tool",
      seq: (tool.started ?? tool.requested).seq,
      from: (tool.started ?? tool.requested).seq,
      to: tool.ended?.seq ?? null,
      y: this.#track("dispatcher", this.tools, tool.id),
      name: toolCall(tool.name, tool.input),
      isFailed: tool.ended?.event.kind === "tool_failed",
      isEarly: isEarly(this.trace, tool),
    }));
  }
}
