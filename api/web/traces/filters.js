/** What selects traces: words, a time, and the values of fields; kept in the address of the page. */

import { element } from "../dom.js";
import { when } from "../text.js";
import { kindName } from "../wording.js";
import { CHOICES } from "./choices.js";

const TYPING_MS = 250;
/** @type {[string, string][]} */
const CHOSEN = [
  ["status", "Any outcome"],
  ["confidence", "Any confidence"],
  ["indicator", "Any doubt"],
  ["feedback", "Any feedback"],
];
/** So many of the fields are always there, the others when they are wanted. */
const ALWAYS = 3;
/** @type {Record<string, string>} */
const FEEDBACK = { up: "good", down: "bad", any: "good or bad", none: "no feedback" };
/** @type {[string, string][]} */
const TYPED = [
  ["tool", "Tool"],
  ["course", "Course"],
  ["parent", "Forks of"],
];
/** Times up to now, by their seconds. @type {[string, string][]} */
const LATELY = [
  ["3600", "Last hour"],
  ["86400", "Last 24 hours"],
  ["604800", "Last 7 days"],
  ["2592000", "Last 30 days"],
];

export class Filters {
  /** @param {() => void} changed */
  constructor(changed) {
    this.changed = changed;
    this.typing = 0;
    const wanted = new URLSearchParams(location.search);
    this.search = element("input", {
      type: "search",
      placeholder: "Search",
      "aria-label": "Search the traces",
      value: wanted.get("text") ?? "",
    });
    this.search.addEventListener("input", () => {
      clearTimeout(this.typing);
      this.typing = setTimeout(changed, TYPING_MS);
    });
    this.time = choice("Any time", LATELY);
    this.time.value = wanted.get("last") ?? "";
    this.time.addEventListener("change", changed);
    /** @type {{name: string, control: HTMLSelectElement | HTMLInputElement}[]} */
    this.fields = [];
    for (const [name, title] of CHOSEN) {
      const values = CHOICES[name] ?? [];
      const words = name === "feedback" ? FEEDBACK : {};
      const control = choice(
        title,
        values.map((value) => [value, words[value] ?? kindName(value)]),
      );
      this.fields.push({ name, control });
    }
    for (const [name, title] of TYPED) {
      const control = element("input", { type: "text", placeholder: title, "aria-label": title });
      this.fields.push({ name, control });
    }
    for (const { name, control } of this.fields) {
      control.value = wanted.get(name) ?? "";
      control.addEventListener("change", changed);
    }
    const [always, others] = [this.fields.slice(0, ALWAYS), this.fields.slice(ALWAYS)];
    const more = element(
      "details",
      { open: others.some(({ control }) => control.value !== "") },
      element("summary", {}, "More filters"),
      element("div", { class: "row" }, ...others.map(({ control }) => control)),
    );
    this.elements = [this.search, this.time, ...always.map(({ control }) => control), more];
    const [since, until] = [Number(wanted.get("since")), Number(wanted.get("until"))];
    if (since < until) this.#offer(since, until);
  }

  leave() {
    clearTimeout(this.typing);
  }

  /**
   * Selects the traces of a stretch of time alone.
   * @param {number} since Seconds since the epoch.
   * @param {number} until
   */
  only(since, until) {
    this.#offer(since, until);
    this.changed();
  }

  /**
   * Adds a stretch of time to the choices, in place of the one that was there, and chooses it.
   * @param {number} since
   * @param {number} until
   */
  #offer(since, until) {
    const value = `${since}-${until}`;
    this.time.querySelector("[data-until]")?.remove();
    const name = `${when(since)} to ${when(until)}`;
    this.time.append(element("option", { value, "data-since": since, "data-until": until }, name));
    this.time.value = value;
  }

  /** The filters as the address of the page has them. */
  get address() {
    const parameters = this.#fields();
    const { since, until } = this.time.selectedOptions[0]?.dataset ?? {};
    if (since !== undefined && until !== undefined) {
      parameters.set("since", since);
      parameters.set("until", until);
    } else if (this.time.value) parameters.set("last", this.time.value);
    return parameters;
  }

  /** The filters as the service takes them. */
  get parameters() {
    const parameters = this.address;
    const last = parameters.get("last");
    parameters.delete("last");
    if (last !== null) parameters.set("since", String(Math.floor(Date.now() / 1000) - Number(last)));
    return parameters;
  }

  #fields() {
    const parameters = new URLSearchParams();
    const text = this.search.value.trim();
    if (text) parameters.set("text", text);
    for (const { name, control } of this.fields) {
      const value = control.value.trim();
      if (value) parameters.set(name, value);
    }
    return parameters;
  }
}

/**
 * @param {string} title What is chosen by choosing nothing.
 * @param {[string, string][]} values
 */
function choice(title, values) {
  const options = values.map(([value, name]) => element("option", { value }, name));
  return element("select", { "aria-label": title }, element("option", { value: "" }, title), ...options);
}
