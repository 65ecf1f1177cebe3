/** How a course that is a folder is laid out: its lessons and files, and an editor that corrects it. */

import { getJson, send } from "../api.js";
import { announce, element, plain, webLink } from "../dom.js";
import { COURSES_CHANGED, jobDone } from "../documents.js";

/** The place of a file that belongs to no lesson. */
const OUTSIDE = "outside";
const LEFT_OUT = "left out";

/**
 * Builds the details that show the layout once they are opened.
 * @param {import("../types.js").Course} course
 */
export function layoutOf(course) {
  const content = element("div", { class: "stack" });
  const details = element("details", {}, element("summary", {}, "Lessons and files"), content);
  details.addEventListener("toggle", () => {
    if (details.open && !content.firstChild) read(course, content);
  });
  return details;
}

/** @param {import("../types.js").Course} course */
export function addressOf(course) {
  return `/api/layouts/${encodeURIComponent(course.title)}`;
}

/**
 * @param {import("../types.js").Course} course
 * @param {HTMLElement} content
 */
async function read(course, content) {
  content.replaceChildren(element("p", {}, "Reading…"));
  try {
    showLayout(course, await getJson(addressOf(course)), content);
  } catch (error) {
    content.replaceChildren(notice(error));
  }
}

/** @param {unknown} error */
function notice(error) {
  return element("p", { class: "notice", role: "alert" }, String(/** @type {Error} */ (error).message));
}

/**
 * @param {import("../types.js").Course} course
 * @param {import("../types.js").Layout} layout
 * @param {HTMLElement} content
 */
function showLayout(course, layout, content) {
  const correct = element("button", { class: "button plain-button", type: "button" }, "Correct");
  correct.addEventListener("click", () => new Editor(course, layout, content));
  const forget = element("button", { class: "button plain-button", type: "button" }, "Forget my corrections");
  forget.addEventListener("click", () => change(course, () => ({ method: "DELETE" }), content));
  content.replaceChildren(
    element(
      "ol",
      { class: "stack tight course-lessons" },
      ...layout.lessons.map((each) => lessonItem(course, each)),
    ),
  );
  if (layout.outside.length > 0)
    content.append(element("p", {}, "Outside lessons:"), fileList(layout.outside));
  if (layout.left_out.length > 0) {
    const lines = layout.left_out.map((each) => `${each.file}: ${reasonOf(each)}`);
    content.append(element("p", {}, "Left out:"), fileList(lines));
  }
  content.append(element("p", { class: "row" }, correct, layout.corrected && forget));
}

/** @param {import("../types.js").LeftOutFile} left */
function reasonOf(left) {
  return left.by_owner ? "you left it out" : left.reason;
}

/**
 * @param {import("../types.js").Course} course
 * @param {import("../types.js").LessonFiles} lesson
 */
function lessonItem(course, lesson) {
  const link = webLink(course.lessons.find((each) => each.number === lesson.number)?.link);
  const name = lesson.title || `Lesson ${lesson.number}`;
  const shown = link
    ? element("a", { href: link, target: "_blank", rel: "noopener noreferrer" }, name)
    : name;
  return element(
    "li",
    { dir: "auto" },
    element("span", { class: "soft number" }, String(lesson.number)),
    element("div", {}, shown, fileList(lesson.files)),
  );
}

/** @param {string[]} files */
function fileList(files) {
  return element("ul", { class: "soft" }, ...files.map((file) => element("li", { dir: "auto" }, file)));
}

/**
 * Sends a change, follows its job, and shows why it failed.
 * @param {import("../types.js").Course} course
 * @param {() => RequestInit | Promise<RequestInit>} options
 * @param {HTMLElement} content Its last child takes the message.
 */
export async function change(course, options, content) {
  const said = element("p", { role: "status" }, "Indexing…");
  content.querySelector("[role=alert], [role=status]")?.remove();
  content.append(said);
  try {
    await jobDone(await send(addressOf(course), await options()));
    announce(`${course.title} has its new layout.`);
    document.dispatchEvent(new Event(COURSES_CHANGED));
  } catch (error) {
    said.replaceWith(notice(error));
  }
}

/**
 * @typedef {{key: string, number: HTMLInputElement, title: HTMLInputElement}} LessonFields
 */

/** The fields with which a reader corrects a layout, and the layout that they make. */
class Editor {
  /** @type {LessonFields[]} */
  #lessons = [];
  /** @type {{file: string, byRule: boolean, place: HTMLSelectElement}[]} */
  #files = [];
  #rows = element("ol", { class: "stack tight course-lessons" });
  #places = element("ul", { class: "stack" });

  /**
   * @param {import("../types.js").Course} course
   * @param {import("../types.js").Layout} layout
   * @param {HTMLElement} content
   */
  constructor(course, layout, content) {
    const title = field("text", layout.title, { required: true, maxlength: 300 });
    const form = element("form", { class: "stack layout-form" });
    for (const lesson of layout.lessons) this.#addLesson(lesson.number, lesson.title);
    layout.lessons.forEach((lesson, index) => {
      for (const file of lesson.files) this.#addFile(file, String(index));
    });
    for (const file of layout.outside) this.#addFile(file, OUTSIDE);
    for (const left of layout.left_out) this.#addFile(left.file, LEFT_OUT, left);
    const add = element("button", { class: "quiet", type: "button" }, "Add a lesson");
    add.addEventListener("click", () => {
      this.#addLesson(Math.max(0, ...this.#lessons.map((each) => Number(each.number.value))) + 1, "");
      this.#rows.querySelector("li:last-child input")?.scrollIntoView({ block: "nearest" });
    });
    const cancel = element("button", { class: "button plain-button", type: "button" }, "Cancel");
    cancel.addEventListener("click", () => showLayout(course, layout, content));
    form.append(
      element("label", { class: "stack tight" }, "Title of the course", title),
      element("p", {}, "Lessons (one without files is left out)"),
      this.#rows,
      add,
      element("p", {}, "Where each file belongs"),
      this.#places,
      element("p", { class: "row" }, element("button", { class: "button", type: "submit" }, "Save"), cancel),
    );
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const body = JSON.stringify(this.#correction(title.value));
      const headers = { "Content-Type": "application/json" };
      change(course, () => ({ method: "PUT", headers, body }), form);
    });
    content.replaceChildren(form);
    title.focus();
  }

  /**
   * @param {number} number
   * @param {string} name
   */
  #addLesson(number, name) {
    const lesson = {
      key: String(this.#lessons.length),
      number: field("number", String(number), {
        required: true,
        min: 0,
        step: 1,
        "aria-label": `Number of lesson ${number}`,
      }),
      title: field("text", name, {
        maxlength: 300,
        placeholder: "From its first file",
        "aria-label": `Title of lesson ${number}`,
      }),
    };
    this.#lessons.push(lesson);
    this.#rows.append(element("li", {}, lesson.number, lesson.title));
    for (const { place } of this.#files) place.append(choiceOf(lesson));
    for (const input of [lesson.number, lesson.title]) {
      input.addEventListener("change", () => this.#rename(lesson));
    }
  }

  /**
   * @param {string} file
   * @param {string} chosen
   * @param {import("../types.js").LeftOutFile | null} left
   */
  #addFile(file, chosen, left = null) {
    const byRule = left !== null && !left.by_owner;
    const place = element("select", { class: "text-input", "aria-label": `Place of ${plain(file)}` });
    // A rule would leave it out again if no lesson has it.
    if (!byRule) place.append(element("option", { value: OUTSIDE }, "Outside lessons"));
    place.append(element("option", { value: LEFT_OUT }, "Left out"));
    for (const lesson of this.#lessons) place.append(choiceOf(lesson));
    this.#files.push({ file, byRule, place });
    place.value = chosen;
    const name = element("span", { dir: "auto" }, file, left && ` (${reasonOf(left)})`);
    this.#places.append(element("li", { class: "grid" }, name, place));
  }

  /**
   * Names a lesson in the choices as it is called by now.
   * @param {LessonFields} lesson
   */
  #rename(lesson) {
    for (const { place } of this.#files) {
      for (const option of place.options) {
        if (option.value === lesson.key) option.replaceWith(choiceOf(lesson, option.selected));
      }
    }
  }

  /**
   * Returns what the fields say, in the order of the lessons' numbers.
   * @param {string} title
   */
  #correction(title) {
    const lessons = this.#lessons.map((lesson) => ({
      number: Number(lesson.number.value),
      title: lesson.title.value,
      files: this.#filesAt(lesson.key),
    }));
    const taken = lessons.filter((lesson) => lesson.files.length > 0);
    return {
      title,
      lessons: taken.sort((one, other) => one.number - other.number),
      leave_out: this.#filesAt(LEFT_OUT),
    };
  }

  /** @param {string} place */
  #filesAt(place) {
    const there = this.#files.filter((each) => each.place.value === place);
    return there.filter((each) => place !== LEFT_OUT || !each.byRule).map((each) => each.file);
  }
}

/**
 * Builds the choice of a lesson as the place of a file.
 * @param {LessonFields} lesson
 */
function choiceOf(lesson, selected = false) {
  const name = `Lesson ${lesson.number.value} ${lesson.title.value}`.trim();
  return element("option", { value: lesson.key, selected }, name);
}

/**
 * @param {string} type
 * @param {string} value
 * @param {import("../dom.js").Attributes} attributes
 */
function field(type, value, attributes) {
  return element("input", { class: "text-input", type, value: plain(value), ...attributes });
}
