/** The ask page: a conversation, or the beginning of one. */

import { ROOT, RefusedError, UnreachableError, getJson, readiness } from "../api.js";
import { element, icon, plain } from "../dom.js";
import { COURSES_CHANGED, acceptDocuments, addDocuments } from "../documents.js";
import { READINESS, lookAtReasoner } from "../reasoner.js";
import { FILL } from "../sidebar.js";
import { forgetChat, keepChat, showChats } from "./chats.js";
import { Composer } from "./composer.js";
import { Exchange } from "./exchange.js";
import { beginning, firstSteps, notice, retryButton } from "./intro.js";

/** Exchanges of a long conversation that are shown at once. */
const SHOWN = 30;
/** As many the service lists of a conversation. */
const MOST_LISTED = 100;
/** Pixels of an answer below the window that one need not be told of. */
const NEAR_END_PX = 40;
const OLDEST = "Only the newest 100 questions of this conversation are shown here; Traces lists them all.";
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
  #thread = element("div", { class: "thread", id: "thread" });
  #intro = element("section", { class: "intro" });
  #latest = element(
    "button",
    { class: "button jump", type: "button", hidden: true, click: () => this.#goToEnd() },
    icon("down"),
    "Jump to the latest",
  );
  /** @type {Exchange | null} */
  #running = null;
  #resized = new ResizeObserver(() => this.#scrollAlong());
  /** The reader is at the end of an answer that grows, and wants to stay there. */
  #isFollowing = false;
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
      element("div", { class: "scroller", tabindex: -1 }, this.#intro, this.#thread),
      element("div", { class: "dock" }, this.#latest, this.composer.node),
    );
    main.replaceChildren(this.page);
    this.scroller = /** @type {HTMLElement} */ (this.page.querySelector(".scroller"));
    this.scroller.addEventListener("scroll", () => this.#noteScroll(), { passive: true });
    this.#resized.observe(this.#thread);
    this.#resized.observe(this.scroller);
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
    this.#resized.disconnect();
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
    // Room below it, so that it can stand at the top of the window from the beginning.
    exchange.node.classList.add("asked");
    this.#isFollowing = false;
    this.#begin(exchange, exchange.ask(this.sessionId, this.#leaving.signal));
    exchange.node.scrollIntoView({ block: "start" });
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
    keepChat(this.sessionId, exchange.question);
    if (isNew) nameWindow(exchange.question);
  }

  /** @param {string} sessionId */
  async #load(sessionId) {
    try {
      const found = await getJson(`/api/conversations/${encodeURIComponent(sessionId)}`);
      /** @type {import("../types.js").TraceSummary[]} */
      const traces = found.traces;
      const asked = traces.filter((trace) => trace.parent === null);
      nameWindow(asked.at(-1)?.query ?? "");
      await this.#showEarlier(asked, traces.length >= MOST_LISTED);
      this.scroller.scrollTop = this.scroller.scrollHeight;
    } catch (error) {
      this.#explain(error, sessionId);
    }
    showChats();
  }

  /**
   * Shows the newest exchanges above those that are shown, and a button for the rest.
   * @param {import("../types.js").TraceSummary[]} asked The newest first.
   * @param {boolean} isCut There are more than the service lists.
   */
  async #showEarlier(asked, isCut) {
    const now = asked.slice(0, SHOWN).reverse();
    const rest = asked.slice(SHOWN);
    const before = this.#thread.firstElementChild;
    const loading = now.map((trace) => this.#restore(trace, before));
    if (rest.length > 0) this.#thread.prepend(this.#earlierButton(rest, isCut));
    else if (isCut) this.#thread.prepend(element("p", { class: "earlier" }, OLDEST));
    await Promise.all(loading);
  }

  /**
   * @param {import("../types.js").TraceSummary[]} rest
   * @param {boolean} isCut
   */
  #earlierButton(rest, isCut) {
    const show = async () => {
      const { scrollHeight, scrollTop } = this.scroller;
      button.remove();
      await this.#showEarlier(rest, isCut);
      // What was in view stays where it is.
      this.scroller.scrollTop = scrollTop + this.scroller.scrollHeight - scrollHeight;
    };
    const button = element(
      "button",
      { class: "button earlier", type: "button", click: show },
      `Show earlier questions (${rest.length})`,
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
    await exchange.load(trace.query_id);
  }

  /**
   * @param {unknown} error
   * @param {string} sessionId
   */
  #explain(error, sessionId) {
    if (error instanceof RefusedError && error.status === 404) {
      forgetChat(sessionId);
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
      return firstSteps(state);
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

  /** Pixels of the last answer that lie below the window; the room under a new question does not count. */
  #below() {
    const last = this.#thread.lastElementChild?.querySelector(".reply");
    if (!last) return 0;
    return last.getBoundingClientRect().bottom - this.scroller.getBoundingClientRect().bottom;
  }

  #noteScroll() {
    const left = this.scroller.scrollHeight - this.scroller.scrollTop - this.scroller.clientHeight;
    const last = /** @type {HTMLElement | null} */ (this.#thread.lastElementChild);
    this.#isFollowing = left < NEAR_END_PX && (last?.offsetHeight ?? 0) > this.scroller.clientHeight;
    this.#latest.hidden = this.#below() < NEAR_END_PX;
  }

  #scrollAlong() {
    if (this.#running !== null && this.#isFollowing) this.#toEnd();
    this.#latest.hidden = this.#below() < NEAR_END_PX;
  }

  #goToEnd() {
    this.#toEnd();
    this.composer.text.focus({ preventScroll: true });
  }

  #toEnd() {
    this.scroller.scrollTop = this.scroller.scrollHeight;
  }
}

/**
 * Names the window after what was asked, so that one chat is told from another.
 * @param {string} question
 */
function nameWindow(question) {
  if (question) document.title = `${plain(question).slice(0, 80)} · Antiphon`;
}
