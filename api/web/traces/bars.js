/** Bars: how much of a whole its parts are. */

import { drawing, element } from "../dom.js";

/**
 * A bar of parts, with a table's worth of words for who cannot see it.
 * @param {{name: string, value: number, words: string}[]} parts
 * @param {number} whole
 */
export function bar(parts, whole) {
  const svg = drawing("svg", { class: "share-bar", viewBox: "0 0 100 10", preserveAspectRatio: "none" });
  const all = Math.max(whole, 1e-9);
  let from = 0;
  for (const part of parts) {
    const width = Math.min(100 - from, (100 * part.value) / all);
    if (width <= 0) continue;
    svg.append(drawing("rect", { class: `share ${part.name}`, x: from, y: 0, width, height: 10 }));
    from += width;
  }
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", parts.map((part) => part.words).join(", "));
  return svg;
}

/**
 * What the parts of bars are called.
 * @param {[string, string][]} names The part's class, and its name.
 */
export function barKeys(names) {
  const keys = names.map(([name, text]) =>
    element("span", { class: "row tight" }, element("span", { class: `swatch share ${name}` }), text),
  );
  return element("p", { class: "row soft keys" }, ...keys);
}
