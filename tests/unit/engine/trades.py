"""A small catalogue of no trade that the samples speak of, for tests of how questions are understood."""

from __future__ import annotations

from antiphon.engine.offline.catalogue import Catalogue
from tests.unit.engine.briefings import course

SAILING = "Sail Trim and Night Passages for Small Crews"
BREAD = "Sourdough Bread in a Home Oven"
BEES = "Bees Through the Year"
CATALOGUE = Catalogue(
    (
        course(SAILING, "Tove Haugen", "Introduction", "Setting Sails", "Watches at Night", first=0),
        course(BREAD, "Idris Kone", "Introduction", "Feeding a Real Starter", "Shaping and Scoring", first=0),
        course(BEES, "Rose Amsel", "Introduction", "Swarms in May", "Feeding for Winter", first=0),
    )
)  # fmt: skip
