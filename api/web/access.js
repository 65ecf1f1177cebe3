/** What the caller's key allows: links to the rest are hidden, since each would end in a refusal. */

import { getJson } from "./api.js";
import { KEY_KEPT } from "./key.js";

/** Reads what the caller may do, now and whenever another key is given; style/frame.css hides by it. */
export function startAccess() {
  read();
  document.addEventListener(KEY_KEPT, read);
}

/**
 * Tells whether the caller may do something; yes as long as that is not known.
 * @param {string} scope
 */
export function may(scope) {
  const { scopes } = document.body.dataset;
  return scopes === undefined || scopes.split(" ").includes(scope);
}

async function read() {
  try {
    /** @type {{scopes: string[]}} */
    const { scopes } = await getJson("/api/usage");
    document.body.dataset.scopes = scopes.join(" ");
  } catch {
    // Then the pages show everything, and the service refuses what is not allowed.
  }
}
