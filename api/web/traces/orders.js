/** Orders to a model in the text that it read, as the doubts of the answer name them. */

/**
 * Words in sources that order a model about, as the answer's doubts name them.
 * @param {import("./model.js").Trace} trace
 */
export function ordersIn(trace) {
  const found = [];
  for (const { kind, detail } of trace.indicators) {
    const words = kind === "instruction_in_source" ? /“(.+)”/s.exec(detail)?.[1] : undefined;
    if (words !== undefined) found.push(flat(words).replace(/…$/, ""));
  }
  return found;
}

/** @param {string} text */
export function flat(text) {
  return text.replace(/\s+/g, " ").trim();
}
