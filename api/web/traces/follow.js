/** Reads a trace, and follows it for as long as its query runs; a connection that was lost mends itself. */

import { RefusedError, getJson, send } from "../api.js";
import { eventsOf } from "../event_stream.js";
import { api } from "./links.js";
import { Trace } from "./model.js";

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 8000;
/** Nobody works on the query now; somebody may take it up again. */
const IDLE_MS = 4000;

/**
 * Reads a trace with all that is recorded of it.
 * @param {string} queryId Or enough of its beginning.
 * @returns {Promise<Trace>}
 */
export async function readTrace(queryId) {
  const [trace, guide] = await Promise.all([
    getJson(api(queryId, "?without_texts=true")),
    getJson("/api/events"),
  ]);
  const read = new Trace(trace.query_id, guide.kinds);
  read.leftOut = trace.left_out;
  for (const recorded of trace.events) read.take(recorded);
  return read;
}

/**
 * Takes in what happens to an open query, behind the last event that is known, until it is over.
 * @param {Trace} trace
 * @param {AbortSignal} signal
 * @param {() => void} changed Called when events came.
 * @param {(isLost: boolean) => void} connection Called when the connection is lost, and when it is back.
 */
export async function follow(trace, signal, changed, connection) {
  let pause = FIRST_PAUSE_MS;
  let isLost = false;
  while (!trace.isOver && !signal.aborted) {
    try {
      const headers = { Accept: "text/event-stream", "Last-Event-ID": String(trace.events.length) };
      const response = await send(api(trace.id, "/events"), { headers, signal });
      if (isLost) connection(false);
      isLost = false;
      pause = FIRST_PAUSE_MS;
      for await (const event of eventsOf(response)) {
        if (event.id === null) continue;
        trace.take(event.data);
        changed();
      }
      if (!trace.isOver) await sleep(IDLE_MS, signal);
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof RefusedError && error.status < 500) throw error;
      if (!isLost) connection(true);
      isLost = true;
      await sleep(pause, signal);
      pause = Math.min(2 * pause, LONGEST_PAUSE_MS);
    }
  }
}

/**
 * @param {number} milliseconds
 * @param {AbortSignal} signal
 * @returns {Promise<void>}
 */
function sleep(milliseconds, signal) {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
