/** What a fork can change, each with a form of its own: texts, arguments, passages, settings, facts. */

import { getJson } from "../api.js";
import { element } from "../dom.js";
import { kindName } from "../wording.js";
import { forkSettings } from "./launch.js";
import { parsed } from "./model.js";
import { argumentName } from "./saying.js";
import { valueInput } from "./setting_value.js";

/**
 * An editor, and what the request of the fork is then; null while it is not known.
 * @typedef {{body: () => Record<string, unknown> | null, element: HTMLElement}} Editor
 */

/**
 * @param {string} value
 * @param {() => void} changed
 * @param {string} name
 * @param {(value: string) => Record<string, unknown>} bodyOf
 * @param {string} about
 * @returns {Editor}
 */
export function textEditor(value, changed, name, bodyOf, about) {
  const area = element("textarea", {
    class: "text-input",
    rows: Math.min(18, 3 + value.split("\n").length),
    dir: "auto",
    "aria-label": name,
    spellcheck: "false",
  });
  area.value = value;
  area.addEventListener("input", changed);
  return {
    body: () => bodyOf(area.value),
    element: element("div", { class: "stack editor" }, area, element("p", { class: "soft" }, about)),
  };
}

/**
 * The passages of a result, each to be rewritten in its place.
 * @param {number} seq
 * @param {import("../types.js").TraceEvent} event
 * @param {() => void} changed
 * @returns {Editor}
 */
export function passagesEditor(seq, event, changed) {
  const areas = event.passages.map((/** @type {any} */ passage) => {
    const area = element("textarea", { class: "text-input", rows: 5, dir: "auto", spellcheck: "false" });
    area.value = passage.text;
    area.addEventListener("input", changed);
    return area;
  });
  const body = () => {
    const texts = areas.map((/** @type {HTMLTextAreaElement} */ area) => area.value);
    const value = rewritten(event, texts);
    return { at: seq, change: { kind: "tool", name: event.tool_call_id, value } };
  };
  const labels = areas.map((/** @type {HTMLTextAreaElement} */ area, /** @type {number} */ place) =>
    element("label", { class: "stack field", dir: "auto" }, event.passages[place].source, area),
  );
  return {
    body,
    element: element(
      "div",
      { class: "stack editor" },
      ...labels,
      element("p", { class: "soft" }, "A passage without text is left out."),
    ),
  };
}

/**
 * @param {import("./model.js").Trace} trace
 * @param {number} seq
 * @param {() => void} changed
 * @returns {Promise<Editor>}
 */
export async function settingEditor(trace, seq, changed) {
  const settings = await forkSettings();
  const names = element("select", { class: "text-input", "aria-label": "Setting" });
  for (const each of settings) names.append(element("option", { value: each.name }, kindName(each.name)));
  const about = element("p", { class: "soft" });
  const place = element("div", {});
  /** @type {HTMLInputElement | HTMLSelectElement} */
  let value = element("input", {});
  const chosen = () => {
    const setting = settings.find(({ name }) => name === names.value);
    if (setting === undefined) return;
    value = valueInput(setting, trace.question.settings?.[setting.name]);
    value.addEventListener("input", changed);
    place.replaceChildren(value);
    const limit =
      setting.fork === "lower" ? ` At most the service's own: ${setting.value ?? "no limit"}.` : "";
    about.textContent = `${setting.meaning}${limit}`;
    changed();
  };
  names.addEventListener("change", chosen);
  chosen();
  return {
    body: () => ({ at: seq, change: { kind: "setting", name: names.value, value: value.value } }),
    element: element(
      "div",
      { class: "stack editor" },
      element("div", { class: "grid" }, names, place),
      about,
    ),
  };
}

/**
 * @param {import("./model.js").Trace} trace
 * @param {() => void} changed
 * @returns {Editor}
 */
export function factsEditor(trace, changed) {
  /** @type {Set<string>} */
  const dropped = new Set();
  const items = [...trace.facts.values()].slice(0, 100).map(({ fact }) => {
    const box = element("input", { type: "checkbox", checked: true });
    box.addEventListener("change", () => {
      if (box.checked) dropped.delete(fact.id);
      else dropped.add(fact.id);
      changed();
    });
    return element(
      "label",
      { class: "row choice", dir: "auto" },
      box,
      element(
        "span",
        {},
        element("strong", {}, fact.id),
        ` ${fact.passage.source}: `,
        element("span", { class: "soft" }, fact.passage.text.slice(0, 120)),
      ),
    );
  });
  return {
    body: () => {
      if (dropped.size === 0) return null;
      return { change: [...dropped].slice(0, 20).map((name) => ({ kind: "drop", name })) };
    },
    element: element(
      "fieldset",
      { class: "stack choices" },
      element("legend", {}, "Facts to keep; the fork starts where the first removed fact was found"),
      ...items,
    ),
  };
}

/**
 * A tool's result with other texts in its passages.
 * @param {import("../types.js").TraceEvent} event
 * @param {string[]} texts
 */
function rewritten(event, texts) {
  const passages = [];
  for (const [place, passage] of event.passages.entries()) {
    const text = texts[place] ?? "";
    if (text === passage.text) passages.push(passage);
    // The beginnings of its sentences and its place in the lesson are not known for another text.
    else if (text.trim()) passages.push({ ...passage, text, starts: [0], start: null, places: [] });
  }
  const output = passages.map((passage) => `[${passage.source}]\n${passage.text}`).join("\n\n");
  return { output, passages };
}

/**
 * The arguments of a tool call, a field for each; a course is chosen from those that there are.
 * @param {string} input As JSON.
 * @param {() => void} changed
 * @param {(value: string) => Record<string, unknown>} bodyOf
 * @returns {Promise<Editor>}
 */
export async function argumentsEditor(input, changed, bodyOf) {
  const values = parsed(input);
  if (typeof values !== "object" || values === null)
    return textEditor(input, changed, "Arguments", bodyOf, "What to ask the tool.");
  const isSearch = "query" in values;
  const shown = isSearch ? { query: "", course_name: null, lesson_number: null, ...values } : values;
  /** @type {Map<string, HTMLInputElement | HTMLSelectElement>} */
  const fields = new Map();
  for (const [name, value] of Object.entries(shown)) {
    const field = name === "course_name" ? await courseField(value) : argumentField(value);
    field.addEventListener("input", changed);
    fields.set(name, field);
  }
  const body = () => {
    /** @type {Record<string, unknown>} */
    const asked = {};
    for (const [name, field] of fields) {
      if (field.value.trim() === "" && name !== "query") continue;
      const isText = typeof shown[name] === "string" || name === "course_name";
      asked[name] = isText ? field.value : parsed(field.value);
    }
    return bodyOf(JSON.stringify(asked));
  };
  const labels = [...fields].map(([name, field]) =>
    element("label", { class: "stack field" }, argumentName(name), field),
  );
  return { body, element: element("div", { class: "stack editor" }, ...labels) };
}

/** @param {unknown} value */
function argumentField(value) {
  const text = typeof value === "string" || value === null ? (value ?? "") : JSON.stringify(value);
  return element("input", { class: "text-input", value: text, dir: "auto" });
}

/** @param {unknown} value */
async function courseField(value) {
  const select = element("select", { class: "text-input" }, element("option", { value: "" }, "Any course"));
  const { courses } = await getJson("/api/courses");
  const titles = courses.map((/** @type {import("../types.js").Course} */ course) => course.title);
  // A model may name a course by a part of its title.
  if (typeof value === "string" && !titles.includes(value)) titles.unshift(value);
  for (const title of titles) select.append(element("option", { value: title }, title));
  select.value = typeof value === "string" ? value : "";
  return select;
}
