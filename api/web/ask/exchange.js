/** One question and its answer on the page, from the asking until it stands there. */

import { ROOT, RefusedError, UnreachableError, getJson } from "../api.js";
import { copyText } from "../copying.js";
import { announce, element, icon } from "../dom.js";
import { answerText, asText, doubts, facts, label, sources } from "./answer.js";
import { noProgress, now, roundsList, summary, take } from "./progress.js";
import { Query } from "./query.js";

/** What to do about a refusal, beside what the service says itself. */
const ADVICE = {
  knowledge: "Add documents on the courses page, or run “antiphon index PATH”.",
  busy: "Try again in a moment.",
  trace_state: "The query was interrupted and nobody works on it: ask again.",
  not_found: "Its trace may have been deleted: ask again.",
};

export class Exchange {
  #progress = noProgress();
  #progressBox = element("div", { class: "progress" });
  #body = element("div", { class: "answer" });
  #text = "";
  /** What was being written when the query was stopped; the stop itself voids it. */
  #brokenOff = "";
  /** @type {Query | null} */
  #query = null;
  #stopped = false;
  #givenUp = new AbortController();

  /**
   * @param {string} question
   * @param {{retry: (question: string) => void, changed: () => void}} chat What it asks of the chat that it stands in.
   */
  constructor(question, chat) {
    this.question = question;
    this.chat = chat;
    this.isRunning = false;
    /** @type {string | null} */
    this.sessionId = null;
    this.node = element(
      "article",
      { class: "exchange" },
      element(
        "div",
        { class: "question", dir: "auto" },
        element("h2", { class: "hidden" }, "Question"),
        element("p", {}, question),
      ),
      element(
        "div",
        { class: "reply" },
        element("h2", { class: "hidden" }, "Answer"),
        this.#progressBox,
        this.#body,
      ),
    );
  }

  /**
   * Asks the question, and follows it to its answer.
   * @param {string | null} sessionId The conversation; null begins one.
   * @param {AbortSignal} signal
   */
  ask(sessionId, signal) {
    return this.#run(new Query({ query: this.question, session_id: sessionId }), signal);
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
   */
  async load(queryId) {
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
    this.#drawProgress();
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
        this.#text += happening.text;
        this.#drawDraft();
        break;
      case "text_discarded":
        this.#text = "";
        this.#drawDraft();
        break;
      case "lost":
        this.#warn(
          "The connection to the service is lost. The page keeps trying to reconnect; no part of the answer is lost.",
        );
        break;
      case "mended":
        this.#warn("");
        announce("The connection is back.");
        break;
      case "answer":
        this.#show(happening.answer);
        announce(`The answer is there. ${label(happening.answer)}.`);
    }
  }

  /** @param {import("../types.js").Recorded} recorded */
  #takeEvent(recorded) {
    const { event } = recorded;
    if (event.kind === "query_received") {
      this.sessionId = event.session_id;
      this.chat.changed();
    }
    if (event.kind === "query_cancelled") this.#brokenOff = this.#text;
    if (voidsText(event)) {
      this.#text = "";
      this.#drawDraft();
    }
    const before = now(this.#progress);
    take(this.#progress, recorded);
    this.#drawProgress();
    if (now(this.#progress) !== before) announce(now(this.#progress));
  }

  #drawProgress() {
    this.#progressBox.replaceChildren(roundsList(this.#progress));
    if (this.#progress.rounds.length === 0) {
      this.#progressBox.append(
        element("p", { class: "step running" }, element("span", { class: "spinner" }), "Asking…"),
      );
    }
  }

  #drawDraft() {
    const draft = element("div", { class: "answer-text draft", dir: "auto" }, this.#text);
    this.#body.replaceChildren(...(this.#text ? [draft] : []));
  }

  /**
   * Shows a warning beneath the progress; an empty one takes it away.
   * @param {string} text
   */
  #warn(text) {
    this.node.querySelector(".connection")?.remove();
    if (!text) return;
    announce(text);
    this.#progressBox.after(element("p", { class: "notice connection" }, icon("warn"), text));
  }

  /** @param {import("../types.js").Answer} reply */
  #show(reply) {
    this.#warn("");
    this.sessionId = reply.session_id;
    const details = element(
      "details",
      { class: "how" },
      element("summary", {}, this.#summary()),
      element("div", { class: "progress" }),
    );
    details.addEventListener("toggle", () => this.#showHow(details, reply.query_id), { once: true });
    this.#progressBox.replaceChildren(details);
    const parts = [answerText(reply), doubts(reply), sources(reply), this.#foot(reply)];
    if (reply.status === "cancelled") {
      const draft = element("div", { class: "answer-text draft broken-off", dir: "auto" }, this.#brokenOff);
      if (this.#brokenOff) parts.unshift(draft);
      parts.unshift(element("p", { class: "notice" }, icon("warn"), this.#cancelled()));
    }
    this.#body.replaceChildren(...parts.filter((part) => part !== null));
  }

  #showGivenUp() {
    this.#warn("");
    this.#progressBox.replaceChildren();
    const retry = element("button", { class: "button", type: "button" }, "Ask again");
    retry.addEventListener("click", () => this.chat.retry(this.question));
    const text = "You stopped this question before it had reached the service.";
    const notice = element("p", { class: "notice" }, icon("warn"), element("span", {}, text));
    this.#body.replaceChildren(notice, element("p", { class: "actions" }, retry));
  }

  #summary() {
    if (this.#progress.rounds.length === 0) return "How it was worked out";
    return `How it was worked out: ${summary(this.#progress)}`;
  }

  #cancelled() {
    if (this.#stopped) return "You stopped this question. Ask again whenever you like.";
    return "This question was stopped before its answer was complete. Ask again for a complete one.";
  }

  /**
   * Draws the rounds, from the trace where the page was not there to see them.
   * @param {HTMLElement} details
   * @param {string} queryId
   */
  async #showHow(details, queryId) {
    const box = details.querySelector(".progress");
    try {
      if (this.#progress.endedAt === null) {
        this.#progress = noProgress();
        /** @type {{events: import("../types.js").Recorded[]}} */
        const trace = await getJson(`/api/traces/${queryId}`);
        for (const recorded of trace.events) take(this.#progress, recorded);
      }
      box?.replaceChildren(roundsList(this.#progress));
    } catch (error) {
      box?.replaceChildren(element("p", { class: "notice" }, messageOf(error)));
    }
  }

  /** @param {import("../types.js").Answer} reply */
  #foot(reply) {
    const copy = element("button", { class: "quiet", type: "button" }, icon("copy"), "Copy");
    copy.addEventListener("click", () => copyText(asText(reply), copy));
    const retry = element(
      "button",
      { class: "quiet", type: "button", click: () => this.chat.retry(this.question) },
      icon("retry"),
      "Retry",
    );
    const trace = element(
      "a",
      { class: "quiet", href: `${ROOT}/traces/${reply.query_id}`, "data-view": true },
      icon("trace"),
      "Trace",
    );
    return element(
      "footer",
      { class: "answer-foot" },
      element("div", { class: "actions" }, copy, retry, trace),
      facts(reply),
    );
  }

  /** @param {unknown} error */
  #fail(error) {
    const message = messageOf(error);
    announce(message);
    this.#warn("");
    this.#progressBox.replaceChildren();
    const code = error instanceof RefusedError ? error.code : "";
    const advice = code in ADVICE ? ADVICE[/** @type {keyof typeof ADVICE} */ (code)] : "";
    const retry = element(
      "button",
      { class: "button", type: "button", click: () => this.chat.retry(this.question) },
      "Ask again",
    );
    const box = element(
      "div",
      { class: "failure" },
      element("p", { class: "failure-title" }, icon("warn"), "This question has no answer"),
      element("p", { dir: "auto" }, message),
      advice ? element("p", {}, advice) : null,
      element("p", { class: "actions" }, retry),
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
