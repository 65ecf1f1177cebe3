/** One question and its answer on the page, from the asking until the answer is complete. */

import { RefusedError, UnreachableError, getJson } from "../api.js";
import { announce, element, icon } from "../dom.js";
import { answerText, doubts, foot, label, sources, stoppedNotice } from "./answer.js";
import { Draft } from "./draft.js";
import { Query } from "./query.js";
import { versionSwitch } from "./versions.js";
import { Working } from "./working.js";

/** What to do about a refusal, beside what the service says itself. */
const ADVICE = {
  knowledge: "Add documents on the courses page, or run “antiphon index PATH”.",
  busy: "Try again in a moment.",
  trace_state: "The query was interrupted. Ask again.",
  not_found: "Its trace may have been deleted: ask again.",
};

export class Exchange {
  #working = new Working();
  #workingBox = element("div", { class: "working" });
  #body = element("div", { class: "stack answer" });
  #draft = new Draft();
  /** What was written when the query was stopped stays: the stop itself would void it. */
  #isBrokenOff = false;
  /** @type {import("../types.js").Feedback | null} */
  #feedback = null;
  /** @type {Query | null} */
  #query = null;
  #stopped = false;
  #givenUp = new AbortController();
  /** @type {HTMLElement | null} */
  #switch = null;

  /**
   * @param {string} question
   * @param {object} chat What it needs of its chat.
   * @param {() => void} chat.retry
   * @param {() => void} chat.edit
   * @param {() => void} chat.changed
   * @param {(queryId: string, step: number) => void} chat.showVersion
   */
  constructor(question, chat) {
    this.question = question;
    this.chat = chat;
    this.isRunning = false;
    /** @type {string | null} */
    this.sessionId = null;
    /** @type {string | null} */
    this.queryId = null;
    /** The query that it follows; empty at the beginning of the conversation. */
    this.follows = "";
    /** @type {string[]} */
    this.versions = [];
    this.node = element(
      "article",
      { class: "stack exchange" },
      element(
        "div",
        { class: "question", dir: "auto" },
        element("h2", { class: "hidden" }, "Question"),
        element("p", {}, question),
      ),
      element(
        "div",
        { class: "stack reply" },
        element("h2", { class: "hidden" }, "Answer"),
        this.#workingBox,
        this.#body,
      ),
    );
  }

  /**
   * Asks the question, and follows it to its answer.
   * @param {string | null} sessionId The conversation; null begins one.
   * @param {string | null} follows The query that it follows; null is the last one of the conversation.
   * @param {AbortSignal} signal
   */
  ask(sessionId, follows, signal) {
    return this.#run(new Query({ query: this.question, session_id: sessionId, follows }), signal);
  }

  /** @param {string[]} versions Their ids, in the order in which they were asked. */
  showVersions(versions) {
    this.versions = versions;
    const drawn = versionSwitch(versions, this.queryId ?? "", this.chat.showVersion);
    // Drawn again only if it differs: the focus may be in it.
    if (this.#switch?.textContent === drawn?.textContent) return;
    this.#switch?.remove();
    this.#switch = drawn;
    if (drawn !== null) this.node.lastElementChild?.before(drawn);
  }

  /**
   * Follows a question that was asked before and is still being worked on.
   * @param {string} queryId
   * @param {AbortSignal} signal
   */
  follow(queryId, signal) {
    return this.#run(new Query(null, queryId), signal);
  }

  /** Ends the query; the answer then says so. */
  stop() {
    this.#stopped = true;
    announce("Stopping.");
    this.#query?.cancel();
    // The service may be away before it has the question: then there is nothing to wait for.
    if (this.#query?.id === null && this.node.querySelector(".connection")) this.#givenUp.abort();
  }

  /**
   * Shows the answer of a query that is over.
   * @param {string} queryId
   * @param {import("../types.js").Feedback | null} feedback
   */
  async load(queryId, feedback) {
    this.#feedback = feedback;
    try {
      this.#show(await getJson(`/api/traces/${queryId}/answer?html=true`));
    } catch (error) {
      this.#fail(error);
    }
  }

  /**
   * @param {Query} query
   * @param {AbortSignal} signal
   */
  async #run(query, signal) {
    this.#query = query;
    this.isRunning = true;
    this.node.setAttribute("aria-busy", "true");
    this.#workingBox.replaceChildren(this.#working.node);
    try {
      const ended = AbortSignal.any([signal, this.#givenUp.signal]);
      for await (const happening of query.happenings(ended)) this.#take(happening);
      if (this.#givenUp.signal.aborted) this.#showGivenUp();
    } catch (error) {
      this.#fail(error);
    } finally {
      this.isRunning = false;
      this.node.removeAttribute("aria-busy");
      this.chat.changed();
    }
  }

  /** @param {import("./query.js").Happening} happening */
  #take(happening) {
    switch (happening.kind) {
      case "event":
        this.#takeEvent(happening.recorded);
        break;
      case "text":
        if (this.#isBrokenOff) break;
        this.#draft.take(happening.html);
        this.#drawDraft();
        break;
      case "text_discarded":
        this.#void();
        break;
      case "lost":
        this.#warn(
          "The connection to the service is lost. Reconnecting; no part of the answer will be missed.",
        );
        break;
      case "mended":
        this.#warn("");
        announce("Connected again.");
        break;
      case "answer":
        this.#show(happening.answer);
        announce(`The answer is ready. ${label(happening.answer)}.`);
    }
  }

  /** @param {import("../types.js").Recorded} recorded */
  #takeEvent(recorded) {
    const { event } = recorded;
    if (event.kind === "query_received") {
      this.sessionId = event.session_id;
      this.queryId = recorded.query_id;
      this.chat.changed();
    }
    if (event.kind === "query_cancelled") this.#isBrokenOff = true;
    if (voidsText(event)) this.#void();
    const before = this.#working.now;
    this.#working.take(recorded);
    if (this.#working.now !== before) announce(this.#working.now);
  }

  #void() {
    if (this.#isBrokenOff) return;
    this.#draft.clear();
    this.#drawDraft();
  }

  #drawDraft() {
    const { isEmpty, node } = this.#draft;
    this.#working.setWriting(!isEmpty);
    if (isEmpty) node.remove();
    else if (!node.isConnected) this.#body.replaceChildren(node);
  }

  /**
   * Shows a warning beneath the progress; an empty one takes it away.
   * @param {string} text
   */
  #warn(text) {
    this.node.querySelector(".connection")?.remove();
    if (!text) return;
    announce(text);
    this.#workingBox.after(element("p", { class: "notice connection" }, icon("warn"), text));
  }

  /** @param {import("../types.js").Answer} reply */
  #show(reply) {
    this.#warn("");
    this.sessionId = reply.session_id;
    this.queryId = reply.query_id;
    this.#working.end(reply.query_id);
    this.#workingBox.replaceChildren(this.#working.node);
    const actions = foot(reply, this.chat, this.#feedback);
    const parts =
      reply.status === "cancelled"
        ? this.#stoppedParts(reply)
        : [answerText(reply), doubts(reply), sources(reply)];
    this.#body.replaceChildren(...parts.filter((part) => part !== null), actions);
  }

  /** @param {import("../types.js").Answer} reply */
  #stoppedParts(reply) {
    const isBrokenOff = !this.#draft.isEmpty;
    const stopped = stoppedNotice(reply, { isOurs: this.#stopped, isBrokenOff });
    const found = [answerText(reply), sources(reply)].filter((part) => part !== null);
    if (!isBrokenOff) return [stopped, ...found];
    const written = this.#draft.node;
    written.classList.add("broken-off");
    const rest = element(
      "details",
      { class: "how" },
      element("summary", {}, "What had been found by then"),
      ...found,
    );
    return [written, stopped, rest];
  }

  #showGivenUp() {
    this.#warn("");
    this.#workingBox.replaceChildren();
    const retry = element("button", { class: "button", type: "button" }, "Ask again");
    retry.addEventListener("click", this.chat.retry);
    const text = "You stopped this question before it reached the service.";
    const notice = element("p", { class: "notice" }, icon("warn"), element("span", {}, text));
    this.#body.replaceChildren(notice, element("p", { class: "row" }, retry));
  }

  /** @param {unknown} error */
  #fail(error) {
    const message = messageOf(error);
    announce(message);
    this.#warn("");
    this.#workingBox.replaceChildren();
    const code = error instanceof RefusedError ? error.code : "";
    const advice = code in ADVICE ? ADVICE[/** @type {keyof typeof ADVICE} */ (code)] : "";
    const retry = element("button", { class: "button", type: "button", click: this.chat.retry }, "Ask again");
    const box = element(
      "div",
      { class: "notice bad failure" },
      element("p", { class: "row bad" }, icon("warn"), "This question has no answer"),
      element("p", { dir: "auto" }, message),
      advice ? element("p", {}, advice) : null,
      element("p", { class: "row" }, retry),
    );
    this.#body.replaceChildren(box);
  }
}

/**
 * Returns true if what was written until then is no part of the answer: tools or another call follow, or the answer is
 * made of something else.
 * @param {import("../types.js").TraceEvent} event
 */
function voidsText(event) {
  if (event.kind === "answer_requested") return event.mode !== "reply";
  return event.kind === "tool_calls_confirmed" || event.kind === "round_opened";
}

/** @param {unknown} error */
function messageOf(error) {
  if (error instanceof RefusedError || error instanceof UnreachableError) return error.message;
  console.error(error);
  return "Something went wrong in this page. Reload it; if the problem persists, report it.";
}
