/** The exchanges of a conversation on the page, in their order, each in the chosen version. */

import { element } from "../dom.js";

/** Exchanges of a long conversation that the page shows at once. */
const SHOWN = 30;

/**
 * @typedef {import("./exchange.js").Exchange} Exchange
 * @typedef {import("../types.js").ConversationTrace} ConversationTrace
 * @typedef {{traces: ConversationTrace[], next: string | null}} Conversation Its last exchanges, the newest first, and the place of those before them.
 */

export class Thread {
  node = element("div", { class: "stack thread", id: "thread" });
  /** @type {Exchange[]} */
  #shown = [];
  /** All that were ever shown, so that a version comes back as it was left. */
  /** @type {Map<string, Exchange>} */
  #known = new Map();

  /**
   * @param {object} page
   * @param {(question: string) => Exchange} page.make
   * @param {(exchange: Exchange, trace: ConversationTrace) => Promise<void>} page.restore Follows it, or loads its answer.
   * @param {(before: string) => Promise<Conversation>} page.earlier Fetches what came before an exchange.
   * @param {() => () => void} page.hold Keeps in view what is in view, until what it returns is called.
   */
  constructor(page) {
    this.page = page;
  }

  get isEmpty() {
    return this.node.childElementCount === 0;
  }

  /** The id of the last query on the page; empty if there is none. */
  get last() {
    return this.#shown.findLast((each) => each.queryId !== null)?.queryId ?? "";
  }

  /** @param {Exchange} exchange */
  append(exchange) {
    exchange.follows = this.last;
    this.#add(exchange);
  }

  /**
   * Puts another version in the place of an exchange; the questions behind that leave with it.
   * @param {Exchange} exchange
   * @param {Exchange} version
   */
  replace(exchange, version) {
    this.#cut(this.#shown.indexOf(exchange));
    version.follows = exchange.follows;
    version.versions = exchange.versions;
    this.#add(version);
  }

  /**
   * Remembers an exchange once the service has it.
   * @param {Exchange} exchange
   */
  note(exchange) {
    if (exchange.queryId === null || this.#known.get(exchange.queryId) === exchange) return;
    this.#known.set(exchange.queryId, exchange);
    exchange.showVersions([...exchange.versions, exchange.queryId]);
  }

  /** @param {string} queryId */
  find(queryId) {
    return this.#known.get(queryId);
  }

  /**
   * Shows a conversation; exchanges that are on the page stay.
   * @param {Conversation} conversation
   * @param {number} most Exchanges to show at once.
   */
  async draw({ traces, next }, most = SHOWN) {
    const path = [...traces].reverse();
    const ids = path.map((trace) => trace.query_id);
    const isOfPath = (/** @type {Exchange} */ each) => ids.includes(each.queryId ?? "");
    const first = this.#shown.findIndex(isOfPath);
    if (first === -1) {
      this.#cut(0);
      this.node.replaceChildren();
      await this.#prepend(traces, next, most);
      return;
    }
    const others = this.#shown.slice(first).findIndex((each) => !isOfPath(each));
    if (others !== -1) this.#cut(first + others);
    const loading = [];
    const last = ids.indexOf(this.last);
    for (const [at, trace] of path.entries()) {
      const { exchange, loaded } = this.#exchange(trace);
      loading.push(loaded);
      if (at > last) this.#add(exchange);
    }
    await Promise.all(loading);
  }

  /** @param {Exchange} exchange */
  #add(exchange) {
    this.#shown.push(exchange);
    this.node.append(exchange.node);
  }

  /** @param {number} from */
  #cut(from) {
    for (const gone of this.#shown.splice(from)) gone.node.remove();
  }

  /**
   * Shows exchanges above those on the page, and a button for the rest.
   * @param {ConversationTrace[]} traces The newest first.
   * @param {string | null} next
   * @param {number} most
   */
  async #prepend(traces, next, most) {
    const now = traces.slice(0, most).reverse();
    const rest = traces.slice(most);
    const made = now.map((trace) => this.#exchange(trace));
    const exchanges = made.map(({ exchange }) => exchange);
    this.#shown.unshift(...exchanges);
    this.node.prepend(...exchanges.map((exchange) => exchange.node));
    if (rest.length > 0 || next !== null) this.node.prepend(this.#earlierButton(rest, next));
    await Promise.all(made.map(({ loaded }) => loaded));
  }

  /**
   * Returns the exchange of a trace, as it was left if it was shown before.
   * @param {ConversationTrace} trace
   */
  #exchange(trace) {
    const known = this.#known.get(trace.query_id);
    const exchange = known ?? this.page.make(trace.query);
    exchange.queryId = trace.query_id;
    exchange.follows = trace.follows ?? "";
    exchange.showVersions(trace.versions);
    this.#known.set(trace.query_id, exchange);
    return { exchange, loaded: known ? Promise.resolve() : this.page.restore(exchange, trace) };
  }

  /**
   * @param {ConversationTrace[]} rest
   * @param {string | null} next
   */
  #earlierButton(rest, next) {
    const show = async () => {
      const stay = this.page.hold();
      button.remove();
      if (rest.length > 0) {
        await this.#prepend(rest, next, SHOWN);
      } else {
        const found = await this.page.earlier(next ?? "");
        await this.#prepend(found.traces, found.next, SHOWN);
      }
      stay();
    };
    const button = element(
      "button",
      { class: "button plain-button earlier", type: "button", click: show },
      "Show earlier questions",
    );
    return button;
  }
}
