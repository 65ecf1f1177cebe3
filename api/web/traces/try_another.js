/** Another query for a tool call: its search tried on the index as it is now, and a fork that asks it. */

import { getJson } from "../api.js";
import { element } from "../dom.js";
import { Launch } from "./launch.js";
import { parsed } from "./model.js";
import { passageList } from "./passages.js";

const TRIED = 8;

/** Another query tried, and a fork that sends it to the tool. */
export class TryAnother {
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
      const found = await search(this.query.value, this.course.value, undefined, TRIED);
      this.results.replaceChildren(
        found.length === 0 ? element("p", { class: "soft" }, "Nothing found.") : passageList(found),
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
export async function search(query, course, lesson, limit) {
  const parameters = new URLSearchParams({ q: query.slice(0, 2000), limit: String(limit), why: "true" });
  if (course) parameters.set("course", course);
  if (course && lesson !== undefined && lesson !== null) parameters.set("lesson", String(lesson));
  return (await getJson(`/api/search?${parameters}`)).passages;
}
