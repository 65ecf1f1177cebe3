/** "What went wrong?": what may have made the answer of a trace a bad one, the likeliest first, each with its event. */

import { ROOT, getJson } from "../api.js";
import { element, icon } from "../dom.js";
import { count } from "../text.js";

/** As many are shown before anybody asks for more. */
const FIRST = 3;
/** What weighs less says only what the answer rests on. */
const LEAST_TELLING = 0.35;
const STRONG = 0.7;

/** @type {Record<string, string>} */
const AREAS = {
  document: "Document",
  search: "Search",
  tool: "Tool",
  memory: "What was shown",
  model: "Model",
  conversation: "Conversation",
  limit: "Limit",
  service: "Service",
};

/**
 * @typedef {object} Suspect
 * @property {string} kind
 * @property {string} area
 * @property {string} text
 * @property {number} event_seq
 * @property {number} weight
 * @property {string} advice
 */

/**
 * Draws the panel, which reads its suspects itself.
 * @param {string} queryId
 * @param {number | null} seq The event that is looked at now.
 * @param {() => void} drawn Called once they are drawn.
 */
export function suspectsPanel(queryId, seq, drawn) {
  const body = element(
    "div",
    { class: "suspects-body" },
    element("p", { class: "suspects-about" }, "Looking…"),
  );
  const panel = element(
    "section",
    { class: "suspects", "aria-labelledby": "suspects-title", "aria-busy": "true" },
    element("h2", { id: "suspects-title" }, "What went wrong?"),
    body,
  );
  read(queryId, seq, panel, body).then(drawn);
  return panel;
}

/**
 * @param {string} queryId
 * @param {number | null} seq
 * @param {HTMLElement} panel
 * @param {HTMLElement} body
 */
async function read(queryId, seq, panel, body) {
  try {
    /** @type {{suspects: Suspect[]}} */
    const found = await getJson(`/api/traces/${encodeURIComponent(queryId)}/suspects`);
    const [about, ...rest] = drawn(queryId, seq, found.suspects);
    const isTelling = (found.suspects[0]?.weight ?? 0) >= LEAST_TELLING;
    body.replaceChildren(about, ...folded(rest, isTelling));
  } catch (error) {
    body.replaceChildren(
      element("p", { class: "notice" }, icon("warn"), String(/** @type {Error} */ (error).message)),
    );
  }
  panel.removeAttribute("aria-busy");
}

/**
 * @param {string} queryId
 * @param {number | null} seq
 * @param {Suspect[]} suspects
 * @returns {[HTMLElement, ...HTMLElement[]]}
 */
function drawn(queryId, seq, suspects) {
  const about = element("p", { class: "suspects-about" }, summary(suspects));
  if (suspects.length === 0) return [about];
  const items = suspects.map((suspect, index) => item(queryId, seq, suspect, index));
  const list = element("ol", { class: "suspect-list" }, ...items);
  const rest = items.slice(FIRST);
  // One that is looked at is never hidden.
  if (rest.length === 0 || rest.some((each) => each.querySelector("[aria-current]"))) return [about, list];
  for (const each of rest) each.hidden = true;
  const more = element(
    "button",
    { class: "quiet", type: "button" },
    `Show ${count(rest.length, "weaker suspect")}`,
  );
  more.addEventListener("click", () => {
    for (const each of rest) each.hidden = false;
    more.remove();
    rest[0]?.querySelector("a")?.focus();
  });
  return [about, list, more];
}

/**
 * What the answer rests on is folded where nothing stands out: the page below is what is looked at then.
 * @param {HTMLElement[]} parts
 * @param {boolean} isTelling
 * @returns {HTMLElement[]}
 */
function folded(parts, isTelling) {
  if (isTelling || parts.length === 0) return parts;
  return [element("details", {}, element("summary", {}, "What the answer rests on"), ...parts)];
}

/** @param {Suspect[]} suspects */
function summary(suspects) {
  const [first] = suspects;
  if (first === undefined)
    return "Nothing stands out: no failure, no lost evidence, no claim without support.";
  if (first.weight < LEAST_TELLING)
    return "Nothing stands out. If the answer is wrong anyway, look at what it rests on.";
  return "Likely causes of a bad answer, likeliest first. Each links to the event that explains it.";
}

/**
 * @param {string} queryId
 * @param {number | null} seq
 * @param {Suspect} suspect
 * @param {number} index
 */
function item(queryId, seq, suspect, index) {
  const strength = suspect.weight >= STRONG ? "strong" : suspect.weight >= LEAST_TELLING ? "fair" : "weak";
  const bar = element("span");
  bar.style.inlineSize = `${Math.round(suspect.weight * 100)}%`;
  const meter = element(
    "span",
    {
      class: `suspect-weight ${strength}`,
      role: "meter",
      "aria-label": "Weight",
      "aria-valuemin": 0,
      "aria-valuemax": 1,
      "aria-valuenow": suspect.weight,
      title: `Weight ${suspect.weight.toFixed(2)}: a rule of thumb, no probability`,
    },
    bar,
  );
  const link = element(
    "a",
    {
      class: "suspect",
      href: `${ROOT}/traces/${encodeURIComponent(queryId)}/events/${suspect.event_seq}`,
      "data-view": true,
      "aria-current": suspect.event_seq === seq ? "true" : null,
    },
    element("span", { class: "suspect-rank", "aria-hidden": "true" }, String(index + 1)),
    element(
      "span",
      { class: "suspect-words" },
      element("span", { class: "suspect-text", dir: "auto" }, suspect.text),
      element("span", { class: "suspect-advice" }, suspect.advice),
    ),
    element(
      "span",
      { class: "suspect-side" },
      element("span", { class: "tag" }, AREAS[suspect.area] ?? suspect.area),
      meter,
      element("span", { class: "suspect-event" }, `event ${suspect.event_seq}`),
    ),
  );
  return element("li", {}, link);
}
