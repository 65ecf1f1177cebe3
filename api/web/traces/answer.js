/** What is judged: the question, its answer with the citations, the reasons for doubt, and what it took. */

import { getJson } from "../api.js";
import { element, icon } from "../dom.js";
import { fragmentOf } from "../safe_html.js";
import { cost, count, seconds, tone, when } from "../text.js";
import { inPlainWords } from "../wording.js";
import { address, api, eventLink } from "./links.js";
import { bringIntoView, mark, unmark } from "./marking.js";
import { flat } from "./orders.js";

export class AnswerPane {
  /** @param {import("./model.js").Trace} trace */
  constructor(trace) {
    this.trace = trace;
    this.isRead = false;
    this.question = element("h1", { dir: "auto" });
    this.text = element("div", { class: "bench-words prose", dir: "auto" });
    this.rest = element("div", { class: "stack" });
    this.about = element("p", { class: "row soft facts-line" });
    this.element = element(
      "section",
      { class: "card bench-answer", "aria-label": "Question and answer", tabindex: 0 },
      this.question,
      this.text,
      this.rest,
      this.about,
    );
    this.draw();
  }

  /** Draws what is known by now. */
  draw() {
    const { trace } = this;
    this.question.textContent = String(trace.question.query ?? "Trace");
    this.#describe();
    if (trace.response === null) {
      this.text.replaceChildren(
        element(
          "p",
          { class: "soft" },
          trace.isOver ? "There is no answer." : "The answer is being worked out…",
        ),
      );
    } else if (!this.isRead) {
      this.isRead = true;
      this.#read(trace.response.event);
    }
  }

  #describe() {
    const { trace } = this;
    const answer = trace.response?.event;
    const status = trace.status ?? "open, live";
    const parts = [
      element("span", { class: `outcome ${tone(status)}` }, status),
      answer
        ? element(
            "span",
            { class: `confidence ${tone(answer.confidence)}` },
            `${answer.confidence} confidence`,
          )
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
    const { faults } = trace.question;
    if (faults?.length) this.about.append(element("span", { class: "tag" }, `faults: ${faults.join(", ")}`));
  }

  /** @param {import("../types.js").TraceEvent} response */
  async #read(response) {
    this.text.textContent = response.answer;
    this.rest.replaceChildren(...this.#doubts(response), ...sources(response));
    try {
      const reply = await getJson(api(this.trace.id, "/answer?html=true"));
      this.text.replaceChildren(fragmentOf(reply.html));
      const sentences = response.citations.length > 0 ? await this.trace.readSentences() : [];
      this.#linkMarks(response.citations, sentences);
    } catch (error) {
      this.rest.append(element("p", { class: "soft" }, String(/** @type {Error} */ (error).message)));
    }
  }

  /** @param {import("../types.js").TraceEvent} response */
  #doubts(response) {
    if (response.indicators.length === 0) return [];
    const items = response.indicators.map((/** @type {any} */ { detail, event_seq: seq }) =>
      element(
        "li",
        { dir: "auto" },
        icon("warn"),
        ` ${inPlainWords(detail, this.trace.toolNames)} `,
        eventLink(this.trace.id, seq, `event ${seq}`),
      ),
    );
    return [element("ul", { class: "stack soft bench-doubts", "aria-label": "Reasons for doubt" }, ...items)];
  }

  /**
   * Makes the mark of each citation a link to its origin.
   * @param {any[]} citations
   * @param {any[]} sentences
   */
  #linkMarks(citations, sentences) {
    for (const each of this.text.querySelectorAll("sup[data-citation]")) {
      const cited = citations[Number(each.getAttribute("data-citation"))];
      const place = sentences.findIndex((sentence) =>
        sentence.origins.some(
          (/** @type {any} */ origin) =>
            origin.fact === cited?.fact && origin.cited_text === cited?.cited_text,
        ),
      );
      if (place === -1) continue;
      const number = each.textContent ?? "";
      each.replaceChildren(
        element(
          "a",
          {
            class: "mark",
            href: address(this.trace.id, "lineage", place + 1),
            "data-view": true,
            "aria-label": `Where citation ${number} comes from`,
          },
          number,
        ),
      );
    }
  }

  /**
   * Marks what an event has to do with the answer: its quotations, and the sentences that cite what it brought.
   * @param {number} seq
   * @param {string[]} quotes
   */
  async show(seq, quotes) {
    unmark(this.text);
    // A single word occurs in many sentences that have nothing to do with it.
    this.#mark(quotes.filter((quote) => quote.includes(" ")));
    const citations = this.trace.response?.event.citations ?? [];
    if (citations.length === 0 || this.trace.event(seq)?.event.kind !== "tool_succeeded") return;
    const sentences = await this.trace.readSentences().catch(() => []);
    const citing = sentences.filter((/** @type {any} */ { origins }) =>
      origins.some(
        (/** @type {any} */ origin) =>
          origin.found_seq === seq && (quotes.length === 0 || isAmong(quotes, origin.cited_text)),
      ),
    );
    this.#mark(citing.map((/** @type {any} */ { text }) => text));
  }

  /** @param {string[]} quotes */
  #mark(quotes) {
    const [first] = mark(this.text, quotes);
    if (first !== undefined) bringIntoView(this.element, first);
  }
}

/**
 * Whether what is cited holds one of the quotations, or is a part of it.
 * @param {string[]} quotes
 * @param {string} cited
 */
function isAmong(quotes, cited) {
  const text = flat(cited);
  return quotes.some((quote) => {
    const words = flat(quote).replace(/…$/, "");
    return words !== "" && (text.includes(words) || words.includes(text));
  });
}

/** @param {import("../types.js").TraceEvent} response */
function sources(response) {
  if (response.sources.length === 0) return [];
  const items = response.sources.map((/** @type {string} */ source) =>
    element("li", { dir: "auto" }, source),
  );
  return [element("div", { class: "soft prose" }, element("ol", { "aria-label": "Sources" }, ...items))];
}
