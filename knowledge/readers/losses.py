"""Counts by kind the content of a file that people see and no search finds, and describes it in words."""

from __future__ import annotations

import re
from collections import Counter
from enum import Enum

# Placeholders for a description, written by programs or left by people.
_NO_DESCRIPTION = re.compile(
    r"(?:alt(?:ernative)? ?text|image|img|picture|photo|figure|fig|screenshot|png|jpe?g|svg|gif|logo|icon|untitled|.)?"
    r"[ _\-.:#0-9]{0,40}|\S{1,300}\.(?:png|jpe?g|gif|svg|webp|bmp|tiff?)|no description has been provided.{0,60}",
    re.IGNORECASE,
)
_BADGE = re.compile(
    r"badge|shields\.io|travis-ci|circleci\.com|codecov\.io|coveralls\.io|appveyor|/actions/workflows/|pepy\.tech"
    r"|button.{0,40}\.svg|launch.binder|open-in-colab|sponsor",
    re.IGNORECASE,
)
_LONGEST_ADDRESS = 500


class Loss(Enum):
    """A kind of loss: the words for one of them, and for several."""

    PICTURE = ("an image without a description", "{} images without a description")
    OUTPUT_PICTURE = ("an image in the output", "{} images in the output")
    OUTPUT = ("the rest of a long output", "the rest of {} long outputs")
    VIDEO = ("an embedded video was not read", "{} embedded videos were not read")
    SOUND = ("an embedded sound was not read", "{} embedded sounds were not read")
    INCLUDED = ("a part that is in another file", "{} parts that are in other files")
    PAGE = ("an embedded page was not read", "{} embedded pages were not read")
    DRAWING = ("a drawing without text", "{} drawings without text")
    EMBEDDED = ("an embedded file was not read", "{} embedded files were not read")
    MEDIA = ("a video or sound was not read", "{} videos or sounds were not read")
    FORMULA = ("a formula is a picture", "{} formulas are pictures")
    COMMENT = ("a comment is not indexed", "{} comments are not indexed")
    PART = ("a part of the file is broken", "{} parts of the file are broken")


class Losses:
    """The losses of one file."""

    def __init__(self) -> None:
        self._counts: Counter[Loss] = Counter()

    def add(self, kind: Loss, number: int = 1) -> None:
        self._counts[kind] += number

    def counted(self) -> Counter[Loss]:
        return self._counts.copy()

    def reset(self, counted: Counter[Loss]) -> None:
        """Forgets the losses counted since."""
        self._counts = counted.copy()

    def picture(self, description: str, address: str) -> str:
        """Returns the searchable text of a picture; one without a description is a loss, and a badge is neither."""
        if _BADGE.search(address[:_LONGEST_ADDRESS]):
            return ""
        words = " ".join(description.split())
        if _NO_DESCRIPTION.fullmatch(words):
            self.add(Loss.PICTURE)
            return ""
        return words

    @property
    def words(self) -> tuple[str, ...]:
        """Returns a line for each kind."""
        lines = []
        for kind in Loss:
            one, several = kind.value
            count = self._counts[kind]
            if count:
                lines.append(one if count == 1 else several.format(count))
        return tuple(lines)
