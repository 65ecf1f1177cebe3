/**
 * The report of the fault matrix, put in order: families of points, and for each point and kind what came of it.
 *
 * @typedef {{point: string, kind: string, when: string, scenario: string}} FaultCell
 *
 * @typedef {object} Verdict
 * @property {FaultCell} cell
 * @property {string} command
 * @property {"kept" | "broken" | "not fired"} result
 * @property {string[]} broken
 * @property {string} status
 * @property {string} query_id
 *
 * @typedef {object} Report
 * @property {number} seed
 * @property {Record<string, number>} counts
 * @property {Record<string, string>} kinds
 * @property {Verdict[]} cells
 * @property {{point: string, kind: string, why: string, when: string}[]} not_applicable
 * @property {number} made_at
 *
 * @typedef {"kept" | "broken" | "unfired"} Outcome
 *
 * @typedef {object} Tried One kind of fault at one point: what came of it in each part of a query.
 * @property {string} point
 * @property {string} kind
 * @property {string} meaning
 * @property {Verdict[]} verdicts
 * @property {Outcome} outcome The worst of them.
 *
 * @typedef {object} Family The points of one sort, and the kinds that were tried at any of them.
 * @property {string} name
 * @property {string} about
 * @property {string[]} kinds
 * @property {Map<string, Map<string, Tried>>} points
 */

/** @type {Record<string, string>} */
const ABOUT = {
  scenario: "Whole scenarios, without a fault",
  intake: "Questions as they come in",
  publish: "Events on their way to the bus",
  deliver: "Events on their way to a component",
  spawn: "Background work of components",
  model: "Calls of the model",
  fallback: "Calls of the fallback reasoner",
  summary: "Calls that sum up",
  tool: "Tools",
  library: "The index",
  embedder: "The embedder",
  clock: "The clock",
  store: "The trace store",
  follower: "Live followers of a query",
  client: "The caller",
  process: "The process itself",
};

/**
 * @param {Report} report
 * @returns {Family[]}
 */
export function families(report) {
  /** @type {Map<string, Family>} */
  const found = new Map();
  const order = Object.keys(report.kinds);
  for (const verdict of report.cells) {
    const { point, kind } = verdict.cell;
    const name = point.split(".", 1)[0] ?? point;
    /** @type {Family} */
    const family = found.get(name) ?? { name, about: ABOUT[name] ?? name, kinds: [], points: new Map() };
    found.set(name, family);
    if (!family.kinds.includes(kind)) family.kinds.push(kind);
    const row = family.points.get(point) ?? new Map();
    family.points.set(point, row);
    const tried = row.get(kind) ?? {
      point,
      kind,
      meaning: report.kinds[kind] ?? "",
      verdicts: [],
      outcome: "kept",
    };
    row.set(kind, tried);
    tried.verdicts.push(verdict);
    tried.outcome = worse(tried.outcome, outcomeOf(verdict));
  }
  for (const family of found.values())
    family.kinds.sort((one, other) => order.indexOf(one) - order.indexOf(other));
  // Scenarios without a fault say least, and come last.
  return [...found.values()].sort(
    (one, other) => Number(one.name === "scenario") - Number(other.name === "scenario"),
  );
}

/**
 * @param {Verdict} verdict
 * @returns {Outcome}
 */
export function outcomeOf(verdict) {
  if (verdict.result === "kept") return "kept";
  return verdict.result === "broken" ? "broken" : "unfired";
}

/**
 * @param {Outcome} one
 * @param {Outcome} other
 * @returns {Outcome}
 */
function worse(one, other) {
  if (one === "broken" || other === "broken") return "broken";
  return one === "unfired" || other === "unfired" ? "unfired" : "kept";
}

/**
 * Why a kind was not tried at a point, by point and kind.
 * @param {Report} report
 */
export function reasons(report) {
  /** @type {Map<string, string>} */
  const why = new Map();
  for (const gap of report.not_applicable) {
    const key = `${gap.point} ${gap.kind}`;
    if (!gap.when || !why.has(key)) why.set(key, gap.why);
  }
  return why;
}

/** What a cell shows, and says: its sign, so that colour is not all. */
export const SIGNS = { kept: "✓", broken: "✗", unfired: "?" };
export const WORDS = { kept: "kept", broken: "broken", unfired: "never fired" };
/** @type {Record<Outcome, string>} */
export const TONES = { kept: "good", broken: "bad", unfired: "fair" };
