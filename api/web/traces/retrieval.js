/** Each search of a query: what was sent, what was found and why, what became of it, and what else there is. */

import { getJson } from "../api.js";
import { element } from "../dom.js";
import { count } from "../text.js";
import { barKeys } from "./bars.js";
import { argumentsOf } from "./event_body.js";
import { Launch } from "./launch.js";
import { address, eventLink } from "./links.js";
import { parsed } from "./model.js";
import { flat, ordersIn } from "./orders.js";
import { isIn, passageList } from "./passages.js";
import { toolCall, toolName } from "./saying.js";

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
      this.content.replaceChildren(element("p", { class: "soft" }, "No tool was asked for."));
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
        element("span", { class: "soft" }, " asked at "),
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
        `Taken: ${count(passages.length, "passage")}`,
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
   * What became of a passage: the fact that it is, and what each call was shown of it.
   * @param {any} passage
   */
  #fates(passage) {
    const orders = ordersIn(this.trace).filter((words) => words !== "" && flat(passage.text).includes(words));
    const marks = orders.map((words) =>
      element("li", { class: "tag bad orders-fate", dir: "auto" }, `gives orders: “${words}”`),
    );
    return [...marks, ...this.#became(passage)];
  }

  /** @param {any} passage */
  #became(passage) {
    const known = [...this.trace.facts.values()].find(({ fact }) => isIn(passage, fact.passage));
    if (known === undefined) return [element("li", { class: "tag" }, "added nothing: it was known already")];
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
      const found = await search(values.query, values.course_name, values.lesson_number);
      const taken = ended.event.passages ?? [];
      const rest = found.filter(
        (passage) => !taken.some((/** @type {any} */ each) => isIn(passage, each) || isIn(each, passage)),
      );
      place.replaceChildren(
        element(
          "details",
          { class: "card" },
          element("summary", {}, `Not taken: ${count(rest.length, "candidate")} of the index as it is now`),
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

/** Another query tried, and a fork in which the tool is asked it. */
class TryAnother {
  /**
   * @param {import("./model.js").Trace} trace
   * @param {import("./model.js").ToolRun} tool
   */
  constructor(trace, tool) {
    const values = parsed(tool.input);
    this.values = typeof values === "object" && values !== null ? values : {};
    this.query = element("input", {
      type: "text",
      value: String(this.values.query ?? ""),
      class: "text-input",
      dir: "auto",
    });
    this.course = element("input", {
      type: "text",
      value: String(this.values.course_name ?? ""),
      class: "text-input",
      dir: "auto",
    });
    this.results = element("div", { role: "status" });
    this.launch = new Launch(trace.id, () => this.#body(tool));
    for (const input of [this.query, this.course])
      input.addEventListener("input", () => this.launch.refresh());
    const form = element(
      "form",
      { class: "grid" },
      element("label", {}, "Query", this.query),
      element("label", {}, "Course, if only one", this.course),
      element("button", { class: "button plain-button", type: "submit" }, "Search"),
    );
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#search();
    });
    this.element = element(
      "section",
      { class: "card try-another" },
      element("h2", {}, "Try another query"),
      form,
      this.results,
      element("details", { class: "offer" }, element("summary", {}, "Fork with it"), this.launch.element),
    );
  }

  /** @param {import("./model.js").ToolRun} tool */
  #body(tool) {
    const { course_name: _, ...rest } = this.values;
    const asked = { ...rest, query: this.query.value };
    if (this.course.value.trim()) Object.assign(asked, { course_name: this.course.value.trim() });
    if (!this.query.value.trim()) return null;
    const change = { kind: "set", name: "call.arguments", value: JSON.stringify(asked) };
    return { at: tool.requested.seq, change };
  }

  async #search() {
    this.results.replaceChildren(element("span", { class: "spinner" }));
    try {
      const found = await search(this.query.value, this.course.value, undefined, 8);
      this.results.replaceChildren(
        found.length === 0 ? element("p", { class: "soft" }, "Nothing is found.") : passageList(found),
      );
    } catch (error) {
      this.results.replaceChildren(
        element("p", { class: "soft" }, String(/** @type {Error} */ (error).message)),
      );
    }
  }
}

/**
 * @param {string} query
 * @param {string | null | undefined} course
 * @param {unknown} lesson
 * @param {number} limit
 * @returns {Promise<any[]>}
 */
async function search(query, course, lesson, limit = CANDIDATES) {
  const parameters = new URLSearchParams({ q: query.slice(0, 2000), limit: String(limit), why: "true" });
  if (course) parameters.set("course", course);
  if (course && lesson !== undefined && lesson !== null) parameters.set("lesson", String(lesson));
  return (await getJson(`/api/search?${parameters}`)).passages;
}

/**
 * @param {string} text
 * @param {number} most
 */
function shortened(text, most) {
  return text.length > most ? `${text.slice(0, most)}…` : text;
}
