/** The events in which two traces differ, and why. */

import { element } from "../dom.js";
import { count } from "../text.js";
import { kindName } from "../wording.js";
import { eventLink } from "./links.js";

const FIRST = 60;
/** @type {Record<string, string>} */
export const CAUSES = {
  question: "a different question or earlier conversation",
  change: "what was changed by hand",
  model: "a different reply",
  tool: "a different result",
  settings: "different settings or versions",
  time: "timing: a limit was reached, or the caller left",
  subscriber: "an external component",
  order: "the same events in another order",
  code: "rules that have changed since",
};

/** @param {any} found */
export function eventsThatDiffer(found) {
  const [left, right] = [found.left.query_id, found.right.query_id];
  if (found.differences.length === 0)
    return element("p", { class: "soft" }, "No event differs (times are ignored).");
  const groups = found.groups.map((/** @type {any} */ group) =>
    element(
      "li",
      {},
      element("strong", {}, `${group.count} because of ${CAUSES[group.because] ?? group.because}`),
      element(
        "span",
        { class: "soft" },
        ` ${group.kinds.map((/** @type {[string, number]} */ [kind, number]) => `${kindName(kind)} ${number}`).join(", ")}`,
      ),
    ),
  );
  const rows = found.differences
    .slice(0, FIRST)
    .map((/** @type {any} */ each) => difference(each, left, right));
  return element(
    "section",
    { class: "card" },
    element(
      "h2",
      {},
      `${count(found.differences.length, "event")} differ, ${found.same.toLocaleString("en")} are the same`,
    ),
    element("ul", { class: "stack" }, ...groups),
    element("ol", { class: "stack" }, ...rows),
    found.differences.length > FIRST
      ? element("p", { class: "soft" }, `The first ${FIRST} are shown.`)
      : null,
  );
}

/**
 * @param {any} each
 * @param {string} left
 * @param {string} right
 */
function difference(each, left, right) {
  const fields = each.fields
    .slice(0, 12)
    .map((/** @type {any} */ field) =>
      element(
        "li",
        { dir: "auto" },
        element("code", {}, field.path || "…"),
        field.words
          ? element("p", {}, ...marked(field.words))
          : element(
              "p",
              {},
              field.left ? element("del", {}, field.left) : null,
              " ",
              field.right ? element("ins", {}, field.right) : null,
            ),
      ),
    );
  const sides = [
    each.left === null
      ? element("span", { class: "soft" }, "not in this trace")
      : eventLink(left, each.left, `event ${each.left}`),
    " / ",
    each.right === null
      ? element("span", { class: "soft" }, "not in the other trace")
      : eventLink(right, each.right, `event ${each.right}`),
  ];
  const head = element(
    "p",
    { class: "row" },
    element("strong", {}, kindName(each.kind)),
    element("span", {}, ...sides),
    element("span", { class: "tag" }, each.because),
  );
  if (fields.length === 0)
    return element(
      "li",
      { class: "card difference" },
      head,
      element("p", { class: "soft", dir: "auto" }, each.detail),
    );
  return element(
    "li",
    { class: "card difference" },
    head,
    element(
      "details",
      {},
      element("summary", {}, count(each.fields.length, "field")),
      element("ul", { class: "stack" }, ...fields),
    ),
  );
}

/**
 * Words that differ, `[-gone-]` and `{+come+}`, as such.
 * @param {string} words
 */
function marked(words) {
  return words.split(/(\[-.*?-\]|\{\+.*?\+\})/s).map((part) => {
    if (part.startsWith("[-")) return element("del", {}, part.slice(2, -2));
    if (part.startsWith("{+")) return element("ins", {}, part.slice(2, -2));
    return element("span", {}, part);
  });
}
