/** The key of a service that asks for one: the reader enters it once, each request carries it, the tab keeps it.
 *
 * In the session storage and not in a cookie: a cookie goes along with requests that other sites cause, which would
 * need a defence of its own. A script of somebody else's could read the key, but the policy of the pages (api/pages.py)
 * keeps it from running.
 */

import { element } from "./dom.js";

/** The event that the reader has given a key. */
export const KEY_KEPT = "antiphon:key-kept";
const KEPT_UNDER = "antiphon.key";
/** @type {Promise<boolean> | null} The asking under way: many requests are refused at once, and one question is enough. */
let asking = null;

/** @returns {string | null} */
export function keptKey() {
  try {
    return sessionStorage.getItem(KEPT_UNDER);
  } catch {
    return null;
  }
}

/** Forgets the key, and shows the pages as somebody without one sees them. */
export function forgetKey() {
  try {
    sessionStorage.removeItem(KEPT_UNDER);
  } catch {
    // Nothing was kept.
  }
  location.reload();
}

/**
 * Returns the options of a request with the key in it.
 * @param {RequestInit} options
 * @returns {RequestInit}
 */
export function withKey(options) {
  const key = keptKey();
  if (key === null) return options;
  const headers = new Headers(options.headers);
  headers.set("Authorization", `Bearer ${key}`);
  return { ...options, headers };
}

/**
 * Asks the reader for a key; false if they give none.
 * @param {string} why What the service said.
 * @returns {Promise<boolean>}
 */
export function askForKey(why) {
  asking ??= asked(why).finally(() => {
    asking = null;
  });
  return asking;
}

/**
 * @param {string} why
 * @returns {Promise<boolean>}
 */
function asked(why) {
  const input = element("input", {
    type: "password",
    id: "key-input",
    class: "text-input",
    autocomplete: "off",
    spellcheck: "false",
    required: true,
  });
  const form = element(
    "form",
    { class: "stack" },
    element("label", { for: "key-input" }, "Your key for this service"),
    input,
    element("button", { class: "button", type: "submit" }, "Continue"),
  );
  const dialog = element(
    "dialog",
    { class: "card dialog", "aria-labelledby": "key-title" },
    element("h2", { id: "key-title" }, "This service asks for a key"),
    element("p", {}, why),
    form,
  );
  document.body.append(dialog);
  return new Promise((resolve) => {
    let given = false;
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      given = kept(input.value.trim());
      dialog.close();
    });
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(given);
    });
    dialog.showModal();
    input.focus();
  });
}

/** @param {string} key */
function kept(key) {
  // A header holds nothing else, and no key does.
  if (!/^[\x21-\x7e]+$/.test(key)) return false;
  try {
    sessionStorage.setItem(KEPT_UNDER, key);
    document.dispatchEvent(new CustomEvent(KEY_KEPT));
    return true;
  } catch {
    return false;
  }
}
