"""The furniture of repositories: files that belong to no course, each with the reason for leaving it out."""

from __future__ import annotations

import re

# No course consists of these, in no folder.
_ANYWHERE = (
    (r"(un)?licen[cs]e([._-].*)?|copying", "a licence"),
    (r"code[_ -]?of[_ -]?conduct", "a code of conduct"),
    (r"robots|humans", "for search engines"),
    (r"requirements([._-].*)?|constraints|cmakelists", "a list of packages"),
    (r"_(sidebar|navbar|footer|coverpage)", "a template"),
)
# In the top folder of a repository these are about the repository; in other folders each may be a lesson.
_AT_THE_TOP = (
    (r"contribut(e|ing|ors?)([._-].*)?|contributor[_ -]guide", "for contributors"),
    (r"security|support|governance|maintainers|codeowners", "about the repository"),
    (r"change(log|s)|history|release[_ -]?notes|news", "a list of changes"),
    (r"authors|credits|acknowledge?ments|citation|thanks", "a list of names"),
    (r"(pull_request|issue)[_ -]template.*", "a template"),
    (
        r"agents|claude|gemini|skill|copilot-instructions|llms(-full)?|cursorrules",
        "for programs",
    ),
    (r"style([_ -]?guide)?|translations?|translating|roadmap|todo", "for contributors"),
    (r"404|search|redirect|google[0-9a-f]{16}", "a page of the website"),
    (r"privacy([_ -]policy)?|cname", "about the repository"),
)
_FOLDERS = {
    "translations": "a translation",
    "translated_images": "a translation",
    "i18n": "a translation",
    "locale": "a translation",
    "locales": "a translation",
    "po": "a translation",
    "samples": "a sample of code",
    "sample": "a sample of code",
    "src": "code",
    "app": "code",
    "test": "a test of code",
    "tests": "a test of code",
    "tools": "a tool of the repository",
    "scripts": "a tool of the repository",
    "website": "of the website",
    "theme": "a template",
    "themes": "a template",
    "template": "a template",
    "templates": "a template",
    "lesson-template": "a template",
    "blog": "a blog",
    "includes": "a template",
    "layouts": "a template",
    "partials": "a template",
    "vendor": "a package",
    "third_party": "a package",
    "static": "a file of the website",
    "assets": "a file of the website",
    "public": "a file of the website",
    "build": "built",
    "dist": "built",
    "site": "built",
    "profiles": "not for readers",
}
# Folders of website and book generators; no person would choose such a name.
_OF_TOOLS = re.compile(
    r"_(site|includes?|layouts?|sass|data|templates?|static|build|book|freeze|plugins|partials|extensions)"
)
# The language codes in names of translations, without most of those that are English words, such as "is" and "or".
_CODES = """
    ar az be bg bn br ca cn cs da de el es et eu fa fi fil fr gl gu he hi hr hu hy id it ja jp ka kk km kn ko kr lt lv
    mk ml mn mr ms my ne nl no pa pcm pl pt ro ru si sk sl sq sr sv sw ta te th tl tr tw uk ur uz vi vn zh
"""
_LANGUAGES = frozenset(_CODES.split())
_REGION = re.compile(r"(?P<code>[a-z]{2,3})(?:[-_][a-z]{2,4})?", re.IGNORECASE)
_SUFFIX = re.compile(
    r"(?P<base>.+)[._-](?P<language>[a-z]{2}(?:[-_][a-z]{2,4})?)", re.IGNORECASE
)


def why_not_anywhere(stem: str) -> str:
    """Returns the reason why a file of this name is never part of a course; empty if it may be."""
    return _reason(stem, _ANYWHERE)


def why_not_at_the_top(stem: str) -> str:
    """Returns the reason why a file in a repository's top folder is not part of a course; empty if it may be."""
    return _reason(stem, _ANYWHERE) or _reason(stem, _AT_THE_TOP)


def why_not_of_a_tool(folder: str) -> str:
    """Returns the reason why people wrote nothing in a folder of this name; empty if they may have."""
    if _OF_TOOLS.fullmatch(folder.lower()):
        return "a template"
    return ""


def why_not_in(folder: str) -> str:
    """Returns the reason why no file in this folder of a repository belongs to a course; empty if some may."""
    return why_not_of_a_tool(folder) or _FOLDERS.get(folder.lower(), "")


def is_language(name: str) -> bool:
    """Returns True for a language code, such as "pt-br"."""
    found = _REGION.fullmatch(name)
    return found is not None and found["code"].lower() in {*_LANGUAGES, "en"}


def translated(stem: str) -> str:
    """Returns the name that this one may translate: "README" for "README.pt-br"; empty if it is no translation."""
    found = _SUFFIX.fullmatch(stem)
    if found is None or not is_language(found["language"]):
        return ""
    return found["base"]


def _reason(stem: str, rules: tuple[tuple[str, str], ...]) -> str:
    for pattern, reason in rules:
        if re.fullmatch(pattern, stem.lower()):
            return reason
    return ""
