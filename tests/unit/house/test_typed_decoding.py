"""Every typed decoder of the product names a type that one thread made ready (vocabulary/typed.py)."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tests.house.complexity import ROOT, product_files

EXEMPT = ("vocabulary/typed.py", "benchmarks/")


def _types_named(source: str) -> Iterator[tuple[int, str]]:
    """Yields the line and the text of each type that a call of msgspec's decodes or converts to."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        named = [each.value for each in node.keywords if each.arg == "type"]
        match ast.unparse(node.func).split("."):
            case ["msgspec", "convert"]:
                named += node.args[1:]
            case ["msgspec", "json" | "msgpack", "Decoder"]:
                named += node.args
            case ["msgspec", "json" | "msgpack", "decode"]:
                pass
            case _:
                continue
        for each in named:
            yield each.lineno, ast.unparse(each)


def test_each_typed_decoder_names_a_prepared_type() -> None:
    bare: list[str] = []
    for path in product_files():
        name = str(path.relative_to(ROOT))
        if path.suffix == ".py" and not name.startswith(EXEMPT):
            for line, named in _types_named(path.read_text()):
                if not named.startswith("prepared("):
                    bare.append(f"{name}:{line}: {named}")

    assert bare == [], "write `prepared(…)` around the type"


def test_a_bare_type_is_seen() -> None:
    source = """
msgspec.convert(value, A)
msgspec.json.decode(line, type=B)
msgspec.msgpack.Decoder(C)
msgspec.json.Decoder(type=D, dec_hook=read)
msgspec.json.decode(line)
"""

    assert [named for _, named in _types_named(source)] == ["A", "B", "C", "D"]
