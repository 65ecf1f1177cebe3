/** Quality and cost over time: small plots over the traces that the filters select, and a table of the same values. */

import { getJson } from "../api.js";
import { drawing, element } from "../dom.js";
import { cost, count, seconds, when } from "../text.js";
import { PLOTS, short, total } from "./plots.js";

const UPDATE_MS = 30_000;
const IS_OPEN = "antiphon.trends";
/** Fewer bars than these leave room beside them: one bar as wide as the plot would be no plot. */
const LEAST_BARS = 12;
const BAR = 10;
const HEIGHT = 100;

/** @typedef {import("./plots.js").Period} Period */

export class Trends {
  /** @param {(since: number, until: number) => void} choose Called with the time that was chosen. */
  constructor(choose) {
    this.choose = choose;
    /** The last that was asked for. */
    this.wanted = new URLSearchParams();
    this.asked = this.wanted;
    this.content = element("div", { class: "stack" });
    this.element = element(
      "details",
      { class: "trends", open: isOpen() },
      element("summary", {}, "Quality and cost over time"),
      this.content,
    );
    this.element.addEventListener("toggle", () => {
      keepOpen(this.element.open);
      // The event also comes for details that are open from the beginning.
      if (this.asked !== this.wanted) this.#read();
    });
    this.timer = setInterval(() => this.#read(), UPDATE_MS);
  }

  /** @param {URLSearchParams} parameters The filters. */
  show(parameters) {
    this.wanted = parameters;
    this.#read();
  }

  leave() {
    clearInterval(this.timer);
    this.wanted = new URLSearchParams();
  }

  async #read() {
    const { wanted } = this;
    if (document.hidden || !this.element.open) return;
    this.asked = wanted;
    const query = new URLSearchParams(wanted);
    query.set("utc_offset_s", String(-60 * new Date().getTimezoneOffset()));
    try {
      const { periods } = await getJson(`/api/trends?${query}`);
      if (wanted === this.wanted) this.#draw(periods);
    } catch (error) {
      if (wanted !== this.wanted) return;
      const text = `The plots cannot be drawn. ${/** @type {Error} */ (error).message}`;
      this.content.replaceChildren(element("p", { class: "soft" }, text));
    }
  }

  /** @param {Period[]} periods */
  #draw(periods) {
    const [first] = periods;
    if (first === undefined) {
      this.content.replaceChildren(element("p", { class: "soft" }, "No trace is selected."));
      return;
    }
    const length = lengthOf(first);
    const range = `${when(first.since)} to ${when(periods.at(-1)?.until ?? first.until)}`;
    const plots = PLOTS.map((plot) => this.#plot(plot, periods, length));
    const isTableOpen = this.content.querySelector("details")?.open ?? false;
    this.content.replaceChildren(
      element("div", { class: "grid plots" }, ...plots),
      element("p", { class: "soft" }, `${range}. Each bar is ${length}; click one to show only its traces.`),
      element(
        "details",
        { open: isTableOpen },
        element("summary", {}, "The values as a table"),
        this.#table(periods),
      ),
    );
  }

  /**
   * @param {import("./plots.js").Plot} plot
   * @param {Period[]} periods
   * @param {string} length
   */
  #plot(plot, periods, length) {
    const sums = periods.map((period) => total(plot.parts, ({ value }) => value(period)));
    const most = Math.max(...sums);
    const width = BAR * Math.max(LEAST_BARS, periods.length);
    const top = plot.whole === null ? `, at most ${plot.words(most)} in ${length}` : "";
    const svg = drawing("svg", {
      class: "plot",
      role: "img",
      viewBox: `0 0 ${width} ${HEIGHT}`,
      preserveAspectRatio: "none",
      "aria-label": `${plot.title}: ${plot.all(periods)}${top}. The table has the values.`,
    });
    for (const [place, period] of periods.entries()) {
      const whole = plot.whole === null ? most : plot.whole(period);
      svg.append(this.#bar(plot, period, BAR * place, whole));
    }
    const title = element("strong", {}, plot.title);
    return element("div", {}, title, element("p", { class: "soft" }, plot.all(periods)), svg);
  }

  /**
   * @param {import("./plots.js").Plot} plot
   * @param {Period} period
   * @param {number} x
   * @param {number} whole
   */
  #bar(plot, period, x, whole) {
    const said = plot.parts.map(({ name, value }) => `${name} ${plot.words(value(period))}`).join(", ");
    const bar = drawing(
      "g",
      { cursor: "pointer", click: () => this.choose(period.since, period.until) },
      drawing("title", {}, `${when(period.since)}: ${said}`),
      // The pointer finds a period that has no bar, too.
      drawing("rect", { class: "ground", fill: "transparent", x, y: 0, width: BAR, height: HEIGHT }),
    );
    let y = HEIGHT;
    for (const { colour, value } of plot.parts) {
      const height = whole === 0 ? 0 : (HEIGHT * value(period)) / whole;
      y -= height;
      bar.append(drawing("rect", { fill: colour, x: x + 1, y, width: BAR - 2, height }));
    }
    return bar;
  }

  /** @param {Period[]} periods */
  #table(periods) {
    const head = ["From", "Questions", "High", "Medium", "Low", "Good", "Bad", "Cost", "Tokens", "Median"];
    const rows = periods.filter(({ traces }) => traces > 0).map((period) => this.#row(period));
    const table = element(
      "table",
      { class: "table" },
      element(
        "thead",
        {},
        element("tr", {}, ...[...head, "95% within"].map((name) => element("th", { scope: "col" }, name))),
      ),
      element("tbody", {}, ...rows.reverse()),
    );
    const region = { class: "table-scroller", tabindex: 0, role: "region", "aria-label": "Values over time" };
    return element("div", region, table);
  }

  /** @param {Period} period */
  #row(period) {
    const choose = element(
      "button",
      { class: "quiet", type: "button", click: () => this.choose(period.since, period.until) },
      when(period.since),
    );
    const numbers = [period.traces, period.high, period.medium, period.low, period.up, period.down];
    const cells = [
      ...numbers.map((number) => number.toLocaleString("en")),
      cost(period.cost_usd),
      short(period.input_tokens + period.output_tokens),
      ...[period.p50_ms, period.p95_ms].map((ms) => (ms === null ? "–" : seconds(ms / 1000))),
    ];
    return element(
      "tr",
      {},
      element("th", { scope: "row" }, choose),
      ...cells.map((words) => element("td", { class: "number" }, words)),
    );
  }
}

/** @param {Period} period */
function lengthOf({ since, until }) {
  const length = until - since;
  for (const [unit, unitSeconds] of /** @type {[string, number][]} */ ([
    ["day", 86_400],
    ["hour", 3_600],
  ]))
    if (length >= unitSeconds) return count(length / unitSeconds, unit);
  return count(length / 60, "minute");
}

function isOpen() {
  try {
    const kept = localStorage.getItem(IS_OPEN);
    if (kept !== null) return kept === "true";
  } catch {
    // Then it is as on a first visit.
  }
  return matchMedia("(min-width: 821px)").matches;
}

/** @param {boolean} open */
function keepOpen(open) {
  try {
    localStorage.setItem(IS_OPEN, String(open));
  } catch {
    // Then the next visit is as the first.
  }
}
