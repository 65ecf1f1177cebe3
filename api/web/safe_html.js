/** HTML that the service made from Markdown, as nodes. Checked once more here: what is not listed stays text. */

const ELEMENTS = new Set(
  "P BR STRONG EM S CODE PRE BLOCKQUOTE UL OL LI HR SUP H1 H2 H3 H4 H5 H6 TABLE THEAD TBODY TR TH TD".split(
    " ",
  ),
);
const MATH = "http://www.w3.org/1998/Math/MathML";
const MATH_ELEMENTS = new Set(
  "math mfrac mi mn mo mover mpadded mphantom mroot mrow mspace msqrt mstyle msub msubsup msup mtable mtd mtext mtr munder munderover".split(
    " ",
  ),
);
const ATTRIBUTES = new Set(
  "data-citation start accent accentunder display displaystyle form linethickness lspace mathvariant maxsize minsize movablelimits rspace scriptlevel stretchy symmetric width".split(
    " ",
  ),
);

/** The one policy that the Content-Security-Policy allows; nobody else gets hold of it. */
const policy = window.trustedTypes?.createPolicy("antiphon-html", { createHTML: (html) => html });

/**
 * Returns the nodes of the service's HTML.
 * @param {string} html
 * @returns {DocumentFragment}
 */
export function fragmentOf(html) {
  const template = document.createElement("template");
  // The content of a template is inert: nothing of it runs or is fetched before it is checked.
  template.innerHTML = /** @type {string} */ (/** @type {unknown} */ (policy?.createHTML(html) ?? html));
  for (const found of template.content.querySelectorAll("*")) {
    if (!isListed(found)) found.replaceWith(found.outerHTML);
    for (const name of found.getAttributeNames()) {
      if (!ATTRIBUTES.has(name)) found.removeAttribute(name);
    }
  }
  // One that is wider than the window is scrolled by keyboard too.
  for (const formula of template.content.querySelectorAll('math[display="block"]')) {
    formula.setAttribute("tabindex", "0");
  }
  return template.content;
}

/** @param {Element} found */
function isListed(found) {
  return found.namespaceURI === MATH ? MATH_ELEMENTS.has(found.localName) : ELEMENTS.has(found.tagName);
}
