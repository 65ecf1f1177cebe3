/** Every request as text, call by call: the messages, what was left out and by which rule, and the reply. */

import { element, icon } from "../dom.js";
import { count } from "../text.js";
import { kindName } from "../wording.js";
import { Sources } from "./briefing.js";
import { address, eventLink } from "./links.js";
import { bringIntoView, mark } from "./marking.js";
import { parsed } from "./model.js";
import { toolCall } from "./saying.js";

export class Requests {
  /**
   * @param {import("./model.js").Trace} trace
   * @param {import("./trace.js").Page} page
   */
  constructor(trace, page) {
    this.trace = trace;
    this.page = page;
    this.callId = "";
    this.calls = element("nav", { class: "row call-tabs", "aria-label": "Calls" });
    this.content = element("div", { class: "stack request" });
    this.element = element("div", { class: "stack" }, this.calls, this.content);
  }

  /** @param {string | undefined} item */
  show(item) {
    const calls = [...this.trace.calls.values()].filter((call) => call.attempts.length > 0);
    const call = calls.find(({ id }) => id === item) ?? calls.at(-1);
    if (call === undefined) {
      this.content.replaceChildren(element("p", { class: "soft" }, "No model has been asked yet."));
      return;
    }
    this.callId = call.id;
    this.calls.replaceChildren(
      ...calls.map(({ id, isSummary, ended }) =>
        element(
          "a",
          {
            href: address(this.trace.id, "requests", id),
            class: "quiet",
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
      const [first] = mark(this.content, this.page.meant());
      if (first !== undefined) bringIntoView(this.page.pane, first);
    } catch (error) {
      this.content.replaceChildren(
        element("p", { class: "soft" }, String(/** @type {Error} */ (error).message)),
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
      repairs.length > 0 && `repaired by ${repairs.join(", ")}`,
      caching,
    ];
    const briefing = call.briefing?.event ?? null;
    const messages = request.messages.flatMap((/** @type {any} */ message) =>
      message.content.map((/** @type {string} */ block) => ({ role: message.role, block: parsed(block) })),
    );
    return [
      element(
        "p",
        { class: "soft" },
        notes.filter(Boolean).join(", "),
        ". ",
        eventLink(this.trace.id, started.seq, `event ${started.seq}`),
      ),
      this.#conversation(),
      ...this.#messages(messages, briefing),
      briefing === null ? null : new Sources(this.trace, this.callId).dropped(briefing),
      this.#reply(call),
      part("System", prose(systemText(request.system)), false),
      request.tools ? part("Tools offered", prose(toolNames(request.tools)), false) : null,
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
      element("dl", { class: "rows fields" }, ...lines),
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
    const sources = new Sources(this.trace, this.callId);
    let source = 0;
    for (const { role, block } of messages) {
      if (block.type === "search_result") {
        const row = briefing?.sources[source];
        source += 1;
        parts.push(
          row === undefined
            ? part(block.title, prose(textOf(block)))
            : (sources.shown(row, source, briefing) ?? part(block.title, prose(textOf(block)))),
        );
        continue;
      }
      parts.push(part(role === "user" ? nameOfText(textOf(block)) : "Model", prose(textOf(block))));
    }
    return parts;
  }

  /** @param {import("./model.js").Call} call */
  #reply(call) {
    if (call.ended === null) return part("Reply", element("p", { class: "soft" }, "None yet."));
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
        { class: "stack" },
        ...blocks,
        element(
          "p",
          { class: "soft" },
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
  return element("pre", { class: "words", tabindex: 0, dir: "auto" }, text);
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
    element("p", {}, "Thinking:"),
    prose(block.thinking || "The server does not show it."),
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
