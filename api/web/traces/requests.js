/** Every request as text, call by call: what was shown, what was left out and by which rule, and what was replied. */

import { drawing, element, icon } from "../dom.js";
import { count } from "../text.js";
import { Launch } from "./launch.js";
import { address, eventLink } from "./links.js";
import { parsed, sentencesOf } from "./model.js";
import { flat, ordersIn } from "./orders.js";
import { kindName, toolCall } from "./saying.js";

/**
 * Why a sentence was left out.
 * @typedef {{rule: string, why: string, score: number | null, bar: number | null}} LeftOut
 */

export class Requests {
  /** @param {import("./model.js").Trace} trace */
  constructor(trace) {
    this.trace = trace;
    this.callId = "";
    this.calls = element("nav", { class: "call-tabs", "aria-label": "Calls" });
    this.content = element("div", { class: "request" });
    this.element = element("div", { class: "requests" }, this.calls, this.content);
  }

  /** @param {string | undefined} item */
  show(item) {
    const calls = [...this.trace.calls.values()].filter((call) => call.attempts.length > 0);
    const call = calls.find(({ id }) => id === item) ?? calls.at(-1);
    if (call === undefined) {
      this.content.replaceChildren(element("p", { class: "empty" }, "No model has been asked yet."));
      return;
    }
    this.callId = call.id;
    this.calls.replaceChildren(
      ...calls.map(({ id, isSummary, ended }) =>
        element(
          "a",
          {
            href: address(this.trace.id, "requests", id),
            "data-view": true,
            "aria-current": id === call.id ? "page" : null,
          },
          id,
          element("span", { class: "soft" }, isSummary ? " summary" : ` ${endOf(ended)}`),
        ),
      ),
    );
    this.#read(call);
  }

  /** @param {import("./model.js").Call} call */
  async #read(call) {
    const attempt = call.attempts.at(-1);
    if (attempt === undefined) return;
    try {
      const whole = await this.trace.readWhole(attempt.started);
      if (call.id !== this.callId) return;
      this.content.replaceChildren(...this.#parts(call, whole));
    } catch (error) {
      this.content.replaceChildren(
        element("p", { class: "empty" }, String(/** @type {Error} */ (error).message)),
      );
    }
  }

  update() {
    this.show(this.callId || undefined);
  }

  leave() {
    this.callId = "";
  }

  /**
   * @param {import("./model.js").Call} call
   * @param {import("../types.js").Recorded} started
   */
  #parts(call, started) {
    const { request, attempt, reasoner, repairs, caching } = started.event;
    const notes = [
      `sent to ${reasoner}`,
      attempt > 1 && `attempt ${attempt}`,
      `at most ${count(request.max_tokens, "token")}`,
      repairs.length > 0 && `mended by ${repairs.join(", ")}`,
      caching,
    ];
    const briefing = call.briefing?.event ?? null;
    const messages = request.messages.flatMap((/** @type {any} */ message) =>
      message.content.map((/** @type {string} */ block) => ({ role: message.role, block: parsed(block) })),
    );
    return [
      element(
        "p",
        { class: "figures" },
        notes.filter(Boolean).join(", "),
        ". ",
        eventLink(this.trace.id, started.seq, `event ${started.seq}`),
      ),
      part("System", prose(systemText(request.system)), false),
      request.tools ? part("Tools offered", prose(toolNames(request.tools)), false) : null,
      this.#conversation(),
      ...this.#messages(messages, briefing),
      this.#dropped(briefing),
      this.#reply(call),
      part("Exactly as sent", prose(JSON.stringify(request, null, 2)), false),
    ].filter((each) => each !== null);
  }

  #conversation() {
    const history = this.trace.question.history ?? [];
    if (history.length === 0) return null;
    const lines = history.flatMap((/** @type {any} */ exchange) => [
      element("dt", {}, "Asked"),
      element("dd", { dir: "auto" }, exchange.question),
      element("dt", {}, "Answered"),
      element("dd", { dir: "auto" }, exchange.answer),
    ]);
    return part(
      `Conversation, ${count(history.length, "exchange")}`,
      element("dl", { class: "fields" }, ...lines),
      false,
    );
  }

  /**
   * The messages block by block; the sources among them with what was left out of each.
   * @param {{role: string, block: any}[]} messages
   * @param {any} briefing
   */
  #messages(messages, briefing) {
    const parts = [];
    let source = 0;
    for (const { role, block } of messages) {
      if (block.type === "search_result") {
        const row = briefing?.sources[source];
        source += 1;
        parts.push(
          row === undefined
            ? part(block.title, prose(textOf(block)))
            : this.#source(row, source, block, briefing),
        );
        continue;
      }
      parts.push(part(role === "user" ? nameOfText(textOf(block)) : "Model", prose(textOf(block))));
    }
    return parts;
  }

  /**
   * A source: what was shown of it black, what was left out grey.
   * @param {{fact_id: string, sentences: number[]}} row
   * @param {number} number
   * @param {any} block
   * @param {any} briefing
   */
  #source(row, number, block, briefing) {
    const known = this.trace.facts.get(row.fact_id);
    if (known === undefined) return part(`Source ${number}`, prose(textOf(block)));
    const title = `Source ${number}: ${row.fact_id}, ${block.title ?? known.fact.passage.source}`;
    return this.#fact(title, known.fact, new Set(row.sentences), briefing);
  }

  /** @param {any} briefing */
  #dropped(briefing) {
    if (briefing === null) return null;
    const shown = new Set(briefing.facts);
    const facts = new Set(briefing.dropped.map((/** @type {any} */ row) => row.what));
    const parts = [];
    for (const id of facts) {
      const known = this.trace.facts.get(id);
      if (!shown.has(id) && known !== undefined)
        parts.push(this.#fact(`${id}, ${known.fact.passage.source}`, known.fact, new Set(), briefing));
    }
    const others = briefing.dropped.filter((/** @type {any} */ row) => !this.trace.facts.has(row.what));
    for (const row of others) parts.push(element("p", { class: "soft" }, `${row.what}: ${row.why}`));
    if (parts.length === 0) return null;
    return element(
      "section",
      { class: "left-out-facts" },
      element("h3", {}, `Left out whole: ${count(parts.length, "part")}`),
      ...parts,
    );
  }

  /**
   * @param {string} title
   * @param {any} fact
   * @param {Set<number>} shown
   * @param {any} briefing
   */
  #fact(title, fact, shown, briefing) {
    const reasons = reasonsFor(fact.id, briefing);
    const orders = ordersIn(this.trace);
    const place = element("div", { class: "show-place" });
    const sentences = sentencesOf(fact.passage).map((text, number) => {
      if (shown.has(number)) return shownSentence(text, orders);
      const reason = reasons.get(number) ?? reasons.get(-1) ?? null;
      return this.#leftOut(fact.id, number, text, reason, place);
    });
    return part(title, element("div", { class: "sentences", dir: "auto" }, ...sentences, place));
  }

  /**
   * @param {string} factId
   * @param {number} number
   * @param {string} text
   * @param {LeftOut | null} reason
   * @param {HTMLElement} place
   */
  #leftOut(factId, number, text, reason, place) {
    const button = element(
      "button",
      { type: "button", class: "left-out", title: "Show it: a fork in which the call sees this sentence" },
      text.trim(),
    );
    button.addEventListener("click", () => this.#offer(factId, number, place));
    return element("span", { class: "left-out-line" }, button, reason === null ? null : worth(reason));
  }

  /**
   * Offers a fork in which a sentence is shown.
   * @param {string} factId
   * @param {number} number
   * @param {HTMLElement} place
   */
  #offer(factId, number, place) {
    const briefing = this.trace.calls.get(this.callId)?.briefing;
    if (briefing === null || briefing === undefined) return;
    const change = { kind: "show", name: factId, value: [number] };
    const launch = new Launch(this.trace.id, () => ({ at: briefing.seq, change }));
    place.replaceChildren(
      element(
        "section",
        { class: "offer", "aria-label": "Show it" },
        element("h4", {}, `Show it: ${factId}, sentence ${number + 1}, in the briefing of ${this.callId}`),
        launch.element,
      ),
    );
    launch.begin.scrollIntoView({ block: "nearest" });
  }

  /** @param {import("./model.js").Call} call */
  #reply(call) {
    if (call.ended === null) return part("Reply", element("p", { class: "empty" }, "None yet."));
    const { seq, event } = call.ended;
    const link = eventLink(this.trace.id, seq, `event ${seq}`);
    if (event.content === undefined)
      return part(
        "No reply",
        element(
          "p",
          { class: "notice" },
          icon("warn"),
          element("span", {}, `${kindName(event.failure)}: ${event.detail} `, link),
        ),
      );
    const blocks = event.content.map((/** @type {string} */ block) => replyBlock(parsed(block)));
    const usage = event.usage;
    return part(
      `Reply (${endOf(call.ended)})`,
      element(
        "div",
        { class: "reply" },
        ...blocks,
        element(
          "p",
          { class: "figures" },
          `${event.model}, ${usage.input_tokens.toLocaleString("en")} tokens in, ${usage.output_tokens.toLocaleString("en")} out, `,
          link,
        ),
      ),
    );
  }
}

/** @param {import("../types.js").Recorded | null} ended */
function endOf(ended) {
  if (ended === null) return "under way";
  return kindName(ended.event.stop_reason ?? "failed");
}

/**
 * @param {string} name
 * @param {Node} content
 * @param {boolean} isOpen
 */
function part(name, content, isOpen = true) {
  return element(
    "details",
    { class: "card request-part", open: isOpen },
    element("summary", { dir: "auto" }, name),
    content,
  );
}

/** @param {string} text */
function prose(text) {
  return element("pre", { class: "prose", tabindex: 0, dir: "auto" }, text);
}

/** @param {string} system */
function systemText(system) {
  const blocks = parsed(system);
  if (!Array.isArray(blocks)) return system;
  return blocks.map((block) => String(block?.text ?? "")).join("\n\n");
}

/**
 * The name of a text of ours in a briefing, by the tag that it begins with.
 * @param {string} text
 */
function nameOfText(text) {
  if (text.startsWith("<question>")) return "Question";
  if (text.startsWith("<conversation>")) return "Conversation";
  return "Notes";
}

/**
 * A block of a reply; what the model thought is no part of what it says.
 * @param {any} block
 */
function replyBlock(block) {
  if (block?.type !== "thinking") return prose(textOf(block));
  return element(
    "div",
    { class: "soft" },
    element("p", {}, "Thought:"),
    prose(block.thinking || "The server does not say what."),
  );
}

/** @param {string} tools */
function toolNames(tools) {
  const found = parsed(tools);
  if (!Array.isArray(found)) return tools;
  return found.map((tool) => `${tool.name}: ${tool.description ?? ""}`).join("\n\n");
}

/**
 * The text of a content block.
 * @param {any} block
 */
function textOf(block) {
  if (typeof block !== "object" || block === null) return String(block);
  if (block.type === "text") return String(block.text ?? "");
  if (block.type === "tool_use") return `calls ${toolCall(block.name, JSON.stringify(block.input))}`;
  if (block.type === "search_result" && Array.isArray(block.content))
    return block.content.map((/** @type {any} */ each) => String(each?.text ?? "")).join("");
  return JSON.stringify(block, null, 2);
}

/**
 * Why sentences of a fact were left out, by their number; -1 stands for all that no row names.
 * @param {string} factId
 * @param {any} briefing
 * @returns {Map<number, LeftOut>}
 */
function reasonsFor(factId, briefing) {
  /** @type {Map<number, LeftOut>} */
  const reasons = new Map();
  for (const row of briefing.dropped) {
    if (row.what !== factId) continue;
    const { rule, why, bar } = row;
    if (row.sentences.length === 0) reasons.set(-1, { rule, why, score: null, bar });
    row.scores.forEach((/** @type {number} */ score, /** @type {number} */ place) => {
      reasons.set(row.sentences[place] ?? place, { rule, why, score, bar });
    });
  }
  return reasons;
}

/**
 * The rule that left a sentence out, and what it was worth beside what would have been enough.
 * @param {LeftOut} reason
 */
function worth({ rule, why, score, bar }) {
  const words =
    score === null || bar === null
      ? rule
      : `${rule}, worth ${score.toFixed(2)}, ${bar.toFixed(2)} would have stayed`;
  const most = Math.max(1, score ?? 0, bar ?? 0);
  const drawn =
    score === null
      ? null
      : drawing(
          "svg",
          { class: "worth-bar", viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" },
          drawing("rect", { class: "worth", x: 0, y: 0, width: (100 * score) / most, height: 10 }),
          bar === null
            ? null
            : drawing("rect", { class: "enough", x: (100 * bar) / most - 1, y: 0, width: 2, height: 10 }),
        );
  return element("span", { class: "reason", title: why }, drawn, words);
}

/**
 * @param {string} text
 * @param {string[]} orders
 */
function shownSentence(text, orders) {
  const isOrder = orders.some((words) => words !== "" && flat(text).includes(words));
  if (!isOrder) return element("span", { class: "shown" }, text);
  return element("span", { class: "shown orders" }, text, element("span", { class: "tag" }, "gives orders"));
}
