/** The two settings of a comparison, and what it costs at most. */

import { may } from "../access.js";
import { getJson, readiness } from "../api.js";
import { element } from "../dom.js";
import { count, cost } from "../text.js";
import { valueInput } from "../traces/setting_value.js";
import { kindName } from "../wording.js";

/**
 * @typedef {import("./sets.js").Settings} Settings
 * @typedef {{name: string, value: string | number | boolean | null, meaning: string, choices: string[], fork: string}} Setting
 */

/** What `POST /api/query` takes; the other side is a fork of the answer, which may change more. */
const ASKED_WITH = ["max_rounds", "deadline_s", "compression", "max_total_tokens", "max_cost_usd"];

const NOT_ALLOWED = "This key may not compare: it needs the scopes “ask” and “live”.";

/** @param {Settings} settings */
export function sideName(settings) {
  const parts = Object.entries(settings).map(([name, value]) => `${kindName(name)} ${value}`);
  return parts.join(", ") || "As now";
}

/** The service's settings of a query that can be changed here, by their names. */
export async function readSettings() {
  /** @type {{settings: Setting[]}} */
  const { settings } = await getJson("/api/settings");
  return new Map(settings.filter(({ fork }) => fork !== "none").map((each) => [each.name, each]));
}

export class Sides {
  /** @type {Map<string, Setting>} */
  #settings = new Map();
  #isFree = false;
  #plan = element("p", { class: "notice quiet-notice", role: "status" });
  #begin = element("button", { class: "button", type: "submit", disabled: true }, "Compare");

  /**
   * @param {() => number} asked How many questions there are.
   * @param {(left: Settings, right: Settings) => Promise<void>} run
   */
  constructor(asked, run) {
    this.asked = asked;
    this.left = new Side("Left", () => this.refresh());
    this.right = new Side("Right", () => this.refresh());
    this.element = element(
      "form",
      { class: "stack", submit: (/** @type {Event} */ event) => this.#run(event, run) },
      element("div", { class: "grid pair" }, this.left.element, this.right.element),
      this.#plan,
      this.#begin,
    );
    this.#read();
  }

  async #read() {
    try {
      this.#isFree = (await readiness()).reasoner === "offline";
      this.#settings = await readSettings();
      const all = [...this.#settings.values()];
      this.left.offer(all.filter(({ name }) => ASKED_WITH.includes(name)));
      this.right.offer(all);
      this.#begin.disabled = !may("live") || !may("ask");
      this.refresh();
    } catch (error) {
      this.#plan.textContent = String(/** @type {Error} */ (error).message);
    }
  }

  /** Says again what it costs. */
  refresh() {
    if (this.#settings.size === 0) return;
    const answers = `${count(this.asked(), "question")}, ${count(2 * this.asked(), "answer")}.`;
    this.#plan.textContent = this.#begin.disabled ? NOT_ALLOWED : `${answers} ${this.#cost()}`;
  }

  #cost() {
    if (this.#isFree) return "The built-in reasoner answers at no cost.";
    const [left, right] = [this.#most(this.left), this.#most(this.right)];
    if (left === null || right === null)
      return "The cost is not limited: set “max cost usd” on both sides to limit each answer.";
    const most = cost(this.asked() * (left + right));
    return `They cost at most ${most}: ${cost(left)} an answer on the left, ${cost(right)} on the right.`;
  }

  /** @param {Side} side */
  #most(side) {
    const most = side.settings().max_cost_usd ?? this.#settings.get("max_cost_usd")?.value ?? null;
    return most === null ? null : Number(most);
  }

  /**
   * @param {Event} event
   * @param {(left: Settings, right: Settings) => Promise<void>} run
   */
  async #run(event, run) {
    event.preventDefault();
    try {
      await run(this.left.settings(), this.right.settings());
    } catch (error) {
      this.#plan.textContent = String(/** @type {Error} */ (error).message);
    }
  }
}

/** The settings of one side: as now, or some of its own. */
class Side {
  #rows = element("div", { class: "stack" });
  #add = element(
    "button",
    { class: "button plain-button", type: "button", disabled: true },
    "Change a setting",
  );
  /** @type {Setting[]} */
  #offered = [];
  /** @type {Map<HTMLElement, () => [string, string]>} */
  #chosen = new Map();

  /**
   * @param {string} name
   * @param {() => void} changed
   */
  constructor(name, changed) {
    this.changed = changed;
    this.#add.addEventListener("click", () => this.#another().querySelector("select")?.focus());
    const title = element("h3", { id: `side-${name}` }, `${name}: as now, unless changed`);
    this.element = element(
      "div",
      { class: "card", role: "group", "aria-labelledby": title.id },
      title,
      this.#rows,
      this.#add,
    );
  }

  /** @param {Setting[]} settings */
  offer(settings) {
    this.#offered = settings;
    this.#add.disabled = settings.length === 0;
  }

  settings() {
    /** @type {Settings} */
    const settings = Object.fromEntries([...this.#chosen.values()].map((read) => read()));
    return settings;
  }

  #another() {
    const names = element("select", { class: "text-input", "aria-label": "Setting" });
    for (const { name } of this.#offered) names.append(element("option", { value: name }, kindName(name)));
    const place = element("span", {});
    const about = element("p", { class: "soft" });
    const remove = element("button", { class: "quiet", type: "button" }, "Remove");
    const row = element("div", { class: "stack" }, names, place, about, remove);
    /** @type {HTMLInputElement | HTMLSelectElement} */
    let value = element("input", {});
    const choose = () => {
      const setting = this.#offered.find(({ name }) => name === names.value);
      if (setting === undefined) return;
      value = valueInput(setting, undefined);
      value.addEventListener("input", this.changed);
      place.replaceChildren(value);
      about.textContent = setting.meaning;
      this.changed();
    };
    names.addEventListener("change", choose);
    remove.addEventListener("click", () => {
      this.#chosen.delete(row);
      row.remove();
      this.#add.focus();
      this.changed();
    });
    this.#chosen.set(row, () => [names.value, value.value.trim()]);
    this.#rows.append(row);
    choose();
    return row;
  }
}
