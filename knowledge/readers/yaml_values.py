"""Values of YAML that came with documents, where a few lines may stand for millions of values."""

from __future__ import annotations

from typing import Any

import yaml

MOST_VALUES = 100_000
"""Values of one text, with those that an alias (`*name`) repeats."""
_TOO_MANY = f"its aliases (`*name`) repeat more than {MOST_VALUES:,} values"
_ENDLESS = "an alias (`*name`) repeats a value that contains it"


class _Loader(yaml.SafeLoader):
    """Reads YAML, and passes over what only its own program understands, such as `!!python/name:…` in mkdocs.yml.

    An alias is as large as what it repeats: the whole is measured before any value is made of it.
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
    """Returns what a text of YAML holds, or of JSON, which is YAML; None if it is not well formed."""
    return _parsed(text)[0]


def flaw_in(text: str) -> str:
    """Returns why a text is no YAML that can be read, with the line; empty if it is."""
    return _parsed(text)[1]


def _parsed(text: str) -> tuple[Any, str]:
    try:
        # The loader is safe: it makes values and nothing else.
        return yaml.load(text, Loader=_Loader), ""
    except yaml.MarkedYAMLError as error:
        line = f"line {error.problem_mark.line + 1}: " if error.problem_mark else ""
        return None, f"{line}{error.problem}"
    except (yaml.YAMLError, ValueError, RecursionError, TypeError) as error:
        return None, str(error).partition("\n")[0]
