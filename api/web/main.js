/** Begins the pages: which view the address names, the sidebar, the colours, and files that are dropped anywhere. */

import { ROOT } from "./api.js";
import { showChats, startChats } from "./ask/chats.js";
import { COURSES_CHANGED, addDocuments, droppedFiles } from "./documents.js";
import { byId, element, setTitle } from "./dom.js";
import { KEY_KEPT, forgetKey, keptKey } from "./key.js";
import { startReasoner } from "./reasoner.js";
import { SHOWN, openSidebar, closeSidebar, showOutline } from "./sidebar.js";
import { nextTheme, startTheme } from "./theme.js";
import { apply, load, viewAt } from "./views.js";

const main = byId("main");
/** @type {import("./views.js").View | null} */
let current = null;
/** @type {import("./views.js").Leave | import("./views.js").Changing} */
let shown = () => {};
/** How often the address has changed: what was loaded for an earlier one is not shown. */
let turn = 0;

/** Shows the view that the address names. */
async function showView() {
  closeSidebar();
  turn += 1;
  const path = location.pathname.slice(ROOT.length).replace(/(.)\/+$/, "$1") || "/";
  markPlace(path);
  showChats();
  const found = viewAt(path);
  if (found === null) showNothing("There is no such page", "The address may be mistyped.");
  else if (!isChanged(found.view, found.parameters)) await showOne(found.view, found.parameters);
}

/**
 * Lets the open view change by itself; returns false if another has to be opened.
 * @param {import("./views.js").View} view
 * @param {Record<string, string>} parameters
 */
function isChanged(view, parameters) {
  return view.module === current?.module && typeof shown !== "function" && shown.change(parameters);
}

/**
 * @param {import("./views.js").View} view
 * @param {Record<string, string>} parameters
 */
async function showOne(view, parameters) {
  const mine = turn;
  const isFirst = current === null;
  /** @type {import("./views.js").Show} */
  let show;
  try {
    show = await load(view);
  } catch (error) {
    if (mine !== turn) return;
    // The service may have been updated since: the address as a whole leads to its new files.
    if (!isFirst) location.reload();
    else showNothing("This page could not be loaded", String(/** @type {Error} */ (error).message));
    return;
  }
  if (mine !== turn) return;
  leave();
  apply(view.styles);
  current = view;
  setTitle(view.title);
  shown = show(main, parameters);
  document.dispatchEvent(new CustomEvent(SHOWN));
}

function leave() {
  if (typeof shown === "function") shown();
  else shown.leave();
  shown = () => {};
}

/**
 * @param {string} title
 * @param {string} text
 */
function showNothing(title, text) {
  leave();
  apply([]);
  current = null;
  setTitle(title);
  main.replaceChildren(
    element(
      "div",
      { class: "page" },
      element("h1", {}, title),
      element("p", {}, text),
      element("p", {}, element("a", { href: `${ROOT}/`, "data-view": true }, "Ask a question")),
    ),
  );
}

/** @param {string} path */
function markPlace(path) {
  for (const link of document.querySelectorAll(".places a")) {
    const isHere = path.startsWith(/** @type {HTMLAnchorElement} */ (link).pathname.slice(ROOT.length));
    if (isHere) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
}

// Links between views change the address and not the page; with a modifier key they are links like any other.
document.addEventListener("click", async (event) => {
  if (
    event.defaultPrevented ||
    event.button !== 0 ||
    event.metaKey ||
    event.ctrlKey ||
    event.shiftKey ||
    event.altKey
  )
    return;
  const link = /** @type {Element} */ (event.target).closest("a[data-view]");
  if (!(link instanceof HTMLAnchorElement)) return;
  event.preventDefault();
  history.pushState(null, "", link.href);
  await showView();
  main.focus({ preventScroll: true });
});
window.addEventListener("popstate", showView);

// As an address of its own it would show the view again, and the focus would be lost.
byId("skip").addEventListener("click", (event) => {
  event.preventDefault();
  main.focus();
});

byId("open-sidebar").addEventListener("click", openSidebar);
byId("close-sidebar").addEventListener("click", closeSidebar);
byId("sidebar-shade").addEventListener("click", closeSidebar);
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") closeSidebar();
});

const forget = byId("forget-key");
forget.hidden = keptKey() === null;
forget.addEventListener("click", forgetKey);
document.addEventListener(KEY_KEPT, () => {
  forget.hidden = false;
});

startTheme();
byId("theme").addEventListener("click", nextTheme);
document.addEventListener(COURSES_CHANGED, showOutline);

const veil = element(
  "div",
  { class: "drop-veil", hidden: true },
  element("p", { class: "card" }, "Drop files to add them to the courses"),
);
document.body.append(veil);
let inside = 0;
document.addEventListener("dragenter", (event) => {
  if (!event.dataTransfer?.types.includes("Files")) return;
  inside += 1;
  veil.hidden = false;
});
document.addEventListener("dragleave", () => {
  inside = Math.max(0, inside - 1);
  veil.hidden = inside === 0;
});
document.addEventListener("dragover", (event) => event.preventDefault());
document.addEventListener("drop", async (event) => {
  event.preventDefault();
  inside = 0;
  veil.hidden = true;
  if (event.dataTransfer === null) return;
  const files = await droppedFiles(event.dataTransfer);
  const beside = document.querySelector(".composer, .drop-box") ?? main.firstElementChild;
  if (beside instanceof HTMLElement) addDocuments(files, beside);
});

startChats();
showView();
showOutline();
startReasoner();
