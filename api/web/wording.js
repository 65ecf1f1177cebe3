/** Names of the service's own, and Markdown, as people read them. */

/** @param {string} kind */
export function kindName(kind) {
  return kind.replaceAll("_", " ");
}

/** @type {Record<string, string>} */
export const TOOLS = {
  search_course_content: "Search",
  get_course_outline: "Outline",
  keyword_search: "Keyword search",
};

/**
 * A tool's name as people say it; that of a tool of one's own with spaces.
 * @param {string} name
 */
export function toolName(name) {
  const words = TOOLS[name] ?? kindName(name);
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/**
 * What the service says, with tools called as the page calls them; of what it quotes only the Markdown is read.
 * @param {string} text
 * @param {Iterable<string>} own The names of further tools than the service's.
 */
export function inPlainWords(text, own = []) {
  const names = new Set([...Object.keys(TOOLS), ...own]);
  // A name without it is a word as people use it; behind a point it is a part of another name.
  const isName = (/** @type {string} */ part) => part.includes("_") && names.has(part);
  return text.replace(/“[^”]*”|(?<![.\w])\w+/g, (part) => {
    if (part.startsWith("“")) return `“${withoutSigns(part.slice(1, -1))}”`;
    return isName(part) ? toolName(part) : part;
  });
}

/** What is read of Markdown in place of its signs: of fences, headings, lists, tables, emphasis, code and links. */
const READ_AS = /** @type {[RegExp, string][]} */ ([
  [/^ *```.*$/gm, ""],
  [/^ *(?:#{1,6}|[-*+]) +/gm, ""],
  [/\|(?: *:?-{3,}:? *\|)+/g, ""],
  [/^ *\| *| *\| *$/gm, ""],
  [/(?<![\w*])(\*{1,3})(?=[^\s*])([^*]{0,999}[^\s*])\1/g, "$2"],
  [/`([^`\n]{1,999})`/g, "$1"],
  [/\[([^[\]]{1,999})\]\([^()\s]{1,999}\)/g, "$1"],
]);

/**
 * A sentence of an answer without the signs of Markdown; a table's cells follow one another.
 * @param {string} text
 */
export function withoutSigns(text) {
  const isTable = text.trimStart().startsWith("|");
  const read = READ_AS.reduce((rest, [sign, words]) => rest.replace(sign, words), text);
  const cells = isTable ? read.replace(/(?: *\|)+ */g, " · ") : read;
  return cells.replace(/\n{2,}/g, "\n").trim();
}
