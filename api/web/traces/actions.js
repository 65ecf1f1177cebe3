/** What can be done with a trace: replayed, forked, broken, compared, made a test of, taken along. */

import { ROOT, getJson, sendJson, send } from "../api.js";
import { download } from "../copying.js";
import { element, icon } from "../dom.js";
import { keptKey } from "../key.js";
import { count } from "../text.js";
import { kindName } from "../wording.js";
import { address, api, eventLink } from "./links.js";

/** Characters to show of each of two events that differ. */
const SHOWN = 600;

export class Actions {
  /**
   * @param {string} queryId
   */
  constructor(queryId) {
    this.queryId = queryId;
    this.fork = link("Fork from here");
    this.fault = link("Inject a fault here");
    this.compare = link("Compare with…");
    this.compare.href = address(queryId, "diff");
    this.result = element("div", { class: "action-result", role: "status" });
    const button = (/** @type {string} */ name, /** @type {() => Promise<Node>} */ act) => {
      const made = element("button", { class: "quiet", type: "button" }, name);
      made.addEventListener("click", () => this.#run(made, act));
      return made;
    };
    this.element = element(
      "div",
      { class: "row trace-actions", role: "group", "aria-label": "With this trace" },
      button("Replay", () => this.#replay()),
      this.fork,
      this.fault,
      this.compare,
      button("Make a test", () => this.#makeTest()),
      element(
        "a",
        {
          class: "quiet",
          href: `${ROOT}${api(queryId, "/export")}`,
          download: true,
          click: (event) => this.#export(event),
        },
        "Export",
      ),
    );
    this.at(1);
  }

  /**
   * Says from which event "here" is.
   * @param {number} seq
   */
  at(seq) {
    this.fork.href = address(this.queryId, "fork", seq);
    this.fault.href = address(this.queryId, "fault", seq);
  }

  /**
   * @param {HTMLButtonElement} button
   * @param {() => Promise<Node>} act
   */
  async #run(button, act) {
    button.disabled = true;
    this.result.replaceChildren(element("span", { class: "spinner" }));
    try {
      this.result.replaceChildren(await act());
    } catch (error) {
      this.result.replaceChildren(
        element(
          "p",
          { class: "notice" },
          icon("warn"),
          element("span", {}, String(/** @type {Error} */ (error).message)),
        ),
      );
    }
    button.disabled = false;
  }

  async #replay() {
    const verdict = await sendJson(api(this.queryId, "/replay"));
    const checked = `${count(verdict.compared, "decision")} compared, ${verdict.verified} of components verified`;
    const skipped = verdict.skipped.map((/** @type {string} */ each) => element("li", { dir: "auto" }, each));
    const rest = skipped.length === 0 ? null : element("ul", { class: "stack soft" }, ...skipped);
    if (verdict.divergence === null) {
      return element(
        "div",
        { class: "notice good verdict same" },
        element(
          "p",
          {},
          icon("tick"),
          element("strong", {}, "The replay gives the same events. "),
          `${checked}.`,
        ),
        rest,
      );
    }
    return element("div", { class: "notice verdict differs" }, this.#divergence(verdict.divergence), rest);
  }

  /** @param {any} found */
  #divergence(found) {
    const [recorded, now] = excerpts(String(found.recorded), String(found.now));
    return element(
      "div",
      {},
      element(
        "p",
        { dir: "auto" },
        icon("warn"),
        element("strong", {}, "The replay differs "),
        "from ",
        eventLink(this.queryId, found.seq, `event ${found.seq}, ${kindName(found.kind)}`),
        ` on (${found.difference}). ${found.detail}`,
      ),
      found.field
        ? element(
            "dl",
            { class: "rows fields" },
            element("dt", {}, "Field"),
            element("dd", {}, element("code", {}, found.field)),
            element("dt", {}, "Recorded"),
            element("dd", {}, element("code", {}, recorded)),
            element("dt", {}, "Now"),
            element("dd", {}, element("code", {}, now)),
          )
        : null,
    );
  }

  /**
   * Saves the trace as a file: a link by itself brings no key along.
   * @param {Event} event
   */
  async #export(event) {
    if (keptKey() === null) return;
    event.preventDefault();
    try {
      const file = await send(api(this.queryId, "/export"));
      download(`${this.queryId}.jsonl`, await file.text());
    } catch (error) {
      this.result.replaceChildren(
        element("p", { class: "notice" }, String(/** @type {Error} */ (error).message)),
      );
    }
  }

  async #makeTest() {
    const made = await getJson(api(this.queryId, "/test"));
    download(made.trace_name, made.trace);
    download(made.test_name, made.test);
    return element(
      "p",
      { class: "notice good verdict same" },
      icon("tick"),
      element("span", {}, "Two files were downloaded. Put ", element("code", {}, made.test_name), " and "),
      element(
        "span",
        {},
        element("code", {}, made.trace_name),
        " in one folder among your tests and run pytest.",
      ),
    );
  }
}

/** @param {string} name */
function link(name) {
  return element("a", { class: "quiet", "data-view": true }, name);
}

/**
 * Two long texts, each from shortly before they differ.
 * @param {string} left
 * @param {string} right
 */
function excerpts(left, right) {
  let same = 0;
  while (same < left.length && left[same] === right[same]) same += 1;
  const from = Math.max(left.length, right.length) > SHOWN ? Math.max(0, same - SHOWN / 3) : 0;
  return [left, right].map((text) => (from > 0 ? "…" : "") + text.slice(from, from + SHOWN));
}
