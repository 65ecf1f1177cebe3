/** A fault at an event: what could go wrong there, the plan that makes it happen, and a fork under it. */

import { getJson } from "../api.js";
import { element } from "../dom.js";
import { count } from "../text.js";
import { kindName } from "../wording.js";
import { Launch } from "./launch.js";
import { api, eventLink } from "./links.js";

export class Fault {
  /** @param {import("./model.js").Trace} trace */
  constructor(trace) {
    this.trace = trace;
    this.seq = 1;
    this.asked = 0;
    /** @type {{at: number, plan: any, kinds: Record<string, string[]>} | null} */
    this.found = null;
    this.about = element("p", { class: "soft" });
    this.kind = element("select", { class: "text-input", id: "fault-kind" });
    this.kind.addEventListener("change", () => this.#choose());
    this.where = element("dl", { class: "rows" });
    this.plan = element("pre", { tabindex: 0, "aria-label": "The plan" });
    this.problem = element("p", { class: "notice", hidden: true });
    this.launch = new Launch(
      trace.id,
      () => this.#body(),
      (error) => this.#refuse(error),
    );
    this.form = element(
      "fieldset",
      { class: "stack choices" },
      element("label", { for: "fault-kind" }, "What goes wrong"),
      this.kind,
      this.where,
      element("details", {}, element("summary", {}, "The plan as JSON"), this.plan),
      this.launch.element,
    );
    this.element = element(
      "section",
      { class: "card fork-form", "aria-labelledby": "fault-title" },
      element("h2", { id: "fault-title" }, "Inject a fault here"),
      this.about,
      this.problem,
      this.form,
    );
  }

  /** @param {string | undefined} item */
  show(item) {
    this.seq = Math.max(1, Math.min(Number(item) || 1, this.trace.events.length));
    const recorded = this.trace.event(this.seq);
    if (recorded === null) return;
    this.about.replaceChildren(
      "At ",
      eventLink(this.trace.id, this.seq, `event ${this.seq}, ${kindName(recorded.event.kind)}`),
      ". From a shell: ",
      element("code", {}, `antiphon traces fault ${this.trace.id.slice(0, 12)} --at ${this.seq}`),
    );
    this.kind.replaceChildren();
    this.#read("");
  }

  update() {}

  leave() {
    this.asked += 1;
  }

  /** @param {string} rest */
  async #read(rest) {
    this.asked += 1;
    const mine = this.asked;
    this.found = null;
    try {
      const found = await getJson(api(this.trace.id, `/fault?at=${this.seq}${rest}`));
      if (mine !== this.asked) return;
      this.found = found;
      this.#draw(found);
    } catch (error) {
      this.#refuse(/** @type {Error} */ (error));
    }
  }

  /**
   * If faults are not allowed nothing can be chosen, and the view says why.
   * @param {Error} error
   */
  #refuse(error) {
    this.form.disabled = true;
    this.problem.hidden = false;
    this.problem.textContent = error.message;
    this.launch.element.hidden = true;
  }

  /** @param {{at: number, plan: any, kinds: Record<string, string[]>}} found */
  #draw(found) {
    this.problem.hidden = true;
    this.form.disabled = false;
    this.launch.element.hidden = false;
    this.plan.textContent = JSON.stringify(found.plan, null, 2);
    const [fault] = found.plan.faults;
    this.where.replaceChildren(
      ...row("Where", fault.point),
      ...row("When", fault.when === "any" ? "in any round" : kindName(fault.when)),
      ...row(
        "How often",
        `${fault.nth > 1 ? `from call ${fault.nth} on, ` : ""}${count(fault.times, "time")}`,
      ),
    );
    if (this.kind.childElementCount === 0) {
      for (const [point, kinds] of Object.entries(found.kinds)) {
        const group = element("optgroup", { label: point });
        for (const kind of kinds)
          group.append(element("option", { value: `${point} ${kind}` }, `${kindName(kind)}: ${point}`));
        this.kind.append(group);
      }
      this.kind.value = `${fault.point} ${fault.kind}`;
    }
    this.launch.refresh();
  }

  #choose() {
    const [point = "", kind = ""] = this.kind.value.split(" ");
    this.#read(`&${new URLSearchParams({ point, kind })}`);
  }

  #body() {
    if (this.found === null) return null;
    return { at: this.found.at, faults: this.found.plan };
  }
}

/**
 * @param {string} name
 * @param {string} text
 */
function row(name, text) {
  return [element("dt", {}, name), element("dd", {}, text)];
}
