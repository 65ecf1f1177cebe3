/** One query as the page follows it: asked, followed, taken up again after a lost connection, answered. */

import { RefusedError, UnreachableError, getJson, sendJson, send } from "../api.js";
import { eventsOf } from "../event_stream.js";

const STREAM = { Accept: "text/event-stream" };
const FIRST_PAUSE_S = 0.5;
const LONGEST_PAUSE_S = 8;
const LOADING_PAUSE_S = 1;

/**
 * What happens to a query, in order. `lost` and `mended` tell of the connection; `answer` is last.
 * @typedef {{kind: "event", recorded: import("../types.js").Recorded}
 *   | {kind: "text", html: import("../types.js").TextHtml}
 *   | {kind: "text_discarded"}
 *   | {kind: "lost"}
 *   | {kind: "mended"}
 *   | {kind: "answer", answer: import("../types.js").Answer}} Happening
 */

export class Query {
  #body;
  #key = randomKey();
  #lastSeq = 0;
  #cancelWanted = false;

  /**
   * @param {{query: string, session_id: string | null, follows: string | null} | null} body The question; null for a query that was asked before.
   * @param {string | null} id The query's id, if it was asked before.
   */
  constructor(body, id = null) {
    this.#body = body;
    this.id = id;
  }

  /**
   * Yields all that happens until the answer. A lost connection is tried again until it is back: the same
   * Idempotency-Key keeps a question from being asked twice, and reading on from the last event misses none.
   * @param {AbortSignal} signal Ends the reading; the query itself goes on.
   * @returns {AsyncGenerator<Happening>}
   */
  async *happenings(signal) {
    let pause = FIRST_PAUSE_S;
    let lost = false;
    while (!signal.aborted) {
      try {
        for await (const happening of this.#connected(signal)) {
          if (lost) yield { kind: "mended" };
          lost = false;
          pause = FIRST_PAUSE_S;
          yield happening;
          if (happening.kind === "answer") return;
        }
      } catch (error) {
        if (signal.aborted) return;
        // The service has just started: the query waits until it can take the question, and nothing is lost.
        if (error instanceof RefusedError && error.code === "loading") {
          await sleep(LOADING_PAUSE_S);
          continue;
        }
        if (error instanceof RefusedError && !(lost && error.status >= 500)) throw error;
      }
      if (!lost) yield { kind: "lost" };
      lost = true;
      await sleep(pause);
      pause = Math.min(2 * pause, LONGEST_PAUSE_S);
    }
  }

  /** Ends the query; its answer then says so. Before its id is known this waits until it is. */
  async cancel() {
    this.#cancelWanted = true;
    if (this.id === null) return;
    try {
      await sendJson(`/api/queries/${this.id}/cancel`);
    } catch (error) {
      // It was over already, or the service is away and the page says so anyway.
      if (!(error instanceof RefusedError || error instanceof UnreachableError)) throw error;
    }
  }

  /**
   * @param {AbortSignal} signal
   * @returns {AsyncGenerator<Happening>}
   */
  async *#connected(signal) {
    const response = await this.#open(signal);
    for await (const event of eventsOf(response)) {
      if (event.kind === "answer") {
        yield { kind: "answer", answer: event.data };
        return;
      }
      if (event.kind === "error")
        throw new RefusedError(500, event.data.error.code, event.data.error.message);
      const happening = this.#noted(event);
      if (happening !== null) yield happening;
    }
    // A stream of a query that was asked before ends with its last event; its answer is to be had.
    if (this.id === null) throw new UnreachableError();
    yield { kind: "answer", answer: await getJson(`/api/traces/${this.id}/answer?html=true`) };
  }

  /** @param {AbortSignal} signal */
  #open(signal) {
    if (this.id !== null) {
      const headers = { ...STREAM, "Last-Event-ID": String(this.#lastSeq) };
      return send(`/api/traces/${this.id}/events?html=true`, { headers, signal });
    }
    const headers = { ...STREAM, "Content-Type": "application/json", "Idempotency-Key": this.#key };
    const body = JSON.stringify({ ...this.#body, html: true });
    return send("/api/query", { method: "POST", headers, body, signal });
  }

  /**
   * @param {import("../event_stream.js").ServerEvent} event
   * @returns {Happening | null}
   */
  #noted(event) {
    if (event.kind === "text_html") return { kind: "text", html: event.data };
    if (event.kind === "text_discarded") return { kind: "text_discarded" };
    if (event.id === null || event.id <= this.#lastSeq) return null;
    this.#lastSeq = event.id;
    if (this.id === null) {
      this.id = event.data.query_id;
      if (this.#cancelWanted) this.cancel();
    }
    return { kind: "event", recorded: event.data };
  }
}

/** @param {number} seconds */
function sleep(seconds) {
  return new Promise((resolve) => {
    setTimeout(resolve, seconds * 1000);
  });
}

/** Returns a key that nobody else takes; crypto.randomUUID exists on encrypted pages and on localhost only. */
function randomKey() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, "0"),
  ).join("");
}
