"""A small catalogue of trades that the samples do not speak of, for tests of how questions are understood."""

from __future__ import annotations

from antiphon.engine.offline.names import Catalogue
from tests.unit.engine.briefings import MCP, course

PHOTOS = "Working with Photo Archives"
BREAD = "Sourdough Bread: From Starter to Loaf"
BEES = "Bees Through the Year"
CATALOGUE = Catalogue(
    (
        course(PHOTOS, "Ines Duarte-Vale", "Introduction", "Scanning Negatives", "Naming Files", "Keyword Search",
               first=0),
        course(BREAD, "Idris Kone", "Flour and Water", "Feeding a Starter", "Shaping and Scoring"),
        course(BEES, "Rose Amsel", "Introduction", "Swarms in May", "Feeding for Winter", first=0),
        course(MCP, "Elie Sample", "Introduction", "Why MCP"),
    )
)  # fmt: skip
