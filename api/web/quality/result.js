/** A comparison: its run, its totals, and a row for each question. */

import { tokens } from "../ask/answer.js";
import { element, plain } from "../dom.js";
import { table } from "../side_by_side.js";
import { cost, count, seconds } from "../text.js";
import { Row } from "./row.js";
import { Run } from "./run.js";
import { saveSet } from "./sets.js";
import { sideName } from "./sides.js";

/**
 * @typedef {import("./sets.js").QuestionSet} QuestionSet
 * @typedef {import("../types.js").Answer} Answer
 */

export class Result {
  #bar = element("progress", { "aria-label": "Questions that were compared" });
  #said = element("p", { class: "soft", role: "status" });
  #go = element("button", { class: "button", type: "button" }, "Continue");
  #stop = element("button", { class: "button plain-button", type: "button", hidden: true }, "Stop");
  #totals = element("div", {});
  #list = element("ol", { class: "stack" });
  #order = element(
    "select",
    { "aria-label": "Order" },
    element("option", { value: "asked" }, "As asked"),
    element("option", { value: "changed" }, "Changed first"),
  );
  /** @type {Run | null} */
  #run = null;
  #problem = "";

  /**
   * @param {QuestionSet} set
   * @param {import("./sets.js").Comparison} comparison
   */
  constructor(set, comparison) {
    this.set = set;
    this.comparison = comparison;
    const save = async () => {
      await saveSet(this.set);
      this.#sumUp();
    };
    /** @type {[string, string]} */
    this.names = [sideName(comparison.left), sideName(comparison.right)];
    this.rows = set.questions.map((question) => new Row(question, this.names, save));
    this.#list.append(...this.rows.map((row) => row.element));
    this.#order.addEventListener("change", () => this.#sort());
    this.#go.addEventListener("click", () => this.run());
    this.#stop.addEventListener("click", () => this.stop());
    this.#bar.max = set.questions.length;
    this.element = element(
      "div",
      { class: "stack" },
      element(
        "div",
        { class: "stack" },
        this.#bar,
        element("div", { class: "row" }, this.#said, this.#go, this.#stop),
      ),
      this.#totals,
      element("div", { class: "filters" }, this.#order),
      this.#list,
    );
    this.#draw();
  }

  /** Shows what is there already. */
  async read() {
    for (const row of this.rows) await row.read();
    this.#sumUp();
  }

  stop() {
    this.#run?.stop();
  }

  async run() {
    const run = new Run(this.set, this.comparison);
    /** @type {Row | undefined} */
    let row;
    this.#run = run;
    this.#problem = "";
    try {
      await run.go(
        (question) => {
          row = this.rows[this.set.questions.indexOf(question)];
          row?.say("Being asked…");
          this.#draw(question.question);
        },
        async () => {
          await row?.read();
          this.#sumUp();
        },
      );
    } catch (error) {
      this.#problem = run.isStopped ? "Stopped." : String(/** @type {Error} */ (error).message);
      row?.say("Not finished.");
    }
    this.#run = null;
    this.#draw();
  }

  /** @param {string} asking What is being asked. */
  #draw(asking = "") {
    const all = this.set.questions;
    const done = all.filter(({ left, right }) => left && right).length;
    const isRunning = this.#run !== null;
    this.#bar.value = done;
    this.#go.hidden = isRunning || done === all.length;
    this.#stop.hidden = !isRunning;
    const state = `${done} of ${count(all.length, "question")} compared.`;
    const now = isRunning ? `It runs while this page is open. ${asking}` : "";
    this.#said.textContent = plain(`${this.#problem} ${state} ${now}`.trim());
  }

  #sort() {
    const rows = [...this.rows];
    if (this.#order.value === "changed") rows.sort((one, other) => other.changed - one.changed);
    this.#list.append(...rows.map((row) => row.element));
  }

  #sumUp() {
    this.#draw();
    const read = this.rows.filter(({ answers }) => answers.length === 2);
    /** @param {"left" | "right"} name */
    const side = (name) => ({
      answers: read.map(({ answers }) => /** @type {Answer} */ (answers[name === "left" ? 0 : 1])),
      better: this.set.questions.filter(({ verdict }) => verdict === name).length,
    });
    /** @type {[string, (side: {answers: Answer[], better: number}) => string][]} */
    const lines = [
      [
        "High confidence",
        ({ answers }) => String(answers.filter((each) => each.uncertainty.confidence === "high").length),
      ],
      ["Citations", ({ answers }) => String(sum(answers, (each) => each.citations.length))],
      ["Tokens", ({ answers }) => sum(answers, ({ usage }) => tokens(usage)).toLocaleString("en")],
      ["Cost", ({ answers }) => cost(spent(answers))],
      ["Time", ({ answers }) => seconds(sum(answers, (each) => each.duration_ms) / 1000)],
      ["Better", ({ better }) => String(better)],
    ];
    const changed = read.filter((row) => row.changed > 0).length;
    const [left, right] = this.names;
    const about = `${changed} of ${count(read.length, "answer")} changed`;
    this.#totals.replaceChildren(
      table(
        "Totals",
        about,
        [
          [left, side("left")],
          [right, side("right")],
        ],
        lines,
      ),
    );
  }
}

/**
 * @param {Answer[]} answers
 * @param {(answer: Answer) => number} of
 */
function sum(answers, of) {
  return answers.reduce((total, answer) => total + of(answer), 0);
}

/** @param {Answer[]} answers */
function spent(answers) {
  if (answers.some(({ usage }) => usage.cost_usd === null)) return null;
  return sum(answers, ({ usage }) => usage.cost_usd ?? 0);
}
