/** Begins a fork: the reader chooses the mode and sees what it will call and may cost, and then it runs. */

import { may } from "../access.js";
import { RefusedError, getJson, sendJson } from "../api.js";
import { element, icon } from "../dom.js";
import { count } from "../text.js";
import { address, api, go } from "./links.js";

const PAUSE_MS = 300;
/** @type {[string, string, string][]} */
const MODES = [
  ["recorded", "As recorded", "model and tools answer as they did"],
  ["remodel", "Ask the model again", "tools give their recorded results if there are any"],
  ["live", "All live", "model and tools are both called"],
];
let groups = 0;

export class Launch {
  /**
   * @param {string} queryId
   * @param {() => Record<string, unknown> | null} bodyOf What the fork is to be, without its mode; null while that is
   * not known.
   * @param {(error: RefusedError) => void} forbidden Called if such a fork is not allowed here at all.
   */
  constructor(queryId, bodyOf, forbidden = () => {}) {
    this.queryId = queryId;
    this.bodyOf = bodyOf;
    this.forbidden = forbidden;
    // Without a model's permission only what was recorded can be played again.
    this.mode = may("live") ? "remodel" : "recorded";
    this.timer = 0;
    this.asked = 0;
    this.plan = element("p", { class: "plan", role: "status" });
    this.begin = element("button", { class: "button", type: "button", disabled: true }, "Run the fork");
    this.begin.addEventListener("click", () => this.#run());
    this.element = element(
      "div",
      { class: "stack" },
      this.#modes(),
      this.plan,
      element("div", { class: "row" }, this.begin),
    );
    this.refresh();
  }

  #modes() {
    groups += 1;
    const name = `mode-${groups}`;
    const choices = MODES.map(([value, title, about]) => {
      const disabled = value !== "recorded" && !may("live");
      const choice = element("input", { type: "radio", name, value, disabled, checked: value === this.mode });
      choice.addEventListener("change", () => {
        this.mode = value;
        this.refresh();
      });
      return element(
        "label",
        { class: "rows choice" },
        choice,
        element("span", {}, element("strong", {}, title), element("span", { class: "soft" }, ` ${about}`)),
      );
    });
    return element("fieldset", { class: "stack choices" }, element("legend", {}, "Who answers"), ...choices);
  }

  /** Says again what the fork would do: it has changed. */
  refresh() {
    clearTimeout(this.timer);
    this.begin.disabled = true;
    this.timer = setTimeout(() => this.#ask(), PAUSE_MS);
  }

  #body() {
    const body = this.bodyOf();
    return body === null ? null : { ...body, mode: this.mode };
  }

  async #ask() {
    const body = this.#body();
    if (body === null) {
      this.plan.textContent = "";
      return;
    }
    this.asked += 1;
    const mine = this.asked;
    try {
      const plan = await sendJson(api(this.queryId, "/fork/plan"), body);
      if (mine !== this.asked) return;
      const shared =
        plan.shared === 0 ? "It starts from the question." : `It shares ${count(plan.shared, "event")}.`;
      this.plan.className = plan.may_cost ? "plan notice" : "plan notice quiet-notice";
      this.plan.replaceChildren(
        icon(plan.may_cost ? "warn" : "info"),
        element(
          "span",
          {},
          element("strong", {}, plan.may_cost ? "This may cost money. " : ""),
          `${shared} ${plan.sentence}`,
        ),
      );
      this.begin.disabled = false;
    } catch (error) {
      if (mine !== this.asked) return;
      this.#refused(error);
      if (error instanceof RefusedError && error.status === 403) this.forbidden(error);
    }
  }

  /** @param {unknown} error */
  #refused(error) {
    this.plan.className = "plan notice";
    this.plan.replaceChildren(
      icon("warn"),
      element("span", {}, String(/** @type {Error} */ (error).message)),
    );
  }

  async #run() {
    const body = this.#body();
    if (body === null) return;
    this.begin.disabled = true;
    this.plan.className = "plan notice quiet-notice";
    this.plan.replaceChildren(element("span", { class: "spinner" }), element("span", {}, "The fork runs…"));
    try {
      const fork = await sendJson(api(this.queryId, "/fork"), body);
      // A reader who has gone elsewhere meanwhile finds it in the list.
      if (this.element.isConnected) go(address(this.queryId, "diff", fork.query_id));
    } catch (error) {
      this.#refused(error);
      this.begin.disabled = false;
    }
  }
}

/**
 * The settings that a fork may change over the network.
 * @returns {Promise<{name: string, value: any, meaning: string, choices: string[], fork: string}[]>}
 */
export async function forkSettings() {
  const { settings } = await getJson("/api/settings");
  return settings.filter((/** @type {{fork: string}} */ each) => each.fork !== "none");
}
