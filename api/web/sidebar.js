/** The sidebar: the courses with their lessons, and its opening on small screens. */

import { ROOT, getJson } from "./api.js";
import { byId, element, icon, webLink } from "./dom.js";

/** A question for the box of the ask page. */
export const FILL = "antiphon:fill";
/** A view has opened; it may have had to be loaded. */
export const SHOWN = "antiphon:shown";

/** Opens the sidebar over the page. */
export function openSidebar() {
  document.body.classList.add("sidebar-open");
  setCovered(true);
  byId("open-sidebar").setAttribute("aria-expanded", "true");
  byId("close-sidebar").focus();
}

/** Closes the sidebar if it lies over the page. */
export function closeSidebar() {
  if (!document.body.classList.contains("sidebar-open")) return;
  document.body.classList.remove("sidebar-open");
  setCovered(false);
  const opener = byId("open-sidebar");
  opener.setAttribute("aria-expanded", "false");
  opener.focus();
}

/**
 * What lies behind the open sidebar takes no focus.
 * @param {boolean} isCovered
 */
function setCovered(isCovered) {
  byId("main").inert = isCovered;
  byId("topbar").inert = isCovered;
}

/** Draws the courses and their lessons. */
export async function showOutline() {
  /** @type {import("./types.js").Course[]} */
  let courses = [];
  try {
    courses = (await getJson("/api/courses")).courses;
  } catch {
    // The page itself says that the service is away.
  }
  byId("course-outline").hidden = courses.length === 0;
  byId("outline-list").replaceChildren(...courses.map(courseItem));
}

/** @param {import("./types.js").Course} course */
function courseItem(course) {
  const lessons = element("ul", { class: "lessons" });
  for (const lesson of course.lessons) lessons.append(lessonItem(course, lesson));
  return element("details", { class: "course" }, element("summary", { dir: "auto" }, course.title), lessons);
}

/**
 * @param {import("./types.js").Course} course
 * @param {import("./types.js").Lesson} lesson
 */
function lessonItem(course, lesson) {
  const title = lesson.title || `Lesson ${lesson.number}`;
  const ask = element(
    "button",
    {
      type: "button",
      title: "Ask about this lesson",
      click: () => fill(`What does lesson ${lesson.number} of ${course.title} teach?`),
    },
    element("span", { class: "number" }, String(lesson.number)),
    element("span", { dir: "auto" }, title),
  );
  const link = webLink(lesson.link);
  const open = link
    ? element(
        "a",
        { href: link, target: "_blank", rel: "noopener noreferrer", title: "Open the lesson" },
        icon("out"),
        element("span", { class: "hidden" }, `Open lesson ${lesson.number}`),
      )
    : null;
  return element("li", {}, ask, open);
}

/** @param {string} question */
function fill(question) {
  const hand = () => document.dispatchEvent(new CustomEvent(FILL, { detail: question }));
  closeSidebar();
  if (document.querySelector(".composer") !== null) {
    hand();
    return;
  }
  // From another page, go to the ask page first.
  document.addEventListener(SHOWN, hand, { once: true });
  history.pushState(null, "", `${ROOT}/`);
  window.dispatchEvent(new PopStateEvent("popstate"));
}
