/** An answer with all that belongs to it: text, doubt, sources, who gave it and what it took. */

import { ROOT } from "../api.js";
import { copyText } from "../copying.js";
import { element, icon, webLink } from "../dom.js";
import { fragmentOf } from "../safe_html.js";
import { cost, count, seconds, tone } from "../text.js";
import { readerPath } from "../texts/address.js";
import { inPlainWords } from "../wording.js";
import { activateMarks } from "./citations.js";
import { FeedbackControls } from "./feedback.js";

const CONFIDENCE = { high: "High confidence", medium: "Medium confidence", low: "Low confidence" };
/** The built-in reasoner quotes: what its reader can rely on is whether the answer is in there. */
const FOUND = { high: "Found", medium: "Check for yourself", low: "The closest match" };
/**
 * An answer whose only doubt is that it rests on no course: its kind says more than its confidence.
 * @type {Record<string, string>}
 */
const WITHOUT_COURSES = {
  general_knowledge: "Answered without the courses",
  no_evidence: "Not found in the courses",
};

/**
 * Draws the text with its marks.
 * @param {import("../types.js").Answer} reply
 */
export function answerText(reply) {
  const text = element("div", { class: "answer-text prose", dir: "auto" });
  text.append(fragmentOf(reply.html));
  activateMarks(text, reply);
  for (const code of text.querySelectorAll("pre")) withCopy(code);
  return text;
}

/**
 * Puts a button over a block of code that copies it.
 * @param {HTMLElement} code
 */
function withCopy(code) {
  const written = code.textContent ?? "";
  const copy = element("button", { class: "quiet copy-code", type: "button" }, icon("copy"), "Copy");
  copy.addEventListener("click", () => copyText(written, copy));
  const block = element("div", { class: "code-block" });
  code.replaceWith(block);
  block.append(code, copy);
}

/**
 * Returns what kind of answer it is if it rests on no course and nothing else is doubtful; otherwise null.
 * @param {import("../types.js").Answer} reply
 */
function withoutCourses({ status, uncertainty }) {
  const [only, ...others] = uncertainty.indicators;
  if (status !== "answered" || only === undefined || others.length > 0) return null;
  return WITHOUT_COURSES[only.kind] ?? null;
}

/**
 * Returns how sure an answer is, in words.
 * @param {import("../types.js").Answer} reply
 */
export function label(reply) {
  const { confidence, indicators } = reply.uncertainty;
  const plainly = withoutCourses(reply);
  if (plainly !== null) return plainly;
  // A failure or a timeout is another reason for doubt than what was found.
  const quotes = confidence !== "low" || indicators.some((indicator) => indicator.kind === "closest_found");
  return reply.reasoner === "offline" && quotes ? FOUND[confidence] : CONFIDENCE[confidence];
}

/**
 * Draws the confidence, and each reason for doubt with the event that it rests on.
 * @param {import("../types.js").Answer} reply
 */
export function doubts(reply) {
  const { confidence, indicators } = reply.uncertainty;
  const kind = withoutCourses(reply) === null ? confidence : "neutral";
  const box = element("div", { class: `stack tight doubts ${kind}` });
  box.append(
    element(
      "p",
      { class: `badge tag ${tone(kind)}` },
      element("span", { class: "dot", "aria-hidden": "true" }),
      label(reply),
    ),
  );
  const list = element("ul", { class: "stack tight soft" });
  for (const indicator of indicators) {
    const why = element(
      "a",
      { href: `${ROOT}/traces/${reply.query_id}/events/${indicator.event_seq}`, "data-view": true },
      "why?",
      element("span", { class: "hidden" }, ` (event ${indicator.event_seq})`),
    );
    list.append(element("li", { dir: "auto" }, inPlainWords(indicator.detail), " ", why));
  }
  if (indicators.length > 0) box.append(list);
  return box;
}

/**
 * Draws the sources as they are numbered in the text; null if nothing is cited.
 * @param {import("../types.js").Answer} reply
 */
export function sources(reply) {
  if (reply.sources.length === 0) return null;
  const list = element("ol", {});
  reply.sources.forEach((source, index) => {
    const link = webLink(reply.source_links[index]);
    const cited = reply.citations.filter((each) => each.source === source);
    const places = new Set(cited.filter((each) => each.place).map((each) => each.place));
    const path = cited[0] ? readerPath(cited[0], cited[0].cited_text) : null;
    const read = path ? element("a", { class: "quiet", href: path, "data-view": true }, "Read") : null;
    const name = link
      ? element("a", { href: link, target: "_blank", rel: "noopener noreferrer" }, source, icon("out"))
      : source;
    const where = places.size > 0 ? element("span", { class: "soft" }, [...places].join(", ")) : null;
    list.append(
      element(
        "li",
        { dir: "auto" },
        element("span", { class: "source-number" }, String(index + 1)),
        name,
        where,
        read,
      ),
    );
  });
  return element(
    "section",
    { class: "sources", "aria-label": "Sources" },
    element("h3", { class: "soft" }, "Sources"),
    list,
  );
}

/**
 * Draws who answered, and what it took.
 * @param {import("../types.js").Answer} reply
 */
export function facts(reply) {
  const { usage } = reply;
  const facts = [
    ["Answered by", reply.reasoner === "offline" ? "built-in reasoner" : reply.reasoner],
    ["Calls", count(usage.calls, "call")],
    ["Tokens", count(tokens(usage), "token")],
    ["Cost", cost(usage.cost_usd)],
    ["Time", seconds(reply.duration_ms / 1000)],
  ];
  const list = element("dl", { class: "row soft number facts" });
  // Nobody has answered what was stopped or failed.
  if (reply.reasoner === "none") facts.shift();
  for (const [name, value] of facts) {
    list.append(element("div", {}, element("dt", { class: "hidden" }, name), element("dd", {}, value)));
  }
  return list;
}

/**
 * Writes the answer as text to take along, its sources numbered below.
 * @param {import("../types.js").Answer} reply
 */
export function asText(reply) {
  const sources = reply.sources.map((source, index) => {
    const link = reply.source_links[index];
    return `[${index + 1}] ${source}${link ? `  ${link}` : ""}`;
  });
  return [reply.answer, ...(sources.length > 0 ? ["", ...sources] : [])].join("\n");
}

/**
 * Says that an answer was stopped, and what it cost as far as the service knows.
 * @param {import("../types.js").Answer} reply
 * @param {{isOurs: boolean, isBrokenOff: boolean}} how The reader of this page stopped it; a reply was being written.
 */
export function stoppedNotice(reply, { isOurs, isBrokenOff }) {
  const { usage } = reply;
  const spent = [count(usage.calls, "call"), count(tokens(usage), "token"), cost(usage.cost_usd)].join(", ");
  const who = isOurs ? "You stopped this answer." : "This answer was stopped before it was complete.";
  const rest = isBrokenOff ? ", and what the provider bills for the reply that was broken off" : "";
  return element(
    "p",
    { class: "notice stopped" },
    icon("stop"),
    element("span", {}, `${who} Used until then: ${spent}${rest}.`),
  );
}

/** @param {import("../types.js").Usage} usage */
export function tokens(usage) {
  return usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens + usage.output_tokens;
}

/**
 * Draws what can be done with an answer, and what it took.
 * @param {import("../types.js").Answer} reply
 * @param {{retry: () => void, edit: () => void}} again
 * @param {import("../types.js").Feedback | null} feedback
 */
export function foot(reply, again, feedback) {
  const copy = action("copy", "Copy");
  copy.addEventListener("click", () => copyText(asText(reply), copy));
  const retry = action("retry", "Retry");
  retry.title = "Ask for another answer; this one stays as an earlier version";
  retry.addEventListener("click", again.retry);
  const edit = action("pencil", "Edit");
  edit.title = "Change the question; this answer stays as an earlier version";
  edit.addEventListener("click", again.edit);
  const trace = element(
    "a",
    { class: "quiet", href: `${ROOT}/traces/${reply.query_id}`, "data-view": true },
    icon("trace"),
    "Trace",
  );
  const { thumbs, form } = new FeedbackControls(reply.query_id, feedback);
  return element(
    "footer",
    { class: "row answer-foot" },
    element("div", { class: "row" }, copy, retry, edit, trace, ...thumbs),
    facts(reply),
    form,
  );
}

/**
 * @param {string} sign
 * @param {string} name
 */
function action(sign, name) {
  return element("button", { class: "quiet", type: "button" }, icon(sign), name);
}
