/** The addresses of a trace's views, and links to them. */

import { ROOT } from "../api.js";
import { element } from "../dom.js";

/**
 * @param {string} queryId
 * @param {...(string | number)} rest
 */
export function address(queryId, ...rest) {
  return [`${ROOT}/traces`, ...[queryId, ...rest].map((part) => encodeURIComponent(part))].join("/");
}

/**
 * The address of the REST API for a trace.
 * @param {string} queryId
 * @param {string} rest
 */
export function api(queryId, rest = "") {
  return `/api/traces/${encodeURIComponent(queryId)}${rest}`;
}

/**
 * A link to an event of a trace.
 * @param {string} queryId
 * @param {number} seq
 * @param {string} text
 */
export function eventLink(queryId, seq, text = String(seq)) {
  return element(
    "a",
    { class: "event-link", href: address(queryId, "events", seq), "data-view": true },
    text,
  );
}

/**
 * Goes to an address as a link would.
 * @param {string} to
 */
export function go(to) {
  history.pushState(null, "", to);
  dispatchEvent(new PopStateEvent("popstate"));
}
