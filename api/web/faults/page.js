/** The fault matrix: the points at which the service was broken on purpose, the kinds, and whether its promises held. */

import { ROOT, getJson } from "../api.js";
import { copyText } from "../copying.js";
import { element, icon } from "../dom.js";
import { count, when } from "../text.js";
import { cellDialog } from "./cell.js";
import { SIGNS, TONES, WORDS, families, reasons } from "./report.js";

/**
 * Shows the page; returns a function to call when it is left.
 * @param {HTMLElement} main
 * @param {{point?: string, kind?: string}} parameters The cell that is looked at.
 * @returns {() => void}
 */
export function show(main, { point, kind }) {
  const about = element("p", { class: "soft" }, "Reading…");
  const page = element("div", { class: "page wide faults" }, element("h1", {}, "Faults"), about);
  main.replaceChildren(page);
  let isLeft = false;
  const left = () => isLeft;
  read(page, about, { point, kind }, left);
  return () => {
    isLeft = true;
    document.querySelector(".fault-dialog")?.remove();
  };
}

/**
 * @param {HTMLElement} page
 * @param {HTMLElement} about
 * @param {{point?: string | undefined, kind?: string | undefined}} cell
 * @param {() => boolean} left
 */
async function read(page, about, cell, left) {
  try {
    /** @type {{command: string, report: import("./report.js").Report | null}} */
    const found = await getJson("/api/faults/report");
    if (left()) return;
    if (found.report === null) {
      about.remove();
      page.append(emptyState(found.command));
      return;
    }
    about.textContent = aboutOf(found.report);
    const matrix = new Matrix(found.report);
    page.append(tiles(found.report), matrix.controls(), ...matrix.sections);
    if (cell.point !== undefined && cell.kind !== undefined) matrix.open(cell.point, cell.kind);
  } catch (error) {
    about.textContent = String(/** @type {Error} */ (error).message);
  }
}

/** @param {string} command */
function emptyState(command) {
  const copy = element("button", { class: "quiet", type: "button" }, icon("copy"), "Copy");
  copy.addEventListener("click", () => copyText(command, copy));
  return element(
    "section",
    { class: "card" },
    element("h2", {}, "There is no report yet"),
    element(
      "p",
      {},
      "Fault injection breaks the service, one fault at a time, at every point that a query passes. Each time it must " +
        "answer, within its deadline, and say what it lost. A run takes about two minutes, and needs no key.",
    ),
    element("div", { class: "row" }, element("code", { tabindex: 0 }, command), copy),
    element("p", { class: "soft" }, "Run it where the service's data folder is, then load this page again."),
  );
}

/** @param {import("./report.js").Report} report */
function aboutOf(report) {
  const { counts } = report;
  const tried = `${count(counts.run ?? 0, "fault")} tried, one at a time (${when(report.made_at)}, seed ${report.seed}).`;
  const failed = (counts.broken ?? 0) + (counts.not_fired ?? 0);
  if (failed > 0) return `${tried} ${count(failed, "cell")} failed.`;
  return `${tried} Every promise was kept.`;
}

/** @param {import("./report.js").Report} report */
function tiles(report) {
  const { counts } = report;
  const list = element("dl", { class: "grid fault-tiles" });
  for (const [name, number, outcome] of /** @type {[string, number, string][]} */ ([
    ["Kept", counts.kept ?? 0, "good"],
    ["Broken", counts.broken ?? 0, counts.broken ? "bad" : ""],
    ["Never fired", counts.not_fired ?? 0, counts.not_fired ? "fair" : ""],
    ["Not applicable", counts.not_applicable ?? 0, ""],
  ])) {
    const value = element("dd", {}, number.toLocaleString("en"));
    list.append(element("div", { class: `card ${outcome}` }, element("dt", {}, name), value));
  }
  return list;
}

/** The tables, a family of points each, and what narrows them down. */
class Matrix {
  /** @param {import("./report.js").Report} report */
  constructor(report) {
    this.families = families(report);
    this.why = reasons(report);
    this.search = element("input", {
      type: "search",
      class: "text-input",
      placeholder: "Points, such as tool or round_opened",
      "aria-label": "Search the points",
    });
    this.failing = element("input", { type: "checkbox" });
    this.none = element("p", { class: "soft", role: "status", hidden: true }, "No point matches.");
    this.sections = this.families.map((family) => this.#section(family));
    this.search.addEventListener("input", () => this.#narrow());
    this.failing.addEventListener("change", () => this.#narrow());
  }

  controls() {
    return element(
      "form",
      {
        class: "filters",
        role: "search",
        submit: (/** @type {Event} */ event) => event.preventDefault(),
      },
      this.search,
      element("label", { class: "row" }, this.failing, "Only what failed"),
      element(
        "p",
        { class: "row" },
        ...["kept", "broken", "unfired"].map((each) => {
          const outcome = /** @type {import("./report.js").Outcome} */ (each);
          return element("span", { class: `tag ${TONES[outcome]}` }, `${SIGNS[outcome]} ${WORDS[outcome]}`);
        }),
        element(
          "span",
          { class: "soft" },
          "· not applicable there; the number is that of the parts of a query in which it was tried",
        ),
      ),
      this.none,
    );
  }

  /**
   * Opens the dialog of a cell, and gives it an address of its own for as long.
   * @param {string} point
   * @param {string} kind
   */
  open(point, kind) {
    const family = this.families.find((each) => each.points.has(point));
    const tried = family?.points.get(point)?.get(kind);
    if (tried === undefined) return;
    history.replaceState(null, "", addressOf(point, kind));
    const dialog = cellDialog(tried, () => {
      if (location.pathname !== new URL(addressOf(point, kind), location.href).pathname) return;
      history.replaceState(null, "", `${ROOT}/faults`);
    });
    document.body.append(dialog);
    dialog.showModal();
  }

  /** @param {import("./report.js").Family} family */
  #section(family) {
    const head = element("tr", {}, element("th", { scope: "col" }, "Point"));
    for (const kind of family.kinds) head.append(element("th", { scope: "col" }, kind));
    const rows = element("tbody", {});
    let cells = 0;
    let failed = 0;
    for (const [point, row] of family.points) {
      for (const tried of row.values()) {
        cells += tried.verdicts.length;
        failed += tried.verdicts.filter((each) => each.result !== "kept").length;
      }
      rows.append(this.#row(family, point, row));
    }
    const outcome = failed > 0 ? "broken" : "kept";
    const says =
      failed > 0 ? `${count(failed, "cell")} of ${cells} failed` : `${SIGNS.kept} all ${cells} kept`;
    return element(
      "details",
      { class: "fault-family", open: true },
      element(
        "summary",
        {},
        element("h2", {}, family.about),
        element("span", { class: "soft" }, count(family.points.size, "point")),
        element("span", { class: `tag ${TONES[outcome]}` }, says),
      ),
      element(
        "div",
        { class: "table-scroller", tabindex: 0, role: "region", "aria-label": family.about },
        element("table", { class: "table fault-table" }, element("thead", {}, head), rows),
      ),
    );
  }

  /**
   * @param {import("./report.js").Family} family
   * @param {string} point
   * @param {Map<string, import("./report.js").Tried>} row
   */
  #row(family, point, row) {
    const line = element("tr", {}, element("th", { scope: "row" }, element("code", {}, point)));
    line.dataset.point = point;
    line.dataset.failed = String([...row.values()].some((tried) => tried.outcome !== "kept"));
    for (const kind of family.kinds) {
      const tried = row.get(kind);
      if (tried === undefined) {
        const why = this.why.get(`${point} ${kind}`) ?? "not tried";
        line.append(element("td", { class: "soft", title: why }, "·"));
      } else {
        line.append(element("td", {}, this.#link(tried)));
      }
    }
    return line;
  }

  /** @param {import("./report.js").Tried} tried */
  #link(tried) {
    const { point, kind, verdicts, outcome } = tried;
    const failed = verdicts.filter((each) => each.result !== "kept").length;
    const shown =
      failed > 0 && verdicts.length > 1 ? `${failed}/${verdicts.length}` : String(verdicts.length);
    const link = element(
      "a",
      {
        class: `fault-cell tag ${TONES[outcome]}`,
        href: addressOf(point, kind),
        "aria-label": `${SIGNS[outcome]} ${shown}: ${kind} at ${point}, ${WORDS[outcome]}`,
        title: tried.meaning,
      },
      `${SIGNS[outcome]} ${shown}`,
    );
    link.addEventListener("click", (event) => {
      if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
      event.preventDefault();
      this.open(point, kind);
    });
    return link;
  }

  #narrow() {
    const wanted = this.search.value.trim().toLowerCase();
    let left = 0;
    for (const section of this.sections) {
      let shown = 0;
      for (const row of section.querySelectorAll("tbody tr")) {
        const { point = "", failed } = /** @type {HTMLElement} */ (row).dataset;
        const fits = point.toLowerCase().includes(wanted) && (!this.failing.checked || failed === "true");
        /** @type {HTMLElement} */ (row).hidden = !fits;
        if (fits) shown += 1;
      }
      section.hidden = shown === 0;
      left += shown;
    }
    this.none.hidden = left > 0;
    if (left === 0)
      this.none.textContent = this.failing.checked && !wanted ? "Nothing failed." : "No point matches.";
  }
}

/**
 * @param {string} point
 * @param {string} kind
 */
function addressOf(point, kind) {
  return `${ROOT}/faults/${encodeURIComponent(point)}/${encodeURIComponent(kind)}`;
}
