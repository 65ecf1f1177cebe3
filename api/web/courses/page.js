/** The courses page: what is indexed; add, remove, and what was refused and why. */

import { getJson, send } from "../api.js";
import { announce, element, icon, webLink } from "../dom.js";
import { COURSES_CHANGED, acceptDocuments, addDocuments, jobDone } from "../documents.js";
import { count } from "../text.js";
import { layoutOf } from "./layout.js";

/**
 * Shows the page; returns what is to be called when it is left.
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
  item.append(
    element("div", { class: "row spread course-head" }, element("h2", { dir: "auto" }, title), remove),
  );
  item.append(element("p", { class: "soft", dir: "auto" }, about.join(" · ")));
  if (course.has_layout) item.append(layoutOf(course));
  else if (course.lessons.length > 0) item.append(lessonList(course));
  if (course.losses.length > 0) item.append(lossList(course.losses));
  return item;
}

/**
 * What of the course's files could not be taken, and so is not found.
 * @param {string[]} losses
 */
function lossList(losses) {
  return element(
    "details",
    { class: "course-losses" },
    element("summary", {}, `${count(losses.length, "part")} of its files could not be read`),
    element("ul", {}, ...losses.map((loss) => element("li", { dir: "auto" }, loss))),
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
  const line = element(
    "p",
    {},
    "You can no longer ask about it. A file that was added here is deleted; a file that was indexed from elsewhere stays.",
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
    box.replaceChildren(element("p", { class: "notice", role: "alert" }, said));
  }
}
