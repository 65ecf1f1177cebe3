/** The memory after an event, in its four layers, and the briefing as of then: what changed in it, and why. */

import { getJson } from "../api.js";
import { element } from "../dom.js";
import { count } from "../text.js";
import { kindName } from "../wording.js";
import { bar } from "./bars.js";
import { address, api, eventLink } from "./links.js";
import { toolCall } from "./saying.js";

/** A reader who steps on at once does not wait for what they do not look at. */
const PAUSE_MS = 150;
const KEPT = 60;
/** What a briefing shows that the one before did not. */
const BACK = new Set(["came", "returned"]);

export class MemoryPanel {
  /** @param {import("./model.js").Trace} trace */
  constructor(trace) {
    this.trace = trace;
    /** @type {Map<number, any>} */
    this.known = new Map();
    this.timer = 0;
    this.seq = 0;
    /** Layers stay open from event to event. */
    this.open = new Set(["Facts"]);
    this.briefing = element("section", { class: "card briefing", "aria-label": "Briefing" });
    this.memory = element("section", { class: "card memory", "aria-label": "Memory" });
  }

  /** @param {number} seq */
  show(seq) {
    this.seq = seq;
    clearTimeout(this.timer);
    this.#showBriefing(seq);
    const known = this.known.get(seq);
    if (known !== undefined) {
      this.#showMemory(known);
      return;
    }
    this.memory.setAttribute("aria-busy", "true");
    this.timer = setTimeout(() => this.#read(seq), PAUSE_MS);
  }

  leave() {
    clearTimeout(this.timer);
    this.seq = 0;
  }

  /** @param {number} seq */
  async #read(seq) {
    try {
      const memory = await getJson(api(this.trace.id, `/memory?at=${seq}`));
      if (this.known.size >= KEPT) this.known.clear();
      if (this.trace.isOver) this.known.set(seq, memory);
      if (seq === this.seq) this.#showMemory(memory);
    } catch (error) {
      if (seq !== this.seq) return;
      this.memory.replaceChildren(
        element("h2", {}, "Memory"),
        element("p", { class: "soft" }, String(/** @type {Error} */ (error).message)),
      );
    }
  }

  /** @param {any} memory */
  #showMemory(memory) {
    const event = this.trace.event(this.seq)?.event;
    const fresh = new Set((event?.facts ?? []).map((/** @type {any} */ fact) => fact.id ?? fact));
    const again = new Set(event?.repeated ?? []);
    this.memory.removeAttribute("aria-busy");
    this.memory.replaceChildren(
      element("h2", {}, "Memory", element("span", { class: "soft" }, ` after event ${memory.at}`)),
      this.#layer("Facts", memory.facts.length, facts(memory.facts, fresh, again)),
      this.#layer("Intent", memory.parts.length, intent(memory)),
      this.#layer("Tool usage", memory.attempts.length, attempts(memory, event)),
      this.#layer("Reasoning", memory.said.length, said(memory)),
    );
  }

  /**
   * @param {string} name
   * @param {number} size
   * @param {Node} content
   */
  #layer(name, size, content) {
    const summary = element("summary", {}, name, element("span", { class: "soft" }, ` ${size}`));
    const details = element("details", { class: "layer", open: this.open.has(name) }, summary, content);
    details.addEventListener("toggle", () => {
      if (details.open) this.open.add(name);
      else this.open.delete(name);
    });
    return details;
  }

  /** @param {number} seq */
  #showBriefing(seq) {
    const found = this.trace.lastBefore("briefing_prepared", seq);
    if (found === null) {
      this.briefing.replaceChildren(
        element("h2", {}, "Briefing"),
        element("p", { class: "soft" }, "No call has been prepared by then."),
      );
      return;
    }
    const briefing = found.event;
    const most = this.trace.question.settings?.briefing_tokens ?? briefing.tokens;
    const tokens = briefing.tokens.toLocaleString("en");
    this.briefing.replaceChildren(
      element(
        "h2",
        {},
        "Briefing",
        element("span", { class: "soft" }, ` of ${briefing.call_id}, `),
        eventLink(this.trace.id, found.seq, `event ${found.seq}`),
      ),
      element(
        "p",
        { class: "soft" },
        `${count(briefing.sources.length, "source")}, ${tokens} of ${most.toLocaleString("en")} tokens`,
      ),
      bar([{ name: "input", value: briefing.tokens, words: `${tokens} tokens of ${most}` }], most),
      this.#changes(briefing),
      element(
        "p",
        {},
        element(
          "a",
          { href: address(this.trace.id, "requests", briefing.call_id), "data-view": true },
          "What was shown and what was left out",
        ),
      ),
    );
  }

  /** @param {any} briefing */
  #changes(briefing) {
    if (briefing.changes.length === 0)
      return element("p", { class: "soft" }, "The same as the briefing before it.");
    const rows = briefing.changes.map((/** @type {any} */ change) =>
      element(
        "li",
        { class: `change ${change.change}` },
        element(
          "span",
          { class: BACK.has(change.change) ? "change-kind good" : "change-kind fair" },
          change.change,
        ),
        element(
          "span",
          { dir: "auto" },
          element("strong", {}, change.what),
          change.sentences.length === 0
            ? null
            : ` sentence${change.sentences.length === 1 ? "" : "s"} ${change.sentences.map((/** @type {number} */ n) => n + 1).join(", ")}`,
          `: ${change.why}`,
        ),
        element("span", { class: "number" }, `${change.tokens} tokens`),
      ),
    );
    return element(
      "ul",
      { class: "stack soft", "aria-label": "What changed since the briefing before it" },
      ...rows,
    );
  }
}

/**
 * @param {any[]} found
 * @param {Set<string>} fresh
 * @param {Set<string>} again
 */
function facts(found, fresh, again) {
  if (found.length === 0) return element("p", { class: "soft" }, "Nothing is known yet.");
  const items = found.map((fact) => {
    const notes = [
      `round ${fact.round}`,
      `score ${fact.score.toFixed(2)}`,
      fact.serves.length > 0 && `serves part ${fact.serves.join(", ")}`,
      fact.merged.length > 0 && `merged with ${fact.merged.join(", ")}`,
      fact.like !== null && `nearly the same as ${fact.like}`,
    ];
    return element(
      "li",
      { class: fresh.has(fact.id) ? "fresh" : null },
      element(
        "p",
        { dir: "auto" },
        element("strong", {}, fact.id),
        ` ${fact.source} `,
        fresh.has(fact.id) ? element("span", { class: "tag" }, "new") : null,
        again.has(fact.id) ? element("span", { class: "tag" }, "found again") : null,
      ),
      element("p", { class: "soft" }, notes.filter(Boolean).join(", ")),
      element("p", { class: "soft fact-text", dir: "auto" }, fact.sentences.join("")),
    );
  });
  return element("ul", { class: "stack facts-list" }, ...items);
}

/** @param {any} memory */
function intent(memory) {
  const parts = memory.parts.map((/** @type {any} */ part) =>
    element(
      "li",
      { dir: "auto" },
      element("span", { class: part.open ? "tag open-part" : "tag served" }, part.open ? "open" : "served"),
      ` ${part.kind}: ${part.text} `,
      part.facts.length > 0 ? element("span", { class: "soft" }, `by ${part.facts.join(", ")}`) : null,
    ),
  );
  const meant =
    memory.meant === memory.question ? null : element("p", { dir: "auto" }, `Understood as: ${memory.meant}`);
  const beyond =
    memory.beyond.length === 0
      ? null
      : element("p", { class: "soft", dir: "auto" }, `Also looked for: ${memory.beyond.join(", ")}`);
  return element("div", {}, meant, element("ul", { class: "stack" }, ...parts), beyond);
}

/**
 * @param {any} memory
 * @param {any} event
 */
function attempts(memory, event) {
  if (memory.attempts.length === 0) return element("p", { class: "soft" }, "No tool was called.");
  const about = event?.tool_call_id ?? event?.call?.id;
  const items = memory.attempts.map((/** @type {any} */ attempt) =>
    element(
      "li",
      { class: attempt.id === about ? "fresh" : null },
      element("p", { dir: "auto" }, toolCall(attempt.tool, attempt.arguments)),
      element(
        "p",
        { class: "soft", dir: "auto" },
        [
          `round ${attempt.round}`,
          kindName(attempt.outcome),
          attempt.facts.length > 0 && attempt.facts.join(", "),
          attempt.substitute && `by ${attempt.substitute}`,
          attempt.why && `“${attempt.why}”`,
          attempt.detail,
        ]
          .filter(Boolean)
          .join(", "),
      ),
    ),
  );
  const reached = memory.coverage.map((/** @type {any} */ each) =>
    element(
      "li",
      { dir: "auto" },
      `${each.course}${each.lesson === null ? "" : `, lesson ${each.lesson}`}: ${each.facts.join(", ")}`,
    ),
  );
  return element(
    "div",
    {},
    element("ul", { class: "stack facts-list" }, ...items),
    reached.length === 0 ? null : element("p", { class: "soft" }, "The search has reached:"),
    element("ul", { class: "stack" }, ...reached),
  );
}

/** @param {any} memory */
function said(memory) {
  const lines = memory.said.map((/** @type {string} */ line) => element("li", { dir: "auto" }, line));
  const summary = memory.summary
    ? element("p", { dir: "auto" }, element("strong", {}, "Summary: "), memory.summary)
    : null;
  if (lines.length === 0 && summary === null)
    return element("p", { class: "soft" }, "The model said nothing between its tool calls.");
  return element("div", {}, element("ul", { class: "stack" }, ...lines), summary);
}
