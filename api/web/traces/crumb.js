/** The way to a trace: the conversation and the list that it is of, and the trace that it is a fork of. */

import { ROOT } from "../api.js";
import { element } from "../dom.js";
import { address } from "./links.js";

/**
 * @param {string} id
 * @param {Record<string, any>} question The first event; empty before the trace is read.
 * @returns {(Node | string)[]}
 */
export function crumb(id, question = {}) {
  const { parent, parent_seq: shared = 0, change, session_id: session } = question;
  const parts = [link(`${ROOT}/traces`, "Traces"), " / ", element("span", { title: id }, id.slice(0, 12))];
  if (session)
    parts.unshift(link(`${ROOT}/conversations/${encodeURIComponent(session)}`, "‹ Conversation"), " · ");
  if (!parent) return parts;
  return [
    ...parts,
    ", fork of ",
    link(address(parent, "events", Math.max(1, shared)), parent.slice(0, 12)),
    ` at event ${shared}`,
    element("span", { dir: "auto" }, change ? `: ${change} ` : " "),
    link(address(parent, "diff", id), "compare"),
  ];
}

/**
 * @param {string} href
 * @param {string} text
 */
function link(href, text) {
  return element("a", { href, "data-view": true }, text);
}
