/** The courses page: what is indexed; add, remove, and what was refused and why. */

import { getJson, send } from "../api.js";
import { announce, element, icon, webLink } from "../dom.js";
import { COURSES_CHANGED, acceptDocuments, addDocuments, jobDone } from "../documents.js";
import { count } from "../text.js";
import { layoutOf } from "./layout.js";
import { rename } from "./rename.js";

/**
 * Shows the page; returns a function to call when it is left.
 * @param {HTMLElement} main
 * @returns {() => void}
 */
export function show(main) {
  const list = element("ul", { class: "stack" });
  const files = element("input", {
    type: "file",
    multiple: true,
    class: "hidden",
    tabindex: -1,
    "aria-hidden": "true",
  });
  const folder = element("input", {
    type: "file",
    webkitdirectory: true,
    class: "hidden",
    tabindex: -1,
    "aria-hidden": "true",
  });
  const named = element("p", { class: "drop-text soft" });
  acceptDocuments(files)
    .then((names) => (named.textContent = `Up to 30 MB each: ${names.join(", ")}.`))
    .catch(() => (named.textContent = "Up to 30 MB each."));
  const box = element(
    "div",
    { class: "card drop-box" },
    element("h2", {}, "Drop files or a folder here"),
    named,
    element(
      "p",
      { class: "row" },
      element("button", { class: "button", type: "button", click: () => files.click() }, "Choose files"),
      element(
        "button",
        { class: "button plain-button", type: "button", click: () => folder.click() },
        "Choose a folder",
      ),
    ),
    files,
    folder,
  );
  for (const input of [files, folder]) {
    input.addEventListener("change", () => {
      addDocuments([...(input.files ?? [])], box);
      input.value = "";
    });
  }
  main.replaceChildren(element("div", { class: "page" }, element("h1", {}, "Courses"), box, list));
  const refresh = () => fillList(list);
  document.addEventListener(COURSES_CHANGED, refresh);
  refresh();
  return () => document.removeEventListener(COURSES_CHANGED, refresh);
}

/** @param {HTMLElement} list */
async function fillList(list) {
  try {
    /** @type {import("../types.js").Course[]} */
    const courses = (await getJson("/api/courses")).courses;
    if (courses.length === 0)
      list.replaceChildren(element("li", { class: "soft" }, "No course is indexed yet."));
    else list.replaceChildren(...courses.map(card));
  } catch (error) {
    list.replaceChildren(element("li", { class: "notice" }, String(/** @type {Error} */ (error).message)));
  }
}

/** @param {import("../types.js").Course} course */
function card(course) {
  const link = webLink(course.link);
  const title = link
    ? element("a", { href: link, target: "_blank", rel: "noopener noreferrer" }, course.title)
    : course.title;
  const about = [
    course.instructor,
    course.lessons.length > 0 ? count(course.lessons.length, "lesson") : "no lessons",
    course.language && new Intl.DisplayNames("en", { type: "language" }).of(course.language),
  ].filter(Boolean);
  const item = element("li", { class: "card tight course-card" });
  const remove = element(
    "button",
    { class: "quiet danger", type: "button", click: () => askFirst(item, course) },
    icon("bin"),
    "Remove",
    element("span", { class: "hidden" }, ` ${course.title}`),
  );
  const other =
    course.has_layout &&
    element(
      "button",
      { class: "quiet", type: "button", click: () => rename(item, course) },
      icon("pencil"),
      "Rename",
      element("span", { class: "hidden" }, ` ${course.title}`),
    );
  item.append(
    element(
      "div",
      { class: "row spread course-head" },
      element("h2", { dir: "auto" }, title),
      element("div", { class: "row" }, other, remove),
    ),
  );
  item.append(element("p", { class: "soft", dir: "auto" }, about.join(" · ")));
  if (course.has_layout) item.append(layoutOf(course));
  else if (course.lessons.length > 0) item.append(lessonList(course));
  if (course.losses.length > 0) item.append(lossList(course));
  return item;
}

/**
 * The parts of the course's files that could not be read, and so cannot be found, file by file.
 * @param {import("../types.js").Course} course
 */
function lossList({ losses, has_layout: isFolder }) {
  /** @type {Map<string, string[]>} */
  const files = new Map();
  for (const loss of losses) {
    // Of a folder's files each loss begins with its file.
    const end = isFolder ? loss.indexOf(": ") : -1;
    const file = end === -1 ? "" : loss.slice(0, end);
    const lost = files.get(file) ?? [];
    files.set(file, [...lost, end === -1 ? loss : loss.slice(end + 2)]);
  }
  const items = [...files].flatMap(([file, lost]) => [
    file && element("p", { dir: "auto" }, element("strong", {}, file)),
    element("ul", {}, ...lost.map((each) => element("li", { dir: "auto" }, each))),
  ]);
  const where = files.size > 1 ? ` in ${count(files.size, "file")}` : "";
  return element(
    "details",
    { class: "course-losses" },
    element("summary", {}, `Not read: ${count(losses.length, "part")}${where}`),
    element("p", {}, "This cannot be found or cited; all else of the files was read."),
    ...items,
  );
}

/** @param {import("../types.js").Course} course */
function lessonList(course) {
  const lessons = element("ol", { class: "stack tight course-lessons" });
  for (const lesson of course.lessons) {
    const link = webLink(lesson.link);
    const name = lesson.title || `Lesson ${lesson.number}`;
    const shown = link
      ? element("a", { href: link, target: "_blank", rel: "noopener noreferrer" }, name)
      : name;
    lessons.append(
      element("li", { dir: "auto" }, element("span", { class: "soft number" }, String(lesson.number)), shown),
    );
  }
  return element("details", {}, element("summary", {}, "Lessons"), lessons);
}

/**
 * Says what a removal means, before it is done.
 * @param {HTMLElement} item
 * @param {import("../types.js").Course} course
 */
function askFirst(item, course) {
  item.querySelector(".confirm")?.remove();
  const lessons = course.lessons.length > 0 ? ` and its ${count(course.lessons.length, "lesson")}` : "";
  const line = element(
    "p",
    { dir: "auto" },
    `“${course.title}”${lessons} can then no longer be asked about, found or read here. A file that was added here is deleted; a file that was indexed from elsewhere stays. Answers and traces that cite it stay too.`,
  );
  const yes = element("button", { class: "button danger-button", type: "button" }, "Remove it");
  const no = element("button", { class: "button plain-button", type: "button" }, "Keep it");
  const box = element(
    "div",
    { class: "stack confirm", role: "group", "aria-label": "Remove the course?" },
    line,
    element("p", { class: "row" }, yes, no),
  );
  yes.addEventListener("click", () => remove(course, box));
  no.addEventListener("click", () => box.remove());
  item.append(box);
  yes.focus();
}

/**
 * @param {import("../types.js").Course} course
 * @param {HTMLElement} box
 */
async function remove(course, box) {
  try {
    box.replaceChildren(element("p", { role: "status" }, "Removing…"));
    await jobDone(await send(`/api/courses/${encodeURIComponent(course.title)}`, { method: "DELETE" }));
    announce(`${course.title} is removed.`);
    document.dispatchEvent(new Event(COURSES_CHANGED));
  } catch (error) {
    const said = `It was not removed. ${/** @type {Error} */ (error).message}`;
    const again = element("button", { class: "button plain-button", type: "button" }, "Try again");
    const close = element("button", { class: "button plain-button", type: "button" }, "Close");
    again.addEventListener("click", () => remove(course, box));
    close.addEventListener("click", () => box.remove());
    box.replaceChildren(
      element("p", { class: "notice", role: "alert" }, said),
      element("p", { class: "row" }, again, close),
    );
    again.focus();
  }
}
