/** One trace, taken apart: its steps, its requests, its searches, its answer, and what can be done with it. */

import { ROOT } from "../api.js";
import { element, icon } from "../dom.js";
import { cost, count, seconds, when } from "../text.js";
import { Actions } from "./actions.js";
import { follow, readTrace } from "./follow.js";
import { Comparison } from "./diff.js";
import { Fault } from "./fault.js";
import { Fork } from "./fork.js";
import { Lineage } from "./lineage.js";
import { address } from "./links.js";
import { Requests } from "./requests.js";
import { Retrieval } from "./retrieval.js";
import { Steps } from "./steps.js";
import { suspectsPanel } from "./suspects.js";

/**
 * A view of a trace. `show` is told the last part of the address, `update` that a trace has gone on.
 * @typedef {{element: HTMLElement, show: (item: string | undefined) => void, update: () => void, leave: () => void}} TraceView
 */

/**
 * The views by their part of the address; those with a name are tabs.
 * @type {{path: string, name: string, make: (trace: import("./model.js").Trace, chosen: (seq: number) => void) => TraceView}[]}
 */
const VIEWS = [
  { path: "events", name: "Steps", make: (trace, chosen) => new Steps(trace, chosen) },
  { path: "requests", name: "Requests", make: (trace) => new Requests(trace) },
  { path: "retrieval", name: "Retrieval", make: (trace) => new Retrieval(trace) },
  { path: "lineage", name: "Lineage", make: (trace) => new Lineage(trace) },
  { path: "fork", name: "", make: (trace) => new Fork(trace) },
  { path: "fault", name: "", make: (trace) => new Fault(trace) },
  { path: "diff", name: "", make: (trace) => new Comparison(trace) },
];

/** The trace that was read last: going from view to view of it does not read it again. */
/** @type {import("./model.js").Trace | null} */
let lastRead = null;

/**
 * Shows the page.
 * @param {HTMLElement} main
 * @param {{query_id?: string, view?: string, item?: string}} parameters
 */
export function show(main, parameters) {
  const page = new TracePage(main);
  page.open(parameters);
  return {
    leave: () => page.leave(),
    change: (/** @type {typeof parameters} */ to) => page.change(to),
  };
}

class TracePage {
  /** @param {HTMLElement} main */
  constructor(main) {
    this.main = main;
    this.away = new AbortController();
    /** @type {import("./model.js").Trace | null} */
    this.trace = null;
    /** @type {TraceView | null} */
    this.view = null;
    this.path = "";
    /** @type {{query_id?: string, view?: string, item?: string}} */
    this.wanted = {};
    this.id = "";
    this.frame = 0;
    this.about = element("p", { class: "page-about" }, "Reading…");
    this.title = element("h1", { dir: "auto" }, "Trace");
    this.crumb = element("p", { class: "crumb" });
    this.lost = element(
      "p",
      { class: "notice", hidden: true, role: "status" },
      icon("warn"),
      element("span", {}, "The connection is lost. Reconnecting; nothing will be missed."),
    );
    /** What was found out about the trace as a whole stands here, above its views. */
    this.panels = element("div", { class: "trace-panels" });
    this.tabs = element("nav", { class: "tabs", "aria-label": "Views of this trace" });
    this.place = element("div", { class: "trace-view" });
    main.replaceChildren(
      element("div", { class: "page wide trace-page" }, this.crumb, this.title, this.about, this.lost),
    );
    this.crumbTo(null);
  }

  /** @param {{query_id?: string, view?: string, item?: string}} parameters */
  async open(parameters) {
    const { query_id: queryId = "" } = parameters;
    this.id = queryId;
    this.wanted = parameters;
    try {
      if (lastRead?.id !== queryId || !lastRead.isOver) lastRead = await readTrace(queryId);
    } catch (error) {
      this.about.textContent = String(/** @type {Error} */ (error).message);
      return;
    }
    if (this.away.signal.aborted) return;
    this.trace = lastRead;
    this.actions = new Actions(this.trace.id);
    this.main.firstElementChild?.append(
      this.panels,
      this.actions.element,
      this.actions.result,
      this.tabs,
      this.place,
    );
    this.#describe();
    this.#suspect();
    // While it was read, somebody may have gone on to another of its views.
    this.change(this.wanted);
    // For whoever measures how long it took.
    requestAnimationFrame(() => performance.mark("trace-painted"));
    await this.#follow(this.trace);
  }

  /**
   * Shows another view of the same trace; returns false for another trace's.
   * @param {{query_id?: string, view?: string, item?: string}} parameters
   */
  change(parameters) {
    const { query_id: queryId = "", view = "events", item } = parameters;
    if (queryId !== this.id) return false;
    this.wanted = parameters;
    const known = VIEWS.find(({ path }) => path === view) ?? VIEWS[0];
    if (this.trace === null || known === undefined) return true;
    if (this.view === null || this.path !== known.path) {
      this.view?.leave();
      this.path = known.path;
      this.view = known.make(this.trace, (seq) => this.actions?.at(seq));
      this.place.replaceChildren(this.view.element);
      this.#drawTabs();
    }
    this.view.show(item);
    return true;
  }

  leave() {
    this.away.abort();
    cancelAnimationFrame(this.frame);
    this.view?.leave();
  }

  #drawTabs() {
    const tabs = VIEWS.filter(({ name }) => name !== "").map(({ path, name }) =>
      element(
        "a",
        {
          href: address(this.id, path),
          "data-view": true,
          "aria-current": path === this.path ? "page" : null,
        },
        name,
      ),
    );
    this.tabs.replaceChildren(...tabs);
  }

  /** @param {import("./model.js").Trace} trace */
  async #follow(trace) {
    if (trace.isOver) return;
    const changed = () => {
      // Many events come at once: they are drawn together.
      if (this.frame !== 0) return;
      this.frame = requestAnimationFrame(() => {
        this.frame = 0;
        this.#describe();
        this.#suspect();
        this.view?.update();
      });
    };
    try {
      await follow(trace, this.away.signal, changed, (isLost) => {
        this.lost.hidden = !isLost;
      });
    } catch (error) {
      this.lost.hidden = false;
      this.lost.replaceChildren(
        icon("warn"),
        element("span", {}, String(/** @type {Error} */ (error).message)),
      );
    }
  }

  /** Says what may have gone wrong, once the query is over: of half an answer nothing can be said. */
  #suspect() {
    if (!this.trace?.isOver || this.panels.firstChild) return;
    const { view = "events", item } = this.wanted;
    const seq = view === "events" && item ? Number(item) : null;
    // Drawn later, the panel pushes down what was in view.
    const drawn = () => {
      if (seq !== null && this.view instanceof Steps) this.view.reveal();
    };
    this.panels.replaceChildren(suspectsPanel(this.trace.id, seq, drawn));
  }

  #describe() {
    const trace = this.trace;
    if (trace === null) return;
    const { query, parent, parent_seq: shared, change, faults } = trace.question;
    this.title.textContent = "";
    this.title.append(element("span", { dir: "auto" }, String(query ?? "Trace")));
    const answer = trace.response?.event;
    const parts = [
      element("span", { class: `outcome ${trace.status ?? "open"}` }, trace.status ?? "open, live"),
      answer
        ? element("span", { class: `confidence ${answer.confidence}` }, `${answer.confidence} confidence`)
        : null,
      when(trace.beganAt),
      seconds(trace.seconds),
      count(trace.events.length, "event"),
      answer ? `${count(answer.rounds, "round")}, ${count(answer.calls, "call")}` : null,
      answer
        ? `${(answer.usage.input_tokens + answer.usage.cache_read_tokens + answer.usage.cache_write_tokens).toLocaleString("en")} tokens in, ${answer.usage.output_tokens.toLocaleString("en")} out`
        : null,
      answer?.usage.cost_usd ? cost(answer.usage.cost_usd) : null,
      answer ? answer.reasoner : null,
    ];
    this.about.replaceChildren();
    for (const part of parts) if (part) this.about.append(element("span", {}, part));
    if (faults?.length) this.about.append(element("span", { class: "tag" }, `faults: ${faults.join(", ")}`));
    this.crumbTo(parent ?? null, shared, change);
  }

  /**
   * @param {string | null} parent
   * @param {number} shared
   * @param {string} change
   */
  crumbTo(parent, shared = 0, change = "") {
    this.crumb.replaceChildren(
      element("a", { href: `${ROOT}/traces`, "data-view": true }, "Traces"),
      " / ",
      element("span", { title: this.id }, this.id.slice(0, 12)),
    );
    if (parent === null) return;
    this.crumb.append(
      ", fork of ",
      element(
        "a",
        { href: address(parent, "events", Math.max(1, shared)), "data-view": true },
        parent.slice(0, 12),
      ),
      ` at event ${shared}`,
      element("span", { dir: "auto" }, change ? `: ${change} ` : " "),
      element("a", { href: address(parent, "diff", this.id), "data-view": true }, "compare"),
    );
  }
}
