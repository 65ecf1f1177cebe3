/** The list of traces: what was asked, how it ended, how long it took; filtered, and kept up to date. */

import { ROOT, getJson } from "../api.js";
import { element } from "../dom.js";
import { count, seconds, tone, when } from "../text.js";
import { kindName } from "./saying.js";

const A_PAGE = 50;
const TYPING_MS = 250;
const UPDATE_MS = 3000;

/**
 * Shows the page; returns what is to be called when it is left.
 * @param {HTMLElement} main
 * @returns {() => void}
 */
export function show(main) {
  const list = new TraceList(main);
  list.start();
  return () => list.leave();
}

class TraceList {
  /** @param {HTMLElement} main */
  constructor(main) {
    const wanted = new URLSearchParams(location.search);
    this.wanted = 0;
    this.after = "";
    this.typing = 0;
    /** The line of each trace that is shown, by its id. */
    /** @type {Map<string, HTMLElement>} */
    this.lines = new Map();
    this.rows = element("tbody", {});
    this.search = element("input", {
      type: "search",
      placeholder: "Words of question or answer",
      "aria-label": "Search the traces",
      value: wanted.get("text") ?? "",
    });
    this.search.addEventListener("input", () => {
      clearTimeout(this.typing);
      this.typing = setTimeout(() => this.#anew(), TYPING_MS);
    });
    this.filters = element("div", { class: "filters" });
    /** @type {Map<string, HTMLSelectElement | HTMLInputElement>} */
    this.chosen = new Map();
    this.more = element(
      "button",
      { class: "button plain-button", type: "button", hidden: true },
      "Show more",
    );
    this.more.addEventListener("click", () => this.#read());
    this.empty = element("p", { class: "empty", hidden: true }, "There are no traces, or none that match.");
    this.lost = element(
      "p",
      { class: "notice", hidden: true, role: "status" },
      "The service cannot be reached. Retrying.",
    );
    const head = element("tr", {});
    for (const name of ["Question", "Asked", "Outcome", "Confidence", "Time", "Events"])
      head.append(element("th", { scope: "col" }, name));
    const table = element("table", { class: "table trace-table" }, element("thead", {}, head), this.rows);
    main.replaceChildren(
      element(
        "div",
        { class: "page wide" },
        element("h1", {}, "Traces"),
        element(
          "form",
          {
            class: "filters",
            role: "search",
            submit: (/** @type {Event} */ event) => event.preventDefault(),
          },
          this.search,
          this.filters,
        ),
        this.lost,
        element(
          "div",
          { class: "table-scroller", tabindex: 0, role: "region", "aria-label": "Traces" },
          table,
        ),
        this.empty,
        this.more,
      ),
    );
    this.timer = setInterval(() => this.#update(), UPDATE_MS);
  }

  async start() {
    const mine = this.wanted;
    await this.#makeFilters();
    // Somebody may have gone elsewhere meanwhile.
    if (mine === this.wanted) this.#anew();
  }

  leave() {
    this.wanted += 1;
    clearInterval(this.timer);
    clearTimeout(this.typing);
  }

  /** The few values of each filter are those that the service describes. */
  async #makeFilters() {
    const address = new URLSearchParams(location.search);
    /** @type {Map<string, string[]>} */
    const values = new Map();
    try {
      const described = await getJson("/openapi.json");
      for (const { name, schema } of described.paths["/api/traces"].get.parameters)
        if (schema.enum) values.set(name, schema.enum.filter(Boolean));
    } catch {
      // Then there are no lists to choose from, and the search alone must do.
    }
    for (const [name, title] of [
      ["status", "Any outcome"],
      ["confidence", "Any confidence"],
      ["indicator", "Any doubt"],
    ]) {
      const choices = values.get(name ?? "") ?? [];
      const select = element("select", { "aria-label": title });
      select.append(element("option", { value: "" }, title));
      for (const choice of choices) select.append(element("option", { value: choice }, kindName(choice)));
      this.#addFilter(name ?? "", select, address);
    }
    for (const [name, title] of [
      ["tool", "Tool"],
      ["course", "Course"],
      ["parent", "Forks of"],
    ])
      this.#addFilter(
        name ?? "",
        element("input", { type: "text", placeholder: title, "aria-label": title }),
        address,
      );
  }

  /**
   * @param {string} name
   * @param {HTMLSelectElement | HTMLInputElement} control
   * @param {URLSearchParams} address
   */
  #addFilter(name, control, address) {
    control.value = address.get(name) ?? "";
    control.addEventListener("change", () => this.#anew());
    this.chosen.set(name, control);
    this.filters.append(control);
  }

  #parameters() {
    const parameters = new URLSearchParams();
    if (this.search.value.trim()) parameters.set("text", this.search.value.trim());
    for (const [name, { value }] of this.chosen) if (value.trim()) parameters.set(name, value.trim());
    return parameters;
  }

  #anew() {
    const parameters = this.#parameters().toString();
    history.replaceState(null, "", `${ROOT}/traces${parameters ? `?${parameters}` : ""}`);
    this.after = "";
    this.rows.replaceChildren();
    this.lines.clear();
    this.#read();
  }

  async #read() {
    this.wanted += 1;
    const mine = this.wanted;
    const parameters = this.#parameters();
    parameters.set("limit", String(A_PAGE));
    if (this.after) parameters.set("after_id", this.after);
    try {
      const page = await getJson(`/api/traces?${parameters}`);
      // Somebody has typed on meanwhile.
      if (mine !== this.wanted) return;
      for (const trace of page.traces) this.#put(trace, false);
      this.after = page.next_after_id ?? "";
      this.more.hidden = !this.after;
      this.empty.hidden = this.rows.childElementCount > 0;
      this.empty.textContent = "There are no traces, or none that match.";
    } catch (error) {
      if (mine !== this.wanted) return;
      this.empty.textContent = String(/** @type {Error} */ (error).message);
      this.empty.hidden = false;
    }
  }

  /** Brings in what has changed among the newest since the list was read. */
  async #update() {
    if (document.hidden) return;
    const mine = this.wanted;
    const parameters = this.#parameters();
    parameters.set("limit", String(A_PAGE));
    try {
      const page = await getJson(`/api/traces?${parameters}`);
      if (mine !== this.wanted) return;
      this.lost.hidden = true;
      // From the oldest to the newest, so that each new one comes to the top.
      for (const trace of page.traces.reverse()) this.#put(trace, true);
      this.empty.hidden = this.rows.childElementCount > 0;
    } catch {
      this.lost.hidden = mine !== this.wanted;
    }
  }

  /**
   * Puts a trace's line into the list, or in the place of its old one.
   * @param {import("../types.js").TraceSummary} trace
   * @param {boolean} atTop
   */
  #put(trace, atTop) {
    const old = this.lines.get(trace.query_id);
    const sign = `${trace.status} ${trace.events} ${trace.confidence}`;
    // A line that is the same stays, with the focus that may be in it.
    if (old?.dataset.sign === sign) return;
    const line = row(trace);
    line.dataset.sign = sign;
    this.lines.set(trace.query_id, line);
    if (old !== undefined) old.replaceWith(line);
    else if (atTop) this.rows.prepend(line);
    else this.rows.append(line);
  }
}

/** @param {import("../types.js").TraceSummary} trace */
function row(trace) {
  const link = element(
    "a",
    { href: `${ROOT}/traces/${encodeURIComponent(trace.query_id)}`, "data-view": true, dir: "auto" },
    trace.query || "(empty)",
  );
  const question = element("td", { class: "trace-question" }, link);
  if (trace.parent !== null) question.append(element("span", { class: "tag" }, "fork"));
  return element(
    "tr",
    {},
    question,
    element("td", {}, when(trace.started_at)),
    element("td", {}, element("span", { class: `outcome ${tone(trace.status)}` }, trace.status)),
    element(
      "td",
      {},
      trace.confidence
        ? element("span", { class: `confidence ${tone(trace.confidence)}` }, trace.confidence)
        : "–",
    ),
    element("td", { class: "number" }, trace.duration_ms === null ? "–" : seconds(trace.duration_ms / 1000)),
    element(
      "td",
      { class: "number" },
      element("span", { class: "hidden" }, count(trace.events, "event")),
      element("span", { "aria-hidden": "true" }, String(trace.events)),
    ),
  );
}
