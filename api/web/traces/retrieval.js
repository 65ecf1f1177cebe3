/** Each search of a query: what was sent, what was found and why, what became of it, and what else there is. */

import { element } from "../dom.js";
import { count } from "../text.js";
import { toolName } from "../wording.js";
import { barKeys } from "./bars.js";
import { argumentsOf } from "./event_body.js";
import { address, eventLink } from "./links.js";
import { parsed } from "./model.js";
import { flat, ordersIn } from "./orders.js";
import { isIn, passageList } from "./passages.js";
import { toolCall } from "./saying.js";
import { TryAnother, search } from "./try_another.js";

const CANDIDATES = 20;

export class Retrieval {
  /** @param {import("./model.js").Trace} trace */
  constructor(trace) {
    this.trace = trace;
    this.seq = 0;
    this.searches = element("nav", { class: "row call-tabs", "aria-label": "Tool calls" });
    this.content = element("div", { class: "stack retrieval-content" });
    this.element = element("div", { class: "stack" }, this.searches, this.content);
  }

  /** @param {string | undefined} item The event that requested the tool. */
  show(item) {
    const tools = [...this.trace.tools.values()];
    const tool = tools.find(({ requested }) => String(requested.seq) === item) ?? tools[0];
    if (tool === undefined) {
      this.content.replaceChildren(element("p", { class: "soft" }, "No tool was called."));
      return;
    }
    this.seq = tool.requested.seq;
    this.searches.replaceChildren(
      ...tools.map((each) =>
        element(
          "a",
          {
            href: address(this.trace.id, "retrieval", each.requested.seq),
            class: "quiet",
            "data-view": true,
            "aria-current": each === tool ? "page" : null,
            dir: "auto",
          },
          element("span", { class: "soft" }, `round ${each.round} `),
          shortened(toolCall(each.name, each.input), 60),
        ),
      ),
    );
    this.#read(tool);
  }

  update() {
    this.show(this.seq === 0 ? undefined : String(this.seq));
  }

  leave() {
    this.seq = 0;
  }

  /** @param {import("./model.js").ToolRun} tool */
  async #read(tool) {
    try {
      const ended = tool.ended === null ? null : await this.trace.readWhole(tool.ended);
      if (tool.requested.seq !== this.seq) return;
      const others = element("div", { class: "candidates" });
      this.content.replaceChildren(
        this.#sent(tool),
        this.#found(ended),
        others,
        new TryAnother(this.trace, tool).element,
      );
      this.#showOthers(tool, ended, others);
    } catch (error) {
      this.content.replaceChildren(
        element("p", { class: "soft" }, String(/** @type {Error} */ (error).message)),
      );
    }
  }

  /** @param {import("./model.js").ToolRun} tool */
  #sent(tool) {
    const rows = argumentsOf(tool.input).flatMap(([name, value]) => [
      element("dt", {}, name),
      element("dd", { dir: "auto" }, value),
    ]);
    const substitutes = tool.substituted.map(({ event }) =>
      element(
        "p",
        { class: "notice doubt-note", dir: "auto" },
        `${toolName(event.failed)} failed (${event.why}), so ${toolName(event.substitute)} was used instead.`,
      ),
    );
    return element(
      "section",
      { class: "card" },
      element(
        "h2",
        {},
        toolName(tool.name),
        element("span", { class: "soft" }, " requested at "),
        eventLink(this.trace.id, tool.requested.seq, `event ${tool.requested.seq}`),
      ),
      element("dl", { class: "rows about" }, ...rows),
      ...substitutes,
    );
  }

  /** @param {import("../types.js").Recorded | null} ended */
  #found(ended) {
    if (ended === null) return element("p", { class: "soft" }, "No result yet.");
    if (ended.event.kind === "tool_failed")
      return element(
        "section",
        { class: "card" },
        element("h2", {}, "It failed"),
        element(
          "p",
          { dir: "auto" },
          `${ended.event.detail} `,
          eventLink(this.trace.id, ended.seq, `event ${ended.seq}`),
        ),
      );
    const passages = ended.event.passages;
    return element(
      "section",
      { class: "card" },
      element(
        "h2",
        {},
        `Used: ${count(passages.length, "passage")}`,
        element("span", { class: "soft" }, ` in ${Math.round(ended.event.duration_ms)} ms, `),
        eventLink(this.trace.id, ended.seq, `event ${ended.seq}`),
      ),
      passages.length === 0
        ? element("p", { class: "soft", dir: "auto" }, ended.event.output)
        : barKeys([
            ["input", "by meaning"],
            ["output", "by words"],
          ]),
      passageList(passages, (passage) => this.#fates(passage)),
    );
  }

  /**
   * What became of a passage: the fact that it is, and what each call got of it.
   * @param {any} passage
   */
  #fates(passage) {
    const orders = ordersIn(this.trace).filter((words) => words !== "" && flat(passage.text).includes(words));
    const marks = orders.map((words) =>
      element("li", { class: "tag bad orders-fate", dir: "auto" }, `contains instructions: “${words}”`),
    );
    return [...marks, ...this.#became(passage)];
  }

  /** @param {any} passage */
  #became(passage) {
    const known = [...this.trace.facts.values()].find(({ fact }) => isIn(passage, fact.passage));
    if (known === undefined) return [element("li", { class: "tag" }, "added nothing new")];
    const { fact, seq } = known;
    const name = fact.passage.id === passage.id ? `fact ${fact.id}` : `in fact ${fact.id}`;
    const fates = [element("li", { class: "tag" }, eventLink(this.trace.id, seq, name))];
    for (const call of this.trace.calls.values()) {
      const briefing = call.briefing;
      if (briefing === null || briefing.seq < seq) continue;
      fates.push(...this.#fatesIn(call.id, briefing.event, fact.id));
    }
    return fates;
  }

  /**
   * @param {string} callId
   * @param {any} briefing
   * @param {string} factId
   */
  #fatesIn(callId, briefing, factId) {
    const link = element(
      "a",
      { href: address(this.trace.id, "requests", callId), "data-view": true },
      callId,
    );
    const source = briefing.sources.find((/** @type {any} */ row) => row.fact_id === factId);
    const fates = [];
    if (source !== undefined)
      fates.push(
        element(
          "li",
          { class: "tag good shown-fate" },
          link,
          ` was shown ${count(source.sentences.length, "sentence")}`,
        ),
      );
    for (const row of briefing.dropped) {
      if (row.what !== factId) continue;
      const what = row.sentences.length === 0 ? "all of it" : count(row.sentences.length, "sentence");
      fates.push(
        element(
          "li",
          { class: "tag fair dropped-fate" },
          link.cloneNode(true),
          ` was not shown ${what}: ${row.rule}, ${row.why}`,
        ),
      );
    }
    return fates;
  }

  /**
   * The passages that the same search finds today beyond those that were taken.
   * @param {import("./model.js").ToolRun} tool
   * @param {import("../types.js").Recorded | null} ended
   * @param {HTMLElement} place
   */
  async #showOthers(tool, ended, place) {
    const values = parsed(tool.input);
    if (typeof values?.query !== "string" || ended === null) return;
    try {
      const found = await search(values.query, values.course_name, values.lesson_number, CANDIDATES);
      const taken = ended.event.passages ?? [];
      const rest = found.filter(
        (passage) => !taken.some((/** @type {any} */ each) => isIn(passage, each) || isIn(each, passage)),
      );
      place.replaceChildren(
        element(
          "details",
          { class: "card" },
          element("summary", {}, `Not used: ${count(rest.length, "candidate")} in the current index`),
          element("p", { class: "soft" }, `The best ${CANDIDATES} of the same search, without those above.`),
          passageList(rest),
        ),
      );
    } catch (error) {
      place.replaceChildren(
        element(
          "p",
          { class: "soft" },
          `The other candidates could not be read: ${/** @type {Error} */ (error).message}`,
        ),
      );
    }
  }
}

/**
 * @param {string} text
 * @param {number} most
 */
function shortened(text, most) {
  return text.length > most ? `${text.slice(0, most)}…` : text;
}
