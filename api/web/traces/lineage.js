/** The origin of the answer: each sentence back to the document, the tool call and the requests behind it. */

import { getJson } from "../api.js";
import { announce, element } from "../dom.js";
import { count, size } from "../text.js";
import { readerPath } from "../texts/address.js";
import { kindName, withoutSigns } from "../wording.js";
import { address, eventLink } from "./links.js";
import { toolCall } from "./saying.js";
import { flat } from "./orders.js";
import { sourceLink } from "./passages.js";

const AROUND = 700;
/** As many as the service gives at once. */
const MOST_CHARACTERS = 20_000;
/** Doubts that name a sentence of the answer, each in a word or two. */
/** @type {Record<string, string>} */
const CLAIMS = { unsupported_citation: "not supported", unsupported_claim: "found nowhere" };

export class Lineage {
  /** @param {import("./model.js").Trace} trace */
  constructor(trace) {
    this.trace = trace;
    this.answer = element("div", { class: "answer-sentences", dir: "auto" });
    this.path = element("section", { class: "lineage-path", "aria-label": "Where it comes from" });
    this.element = element(
      "div",
      { class: "stack" },
      element(
        "section",
        { class: "card", "aria-label": "Answer" },
        element("h2", {}, "The answer, sentence by sentence"),
        this.answer,
      ),
      this.path,
    );
    /** @type {any[] | null} */
    this.sentences = null;
    this.chosen = 0;
  }

  /** @param {string | undefined} item The sentence's number, from 1. */
  async show(item) {
    this.chosen = Math.max(1, Number(item) || 1);
    if (this.sentences === null) {
      this.answer.replaceChildren(element("span", { class: "spinner" }));
      try {
        this.sentences = await this.trace.readSentences();
      } catch (error) {
        this.answer.replaceChildren(
          element("p", { class: "soft" }, String(/** @type {Error} */ (error).message)),
        );
        return;
      }
    }
    this.#draw();
  }

  update() {
    this.sentences = null;
    this.trace.sentences = null;
    this.show(String(this.chosen));
  }

  leave() {
    this.chosen = 0;
  }

  #draw() {
    /** @type {any[]} */
    const sentences = this.sentences ?? [];
    this.answer.replaceChildren(
      ...sentences.map((sentence, place) => {
        const doubt = this.#doubtOn(sentence);
        return element(
          "a",
          {
            class: ["answer-sentence", sentence.origins.length === 0 && "uncited", doubt && "doubted"]
              .filter(Boolean)
              .join(" "),
            href: address(this.trace.id, "lineage", place + 1),
            "data-view": true,
            "aria-current": place + 1 === this.chosen ? "true" : null,
          },
          withoutSigns(sentence.text),
          doubt ? element("span", { class: "tag fair" }, doubt) : null,
          sentence.origins.length === 0 ? element("span", { class: "tag" }, "cites nothing") : null,
        );
      }),
    );
    const sentence = sentences[this.chosen - 1];
    if (sentence === undefined) return;
    this.path.replaceChildren(...this.#steps(sentence));
    announce(`Sentence ${this.chosen} cites ${count(sentence.origins.length, "passage")}.`);
  }

  /** @param {any} sentence */
  #doubtOn(sentence) {
    const text = flat(sentence.text);
    for (const { kind, detail } of this.trace.indicators) {
      const words = CLAIMS[kind];
      const claim = flat(/“(.+?)(…)?”/s.exec(detail)?.[1] ?? "");
      if (words !== undefined && claim !== "" && (text.includes(claim) || claim.includes(text))) return words;
    }
    return null;
  }

  /** @param {any} sentence */
  #steps(sentence) {
    const writer = sentence.written_by;
    const parts = [
      step(
        "The sentence",
        element("p", { class: "quoted", dir: "auto" }, withoutSigns(sentence.text)),
        writer === null
          ? element("p", { class: "soft" }, "composed without a model")
          : element("p", { class: "soft" }, "written by ", this.#callWords(writer)),
      ),
    ];
    if (sentence.origins.length === 0)
      parts.push(
        step(
          "No source",
          element("p", {}, "This sentence cites nothing, so it cannot be traced to a document."),
        ),
      );
    for (const origin of sentence.origins) parts.push(...this.#origin(origin));
    return parts;
  }

  /** @param {any} origin */
  #origin(origin) {
    const text = element("div", { class: "stack document-text" }, element("span", { class: "spinner" }));
    this.#showText(origin, text);
    return [
      step(
        "cites",
        element("p", { class: "quoted", dir: "auto" }, origin.cited_text),
        element(
          "p",
          { class: "soft", dir: "auto" },
          `fact ${origin.fact}, `,
          sourceLink(readerPath(origin, origin.cited_text, origin.offset), origin.source),
        ),
      ),
      step(
        "found by",
        element("p", { dir: "auto" }, toolCall(origin.tool, origin.arguments)),
        element(
          "p",
          { class: "soft" },
          "requested at ",
          eventLink(this.trace.id, origin.requested_seq, `event ${origin.requested_seq}`),
          ", found at ",
          eventLink(this.trace.id, origin.found_seq, `event ${origin.found_seq}`),
          ". ",
          element(
            "a",
            { href: address(this.trace.id, "retrieval", origin.requested_seq), "data-view": true },
            "the search",
          ),
        ),
      ),
      step(
        "requested by",
        element("p", {}, this.#callWords(origin)),
        ...origin.earlier.map((/** @type {any} */ call) =>
          element(
            "p",
            { class: "soft" },
            "before it ",
            this.#callWords(call),
            `, shown ${call.shown.length === 0 ? "nothing but the question" : call.shown.join(", ")}`,
          ),
        ),
      ),
      step("in the document", text),
    ];
  }

  /** @param {any} call */
  #callWords(call) {
    const id = call.call_id ?? call.asked_by;
    return element(
      "span",
      {},
      element("a", { href: address(this.trace.id, "requests", id), "data-view": true }, id || "no call"),
      ` (${size(call.request_bytes)} at `,
      eventLink(this.trace.id, call.request_seq, `event ${call.request_seq}`),
      ", SHA-256 ",
      element("code", { title: call.request_sha256 }, `${call.request_sha256.slice(0, 12)}…`),
      ")",
    );
  }

  /**
   * The document's text around the cited words, as it is indexed now.
   * @param {any} origin
   * @param {HTMLElement} place
   */
  async #showText(origin, place) {
    if (origin.course === null || origin.offset === null) {
      place.replaceChildren(
        element("p", { class: "soft" }, "Its place in a document is unknown: no course contains this text."),
      );
      return;
    }
    const length = Array.from(origin.cited_text).length;
    const start = Math.max(0, origin.offset - AROUND);
    const end = origin.offset + length + AROUND;
    const parameters = new URLSearchParams({
      course: origin.course,
      start: String(start),
      length: String(Math.min(MOST_CHARACTERS, end - start)),
    });
    if (origin.lesson !== null) parameters.set("lesson", String(origin.lesson));
    try {
      const found = await getJson(`/api/text?${parameters}`);
      const text = Array.from(found.text);
      const from = origin.offset - found.start;
      const cited = text.slice(from, from + length).join("");
      const isSame = cited === origin.cited_text;
      const parts = [
        element(
          "p",
          { class: "soft", dir: "auto" },
          `${found.file}, ${found.title}: characters ${origin.offset} to ${origin.offset + length} of ${found.length.toLocaleString("en")}, SHA-256 `,
          element("code", { title: found.sha256 }, `${found.sha256.slice(0, 12)}…`),
        ),
        isSame
          ? null
          : element(
              "p",
              { class: "notice doubt-note" },
              "The document has changed since then; this is its current text.",
            ),
        element(
          "blockquote",
          { class: "card", dir: "auto", tabindex: 0 },
          start > 0 ? "…" : "",
          text.slice(0, from).join(""),
          element("mark", {}, cited),
          text.slice(from + length).join(""),
          end < found.length ? "…" : "",
        ),
      ];
      place.replaceChildren(...parts.filter((each) => each !== null));
      scrollToMark(place);
    } catch (error) {
      place.replaceChildren(
        element("p", { class: "soft" }, `${kindName("document")}: ${/** @type {Error} */ (error).message}`),
      );
    }
  }
}

/**
 * Brings the cited words into the middle of the text around them, and moves nothing else.
 * @param {HTMLElement} place
 */
function scrollToMark(place) {
  const text = place.querySelector("blockquote");
  const mark = place.querySelector("mark");
  if (text === null || mark === null) return;
  const above = mark.getBoundingClientRect().top - text.getBoundingClientRect().top;
  text.scrollTop += above - text.clientHeight / 3;
}

/**
 * @param {string} name
 * @param {...Node} content
 */
function step(name, ...content) {
  return element("div", { class: "path-step" }, element("h3", {}, name), ...content);
}
