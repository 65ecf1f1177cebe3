/** The ask page before the first question: questions to begin with, first steps, notices. */

import { may } from "../access.js";
import { RefusedError, UnreachableError, getJson, readiness } from "../api.js";
import { COURSES_CHANGED, SAMPLES } from "../documents.js";
import { element, icon } from "../dom.js";
import { READINESS } from "../reasoner.js";

/** How often a page without an index looks whether there is one now. */
const LOOKING_AGAIN_MS = 3000;

/** The content of a page without a question yet. */
export class Intro {
  node = element("section", { class: "stack intro" });
  /** The warnings that it shows, or null if it is not drawn. */
  #warnings = /** @type {string | null} */ (null);

  /**
   * @param {{isWanted: () => boolean, ask: (question: string) => void, addSamples: () => Promise<void>}} page
   */
  constructor(page) {
    this.page = page;
  }

  /**
   * Draws it again when there are other courses or warnings.
   * @param {AbortSignal} signal Ends that.
   */
  watch(signal) {
    const refresh = () => {
      if (this.page.isWanted()) this.show();
    };
    document.addEventListener(COURSES_CHANGED, refresh, { signal });
    const notice = (/** @type {Event} */ event) => {
      /** @type {import("../types.js").Readiness} */
      const state = /** @type {CustomEvent} */ (event).detail;
      // Drawn again only if it says something else: somebody may be choosing a question.
      if (this.#warnings !== null && this.#warnings !== state.warnings.join("\n")) refresh();
    };
    document.addEventListener(READINESS, notice, { signal });
  }

  async show() {
    const parts = await this.#parts();
    // Meanwhile somebody may have asked, or gone elsewhere.
    if (this.page.isWanted()) this.node.replaceChildren(...parts);
  }

  async #parts() {
    try {
      const state = await readiness();
      this.#warnings = state.warnings.join("\n");
      if (state.chunks > 0) return await beginning(state, this.page.ask);
      setTimeout(() => this.#noticeIndex(), LOOKING_AGAIN_MS);
      return firstSteps(state, this.page.addSamples);
    } catch (error) {
      if (!(error instanceof UnreachableError || error instanceof RefusedError)) throw error;
      const again = retryButton(() => this.show());
      return [notice(error.message, again)];
    }
  }

  /** Looks again whether something is indexed, until there is, or the page is left. */
  async #noticeIndex() {
    if (!this.page.isWanted()) return;
    const { courses } = await getJson("/api/courses").catch(() => ({ courses: [] }));
    if (courses.length > 0) document.dispatchEvent(new Event(COURSES_CHANGED));
    else setTimeout(() => this.#noticeIndex(), LOOKING_AGAIN_MS);
  }
}

/**
 * Draws the page as it is before the first question.
 * @param {import("../types.js").Readiness} state
 * @param {(question: string) => void} ask
 */
async function beginning(state, ask) {
  /** @type {{suggestions: import("../types.js").Suggestion[]}} */
  const { suggestions } = await getJson("/api/suggestions?limit=4");
  const list = element("ul", { class: "grid suggestions" });
  for (const each of suggestions) {
    const button = element(
      "button",
      { class: "card", type: "button", click: () => ask(each.question) },
      element("strong", { class: "suggestion-question", dir: "auto" }, each.question),
      element("span", { class: "soft", dir: "auto" }, each.course),
    );
    list.append(element("li", {}, button));
  }
  const courses = state.courses === 1 ? "one course" : `${state.courses} courses`;
  const parts = [
    element("p", { class: "intro-title" }, "What would you like to know?"),
    element(
      "p",
      { class: "soft" },
      `Answers come from ${courses}. Every claim links to the words it is based on, and anything uncertain is marked.`,
    ),
    ...warnings(state),
    list,
  ];
  if (state.reasoner === "offline") parts.push(withoutKey());
  return parts;
}

/**
 * Draws what makes answers worse than they should be, such as a key that is refused.
 * @param {import("../types.js").Readiness} state
 */
function warnings(state) {
  return state.warnings.map((warning) =>
    element("p", { class: "notice" }, icon("warn"), element("span", {}, ...withCode(warning))),
  );
}

/** @param {string} text with names of commands between backticks */
function withCode(text) {
  return text.split("`").map((part, index) => (index % 2 === 0 ? part : element("code", {}, part)));
}

function withoutKey() {
  return element(
    "p",
    { class: "notice quiet-notice" },
    icon("info"),
    element(
      "span",
      {},
      "No API key is set, so the built-in reasoner answers by quoting the best passages. For answers written by Claude, set ",
      element("code", {}, "ANTHROPIC_API_KEY"),
      " and restart the service.",
    ),
  );
}

/**
 * Draws what a service without an index means, and what to do.
 * @param {import("../types.js").Readiness} state
 * @param {() => Promise<void>} addSamples
 */
function firstSteps(state, addSamples) {
  const parts = [
    element("p", { class: "intro-title" }, "Nothing is indexed yet"),
    element(
      "p",
      { class: "soft" },
      "Antiphon answers from documents: course scripts, PDF, Word, slides, web pages, Markdown, transcripts, notebooks. Until you add some, questions are refused.",
    ),
    ...warnings(state),
    ...(SAMPLES.length > 0 && may("documents") ? [samplesButton(addSamples)] : []),
    element(
      "ol",
      { class: "card prose first-steps" },
      element("li", {}, "Drop files or a folder anywhere on this page, or choose them with the clip below."),
      element(
        "li",
        {},
        "Or run ",
        element("code", {}, "antiphon index PATH"),
        " on the machine that runs the service.",
      ),
      element("li", {}, "Then ask: this page updates by itself."),
    ),
  ];
  if (state.reasoner === "offline") parts.push(withoutKey());
  return parts;
}

/** @param {() => Promise<void>} add */
function samplesButton(add) {
  const button = element("button", { class: "button", type: "button" }, "Try it with the sample courses");
  button.addEventListener("click", () => {
    button.disabled = true;
    add().finally(() => (button.disabled = false));
  });
  return element("p", { class: "row" }, button);
}

/**
 * @param {string} text
 * @param {...Node} more
 */
export function notice(text, ...more) {
  return element("p", { class: "notice" }, icon("warn"), element("span", {}, text), ...more);
}

/** @param {() => void} again */
export function retryButton(again) {
  return element("button", { class: "button", type: "button", click: again }, "Try again");
}
