"""Reads YAML that came with documents, in which a few lines may expand to millions of values."""

from __future__ import annotations

from typing import Any

import yaml

MOST_VALUES = 100_000
"""Most values of one text, including those that an alias (`*name`) repeats."""
_TOO_MANY = f"its aliases (`*name`) repeat more than {MOST_VALUES:,} values"
_ENDLESS = "an alias (`*name`) repeats a value that contains it"


class _Loader(yaml.SafeLoader):
    """Reads YAML, and skips tags that only their own program understands, such as `!!python/name:…` in mkdocs.yml.

    An alias counts as much as the values that it repeats, and the whole is measured before any value is made.
    """

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._size = 0
        self._sizes: dict[int, int] = {}

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        is_alias = self.check_event(yaml.AliasEvent)
        before = self._size
        node = super().compose_node(parent, index)
        if not is_alias or node is None:
            self._size += 1
            self._sizes[id(node)] = self._size - before
            return node
        # The alias is within its own anchor, so the value would be endless.
        if id(node) not in self._sizes:
            raise yaml.composer.ComposerError(None, None, _ENDLESS, node.start_mark)
        self._size += self._sizes[id(node)]
        if self._size > MOST_VALUES:
            raise yaml.composer.ComposerError(None, None, _TOO_MANY, node.start_mark)
        return node


def _ignored(*_: object) -> None:
    return None


_Loader.add_multi_constructor("!", _ignored)
_Loader.add_multi_constructor("tag:yaml.org,2002:python/", _ignored)


def parsed(text: str) -> Any:
    """Parses a text of YAML, or of JSON, which is YAML; None if it is malformed."""
    return _parsed(text)[0]


def flaw_in(text: str) -> str:
    """Returns the reason why a text is not readable YAML, with the line; empty if it is."""
    return _parsed(text)[1]


def _parsed(text: str) -> tuple[Any, str]:
    try:
        # A safe loader, which makes only plain values.
        return yaml.load(text, Loader=_Loader), ""
    except yaml.MarkedYAMLError as error:
        line = f"line {error.problem_mark.line + 1}: " if error.problem_mark else ""
        return None, f"{line}{error.problem}"
    except (yaml.YAMLError, ValueError, RecursionError, TypeError) as error:
        return None, str(error).partition("\n")[0]
