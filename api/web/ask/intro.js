/** What stands on the ask page before the first question: questions to begin with, first steps, notices. */

import { may } from "../access.js";
import { getJson } from "../api.js";
import { SAMPLES } from "../documents.js";
import { element, icon } from "../dom.js";

/**
 * Draws what stands there before the first question.
 * @param {import("../types.js").Readiness} state
 * @param {(question: string) => void} ask
 */
export async function beginning(state, ask) {
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
      `Answers come from ${courses}. Every claim leads back to the words that it rests on, and doubts are stated.`,
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
      "There is no API key, so the built-in reasoner answers: it quotes the passages that fit best. For Claude’s own words set ",
      element("code", {}, "ANTHROPIC_API_KEY"),
      " and start the service again.",
    ),
  );
}

/**
 * Draws what a service without an index means, and what to do.
 * @param {import("../types.js").Readiness} state
 * @param {() => Promise<void>} addSamples
 */
export function firstSteps(state, addSamples) {
  const parts = [
    element("p", { class: "intro-title" }, "Nothing is indexed yet"),
    element(
      "p",
      { class: "soft" },
      "Antiphon answers from documents: course scripts, PDF, Word, slides, web pages, Markdown, transcripts, notebooks. Until there are some, questions are refused.",
    ),
    ...warnings(state),
    ...(SAMPLES.length > 0 && may("documents") ? [samplesButton(addSamples)] : []),
    element(
      "ol",
      { class: "card prose first-steps" },
      element("li", {}, "Drop files or a folder anywhere on this page, or choose them with the clip below."),
      element("li", {}, "Or run ", element("code", {}, "antiphon index PATH"), " where the service runs."),
      element("li", {}, "Then ask: the page notices by itself."),
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
