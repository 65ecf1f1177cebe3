/** The ask page: a conversation, or the beginning of one. */

import { ROOT, RefusedError, UnreachableError, getJson, readiness } from "../api.js";
import { element, plain } from "../dom.js";
import { COURSES_CHANGED, acceptDocuments, addDocuments, addSamples } from "../documents.js";
import { READINESS, lookAtReasoner } from "../reasoner.js";
import { FILL } from "../sidebar.js";
import { chatsChanged } from "./chats.js";
import { Composer } from "./composer.js";
import { Exchange } from "./exchange.js";
import { beginning, firstSteps, notice, retryButton } from "./intro.js";
import { Scroller } from "./scroller.js";

/** Exchanges of a long conversation that are shown at once. */
const SHOWN = 30;
/** How often a page without an index looks whether there is one now. */
const LOOKING_AGAIN_MS = 3000;

/**
 * Shows the page; returns what is to be called when it is left.
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
  #thread = element("div", { class: "stack thread", id: "thread" });
  #intro = element("section", { class: "stack intro" });
  #scroller = new Scroller(this.#intro, this.#thread);
  /** @type {Exchange | null} */
  #running = null;
  /** The warnings that the beginning shows, or null where it is not drawn. */
  #warnings = /** @type {string | null} */ (null);

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
    document.addEventListener(COURSES_CHANGED, this.#refreshIntro);
    document.addEventListener(READINESS, this.#noticeWarnings);
    if (this.sessionId === null) {
      await this.#showIntro();
    } else {
      await this.#load(this.sessionId);
    }
    // Not on a screen that is touched, where the keyboard would cover it, nor where somebody has gone on meanwhile.
    const isFree = [document.body, this.page.parentElement].includes(
      /** @type {HTMLElement} */ (document.activeElement),
    );
    if (isFree && matchMedia("(hover: hover)").matches) this.composer.text.focus();
  }

  leave() {
    document.removeEventListener(FILL, this.#fill);
    document.removeEventListener(COURSES_CHANGED, this.#refreshIntro);
    document.removeEventListener(READINESS, this.#noticeWarnings);
    this.#scroller.leave();
    // The query itself goes on, and is there when the conversation is opened again.
    this.#leaving.abort();
  }

  #fill = (/** @type {Event} */ event) => {
    this.composer.fill(/** @type {CustomEvent<string>} */ (event).detail);
  };

  #refreshIntro = () => {
    if (this.#isEmpty()) this.#showIntro();
  };

  #noticeWarnings = (/** @type {Event} */ event) => {
    /** @type {import("../types.js").Readiness} */
    const state = /** @type {CustomEvent} */ (event).detail;
    // Drawn anew only where it says something else: somebody may be choosing a question.
    if (this.#warnings !== null && this.#warnings !== state.warnings.join("\n")) this.#refreshIntro();
  };

  #isEmpty() {
    return this.#thread.childElementCount === 0 && !this.#leaving.signal.aborted;
  }

  /** @param {string} question */
  #ask(question) {
    this.#intro.replaceChildren();
    const exchange = this.#exchange(question);
    this.#thread.append(exchange.node);
    this.#begin(exchange, exchange.ask(this.sessionId, this.#leaving.signal));
    this.#scroller.showAsked(exchange.node);
  }

  /** @param {string} question */
  #exchange(question) {
    /** @type {Exchange} */
    const exchange = new Exchange(question, {
      retry: (again) => {
        if (this.#running === null) this.#ask(again);
      },
      edit: (again) => this.composer.fill(again),
      changed: () => this.#changed(exchange),
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
    });
  }

  /** @param {Exchange} exchange */
  #changed(exchange) {
    if (exchange.sessionId === null || this.#leaving.signal.aborted) return;
    const isNew = this.sessionId === null;
    this.sessionId = exchange.sessionId;
    // The address is the conversation's from its first moment: a reload comes back to it.
    if (isNew) history.replaceState(null, "", `${ROOT}/conversations/${encodeURIComponent(this.sessionId)}`);
    chatsChanged();
    if (isNew) nameWindow(exchange.question);
  }

  /** @param {string} sessionId */
  async #load(sessionId) {
    try {
      const found = await getJson(`/api/conversations/${encodeURIComponent(sessionId)}`);
      await this.#showEarlier(found.traces, found.next);
      nameWindow(found.title ?? "");
      this.#scroller.toEnd();
    } catch (error) {
      this.#explain(error, sessionId);
    }
  }

  /**
   * Shows exchanges above those that are shown, and a button for the rest.
   * @param {import("../types.js").TraceSummary[]} traces The newest first.
   * @param {string | null} next Where the service has more; null if these are all.
   */
  async #showEarlier(traces, next) {
    const asked = traces.filter((trace) => trace.parent === null);
    const now = asked.slice(0, SHOWN).reverse();
    const rest = asked.slice(SHOWN);
    const before = this.#thread.firstElementChild;
    const loading = now.map((trace) => this.#restore(trace, before));
    if (rest.length > 0 || next !== null) this.#thread.prepend(this.#earlierButton(rest, next));
    await Promise.all(loading);
  }

  /**
   * @param {import("../types.js").TraceSummary[]} rest
   * @param {string | null} next
   */
  #earlierButton(rest, next) {
    const show = async () => {
      const stay = this.#scroller.holdFromEnd();
      button.remove();
      if (rest.length > 0) {
        await this.#showEarlier(rest, next);
      } else {
        const path = `/api/conversations/${encodeURIComponent(this.sessionId ?? "")}`;
        const found = await getJson(`${path}?before=${encodeURIComponent(next ?? "")}`);
        await this.#showEarlier(found.traces, found.next);
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

  /**
   * @param {import("../types.js").TraceSummary} trace
   * @param {Element | null} before
   */
  async #restore(trace, before) {
    const exchange = this.#exchange(trace.query);
    this.#thread.insertBefore(exchange.node, before);
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
    if (error instanceof RefusedError && error.status === 404) {
      this.sessionId = null;
      this.#intro.replaceChildren(
        notice("This conversation was deleted. Ask a question to start a new one."),
      );
      return;
    }
    this.#intro.replaceChildren(
      notice(
        String(/** @type {Error} */ (error).message),
        retryButton(() => this.#load(sessionId)),
      ),
    );
  }

  async #showIntro() {
    const parts = await this.#introParts();
    // Meanwhile somebody may have asked, or gone elsewhere.
    if (this.#isEmpty()) this.#intro.replaceChildren(...parts);
  }

  async #introParts() {
    try {
      const state = await readiness();
      this.#warnings = state.warnings.join("\n");
      if (state.chunks > 0) return await beginning(state, (question) => this.#ask(question));
      setTimeout(() => this.#noticeIndex(), LOOKING_AGAIN_MS);
      return firstSteps(state, () => addSamples(this.composer.node));
    } catch (error) {
      if (!(error instanceof UnreachableError || error instanceof RefusedError)) throw error;
      return [
        notice(
          error.message,
          retryButton(() => this.#showIntro()),
        ),
      ];
    }
  }

  /** Looks again whether something is indexed, until there is, or the page is left. */
  async #noticeIndex() {
    if (!this.#isEmpty()) return;
    const { courses } = await getJson("/api/courses").catch(() => ({ courses: [] }));
    if (courses.length > 0) document.dispatchEvent(new Event(COURSES_CHANGED));
    else setTimeout(() => this.#noticeIndex(), LOOKING_AGAIN_MS);
  }
}

/**
 * Names the window after what was asked, so that one chat is told from another.
 * @param {string} question
 */
function nameWindow(question) {
  if (question) document.title = `${plain(question).slice(0, 80)} · Antiphon`;
}
