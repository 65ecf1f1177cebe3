/** One event: why it matters, what went in and came out, and, folded, what led to it and all that it holds. */

import { element, plain } from "../dom.js";
import { count } from "../text.js";
import { kindName } from "../wording.js";
import { bodyOf } from "./event_body.js";
import { address, eventLink } from "./links.js";
import { parsed } from "./model.js";
import { lineOf, since } from "./saying.js";

const SHORT = 160;
const SHOWN_EFFECTS = 12;
/** The inner workings stay open from event to event. */
let isOpen = false;

/**
 * Draws an event; the parts that have to be read come a moment later.
 * @param {import("./model.js").Trace} trace
 * @param {import("../types.js").Recorded} recorded
 * @param {string[]} notes What was found out about it.
 * @param {() => void} drawn Called once all of it is there.
 */
export function eventCard(trace, recorded, notes, drawn) {
  const { kind } = recorded.event;
  const known = trace.kinds.get(kind);
  const body = element("div", { class: "stack event-body" });
  bodyOf(trace, recorded)
    .then((parts) => body.replaceChildren(...parts))
    .catch((error) => {
      // An event of a subscriber may have the fields of ours, and other values in them.
      const isOurs = error instanceof TypeError;
      body.replaceChildren(element("p", { class: "soft" }, isOurs ? "" : String(error.message)));
    })
    .finally(drawn);
  return element(
    "article",
    { class: "stack event-card", "aria-labelledby": "event-title", "aria-busy": "true" },
    element(
      "header",
      { class: "row spread event-head" },
      element("h2", { id: "event-title" }, kindName(kind)),
      element(
        "span",
        { class: "soft number" },
        `event ${recorded.seq}, `,
        since(recorded.at - trace.beganAt),
      ),
    ),
    known ? element("p", { class: "soft event-says" }, known.says) : null,
    ...notes.slice(0, 1).map(noteOf),
    body,
    ...notes.slice(1).map(noteOf),
    workings(trace, recorded, known),
  );
}

/** @param {string} note */
function noteOf(note) {
  return element("p", { class: "notice doubt-note", dir: "auto" }, note);
}

/**
 * @param {import("./model.js").Trace} trace
 * @param {import("../types.js").Recorded} recorded
 * @param {import("./model.js").EventKind | undefined} known
 */
function workings(trace, recorded, known) {
  const details = element(
    "details",
    { class: "workings", open: isOpen },
    element("summary", {}, "Details: causes, handlers and every field"),
    element(
      "dl",
      { class: "rows about" },
      ...row("From", trace.emitter(recorded)),
      ...row("Received by", heardBy(known)),
      ...row("Because of", chainOf(trace, recorded)),
      ...row("Led to", effectsOf(trace, recorded)),
      ...row("Call", callLinks(trace, recorded)),
    ),
    fieldList(trace, recorded),
  );
  details.addEventListener("toggle", () => {
    isOpen = details.open;
  });
  return details;
}

/**
 * @param {string} name
 * @param {string | Node | null} value
 */
function row(name, value) {
  if (value === null) return [];
  return [element("dt", {}, name), element("dd", {}, value)];
}

/** @param {import("./model.js").EventKind | undefined} known */
function heardBy(known) {
  if (known === undefined)
    return "unknown: nothing here defines such events. Name the subscriber that does in ANTIPHON_SUBSCRIBERS.";
  if (known.heard_by.length === 0) return "no component; it is for the trace and its followers";
  const names = known.heard_by.map((name) => element("code", {}, name));
  return element("span", { class: "row" }, ...names);
}

/**
 * @param {import("./model.js").Trace} trace
 * @param {import("../types.js").Recorded} recorded
 */
function chainOf(trace, recorded) {
  const chain = trace.chain(recorded);
  if (chain.length === 0) return "nothing; it came from outside";
  const items = chain.map((cause) =>
    element("li", {}, eventLink(trace.id, cause.seq, `${cause.seq} ${kindName(cause.event.kind)}`)),
  );
  return element("ol", { class: "row chain", "aria-label": "What led to it, nearest first" }, ...items);
}

/**
 * @param {import("./model.js").Trace} trace
 * @param {import("../types.js").Recorded} recorded
 */
function effectsOf(trace, recorded) {
  const effects = trace.effects.get(recorded.seq) ?? [];
  if (effects.length === 0) return null;
  const items = effects.slice(0, SHOWN_EFFECTS).map((seq) => {
    const effect = trace.event(seq);
    return element("li", {}, eventLink(trace.id, seq, `${seq} ${kindName(effect?.event.kind ?? "")}`));
  });
  const more = effects.length - items.length;
  if (more > 0) items.push(element("li", {}, `and ${more} more`));
  return element("ul", { class: "row chain" }, ...items);
}

/**
 * The links to the request and the reply of an event's call.
 * @param {import("./model.js").Trace} trace
 * @param {import("../types.js").Recorded} recorded
 */
function callLinks(trace, recorded) {
  const id = recorded.event.call_id;
  const call = typeof id === "string" ? trace.calls.get(id) : undefined;
  const started = call?.attempts.at(-1)?.started;
  if (call === undefined || started === undefined) return null;
  const links = element("span", { class: "row" });
  links.append(
    element("a", { href: address(trace.id, "requests", call.id), "data-view": true }, `${call.id} as text`),
    eventLink(trace.id, started.seq, `exact request (${started.seq})`),
  );
  if (call.ended !== null)
    links.append(eventLink(trace.id, call.ended.seq, `exact reply (${call.ended.seq})`));
  return links;
}

/**
 * @param {import("./model.js").Trace} trace
 * @param {import("../types.js").Recorded} recorded
 */
function fieldList(trace, recorded) {
  const { kind: _, ...fields } = recorded.event;
  const missing = new Set(trace.missing(recorded));
  const list = element("dl", { class: "rows fields" });
  for (const [name, value] of Object.entries(fields)) {
    if (missing.has(name)) {
      list.append(element("dt", {}, kindName(name)), element("dd", {}, readLater(trace, recorded, name)));
      continue;
    }
    if (isNothing(value)) continue;
    list.append(element("dt", {}, kindName(name)), element("dd", { dir: "auto" }, shown(name, value)));
  }
  return list;
}

/**
 * A field that was not read with the trace: it is when somebody looks at it.
 * @param {import("./model.js").Trace} trace
 * @param {import("../types.js").Recorded} recorded
 * @param {string} name
 */
function readLater(trace, recorded, name) {
  return unfolding(element("summary", {}, "Show"), name, async () => {
    const whole = await trace.readWhole(recorded);
    return readable(whole.event[name]);
  });
}

/**
 * Something long, put on the page when it is opened.
 * @param {HTMLElement} summary
 * @param {string} name
 * @param {() => string | Promise<string>} read
 */
function unfolding(summary, name, read) {
  const details = element("details", { class: "long" }, summary);
  const unfold = async () => {
    const text = element("pre", { tabindex: 0, "aria-label": kindName(name) }, "Reading…");
    details.append(text);
    try {
      text.textContent = plain(await read());
    } catch (error) {
      text.textContent = String(/** @type {Error} */ (error).message);
    }
  };
  details.addEventListener("toggle", unfold, { once: true });
  return details;
}

/**
 * @param {any} value
 * @returns {boolean}
 */
function isNothing(value) {
  if (Array.isArray(value)) return value.length === 0;
  if (typeof value === "object" && value !== null) return Object.values(value).every((part) => !part);
  return value === null || value === "";
}

/**
 * A value as it can be read; a long one when somebody looks at it, since a trace holds whole requests.
 * @param {string} name
 * @param {any} value
 */
function shown(name, value) {
  if (typeof value === "string" && value.length <= SHORT) return value;
  if (typeof value === "number") return value.toLocaleString("en", { maximumFractionDigits: 3 });
  if (typeof value === "boolean") return value ? "yes" : "no";
  const short = typeof value === "object" && !Array.isArray(value) ? plainly(value) : JSON.stringify(value);
  if (typeof value !== "string" && short.length <= SHORT)
    return Array.isArray(value) ? element("code", {}, short) : short;
  const what = Array.isArray(value) ? count(value.length, "part") : size(value);
  const summary = element("summary", {}, `${beginning(value)} `, element("span", { class: "soft" }, what));
  return unfolding(summary, name, () => readable(value));
}

/**
 * A small value in words: "input tokens 10, output tokens 5".
 * @param {Record<string, any>} value
 */
function plainly(value) {
  const parts = Object.entries(value).filter(([, part]) => part !== null && part !== 0 && part !== "");
  return parts
    .map(([name, part]) => `${kindName(name)} ${typeof part === "string" ? part : JSON.stringify(part)}`)
    .join(", ");
}

/** @param {any} value */
function size(value) {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return count(text.length, "character");
}

/** @param {any} value */
function beginning(value) {
  if (typeof value === "string") return `${value.slice(0, 80)}…`;
  if (Array.isArray(value)) return "";
  return `${Object.keys(value).slice(0, 4).join(", ")}…`;
}

/** @param {any} value */
function readable(value) {
  if (typeof value === "string") return value;
  return JSON.stringify(unfolded(value), null, 2);
}

/**
 * Content blocks are JSON within JSON: unfolded they can be read.
 * @param {any} value
 * @returns {any}
 */
function unfolded(value) {
  if (typeof value === "string" && /^[[{]/.test(value)) return parsed(value);
  if (Array.isArray(value)) return value.map(unfolded);
  if (typeof value === "object" && value !== null)
    return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, unfolded(part)]));
  return value;
}

/**
 * Says an event in one line, for screen readers.
 * @param {import("../types.js").Recorded} recorded
 */
export function inWords(recorded) {
  return `Event ${recorded.seq}: ${kindName(recorded.event.kind)}. ${lineOf(recorded.event)}`;
}
