/** Copies text for whoever pressed a button. */

import { announce, plain } from "./dom.js";

/**
 * @param {string} text
 * @param {HTMLElement} button It shows for a moment that it has happened.
 */
export async function copyText(text, button) {
  try {
    await navigator.clipboard.writeText(plain(text));
    announce("Copied.");
    button.classList.add("done");
    setTimeout(() => button.classList.remove("done"), 1500);
  } catch {
    announce("The browser does not let this page copy: select the text and copy it yourself.");
  }
}
