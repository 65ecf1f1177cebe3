/** Quality: saved sets of questions, each asked with two settings, and what changed between the answers. */

import { download } from "../copying.js";
import { element, setTitle } from "../dom.js";
import { count, when } from "../text.js";
import { go } from "../traces/links.js";
import { Editor } from "./editor.js";
import { Result } from "./result.js";
import { asLines, deleteSet, newId, readSets, saveSet, setAddress } from "./sets.js";
import { Sides, sideName } from "./sides.js";

/** @typedef {import("./sets.js").QuestionSet} QuestionSet */

const ABOUT =
  "Save questions, ask them with two settings, and see what changed. Every answer is an ordinary query with its trace.";

/** The comparison that was begun a moment ago: it runs as soon as its page opens. */
let begun = "";

/**
 * Shows the page; returns a function to call when it is left.
 * @param {HTMLElement} main
 * @param {{set_id?: string}} parameters
 */
export function show(main, { set_id }) {
  const page = element(
    "div",
    { class: "page wide" },
    element("h1", {}, "Quality"),
    element("p", { class: "soft" }, "Reading…"),
  );
  main.replaceChildren(page);
  /** @type {Result | null} */
  let result = null;
  let isLeft = false;
  readSets().then(
    (sets) => {
      if (isLeft) return;
      const set = sets.find((each) => each.set_id === set_id);
      if (set === undefined) page.replaceChildren(...overview(sets, set_id));
      else if (set.comparison === null) page.replaceChildren(...ofSet(set, sets));
      else {
        result = new Result(set, set.comparison);
        page.replaceChildren(...head(set), result.element);
        if (begun === set_id) result.run();
        else result.read();
        begun = "";
      }
    },
    (error) => page.lastElementChild?.replaceWith(element("p", { class: "notice" }, error.message)),
  );
  return () => {
    isLeft = true;
    result?.stop();
  };
}

/**
 * @param {QuestionSet[]} sets
 * @param {string | undefined} missing
 */
function overview(sets, missing) {
  const editor = new Editor({ name: "", questions: [] }, async (name, questions) => {
    const saved = await saveSet({ set_id: newId(), name, questions, comparison: null });
    go(setAddress(saved.set_id));
  });
  const saved = sets.filter(({ comparison }) => comparison === null);
  // A comparison outlives the set that it was made of.
  const others = sets.filter(
    ({ comparison }) => comparison && !saved.some((each) => each.set_id === comparison.of),
  );
  return [
    element("h1", {}, "Quality"),
    element("p", { class: "soft" }, ABOUT),
    missing === undefined ? null : element("p", { class: "notice" }, "This set no longer exists."),
    saved.length > 0 ? card("Saved sets", list(saved)) : null,
    others.length > 0 ? card("Comparisons of deleted sets", list(others)) : null,
    card("A new set", editor.element),
  ].filter((each) => each !== null);
}

/**
 * @param {string} title
 * @param {HTMLElement} content
 */
function card(title, content) {
  return element("section", { class: "card" }, element("h2", {}, title), content);
}

/** @param {QuestionSet[]} sets */
function list(sets) {
  const items = sets.map((set) => {
    const about = [count(set.questions.length, "question"), when(set.at)];
    if (set.comparison !== null)
      about.unshift(`${sideName(set.comparison.left)} / ${sideName(set.comparison.right)}`);
    return element(
      "li",
      { dir: "auto" },
      element("a", { href: setAddress(set.set_id), "data-view": true }, set.name),
      element("span", { class: "soft" }, ` ${about.join(", ")}`),
    );
  });
  return element("ul", { class: "stack" }, ...items);
}

/**
 * @param {QuestionSet} set
 * @param {QuestionSet[]} sets
 */
function ofSet(set, sets) {
  const made = sets.filter(({ comparison }) => comparison?.of === set.set_id);
  const save = async (/** @type {string} */ name, /** @type {QuestionSet["questions"]} */ questions) => {
    Object.assign(set, await saveSet({ ...set, name, questions }));
  };
  const editor = new Editor(set, save, exporting(set));
  const sides = new Sides(
    () => editor.count,
    async (left, right) => {
      await save(editor.name, editor.questions());
      const comparison = { of: set.set_id, left, right };
      const saved = await saveSet({ set_id: newId(), name: set.name, questions: set.questions, comparison });
      begun = saved.set_id;
      go(setAddress(saved.set_id));
    },
  );
  editor.element.addEventListener("input", () => sides.refresh());
  return [
    ...head(set),
    card("Compare two settings", sides.element),
    made.length > 0 ? card("Comparisons", list(made)) : null,
    card("The questions", editor.element),
  ].filter((each) => each !== null);
}

/** @param {QuestionSet} set */
function head(set) {
  setTitle(`${set.name} · Quality`);
  const { comparison } = set;
  const remove = element("button", { class: "quiet danger", type: "button" }, "Delete");
  remove.addEventListener("click", async () => {
    if (remove.textContent === "Delete") {
      remove.textContent = comparison ? "Delete it? The traces stay." : "Delete it? Its comparisons stay.";
      return;
    }
    await deleteSet(set.set_id);
    go(setAddress());
  });
  return [
    element(
      "p",
      { class: "soft" },
      element("a", { href: setAddress(), "data-view": true }, "Quality"),
      comparison ? " / " : null,
      comparison ? element("a", { href: setAddress(comparison.of), "data-view": true }, set.name) : null,
    ),
    element("div", { class: "row spread" }, element("h1", { dir: "auto" }, set.name), remove),
  ];
}

/** @param {QuestionSet} set */
function exporting(set) {
  const save = () => download(`${set.set_id}.jsonl`, asLines(set.questions));
  return element("button", { class: "button plain-button", type: "button", click: save }, "Export");
}
