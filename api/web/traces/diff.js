/** Two traces beside one another: what each came to, the answers sentence by sentence, what differs and why. */

import { getJson } from "../api.js";
import { element } from "../dom.js";
import { cost, count, seconds, tone, when } from "../text.js";
import { address, api, eventLink, go } from "./links.js";
import { kindName } from "./saying.js";

const FIRST = 60;
/** @type {Record<string, string>} */
const CAUSES = {
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
/** @type {Record<string, [string, string]>} */
const MARKS = {
  "=": ["same", "in both"],
  "-": ["left", "only in this one"],
  "+": ["right", "only in the other"],
};

export class Comparison {
  /** @param {import("./model.js").Trace} trace */
  constructor(trace) {
    this.trace = trace;
    this.other = "";
    this.element = element("div", { class: "stack diff" });
  }

  /** @param {string | undefined} item The other trace's id. */
  async show(item) {
    this.other = item ?? "";
    this.element.replaceChildren(element("span", { class: "spinner" }));
    try {
      const shown = item === undefined ? await this.#choices() : await this.#compared(item);
      if (this.other === (item ?? "")) this.element.replaceChildren(...shown);
    } catch (error) {
      this.element.replaceChildren(
        element("p", { class: "notice" }, String(/** @type {Error} */ (error).message)),
        ...(item === undefined ? [] : await this.#choices().catch(() => [])),
      );
    }
  }

  update() {}

  leave() {
    this.other = "";
  }

  /** The traces that this one may be compared with: its parent, its forks, and those that were asked lately. */
  async #choices() {
    const parent = this.trace.question.parent;
    const [forks, recent] = await Promise.all([
      getJson(`/api/traces?limit=50&parent=${encodeURIComponent(this.trace.id)}`),
      getJson("/api/traces?limit=20"),
    ]);
    const known = new Set([this.trace.id, ...forks.traces.map((/** @type {any} */ each) => each.query_id)]);
    const others = recent.traces.filter((/** @type {any} */ each) => !known.has(each.query_id));
    const input = element("input", {
      class: "text-input",
      "aria-label": "Id of a trace",
      placeholder: "Id of a trace, or its beginning",
    });
    const form = element(
      "form",
      { class: "grid" },
      input,
      element("button", { class: "button plain-button", type: "submit" }, "Compare"),
    );
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      if (input.value.trim()) go(address(this.trace.id, "diff", input.value.trim()));
    });
    return [
      element(
        "section",
        { class: "card" },
        element("h2", {}, "Compare this trace with"),
        form,
        parent
          ? element(
              "p",
              {},
              element(
                "a",
                { href: address(parent, "diff", this.trace.id), "data-view": true },
                "the trace that it is a fork of",
              ),
            )
          : null,
        ...this.#list("Its forks", forks.traces),
        ...this.#list("Asked recently", others),
      ),
    ];
  }

  /**
   * @param {string} name
   * @param {import("../types.js").TraceSummary[]} traces
   */
  #list(name, traces) {
    if (traces.length === 0) return [];
    const items = traces.map((trace) =>
      element(
        "li",
        {},
        element(
          "a",
          { href: address(this.trace.id, "diff", trace.query_id), "data-view": true, dir: "auto" },
          trace.query || "(empty)",
        ),
        element(
          "span",
          { class: "soft" },
          ` ${trace.status}, ${when(trace.started_at)}, ${count(trace.events, "event")}, ${trace.query_id.slice(0, 8)}`,
        ),
      ),
    );
    return [element("h3", {}, name), element("ul", { class: "stack plain-list" }, ...items)];
  }

  /** @param {string} other */
  async #compared(other) {
    const found = await getJson(api(this.trace.id, `/diff/${encodeURIComponent(other)}`));
    return [
      element(
        "section",
        { class: "card" },
        element("h2", {}, verdict(found)),
        found.change ? element("p", { dir: "auto" }, element("strong", {}, "Changed: "), found.change) : null,
        sides(found),
      ),
      answers(found),
      this.#differences(found),
    ];
  }

  /** @param {any} found */
  #differences(found) {
    const [left, right] = [found.left.query_id, found.right.query_id];
    if (found.differences.length === 0)
      return element("p", { class: "soft" }, "No event differs (times are not compared).");
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
      element("ul", { class: "stack plain-list" }, ...groups),
      element("ol", { class: "stack" }, ...rows),
      found.differences.length > FIRST
        ? element("p", { class: "soft" }, `The first ${FIRST} are shown.`)
        : null,
    );
  }
}

/** @param {any} found */
function verdict({ left, right, differences }) {
  if (left.answer === right.answer)
    return differences.length === 0 ? "The same run" : "The same answer, reached differently";
  return "A different answer";
}

/** @param {any} found */
function sides({ left, right }) {
  /** @type {[string, (side: any) => string | Node][]} */
  const rows = [
    [
      "Trace",
      (side) => element("a", { href: address(side.query_id), "data-view": true }, side.query_id.slice(0, 12)),
    ],
    ["Outcome", (side) => element("span", { class: `outcome ${tone(side.status)}` }, side.status)],
    [
      "Confidence",
      (side) => element("span", { class: `confidence ${tone(side.confidence)}` }, side.confidence || "–"),
    ],
    ["Rounds", (side) => `${side.rounds}, ${count(side.calls, "call")}`],
    ["Events", (side) => side.events.toLocaleString("en")],
    [
      "Tokens",
      (side) =>
        `${side.usage.input_tokens.toLocaleString("en")} in, ${side.usage.output_tokens.toLocaleString("en")} out`,
    ],
    ["Cost", (side) => cost(side.usage.cost_usd)],
    ["Time", (side) => seconds(side.duration_ms / 1000)],
  ];
  const body = rows.map(([name, of]) =>
    element(
      "tr",
      {},
      element("th", { scope: "row" }, name),
      element("td", {}, of(left)),
      element("td", {}, of(right)),
    ),
  );
  return element(
    "div",
    { class: "table-scroller", tabindex: 0, role: "region", "aria-label": "The two side by side" },
    element(
      "table",
      { class: "table sides" },
      element(
        "thead",
        {},
        element(
          "tr",
          {},
          element("td", {}),
          element("th", { scope: "col" }, "This one"),
          element("th", { scope: "col" }, "The other"),
        ),
      ),
      element("tbody", {}, ...body),
    ),
  );
}

/** @param {any} found */
function answers({ sentences }) {
  if (sentences.length === 0) return element("p", { class: "soft" }, "Neither trace has an answer.");
  const lines = sentences.map((/** @type {[string, string]} */ [mark, text]) => {
    const [name, words] = MARKS[mark] ?? ["same", ""];
    return element(
      "li",
      { class: `answer-line ${name}`, dir: "auto" },
      element(
        "span",
        { class: "mark-sign", "aria-hidden": "true" },
        mark === "=" ? " " : mark === "-" ? "−" : "+",
      ),
      element("span", {}, element("span", { class: "hidden" }, `${words}: `), text.replaceAll("**", "")),
    );
  });
  return element(
    "section",
    { class: "card" },
    element("h2", {}, "The answers, sentence by sentence"),
    element("ul", { class: "answer-diff" }, ...lines),
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
      ? element("span", { class: "soft" }, "not in this one")
      : eventLink(left, each.left, `event ${each.left}`),
    " / ",
    each.right === null
      ? element("span", { class: "soft" }, "not in the other")
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
      element("ul", { class: "stack plain-list" }, ...fields),
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
