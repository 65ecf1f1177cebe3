/** One cell of the matrix, looked at closely: each part of a query in which the fault was tried, its trace and command. */

import { ROOT, sendJson } from "../api.js";
import { copyText } from "../copying.js";
import { announce, element, icon } from "../dom.js";
import { SIGNS, TONES, WORDS, outcomeOf } from "./report.js";

/** @type {Record<string, string>} */
const PARTS = {
  start: "At the start",
  round_1: "In round 1",
  round_2: "In round 2",
  final: "In the final call",
  any: "In any part",
};

/**
 * Makes the dialog that shows a cell; `closed` is called when it is left.
 * @param {import("./report.js").Tried} tried
 * @param {() => void} closed
 */
export function cellDialog(tried, closed) {
  const close = element(
    "button",
    { class: "icon-button", type: "button" },
    icon("close"),
    element("span", { class: "hidden" }, "Close"),
  );
  const dialog = element(
    "dialog",
    { class: "card dialog fault-dialog", "aria-labelledby": "fault-title" },
    element(
      "header",
      { class: "row spread" },
      element(
        "h2",
        { id: "fault-title" },
        element("code", {}, tried.point),
        " ",
        element("span", { class: "soft" }, tried.kind),
      ),
      close,
    ),
    element("p", { class: "soft" }, tried.meaning),
    element("ol", { class: "stack" }, ...tried.verdicts.map(part)),
  );
  close.addEventListener("click", () => dialog.close());
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close();
  });
  dialog.addEventListener("close", () => {
    dialog.remove();
    closed();
  });
  return dialog;
}

/** @param {import("./report.js").Verdict} verdict */
function part(verdict) {
  const outcome = outcomeOf(verdict);
  const copy = element("button", { class: "quiet", type: "button" }, icon("copy"), "Copy");
  copy.addEventListener("click", () => copyText(verdict.command, copy));
  const scenario = verdict.cell.scenario.replaceAll("_", " ");
  return element(
    "li",
    { class: "card" },
    element(
      "p",
      { class: "row" },
      element("span", { class: `tag ${TONES[outcome]}` }, `${SIGNS[outcome]} ${WORDS[outcome]}`),
      element("strong", {}, PARTS[verdict.cell.when] ?? verdict.cell.when),
      element(
        "span",
        { class: "soft" },
        [scenario && `scenario “${scenario}”`, verdict.status && `the query was ${verdict.status}`]
          .filter(Boolean)
          .join(", "),
      ),
    ),
    verdict.broken.length > 0
      ? element("ul", { class: "bad" }, ...verdict.broken.map((each) => element("li", {}, each)))
      : null,
    element("div", { class: "row" }, element("code", { tabindex: 0 }, verdict.command), copy),
    verdict.query_id ? opener(verdict) : null,
  );
}

/** @param {import("./report.js").Verdict} verdict */
function opener(verdict) {
  const button = element(
    "button",
    { class: "button plain-button", type: "button" },
    icon("trace"),
    "Open its trace",
  );
  const place = element("div", {}, button);
  button.addEventListener("click", async () => {
    button.disabled = true;
    try {
      const kept = encodeURIComponent(verdict.query_id);
      const stored = await sendJson(`/api/faults/report/traces/${kept}`);
      const id = encodeURIComponent(stored.query_id);
      history.pushState(null, "", `${ROOT}/traces/${id}`);
      window.dispatchEvent(new PopStateEvent("popstate"));
    } catch (error) {
      const message = String(/** @type {Error} */ (error).message);
      announce(message);
      place.append(element("p", { class: "notice" }, icon("warn"), message));
    }
  });
  return place;
}
