/** One trace: its events in order, each with all that it holds. */

import { ROOT, getJson } from "../api.js";
import { element } from "../dom.js";
import { count } from "../text.js";
import { suspectsPanel } from "./suspects.js";

/**
 * Shows the page; returns what is to be called when it is left.
 * @param {HTMLElement} main
 * @param {{query_id?: string, seq?: string}} parameters
 * @returns {() => void}
 */
export function show(main, { query_id: queryId = "", seq }) {
  const list = element("ol", { class: "events" });
  const title = element("h1", { dir: "auto" }, "Trace");
  const about = element("p", { class: "page-about" }, "Reading…");
  main.replaceChildren(
    element(
      "div",
      { class: "page wide" },
      element("p", { class: "crumb" }, element("a", { href: `${ROOT}/traces`, "data-view": true }, "Traces")),
      title,
      about,
      suspectsPanel(queryId, seq === undefined ? null : Number(seq)),
      list,
    ),
  );
  read(queryId, seq === undefined ? null : Number(seq), { list, title, about });
  return () => {};
}

/**
 * @param {string} queryId
 * @param {number | null} seq
 * @param {{list: HTMLElement, title: HTMLElement, about: HTMLElement}} page
 */
async function read(queryId, seq, { list, title, about }) {
  try {
    /** @type {{query_id: string, events: import("../types.js").Recorded[]}} */
    const trace = await getJson(`/api/traces/${encodeURIComponent(queryId)}`);
    const first = trace.events[0];
    title.textContent = String(first?.event.query ?? "Trace");
    about.textContent = `${count(trace.events.length, "event")}, id ${trace.query_id}`;
    const items = trace.events.map((recorded) => eventItem(recorded, first?.at ?? 0));
    list.replaceChildren(...items.map((item) => element("li", {}, item)));
    const chosen = items[(seq ?? 0) - 1];
    if (chosen === undefined) return;
    chosen.open = true;
    chosen.classList.add("chosen");
    chosen.scrollIntoView({ block: "center" });
    chosen.querySelector("summary")?.focus({ preventScroll: true });
  } catch (error) {
    about.textContent = String(/** @type {Error} */ (error).message);
  }
}

/**
 * @param {import("../types.js").Recorded} recorded
 * @param {number} beganAt
 */
function eventItem(recorded, beganAt) {
  const { kind, ...values } = recorded.event;
  const details = element(
    "details",
    { class: "event", id: `event-${recorded.seq}` },
    element(
      "summary",
      {},
      element("span", { class: "event-seq" }, String(recorded.seq)),
      element("span", { class: "event-kind" }, kind.replaceAll("_", " ")),
      element("span", { class: "event-time" }, `${((recorded.at - beganAt) * 1000).toFixed(1)} ms`),
      element("span", { class: "event-cause" }, recorded.cause ? `because of ${recorded.cause}` : ""),
    ),
  );
  // A trace holds whole requests: each is written out once somebody looks at it.
  details.addEventListener(
    "toggle",
    () => details.append(element("pre", { tabindex: 0 }, JSON.stringify(values, null, 2))),
    { once: true },
  );
  return details;
}
