/** Server-sent events out of a response, so that a POST can have them too
 * (https://html.spec.whatwg.org/multipage/server-sent-events.html). */

/** Seconds of silence after which a connection counts as lost: the service sends a comment every fifteen. */
const SILENCE_S = 40;

/**
 * @typedef {{kind: string, id: number | null, data: any}} ServerEvent
 */

/**
 * Yields the events of a response as they come.
 * @param {Response} response
 * @returns {AsyncGenerator<ServerEvent>}
 */
export async function* eventsOf(response) {
  if (response.body === null) return;
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let buffer = "";
  try {
    while (true) {
      const { done, value } = await within(SILENCE_S, reader.read());
      if (done) return;
      buffer += value;
      const blocks = buffer.split("\n\n");
      buffer = blocks.pop() ?? "";
      for (const block of blocks) {
        const event = parsed(block);
        if (event !== null) yield event;
      }
    }
  } finally {
    // A reader that stops hangs up; a connection that is gone cannot be cancelled.
    reader.cancel().catch(() => undefined);
  }
}

/**
 * @param {string} block
 * @returns {ServerEvent | null}
 */
function parsed(block) {
  /** @type {Map<string, string>} */
  const fields = new Map();
  for (const line of block.split("\n")) {
    const [, name, value] = /^([a-z]+): (.*)$/.exec(line) ?? [];
    if (name !== undefined && value !== undefined) fields.set(name, value);
  }
  const kind = fields.get("event");
  const data = fields.get("data");
  // A comment, by which the service says that it is still there.
  if (kind === undefined || data === undefined) return null;
  const id = fields.get("id");
  return { kind, id: id === undefined ? null : Number(id), data: JSON.parse(data) };
}

/**
 * Waits for a promise, but not longer than so many seconds.
 * @template T
 * @param {number} seconds
 * @param {Promise<T>} promise
 * @returns {Promise<T>}
 */
function within(seconds, promise) {
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error("nothing came")), seconds * 1000);
    promise.then(resolve, reject).finally(() => clearTimeout(late));
  });
}
