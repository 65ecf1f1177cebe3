/** Builds elements from values. Text becomes text and nothing else: no function here reads markup. */

/** Characters that turn the direction of writing, steer a terminal or are invisible; the service strips them too. */
const STEERING =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\u{e0000}-\u{e007f}]/gu;

/**
 * Returns text from outside without the characters that would deceive its reader.
 * @param {string} text
 */
export function plain(text) {
  return text.replace(STEERING, "");
}

/**
 * Returns a web address as it may be linked to, or null for any other, such as `javascript:`.
 * @param {string | null | undefined} link
 */
export function webLink(link) {
  if (!link || !/^https?:\/\//i.test(link)) return null;
  try {
    return new URL(link).href;
  } catch {
    return null;
  }
}

/**
 * @typedef {string | Node | null | undefined | false} Child
 * @typedef {Record<string, string | number | boolean | null | undefined | ((event: any) => unknown)>} Attributes
 */

/**
 * Builds an element. An attribute that is null, undefined or false is left out, a function is called on that event.
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {Attributes} attributes
 * @param {...Child} children
 * @returns {HTMLElementTagNameMap[T]}
 */
export function element(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

/**
 * @template {Element} T
 * @param {T} made
 * @param {Attributes} attributes
 * @param {Child[]} children
 * @returns {T}
 */
function filled(made, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") made.addEventListener(name, value);
    else made.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    made.append(typeof child === "string" ? plain(child) : child);
  }
  return made;
}

const SVG = "http://www.w3.org/2000/svg";

/**
 * Builds an element of a drawing, as `element` does.
 * @template {keyof SVGElementTagNameMap} T
 * @param {T} tag
 * @param {Attributes} attributes
 * @param {...Child} children
 * @returns {SVGElementTagNameMap[T]}
 */
export function drawing(tag, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

const ICONS = new URL("icons.svg", import.meta.url).href;

/** @type {Record<string, string>} */
const TONES = { tick: " good", warn: " fair" };

/**
 * Builds one of the icons of icons.svg; the text beside it says what it means.
 * @param {string} name
 */
export function icon(name) {
  return drawing(
    "svg",
    { class: `icon${TONES[name] ?? ""}`, "aria-hidden": "true" },
    drawing("use", { href: `${ICONS}#${name}` }),
  );
}

/**
 * Returns the element of the shell with this id.
 * @param {string} id
 * @returns {HTMLElement}
 */
export function byId(id) {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`The shell has no element ${id}.`);
  return found;
}

/**
 * Tells screen readers what has happened.
 * @param {string} text
 */
export function announce(text) {
  byId("status").textContent = plain(text);
}

/**
 * Names the window; a view calls it when it knows what it shows, and again when it changes to something else.
 * @param {string} text
 */
export function setTitle(text) {
  const title = plain(text).trim().slice(0, 100);
  document.title = title === "" ? "Antiphon" : `${title} · Antiphon`;
}
