/** Takes text along: copied, or saved as a file. */

import { announce, element, plain } from "./dom.js";

const SHOWN_MS = 2500;

/**
 * @param {string} text
 * @param {HTMLElement} button It shows for a moment whether it has happened.
 */
export async function copyText(text, button) {
  let word = "Copied";
  try {
    await navigator.clipboard.writeText(plain(text));
    announce("Copied.");
  } catch {
    word = "Not copied";
    announce("Your browser does not let this page copy. Select the text and copy it yourself.");
  }
  const label = button.lastChild;
  const isShown = button.classList.contains("done") || button.classList.contains("failed");
  if (label === null || isShown) return;
  const before = label.textContent;
  const state = word === "Copied" ? "done" : "failed";
  label.textContent = word;
  button.classList.add(state);
  setTimeout(() => {
    label.textContent = before;
    button.classList.remove(state);
  }, SHOWN_MS);
}

/**
 * Lets the browser save a text as a file.
 * @param {string} name
 * @param {BlobPart} text
 */
export function download(name, text) {
  const url = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
  element("a", { href: url, download: name }).click();
  // The browser reads it soon, and not at once.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
