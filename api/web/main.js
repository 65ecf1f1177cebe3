/** Begins the pages: which view the address names, the sidebar, the colours, and files that are dropped anywhere. */

import { ROOT } from "./api.js";
import { showChats, startChats } from "./ask/chats.js";
import { show as showAsk } from "./ask/page.js";
import { show as showCourses } from "./courses/page.js";
import { COURSES_CHANGED, addDocuments, droppedFiles } from "./documents.js";
import { byId, element } from "./dom.js";
import { show as showFaults } from "./faults/page.js";
import { KEY_KEPT, forgetKey, keptKey } from "./key.js";
import { startReasoner } from "./reasoner.js";
import { openSidebar, closeSidebar, showOutline } from "./sidebar.js";
import { show as showReader } from "./texts/reader.js";
import { show as showSearch } from "./texts/search.js";
import { nextTheme, startTheme } from "./theme.js";
import { show as showTraceList } from "./traces/list.js";
import { show as showTrace } from "./traces/trace.js";

/**
 * What is to be called when a view is left. A view that has views of its own changes between them by `change`, which
 * returns false where it cannot.
 * @typedef {() => void} Leave
 * @typedef {{leave: Leave, change: (parameters: Record<string, string>) => boolean}} Changing
 *
 * The form of a view's address, how the window is then called, and what shows it.
 * @typedef {(main: HTMLElement, parameters: Record<string, string>) => Leave | Changing} Show
 * @typedef {{path: RegExp, title: string, show: Show}} View
 */

/** @type {View[]} */
const VIEWS = [
  { path: /^\/$/, title: "Ask", show: showAsk },
  { path: /^\/conversations\/(?<session_id>[^/]+)$/, title: "Ask", show: showAsk },
  { path: /^\/read$/, title: "Text", show: showReader },
  { path: /^\/search$/, title: "Search", show: showSearch },
  { path: /^\/courses$/, title: "Courses", show: showCourses },
  { path: /^\/faults(\/(?<point>[^/]+)\/(?<kind>[^/]+))?$/, title: "Faults", show: showFaults },
  { path: /^\/traces$/, title: "Traces", show: showTraceList },
  {
    path: /^\/traces\/(?<query_id>[^/]+)(\/(?<view>[a-z]+)(\/(?<item>[^/]+))?)?$/,
    title: "Trace",
    show: showTrace,
  },
];

const main = byId("main");
/** @type {View | null} */
let current = null;
/** @type {Leave | Changing} */
let shown = () => {};

/** Shows the view that the address names. */
function showView() {
  closeSidebar();
  const path = location.pathname.slice(ROOT.length).replace(/(.)\/+$/, "$1") || "/";
  for (const view of VIEWS) {
    const found = view.path.exec(path);
    if (found === null) continue;
    document.title = `${view.title} · Antiphon`;
    /** @type {Record<string, string>} */
    const parameters = {};
    for (const [name, value] of Object.entries(found.groups ?? {})) {
      if (value !== undefined) parameters[name] = decodeURIComponent(value);
    }
    showOne(view, parameters);
    break;
  }
  markPlace(path);
  showChats();
}

/**
 * @param {View} view
 * @param {Record<string, string>} parameters
 */
function showOne(view, parameters) {
  if (view === current && typeof shown !== "function" && shown.change(parameters)) return;
  if (typeof shown === "function") shown();
  else shown.leave();
  current = view;
  shown = view.show(main, parameters);
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
document.addEventListener("click", (event) => {
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
  showView();
  main.focus({ preventScroll: true });
});
window.addEventListener("popstate", showView);

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
  element("p", {}, "Drop files to add them to the courses"),
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
