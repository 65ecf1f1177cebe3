/** Another title for a course that is a folder: the layout that it has, corrected in its title alone. */

import { getJson } from "../api.js";
import { element, plain } from "../dom.js";
import { addressOf, change } from "./layout.js";

/**
 * Puts the form on a course's card.
 * @param {HTMLElement} card
 * @param {import("../types.js").Course} course
 */
export function rename(card, course) {
  card.querySelector(".confirm")?.remove();
  const title = element("input", {
    class: "text-input",
    type: "text",
    value: plain(course.title),
    required: true,
    maxlength: 300,
    "aria-label": `New title of ${course.title}`,
  });
  const cancel = element("button", { class: "button plain-button", type: "button" }, "Cancel");
  const form = element(
    "form",
    { class: "stack confirm" },
    title,
    element("p", { class: "row" }, element("button", { class: "button", type: "submit" }, "Rename"), cancel),
  );
  cancel.addEventListener("click", () => form.remove());
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    change(course, () => renamed(course, title.value), form);
  });
  card.append(form);
  title.select();
  form.scrollIntoView({ block: "nearest" });
}

/**
 * @param {import("../types.js").Course} course
 * @param {string} title
 * @returns {Promise<RequestInit>}
 */
async function renamed(course, title) {
  /** @type {import("../types.js").Layout} */
  const layout = await getJson(addressOf(course));
  const leftOut = layout.left_out.filter((each) => each.by_owner).map((each) => each.file);
  const body = JSON.stringify({ title, lessons: layout.lessons, leave_out: leftOut });
  return { method: "PUT", headers: { "Content-Type": "application/json" }, body };
}
