/** A comparison as it runs: it asks each question, and runs the answer again with the other settings. */

import { send, sendJson } from "../api.js";
import { saveSet } from "./sets.js";
import { readSettings } from "./sides.js";

/**
 * @typedef {import("./sets.js").QuestionSet} QuestionSet
 * @typedef {import("./sets.js").SavedQuestion} SavedQuestion
 * @typedef {import("./sets.js").Comparison} Comparison
 */

export class Run {
  #stop = new AbortController();
  /** @type {Map<string, import("./sides.js").Setting>} */
  #settings = new Map();
  /** One conversation, which is forgotten after each question, so that none leans on another. */
  #session = /** @type {string | null} */ (null);

  /**
   * @param {QuestionSet} set
   * @param {Comparison} comparison
   */
  constructor(set, comparison) {
    this.set = set;
    this.comparison = comparison;
  }

  /** Ends it; what is there stays, and the answer under way is cancelled. */
  stop() {
    this.#stop.abort();
  }

  get isStopped() {
    return this.#stop.signal.aborted;
  }

  /**
   * Asks what was not asked yet, one answer after another, so that their times can be compared.
   * @param {(question: SavedQuestion) => void} begun
   * @param {(question: SavedQuestion) => Promise<void>} done
   */
  async go(begun, done) {
    this.#settings = await readSettings();
    try {
      await this.#each(begun, done);
    } finally {
      await this.#forget();
    }
  }

  /**
   * @param {(question: SavedQuestion) => void} begun
   * @param {(question: SavedQuestion) => Promise<void>} done
   */
  async #each(begun, done) {
    for (const question of this.set.questions) {
      if (question.left && question.right) continue;
      if (this.isStopped) return;
      begun(question);
      const left = question.left ?? (await this.#ask(question.question));
      if (!question.left) {
        question.left = left;
        await saveSet(this.set);
      }
      question.right = await this.#again(left);
      await saveSet(this.set);
      await done(question);
    }
  }

  /** @param {string} query */
  async #ask(query) {
    const wishes = Object.entries(this.comparison.left).map(([name, value]) => {
      const isText = (this.#settings.get(name)?.choices ?? []).length > 0;
      return [name, isText ? value : Number(value)];
    });
    const body = { query, session_id: this.#session, ...Object.fromEntries(wishes) };
    const answer = await this.#post("/api/query", body);
    this.#session = answer.session_id;
    await this.#forget();
    return answer.query_id;
  }

  async #forget() {
    if (this.#session !== null) await sendJson("/api/clear-session", { session_id: this.#session });
  }

  /** @param {string} left */
  async #again(left) {
    /** @type {Record<string, string | null>} */
    const settings = {};
    // A fork inherits its parent's settings, so those that should be as now are set explicitly.
    for (const name of Object.keys(this.comparison.left)) {
      const own = this.#settings.get(name)?.value ?? null;
      settings[name] = own === null ? null : String(own);
    }
    Object.assign(settings, this.comparison.right);
    const change = Object.entries(settings).map(([name, value]) => ({ kind: "setting", name, value }));
    const fork = await this.#post(`/api/traces/${left}/fork`, { at: 1, change, mode: "live" });
    return fork.query_id;
  }

  /**
   * @param {string} path
   * @param {unknown} body
   */
  async #post(path, body) {
    const headers = { "Content-Type": "application/json" };
    const options = { method: "POST", headers, body: JSON.stringify(body), signal: this.#stop.signal };
    return (await send(path, options)).json();
  }
}
