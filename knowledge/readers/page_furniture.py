"""Recognises the parts of a web page that are not its own text: menus, banners, links of its generator, hidden text."""

from __future__ import annotations

import re
from itertools import islice

from lxml import etree, html

# These elements never hold the page's own text.
_UNSEEN = frozenset(
    (
        "script",
        "style",
        "noscript",
        "template",
        # Without `head`, into which the parser puts the beginning of a page without a body.
        "title",
        "select",
        "datalist",
        "textarea",
        "canvas",
        "rp",
    )
)
# A model would read text that is hidden this way, and nobody who sees the page would understand its answers.
_UNSEEN_STYLE = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*hidden|(?:opacity|font-size)\s*:\s*0(?:\.0*)?(?![.\d])",
    re.IGNORECASE,
)
_TAGS_OF_FURNITURE = frozenset(("a", "aside", "button", "footer", "header", "nav"))
_FURNITURE_ROLE_NAMES = """
    search dialog alertdialog menu menubar toolbar doc-toc doc-pagelist
"""
_FURNITURE_ROLES = frozenset(_FURNITURE_ROLE_NAMES.split())
# Lists of a book's parts, by their names in EPUB.
_BOOK_FURNITURE = frozenset(("toc", "landmarks", "loi", "lot", "page-list"))
# Names that generators and themes give to the surroundings of a page's text. Any of them may also name a lesson, so
# nearly all of the element must be links.
_MENU = re.compile(
    r"(?:\w{1,40}[-_])?(?:nav(?:bar|igation)?|breadcrumbs?|menu|sidebar|toc|pagination|pager|footer|masthead|related)"
    r"|sphinxsidebar\w*|table-of-contents|contents|prev-next.{0,20}|tocwrapper|page-tools|share|social.{0,20}",
    re.IGNORECASE,
)
_CONSENT = re.compile(
    r"(?:cookie|consent|gdpr)[-_]?(?:banner|notice|bar|popup|consent|message|law|policy|modal|dialog|overlay|wrapper)"
    r".{0,30}",
    re.IGNORECASE,
)
_LONGEST_CONSENT = 2_000
_LONGEST_MENU = 50_000
_LEAST_LINKED = 0.8
# Each returns one string, made within the library, because menus may be nested, and the outer one repeats all links.
_STRINGS = {"str": "http://exslt.org/strings"}
_TEXT = etree.XPath("string()", smart_strings=False)
_UNSHOWN_TEXT = etree.XPath(
    "str:concat(.//script | .//style | .//title)",
    namespaces=_STRINGS,
    smart_strings=False,
)
_LINKED_TEXT = etree.XPath(
    "str:concat(descendant-or-self::a)", namespaces=_STRINGS, smart_strings=False
)
_LINE_NUMBERS = re.compile(
    r"linenos?|lineno\w*|line-?numbers?.{0,10}|gutter.{0,10}|rouge-gutter|blob-num.{0,20}",
    re.IGNORECASE,
)
_NEAR = 8
_PERMALINK = re.compile(r"[\s#¶§🔗\u200b\uf0c1]+|(?:perma|direct )link\b.{0,80}", re.I)
_TOOL = re.compile(
    r"(?:skip|jump) to .{0,40}|(?:edit|improve|suggest|fork)\b.{0,20}\b(?:page|github|gitlab|source|edits?)"
    r"|(?:view|show|open) (?:page )?(?:source|on github)|report an? (?:issue|bug).{0,20}|(?:back )?to (?:the )?top"
    r"|[\s←«<]*(?:previous|prev|next)(?: (?:page|chapter|lesson|topic|section|post))?[\s→»>]*|copy.{0,20}|print",
    re.IGNORECASE,
)
_LONGEST_TOOL = 80
_SHOWN_BUTTONS = ("h1", "h2", "h3", "h4", "h5", "h6", "dt", "summary")
_OWN_SCOPE = ("main", "article", "section", "blockquote", "figure", "li")


def is_unseen(element: html.HtmlElement) -> bool:
    """Returns True for an element that is invisible by its own attributes."""
    tag = element.tag
    # The tag of a comment is a function.
    if not isinstance(tag, str) or tag in _UNSEEN:
        return True
    if element.get("hidden", "until-found") != "until-found":
        return True
    if tag == "dialog" and element.get("open") is None:
        return True
    return _UNSEEN_STYLE.search(element.get("style", "")) is not None


def is_main(element: html.HtmlElement) -> bool:
    """Returns True for a part that the page marks as its main one."""
    return bool(element.tag == "main" or element.get("role") == "main")


def is_furniture(element: html.HtmlElement) -> bool:
    """Returns True for an element that is not the page's text: it appears on every page, or a second time."""
    # Most elements have no such tag, and no telling attributes.
    if element.tag not in _TAGS_OF_FURNITURE and not element.keys():
        return False
    role = element.get("role", "").lower()
    if element.tag == "nav" or role in _FURNITURE_ROLES:
        return True
    # Within the text it is a box of links on the subject, as at the foot of an encyclopedia article.
    if role == "navigation":
        return not any(map(is_main, element.iterancestors()))
    if not _BOOK_FURNITURE.isdisjoint(element.get("epub:type", "").split()):
        return True
    return _is_tool(element) or _is_repeated(element) or _is_around_text(element)


def _is_tool(element: html.HtmlElement) -> bool:
    """Returns True for buttons and links that act on the page and are not part of its text."""
    if element.tag == "button":
        return not _is_question(element)
    if element.tag != "a":
        return False
    if {"prev", "next"} & set(element.get("rel", "").lower().split()):
        return True
    text = _text(element)
    if len(text) > _LONGEST_TOOL:
        return False
    if _is_in(element, _SHOWN_BUTTONS[:-2]) and _PERMALINK.fullmatch(text):
        return element.find(".//img") is None
    return _TOOL.fullmatch(text.strip()) is not None and _stands_alone(element)


def _is_question(button: html.HtmlElement) -> bool:
    """Returns True for a button that opens an answer, because its label is the question."""
    opens = "aria-expanded" in button.attrib or "aria-controls" in button.attrib
    return opens or _is_in(button, _SHOWN_BUTTONS)


def _is_in(element: html.HtmlElement, tags: tuple[str, ...]) -> bool:
    return next(element.iterancestors(*tags), None) is not None


def _stands_alone(link: html.HtmlElement) -> bool:
    """Returns True if it has no words beside it, because in the middle of a sentence "next" is a word."""
    before = link.getprevious()
    parent = link.getparent()
    words = link.tail or ""
    if before is not None:
        words += before.tail or ""
    elif parent is not None:
        words += parent.text or ""
    return not any(map(str.isalnum, words))


def _is_repeated(element: html.HtmlElement) -> bool:
    """Returns True for an element hidden from screen readers because the page repeats it for them."""
    if element.get("aria-hidden") != "true":
        return False
    parent = element.getparent()
    if parent is None:
        return False
    beside = islice(parent, _NEAR)
    return any(_is_for_screen_readers(each) for each in beside if each is not element)


def _is_for_screen_readers(element: html.HtmlElement) -> bool:
    if not isinstance(element.tag, str):
        return False
    names = element.get("class", "").lower()
    if "sr-only" in names or "visually-hidden" in names or "assistive" in names:
        return True
    return element.tag == "math" or element.find(".//math") is not None


def _is_around_text(element: html.HtmlElement) -> bool:
    tag = element.tag
    if tag == "footer" or element.get("role") in ("banner", "contentinfo"):
        return not _is_in(element, _OWN_SCOPE)
    if tag == "header":
        return not _is_in(element, _OWN_SCOPE) and not _has_text(element)
    if tag == "aside":
        return _is_menu(element)
    return _is_named_furniture(element)


def _is_named_furniture(element: html.HtmlElement) -> bool:
    """Returns True for furniture by class or id, unless its text contradicts that."""
    names = f"{element.get('class', '')} {element.get('id', '')}".split()
    if any(map(_LINE_NUMBERS.fullmatch, names)):
        return not any(map(str.isalpha, _text(element)))
    if any(map(_CONSENT.fullmatch, names)):
        return len(_text(element)) < _LONGEST_CONSENT
    # The classes of a page's body name everything that it may hold.
    is_named = element.tag != "body" and any(map(_MENU.fullmatch, names))
    return is_named and not is_main(element) and _is_menu(element)


def _has_text(header: html.HtmlElement) -> bool:
    """Returns True if it contains an article, or the title of the page rather than that of the site above another."""
    if header.find(".//article") is not None:
        return True
    if header.find(".//h1") is None:
        return False
    return len(header.getroottree().getroot().findall(".//h1")) == 1


def _is_menu(element: html.HtmlElement) -> bool:
    """Returns True for an element that is all links except a few words."""
    length = shown_length(element)
    if length > _LONGEST_MENU:
        return False
    return _letters(_LINKED_TEXT(element)) >= length * _LEAST_LINKED


def shown_length(element: html.HtmlElement) -> int:
    """Returns the number of letters in an element's visible text."""
    return _letters(_TEXT(element)) - _letters(_UNSHOWN_TEXT(element))


def _letters(text: str) -> int:
    return len("".join(text.split()))


def _text(element: html.HtmlElement) -> str:
    return " ".join(str(element.text_content()).split())
