/** Who answers, at the foot of the sidebar, read again while a check of the model's key may end or the key be mended. */

import { startAccess } from "./access.js";
import { readiness } from "./api.js";
import { byId, element } from "./dom.js";

/** The readiness was read; the event's detail is what it says. */
export const READINESS = "antiphon:readiness";

/** How often it is read while the key is refused. */
const REFUSED_MS = 5000;
/** How often, and how many times, while nothing is known of the key: a service that has just started checks it. */
const UNKNOWN_MS = 2000;
const MOST_UNKNOWN = 4;

/** @type {import("./types.js").Readiness["model_key"]} */
let key = "unknown";
let unknown = 0;
let again = 0;

/** Shows who answers and what the caller may do, now and whenever somebody comes back to the page. */
export function startReasoner() {
  startAccess();
  showReasoner();
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden && key !== "none") showReasoner();
  });
}

/** Reads again who answers, after an answer that may have shown something new of the key. */
export function lookAtReasoner() {
  if (key !== "none") showReasoner();
}

async function showReasoner() {
  clearTimeout(again);
  try {
    const state = await readiness();
    key = state.model_key;
    byId("reasoner").replaceChildren(...who(state));
    document.dispatchEvent(new CustomEvent(READINESS, { detail: state }));
  } catch {
    // It may be starting again, with another key.
    byId("reasoner").textContent = "";
  }
  unknown = key === "unknown" ? unknown + 1 : 0;
  if (key === "refused") again = setTimeout(showReasoner, REFUSED_MS);
  else if (key === "unknown" && unknown < MOST_UNKNOWN) again = setTimeout(showReasoner, UNKNOWN_MS);
}

/** @param {import("./types.js").Readiness} state */
function who({ reasoner, model_key }) {
  const tone = { accepted: "good", refused: "fair" }[String(model_key)] ?? "";
  const dot = element("span", { class: `dot ${model_key} ${tone}`, "aria-hidden": "true" });
  if (model_key === "refused") return [dot, "Key refused; the built-in reasoner answers"];
  if (reasoner === "offline") return [dot, "Built-in reasoner"];
  // Some servers say nothing of a key before it is used.
  if (model_key === "unknown") return [dot, `${reasoner}, key not used yet`];
  return [dot, reasoner];
}
