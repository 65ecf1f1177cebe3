"""Ways of asking, as patterns: which words give away what a question wants."""

from __future__ import annotations

import re

OUTLINE = re.compile(
    r"\b(?:outline|table of contents|syllabus|curriculum|how many lessons"
    r"|(?:what|which) lessons (?:does|do|are|has|have|make)|list (?:of )?(?:all )?(?:the )?lessons"
    r"|lesson (?:titles|names|list)|who (?:teaches|taught|gives|holds|instructs)|instructor|course link"
    r"|link (?:to|of) (?:the|that|this|it)|structure of (?:the|that|this))\b",
    re.I,
)
ELSEWHERE = re.compile(
    r"\b(?:(?:an)?other courses?|different course|(?:same|similar) (?:topic|subject|thing)"
    r"|(?:topic|subject|theme) of lesson|comes? up again|related to|elsewhere)\b",
    re.I,
)
COMPARE = re.compile(
    r"\b(?:differences?|differ|differs|compare[ds]?|comparison|comparing|versus|vs\.?|contrast|have in common"
    r"|similarit\w+)\b|\b(?:is|are) .+ the same(?: thing)? as\b",
    re.I,
)
ACROSS = re.compile(
    r"\b(?:which|what|how many|all|any|every|each|some) (?:of the |of these |the |these )?(?:courses|lessons)\b"
    r"|\b(?:across|in|do|among|throughout) (?:all |all of )?(?:the|these|your) courses\b|\b(?:any|every|each) course\b",
    re.I,
)
FOLLOW_UP = re.compile(
    r"(?:and|but|so|what about|how about|why|ok|then)\b|.*\b(?:it|its|that|this|they|them|those|one|ones)\b", re.I
)
GREETING = frozenset(
    ("hi", "hello", "hey", "thanks", "thank", "you", "good", "morning", "evening", "afternoon", "bye", "ok", "okay")
)
SIDES = (
    re.compile(r"\b(?:differences?|similarit\w+|comparison|contrast|distinction) (?:between|of) (.+?) and (.+)", re.I),
    re.compile(r"\b(?:compare|contrast) (.+?) (?:with|to|and|against) (.+)", re.I),
    re.compile(r"\bhow (?:do|does|did|is|are) (.+?) (?:differ|different) from (.+)", re.I),
    re.compile(r"\b(?:is|are) (.+?) the same(?: thing)? as (.+)", re.I),
    re.compile(r"\bwhat (?:do|does) (.+?) and (.+?) have in common", re.I),
    re.compile(r"(.+?) (?:versus|vs\.?) (.+)", re.I),
    re.compile(r"(.+?) and (?:when|how|why|what|where) (.+)", re.I),
    re.compile(r"\bhow (?:do|does|did) (.+?) and (.+?) (?:differ|compare)", re.I),
)
"""Patterns whose two groups are the sides of a comparison."""
OPENINGS = re.compile(
    r"^(?:(?:what|which|how|when|where|why|is|are|do|does|did|i|want|use|using|the|a|an|need|should|shall|explain|tell"
    r"|me)\b ?)+",
    re.I,
)
"""Words with which a side of a comparison begins without saying what it is about."""
MASKED = re.compile("\u27e6(\\d+)\u27e7")
"""A course's name while it is hidden, lest its own "and" divide the sides."""
PLACE_OF_SIDE = re.compile(
    "(?:,? ?(?:as )?(?:taught|described|explained|presented)? ?(?:in|of|from|by) )?(?:the )?(?:course )?"
    "\u27e6\\d+\u27e7(?: course)?",
    re.I,
)
