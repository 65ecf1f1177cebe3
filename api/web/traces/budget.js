/** What the calls of a query took of its deadline, and the tokens of each. */

import { element } from "../dom.js";
import { cost, seconds } from "../text.js";
import { bar, barKeys } from "./bars.js";
import { address } from "./links.js";

/** @param {import("./model.js").Trace} trace */
export function budgetSection(trace) {
  const calls = [...trace.calls.values()].filter((call) => call.requested !== null);
  if (calls.length === 0) return element("div", {});
  const deadline = trace.question.settings?.deadline_s ?? trace.seconds;
  const most = Math.max(1, ...calls.map((call) => tokensOf(call).all));
  const rows = calls
    .slice(0, 50)
    .map((call) =>
      element(
        "tr",
        {},
        element(
          "th",
          { scope: "row" },
          element("a", { href: address(trace.id, "requests", call.id), "data-view": true }, call.id),
        ),
        element("td", {}, timeBar(trace, call, deadline)),
        element("td", {}, tokenBar(call, most)),
      ),
    );
  const head = element(
    "tr",
    {},
    element("td", {}),
    element("th", { scope: "col" }, `Deadline of ${seconds(deadline)}`),
    element("th", { scope: "col" }, "Tokens"),
  );
  return element(
    "details",
    { class: "card budget", open: calls.length <= 8 },
    element("summary", {}, "Deadline and tokens, call by call"),
    element(
      "div",
      { class: "table-scroller", tabindex: 0, role: "region", "aria-label": "Deadline and tokens" },
      element("table", { class: "table" }, element("thead", {}, head), element("tbody", {}, ...rows)),
    ),
    barKeys([
      ["gone", "elapsed before"],
      ["took", "took"],
      ["spare", "unused"],
      ["kept", "reserved for later calls"],
      ["cached", "from the cache"],
      ["input", "input"],
      ["output", "output"],
    ]),
  );
}

/**
 * @param {import("./model.js").Trace} trace
 * @param {import("./model.js").Call} call
 * @param {number} deadline
 */
function timeBar(trace, call, deadline) {
  const asked = call.requested;
  if (asked === null) return "";
  const { elapsed_s: gone = asked.at - trace.beganAt, timeout_s: limit, kept_s: kept = 0 } = asked.event;
  const took = (call.ended?.at ?? trace.events.at(-1)?.at ?? asked.at) - asked.at;
  const spare = Math.max(0, limit - took);
  return element(
    "div",
    { class: "bar-cell" },
    bar(
      [
        { name: "gone", value: gone, words: `${seconds(gone)} elapsed before` },
        { name: "took", value: took, words: `took ${seconds(took)}` },
        { name: "spare", value: spare, words: `${seconds(spare)} unused` },
        { name: "kept", value: kept, words: `${seconds(kept)} reserved` },
      ],
      deadline,
    ),
    element("span", { class: "number" }, `${seconds(took)} of ${seconds(limit)}`),
  );
}

/** @param {import("./model.js").Call} call */
function tokensOf(call) {
  const usage = call.ended?.event.usage ?? {};
  const input = (usage.input_tokens ?? 0) + (usage.cache_write_tokens ?? 0);
  const cached = usage.cache_read_tokens ?? 0;
  const output = usage.output_tokens ?? 0;
  return { input, cached, output, all: input + cached + output, cost: usage.cost_usd ?? null };
}

/**
 * @param {import("./model.js").Call} call
 * @param {number} most
 */
function tokenBar(call, most) {
  const tokens = tokensOf(call);
  const said = (/** @type {number} */ number) => number.toLocaleString("en");
  return element(
    "div",
    { class: "bar-cell" },
    bar(
      [
        { name: "cached", value: tokens.cached, words: `${said(tokens.cached)} tokens from the cache` },
        { name: "input", value: tokens.input, words: `${said(tokens.input)} in` },
        { name: "output", value: tokens.output, words: `${said(tokens.output)} out` },
      ],
      most,
    ),
    element(
      "span",
      { class: "number" },
      `${said(tokens.input + tokens.cached)} in, ${said(tokens.output)} out${tokens.cost ? `, ${cost(tokens.cost)}` : ""}`,
    ),
  );
}
