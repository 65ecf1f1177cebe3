/** One trace, taken apart: what is judged on the left, one detail beside it, the course of the query below. */

import { element, icon } from "../dom.js";
import { inPlainWords } from "../wording.js";
import { Actions } from "./actions.js";
import { AnswerPane } from "./answer.js";
import { crumb } from "./crumb.js";
import { Comparison } from "./diff.js";
import { Dock } from "./dock.js";
import { Fault } from "./fault.js";
import { follow, readTrace } from "./follow.js";
import { Fork } from "./fork.js";
import { Lineage } from "./lineage.js";
import { address, go } from "./links.js";
import { quotesIn } from "./marking.js";
import { Requests } from "./requests.js";
import { Retrieval } from "./retrieval.js";
import { Steps } from "./steps.js";
import { Suspects } from "./suspects.js";

/**
 * A view of a trace. `show` gets the last part of the address; `update` is called when a trace has gone on.
 * @typedef {{element: HTMLElement, show: (item: string | undefined) => void, update: () => void, leave: () => void}} TraceView
 *
 * What a view may ask of the page, and tell it: the box that holds it, what was found out about an event, the words
 * to mark, a way to the next suspect, and that an event is now the current one.
 * @typedef {object} Page
 * @property {HTMLElement} pane
 * @property {(seq: number) => string[]} notes
 * @property {() => string[]} meant
 * @property {() => HTMLElement | null} next
 * @property {(seq: number) => void} chose
 */

/**
 * The views by their part of the address; those with a name are tabs.
 * @type {{path: string, name: string, make: (trace: import("./model.js").Trace, page: Page) => TraceView}[]}
 */
const VIEWS = [
  { path: "events", name: "Event", make: (trace, page) => new Steps(trace, page) },
  { path: "requests", name: "Requests", make: (trace, page) => new Requests(trace, page) },
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
    this.seq = 1;
    /** @type {{query_id?: string, view?: string, item?: string}} */
    this.wanted = {};
    this.id = "";
    this.frame = 0;
    /** @type {Suspects | null} */
    this.suspects = null;
    this.crumb = element("p", { class: "crumb soft" });
    this.lost = element("p", { class: "notice", hidden: true, role: "status" });
    this.tabs = element("nav", { class: "tabs", "aria-label": "Views of this trace" });
    this.place = element("div", { class: "trace-view" });
    this.back = element("a", { class: "bench-back", "data-view": true }, "‹ Back");
    this.pane = element(
      "section",
      { class: "card bench-pane", "aria-label": "Detail", tabindex: 0 },
      this.place,
    );
    this.reading = element("p", { class: "soft" }, "Reading…");
    this.top = element("div", { class: "row trace-top" }, this.crumb);
    this.page = element("div", { class: "trace-page" }, this.top, this.reading, this.lost);
    main.replaceChildren(this.page);
    this.#crumb();
  }

  /** @param {{query_id?: string, view?: string, item?: string}} parameters */
  async open(parameters) {
    const { query_id: queryId = "" } = parameters;
    this.id = queryId;
    this.wanted = parameters;
    this.#crumb();
    try {
      if (lastRead?.id !== queryId || !lastRead.isOver) lastRead = await readTrace(queryId);
    } catch (error) {
      this.reading.textContent = String(/** @type {Error} */ (error).message);
      return;
    }
    if (this.away.signal.aborted) return;
    this.trace = lastRead;
    this.#build(this.trace);
    this.#crumb();
    this.#suspect();
    // While it was read, somebody may have gone on to another of its views.
    this.change(this.wanted);
    this.dock?.draw();
    // For programs that measure how long it took.
    requestAnimationFrame(() => performance.mark("trace-painted"));
    await this.#follow(this.trace);
  }

  /** @param {import("./model.js").Trace} trace */
  #build(trace) {
    this.actions = new Actions(trace.id);
    this.answer = new AnswerPane(trace);
    this.dock = new Dock(trace, (seq) => this.#choose(seq));
    this.causes = element("div", { class: "bench-causes" });
    this.back.href = address(trace.id);
    this.reading.remove();
    this.top.append(this.actions.element);
    this.page.append(
      this.actions.result,
      element(
        "div",
        { class: "bench" },
        element("div", { class: "bench-side" }, this.answer.element, this.causes),
        element("div", { class: "bench-detail" }, this.tabs, this.pane),
      ),
      this.dock.element,
    );
  }

  /**
   * Shows another view of the same trace; returns false for another trace's.
   * @param {{query_id?: string, view?: string, item?: string}} parameters
   */
  change(parameters) {
    const { query_id: queryId = "", view, item } = parameters;
    if (queryId !== this.id) return false;
    this.wanted = parameters;
    const known = VIEWS.find(({ path }) => path === view) ?? VIEWS[0];
    if (this.trace === null || known === undefined) return true;
    // On a narrow screen the detail takes the place of all else while one is named.
    this.page.classList.toggle("open", view !== undefined);
    if (this.view === null || this.path !== known.path) {
      this.view?.leave();
      this.path = known.path;
      this.view = known.make(this.trace, this.#port());
      this.place.replaceChildren(this.view.element);
      this.#drawTabs();
    }
    this.main.scrollTop = 0;
    this.pane.scrollTop = 0;
    this.view.show(item);
    // These name an event without showing it.
    if (["fork", "fault", "retrieval"].includes(known.path) && Number(item)) this.#chose(Number(item));
    return true;
  }

  /** @param {number} seq The event that is looked at. */
  #chose(seq) {
    this.seq = seq;
    this.actions?.at(seq);
    this.dock?.show(seq);
    this.suspects?.show(seq);
    this.answer?.show(seq, this.#meant());
  }

  leave() {
    this.away.abort();
    cancelAnimationFrame(this.frame);
    this.view?.leave();
    this.dock?.leave();
  }

  /** @returns {Page} */
  #port() {
    return {
      // On a narrow screen the whole page scrolls.
      pane: getComputedStyle(this.pane).overflowY === "auto" ? this.pane : this.main,
      notes: (seq) => this.#notes(seq),
      meant: () => this.#meant(),
      next: () => this.suspects?.next() ?? null,
      chose: (seq) => this.#chose(seq),
    };
  }

  /**
   * What was found out about an event.
   * @param {number} seq
   */
  #notes(seq) {
    const suspected = this.suspects?.at(seq) ?? [];
    const { trace } = this;
    if (trace === null) return suspected;
    const doubts = trace.indicators.filter(({ event_seq: at }) => at === seq);
    return [...new Set([...suspected, ...doubts.map(({ detail }) => inPlainWords(detail, trace.toolNames))])];
  }

  /** The words that are meant: those of the likeliest thing that was found out about the event. */
  #meant() {
    const sources = new Set([...(this.trace?.facts.values() ?? [])].map(({ fact }) => fact.passage.source));
    // Notes also quote the names of sources, which are not words of the event.
    const quotes = this.#notes(this.seq)
      .slice(0, 1)
      .flatMap(quotesIn)
      .filter((quote) => !sources.has(quote));
    const phrases = quotes.filter((quote) => quote.includes(" "));
    return phrases.length > 0 ? phrases : quotes;
  }

  /** @param {number} seq */
  #choose(seq) {
    if (this.trace?.event(seq) === null) return;
    if (this.view instanceof Steps && this.wanted.view !== undefined) this.view.choose(seq);
    else go(address(this.id, "events", seq));
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
    this.tabs.replaceChildren(this.back, ...tabs);
  }

  /** @param {import("./model.js").Trace} trace */
  async #follow(trace) {
    if (trace.isOver) return;
    const changed = () => {
      // Many events come at once: they are drawn together.
      if (this.frame !== 0) return;
      this.frame = requestAnimationFrame(() => {
        this.frame = 0;
        this.answer?.draw();
        this.#suspect();
        this.dock?.draw();
        this.view?.update();
      });
    };
    try {
      await follow(trace, this.away.signal, changed, (isLost) =>
        this.#lose(isLost ? "The connection is lost. Reconnecting; nothing will be missed." : ""),
      );
    } catch (error) {
      this.#lose(String(/** @type {Error} */ (error).message));
    }
  }

  /** @param {string} words Empty once it is found again. */
  #lose(words) {
    this.lost.hidden = words === "";
    this.lost.replaceChildren(icon("warn"), element("span", {}, words));
  }

  /** Says what may have gone wrong, once the query is over: half an answer cannot be judged. */
  #suspect() {
    if (!this.trace?.isOver || this.suspects !== null) return;
    this.suspects = new Suspects(this.trace, () => {
      const likeliest = this.suspects?.likeliest ?? null;
      if (!(this.view instanceof Steps)) return;
      // An address without an event leads to the likeliest cause, unless its reader has gone on meanwhile.
      if (this.wanted.view === undefined && this.seq === 1 && likeliest !== null)
        this.view.show(String(likeliest));
      else this.view.show(String(this.seq));
    });
    this.causes?.replaceChildren(this.suspects.element);
  }

  #crumb() {
    this.crumb.replaceChildren(...crumb(this.id, this.trace?.question));
  }
}
