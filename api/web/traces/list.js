/** The list of traces: what was asked, how it ended, how long it took. */

import { ROOT, getJson } from "../api.js";
import { element } from "../dom.js";
import { count, seconds, when } from "../text.js";

const A_PAGE = 50;

/**
 * Shows the page; returns what is to be called when it is left.
 * @param {HTMLElement} main
 * @returns {() => void}
 */
export function show(main) {
  const rows = element("tbody", {});
  const search = element("input", {
    type: "search",
    placeholder: "Words of question or answer",
    "aria-label": "Search the traces",
  });
  const more = element("button", { class: "button plain-button", type: "button", hidden: true }, "Show more");
  const empty = element("p", { class: "empty", hidden: true }, "No trace is there, or none that fits.");
  const head = element("tr", {});
  for (const name of ["Question", "Asked", "Outcome", "Confidence", "Time", "Events"])
    head.append(element("th", { scope: "col" }, name));
  const table = element("table", { class: "trace-table" }, element("thead", {}, head), rows);
  main.replaceChildren(
    element(
      "div",
      { class: "page wide" },
      element("h1", {}, "Traces"),
      element(
        "form",
        { class: "filters", role: "search", submit: (/** @type {Event} */ event) => event.preventDefault() },
        search,
      ),
      element("div", { class: "table-scroller", tabindex: 0, role: "region", "aria-label": "Traces" }, table),
      empty,
      more,
    ),
  );
  let after = "";
  let wanted = 0;
  const read = async () => {
    wanted += 1;
    const mine = wanted;
    const parameters = new URLSearchParams({ limit: String(A_PAGE) });
    if (search.value.trim()) parameters.set("text", search.value.trim());
    if (after) parameters.set("after_id", after);
    try {
      const page = await getJson(`/api/traces?${parameters}`);
      // Somebody has typed on meanwhile.
      if (mine !== wanted) return;
      rows.append(...page.traces.map(row));
      after = page.next_after_id ?? "";
      more.hidden = !after;
      empty.hidden = rows.childElementCount > 0;
    } catch (error) {
      empty.textContent = String(/** @type {Error} */ (error).message);
      empty.hidden = false;
    }
  };
  const anew = () => {
    after = "";
    rows.replaceChildren();
    read();
  };
  search.addEventListener("input", anew);
  more.addEventListener("click", read);
  anew();
  return () => {
    wanted += 1;
  };
}

/** @param {import("../types.js").TraceSummary} trace */
function row(trace) {
  const link = element(
    "a",
    { href: `${ROOT}/traces/${encodeURIComponent(trace.query_id)}`, "data-view": true, dir: "auto" },
    trace.query || "(empty)",
  );
  const question = element("td", { class: "trace-question" }, link);
  if (trace.parent !== null) question.append(element("span", { class: "tag" }, "fork"));
  return element(
    "tr",
    {},
    question,
    element("td", {}, when(trace.started_at)),
    element("td", {}, element("span", { class: `outcome ${trace.status}` }, trace.status)),
    element(
      "td",
      {},
      trace.confidence ? element("span", { class: `confidence ${trace.confidence}` }, trace.confidence) : "–",
    ),
    element("td", { class: "number" }, trace.duration_ms === null ? "–" : seconds(trace.duration_ms / 1000)),
    element(
      "td",
      { class: "number" },
      element("span", { class: "hidden" }, count(trace.events, "event")),
      element("span", { "aria-hidden": "true" }, String(trace.events)),
    ),
  );
}
