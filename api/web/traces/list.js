/** The list of traces: what was asked and answered, how it ended, what it took; filtered, sorted, kept up to date. */

import { ROOT, getJson, send } from "../api.js";
import { element } from "../dom.js";
import { COLUMNS, UNKNOWN, keepColumns, keptColumns, questionCell, started } from "./columns.js";
import { Filters } from "./filters.js";
import { Trends } from "./trends.js";

const A_PAGE = 50;
const UPDATE_MS = 3000;

/**
 * Shows the page; returns a function to call when it is left.
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
    this.wanted = 0;
    this.after = "";
    /** @type {Map<string, import("../types.js").TraceSummary>} */
    this.traces = new Map();
    /** The line of each trace in the list, by its id. */
    /** @type {Map<string, HTMLElement>} */
    this.lines = new Map();
    this.columns = new Set(keptColumns());
    this.sortedBy = "asked";
    this.isRising = false;
    this.head = element("tr", {});
    this.rows = element("tbody", {});
    this.filters = new Filters(() => this.#anew());
    this.trends = new Trends((since, until) => this.filters.only(since, until));
    this.more = element(
      "button",
      { class: "button plain-button", type: "button", hidden: true },
      "Show more",
    );
    this.more.addEventListener("click", () => this.#read());
    this.empty = element("p", { class: "soft", hidden: true }, "There are no traces, or none that match.");
    this.lost = element(
      "p",
      { class: "notice", hidden: true, role: "status" },
      "The service cannot be reached. Retrying.",
    );
    this.imported = element("p", { class: "notice", hidden: true, role: "status" });
    const table = element("table", { class: "table" }, element("thead", {}, this.head), this.rows);
    this.#drawHead();
    main.replaceChildren(
      element(
        "div",
        { class: "page wide trace-list" },
        element("div", { class: "row spread" }, element("h1", {}, "Traces"), this.#importChoice()),
        this.imported,
        element(
          "form",
          {
            class: "filters",
            role: "search",
            submit: (/** @type {Event} */ event) => event.preventDefault(),
          },
          ...this.filters.elements,
          this.#columnChoice(),
        ),
        this.lost,
        this.trends.element,
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

  start() {
    this.#anew();
  }

  leave() {
    this.wanted += 1;
    clearInterval(this.timer);
    this.filters.leave();
    this.trends.leave();
  }

  #anew() {
    const address = this.filters.address.toString();
    history.replaceState(null, "", `${ROOT}/traces${address ? `?${address}` : ""}`);
    this.after = "";
    this.traces.clear();
    this.#read();
    this.trends.show(this.filters.parameters);
  }

  async #read() {
    this.wanted += 1;
    const mine = this.wanted;
    const parameters = this.filters.parameters;
    parameters.set("limit", String(A_PAGE));
    if (this.after) parameters.set("after_id", this.after);
    try {
      const page = await getJson(`/api/traces?${parameters}`);
      // Somebody has typed on meanwhile.
      if (mine !== this.wanted) return;
      this.#take(page.traces);
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
    const parameters = this.filters.parameters;
    parameters.set("limit", String(A_PAGE));
    try {
      const page = await getJson(`/api/traces?${parameters}`);
      if (mine !== this.wanted) return;
      this.lost.hidden = true;
      this.#take(page.traces);
      this.empty.hidden = this.rows.childElementCount > 0;
    } catch {
      this.lost.hidden = mine !== this.wanted;
    }
  }

  /** A button that takes a file of traces: our own, or another program's. */
  #importChoice() {
    const chosen = element("input", {
      type: "file",
      hidden: true,
      accept: ".json,.jsonl,.ndjson",
      "aria-label": "A file of traces",
    });
    chosen.addEventListener("change", () => {
      const [file] = chosen.files ?? [];
      if (file) this.#import(file);
      chosen.value = "";
    });
    const button = element("button", { class: "button plain-button", type: "button" }, "Import");
    button.addEventListener("click", () => chosen.click());
    return element("div", {}, button, chosen);
  }

  /** @param {File} file */
  async #import(file) {
    this.imported.hidden = false;
    this.imported.textContent = `Importing ${file.name}.`;
    try {
      const headers = { "Content-Type": "application/jsonl" };
      const response = await send("/api/traces/import", { method: "POST", headers, body: file });
      const { query_id: id, others, refused } = await response.json();
      const links = [id, ...others]
        .slice(0, 10)
        .flatMap((each) => [
          " ",
          element("a", { href: `${ROOT}/traces/${encodeURIComponent(each)}` }, each.slice(0, 12)),
        ]);
      const failed = refused.length > 0 ? ` Not imported: ${refused.join("; ")}` : "";
      this.imported.replaceChildren(`Imported ${1 + others.length}:`, ...links, ".", failed);
      this.#anew();
    } catch (error) {
      this.imported.textContent = String(/** @type {Error} */ (error).message);
    }
  }

  #columnChoice() {
    const choices = Object.entries(COLUMNS).map(([name, { title }]) => {
      const box = element("input", { type: "checkbox", checked: this.columns.has(name) });
      box.addEventListener("change", () => {
        if (box.checked) this.columns.add(name);
        else this.columns.delete(name);
        keepColumns([...this.columns]);
        this.lines.clear();
        this.#drawHead();
        this.#draw();
      });
      return element("label", {}, box, ` ${title}`);
    });
    return element(
      "details",
      {},
      element("summary", {}, "Columns"),
      element("div", { class: "row" }, ...choices),
    );
  }

  #drawHead() {
    const shown = Object.entries(COLUMNS).filter(([name]) => this.columns.has(name));
    const sortable = shown.map(([name, { title, isNumber }]) => {
      const isBy = name === this.sortedBy;
      const button = element("button", { class: "sort", type: "button" }, title);
      button.addEventListener("click", () => this.#sortBy(name));
      const order = this.isRising ? "ascending" : "descending";
      const shape = isNumber ? "number" : null;
      return element("th", { scope: "col", class: shape, "aria-sort": isBy ? order : null }, button);
    });
    this.head.replaceChildren(element("th", { scope: "col" }, "Question and answer"), ...sortable);
  }

  /** @param {string} name */
  #sortBy(name) {
    this.isRising = name === this.sortedBy ? !this.isRising : false;
    this.sortedBy = name;
    this.#drawHead();
    this.#draw();
    const sorted = this.head.querySelector("[aria-sort] button");
    if (sorted instanceof HTMLElement) sorted.focus();
  }

  /** @param {import("../types.js").TraceSummary[]} traces */
  #take(traces) {
    for (const trace of traces) this.traces.set(trace.query_id, trace);
    this.#draw();
  }

  /** Puts the lines in order; one that is the same stays, with the focus that may be in it. */
  #draw() {
    const by = COLUMNS[this.sortedBy]?.value ?? started;
    const direction = this.isRising ? 1 : -1;
    const sorted = [...this.traces.values()].sort((one, other) => {
      const [left, right] = [by(one), by(other)];
      if (left === right) return other.started_at - one.started_at;
      // What is not known comes last in either order.
      if (left === null || right === null) return left === null ? 1 : -1;
      return left < right ? -direction : direction;
    });
    const lines = sorted.map((trace) => this.#line(trace));
    for (const [place, line] of lines.entries()) {
      const there = this.rows.children[place];
      if (there !== line) this.rows.insertBefore(line, there ?? null);
    }
    while (this.rows.children.length > lines.length) this.rows.lastElementChild?.remove();
  }

  /** @param {import("../types.js").TraceSummary} trace */
  #line(trace) {
    const sign = JSON.stringify(trace);
    const old = this.lines.get(trace.query_id);
    if (old?.dataset.sign === sign) return old;
    const cells = Object.entries(COLUMNS).filter(([name]) => this.columns.has(name));
    const line = element(
      "tr",
      {},
      questionCell(trace),
      ...cells.map(([, { title, show: shown, isNumber }]) => {
        const content = shown(trace);
        const classes = [isNumber && "number", content === UNKNOWN && "unknown"].filter(Boolean);
        return element("td", { class: classes.join(" ") || null, "data-title": title }, content);
      }),
    );
    line.dataset.sign = sign;
    this.lines.set(trace.query_id, line);
    return line;
  }
}
