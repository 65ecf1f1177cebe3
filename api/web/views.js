/** The views by their paths, as the service names them in the shell (api/pages.py): each is loaded when it is first shown. */

/**
 * A function to call when a view is left. A view that has views of its own changes between them by `change`, which
 * returns false if it cannot.
 * @typedef {() => void} Leave
 * @typedef {{leave: Leave, change: (parameters: Record<string, string>) => boolean}} Changing
 *
 * @typedef {(main: HTMLElement, parameters: Record<string, string>) => Leave | Changing} Show
 * @typedef {{title: string, module: string, styles: string[]}} View
 */

/** @type {Record<string, View>} */
const TABLE = JSON.parse(document.body.dataset.views ?? "{}");
const PATHS = Object.entries(TABLE).map(([path, view]) => ({ pattern: patternOf(path), view }));
/** Every sheet in the order in which sheets apply, not in that of loading. */
const ORDER = [...new Set(Object.values(TABLE).flatMap((view) => view.styles))];

/**
 * Returns what a path such as `/traces/{query_id}` matches.
 * @param {string} path
 */
function patternOf(path) {
  return new RegExp(`^${path.replace(/\{(\w+)\}/g, "(?<$1>[^/]+)")}$`);
}

/**
 * Returns the view that a path names, and what it names of it; null if there is none.
 * @param {string} path
 */
export function viewAt(path) {
  for (const { pattern, view } of PATHS) {
    const found = pattern.exec(path);
    if (found === null) continue;
    /** @type {Record<string, string>} */
    const parameters = {};
    for (const [name, value] of Object.entries(found.groups ?? {})) parameters[name] = decoded(value);
    return { view, parameters };
  }
  return null;
}

/** @param {string} text */
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/**
 * Loads a view with its style sheets, and returns what shows it.
 * @param {View} view
 * @returns {Promise<Show>}
 */
export async function load(view) {
  const module = import(new URL(view.module, import.meta.url).href);
  await Promise.all([module, ...view.styles.map(sheet)]);
  return (await module).show;
}

/**
 * Lets the style sheets of this view apply, and no other view's.
 * @param {string[]} styles
 */
export function apply(styles) {
  for (const link of links()) {
    if (link.sheet !== null) link.sheet.disabled = !styles.includes(link.dataset.style ?? "");
  }
}

/** @returns {HTMLLinkElement[]} */
function links() {
  return [...document.querySelectorAll("link")].filter((link) => link.dataset.style !== undefined);
}

/** @type {Map<string, Promise<unknown>>} */
const loading = new Map();

/**
 * Loads a style sheet, unless it is there.
 * @param {string} name
 */
function sheet(name) {
  const known = links().find((link) => link.dataset.style === name);
  if (known !== undefined && known.sheet !== null) return undefined;
  if (!loading.has(name)) {
    // One that could not be loaded is loaded again.
    known?.remove();
    loading.set(
      name,
      added(name).finally(() => loading.delete(name)),
    );
  }
  return loading.get(name);
}

/**
 * Adds a style sheet in its place among the others; it applies when its view opens.
 * @param {string} name
 */
function added(name) {
  const link = document.createElement("link");
  link.rel = "stylesheet";
  link.href = new URL(`style/${name}`, import.meta.url).href;
  link.dataset.style = name;
  const after = links().find((each) => ORDER.indexOf(each.dataset.style ?? "") > ORDER.indexOf(name));
  if (after !== undefined) after.before(link);
  else document.head.append(link);
  return new Promise((resolve, reject) => {
    link.addEventListener(
      "load",
      () => {
        // The view that is still open does not use it.
        if (link.sheet !== null) link.sheet.disabled = true;
        resolve(undefined);
      },
      { once: true },
    );
    link.addEventListener("error", () => reject(new Error(`${link.href} could not be loaded.`)), {
      once: true,
    });
  });
}
