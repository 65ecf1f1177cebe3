/** The ask page: a conversation, or the beginning of one. */

import { ROOT, RefusedError, UnreachableError, getJson } from "../api.js";
import { announce, element, plain } from "../dom.js";
import { acceptDocuments, addDocuments, addSamples } from "../documents.js";
import { lookAtReasoner } from "../reasoner.js";
import { FILL } from "../sidebar.js";
import { chatsChanged, watchChats } from "./chats.js";
import { Composer } from "./composer.js";
import { Exchange } from "./exchange.js";
import { Intro, notice, retryButton } from "./intro.js";
import { Scroller } from "./scroller.js";
import { Thread } from "./thread.js";
import { focusSwitch } from "./versions.js";

/**
 * Shows the page; returns a function to call when it is left.
 * @param {HTMLElement} main
 * @param {{session_id?: string}} parameters
 * @returns {() => void}
 */
export function show(main, { session_id: sessionId }) {
  const chat = new ChatPage(main, sessionId ?? null);
  chat.open();
  return () => chat.leave();
}

class ChatPage {
  #leaving = new AbortController();
  #intro = new Intro({
    isWanted: () => this.#thread.isEmpty && !this.#leaving.signal.aborted,
    ask: (question) => this.#ask(question),
    addSamples: () => addSamples(this.composer.node),
  });
  /** @type {Thread} */
  #thread = new Thread({
    make: (question) => this.#exchange(question),
    restore: (exchange, trace) => this.#restore(exchange, trace),
    earlier: (before) => this.#fetch({ before }),
    hold: () => this.#scroller.holdFromEnd(),
  });
  #scroller = new Scroller(this.#intro.node, this.#thread.node);
  /** The last query of the version that the reader went back to; null if the conversation goes on from its last. */
  #through = new URLSearchParams(location.search).get("through");
  /** Something was asked in another tab meanwhile. */
  #isBehind = false;
  /** @type {Exchange | null} */
  #running = null;
  /**
   * @param {HTMLElement} main
   * @param {string | null} sessionId
   */
  constructor(main, sessionId) {
    this.sessionId = sessionId;
    this.composer = new Composer({
      ask: (question) => this.#ask(question),
      stop: () => this.#running?.stop(),
      add: (files) => addDocuments(files, this.composer.node),
    });
    acceptDocuments(this.composer.files).catch(() => undefined);
    this.page = element(
      "div",
      { class: "ask-page" },
      element("h1", { class: "hidden" }, "Ask"),
      this.#scroller.node,
      element("div", { class: "dock" }, this.#scroller.jump, this.composer.node),
    );
    main.replaceChildren(this.page);
  }

  async open() {
    document.addEventListener(FILL, this.#fill);
    this.#intro.watch(this.#leaving.signal);
    watchChats(() => this.#catchUp(), this.#leaving.signal);
    if (this.sessionId === null) {
      await this.#intro.show();
    } else {
      await this.#load(this.sessionId);
    }
    // Not on a touch screen, because the keyboard would cover it, nor if somebody has gone on meanwhile.
    const isFree = [document.body, this.page.parentElement].includes(
      /** @type {HTMLElement} */ (document.activeElement),
    );
    if (isFree && matchMedia("(hover: hover)").matches) this.composer.text.focus();
  }

  leave() {
    document.removeEventListener(FILL, this.#fill);
    this.#scroller.leave();
    // The query itself goes on, and is there when the conversation is opened again.
    this.#leaving.abort();
  }

  #fill = (/** @type {Event} */ event) => {
    this.composer.fill(/** @type {CustomEvent<string>} */ (event).detail);
  };

  /** @param {string} question */
  #ask(question) {
    this.#intro.node.replaceChildren();
    const exchange = this.#exchange(question);
    this.#thread.append(exchange);
    this.#run(exchange, this.#through);
  }

  /**
   * Asks at the place of an exchange, as another version of it.
   * @param {Exchange} exchange
   * @param {string} question
   */
  #askVersion(exchange, question) {
    if (this.#running !== null) return;
    const version = this.#exchange(question);
    this.#thread.replace(exchange, version);
    this.#run(version, this.sessionId === null ? null : version.follows);
  }

  /**
   * @param {Exchange} exchange
   * @param {string | null} follows
   */
  #run(exchange, follows) {
    this.#goOnFrom(null);
    this.#begin(exchange, exchange.ask(this.sessionId, follows, this.#leaving.signal));
    this.#scroller.showAsked(exchange.node);
  }

  /** @param {string} question */
  #exchange(question) {
    /** @type {Exchange} */
    const exchange = new Exchange(question, {
      retry: () => this.#askVersion(exchange, exchange.question),
      edit: () => this.composer.edit(exchange.question, (changed) => this.#askVersion(exchange, changed)),
      changed: () => this.#changed(exchange),
      showVersion: (queryId, step) => this.#showVersion(exchange, queryId, step),
    });
    return exchange;
  }

  /**
   * @param {Exchange} exchange
   * @param {Promise<void>} run
   */
  #begin(exchange, run) {
    this.#running = exchange;
    this.composer.setRunning(true);
    run.finally(() => {
      this.#running = null;
      this.composer.setRunning(false);
      lookAtReasoner();
      if (this.#isBehind) this.#catchUp();
    });
  }

  /** @param {Exchange} exchange */
  #changed(exchange) {
    if (exchange.sessionId === null || this.#leaving.signal.aborted) return;
    this.#thread.note(exchange);
    const isNew = this.sessionId === null;
    this.sessionId = exchange.sessionId;
    // The address is the conversation's from its first moment: a reload comes back to it.
    if (isNew) this.#goOnFrom(null);
    chatsChanged();
    if (isNew) nameWindow(exchange.question);
  }

  /** @param {string} sessionId */
  async #load(sessionId) {
    try {
      const found = await this.#fetch({ through: this.#through });
      await this.#thread.draw(found);
      nameWindow(found.title ?? "");
      this.#scroller.toEnd();
    } catch (error) {
      this.#explain(error, sessionId);
    }
  }

  /**
   * Fetches the conversation.
   * @param {Record<string, string | null>} part Which part of it.
   */
  #fetch(part) {
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries(part)) if (value !== null) query.set(name, value);
    return getJson(`/api/conversations/${encodeURIComponent(this.sessionId ?? "")}?${query}`);
  }

  /**
   * Chooses the query that the next question follows, which the address keeps for a reload.
   * @param {string | null} through
   */
  #goOnFrom(through) {
    this.#through = through;
    if (this.sessionId === null) return;
    const query = through === null ? "" : `?through=${encodeURIComponent(through)}`;
    history.replaceState(null, "", `${ROOT}/conversations/${encodeURIComponent(this.sessionId)}${query}`);
  }

  /**
   * Shows another version in the place of an exchange, and what was asked behind it.
   * @param {Exchange} exchange
   * @param {string} queryId
   * @param {number} step
   */
  async #showVersion(exchange, queryId, step) {
    const { top } = exchange.node.getBoundingClientRect();
    try {
      await this.#thread.draw(await this.#fetch({ through: queryId }), Infinity);
    } catch (error) {
      announce(String(/** @type {Error} */ (error).message));
      return;
    }
    this.#goOnFrom(this.#thread.last);
    const shown = this.#thread.find(queryId);
    if (shown === undefined) return;
    this.#scroller.node.scrollTop += shown.node.getBoundingClientRect().top - top;
    focusSwitch(shown.node, step);
    announce(`Version ${shown.versions.indexOf(queryId) + 1} of ${shown.versions.length}.`);
  }

  /** Shows what was asked in another tab. */
  async #catchUp() {
    this.#isBehind = this.#running !== null;
    if (this.sessionId === null || this.#isBehind) return;
    try {
      const found = await this.#fetch({ through: this.#through });
      // Meanwhile something may have been asked here.
      if (this.#running === null) await this.#thread.draw(found);
    } catch (error) {
      // It was deleted, or the service is away: the page stays as it is.
      if (!(error instanceof RefusedError || error instanceof UnreachableError)) throw error;
    }
  }

  /**
   * @param {Exchange} exchange
   * @param {import("../types.js").ConversationTrace} trace
   */
  async #restore(exchange, trace) {
    if (trace.status === "open") {
      this.#begin(exchange, exchange.follow(trace.query_id, this.#leaving.signal));
      return;
    }
    await exchange.load(trace.query_id, trace.feedback);
  }

  /**
   * @param {unknown} error
   * @param {string} sessionId
   */
  #explain(error, sessionId) {
    if (error instanceof RefusedError && error.status === 404 && this.#through !== null) {
      // The version was deleted, and maybe nothing else.
      this.#goOnFrom(null);
      this.#load(sessionId);
      return;
    }
    if (error instanceof RefusedError && error.status === 404) {
      this.sessionId = null;
      this.#intro.node.replaceChildren(
        notice("This conversation was deleted. Ask a question to start a new one."),
      );
      return;
    }
    this.#intro.node.replaceChildren(
      notice(
        String(/** @type {Error} */ (error).message),
        retryButton(() => this.#load(sessionId)),
      ),
    );
  }
}

/**
 * Names the window after the question, so that the reader can tell chats apart.
 * @param {string} question
 */
function nameWindow(question) {
  if (question) document.title = `${plain(question).slice(0, 80)} · Antiphon`;
}
