"""The search for addresses finds every one that a program would follow, and takes nothing else for one."""

from __future__ import annotations

import time

import pytest

from antiphon.language.links import leads_to_one_of, links_in


@pytest.mark.parametrize(
    ("text", "addresses"),
    [
        ("See https://x.example/a.", ["https://x.example/a"]),
        ("(https://x.example/a_(b))", ["https://x.example/a_(b)"]),
        ("![p](http://x.example/p.png 'title')", ["http://x.example/p.png"]),
        ("src='https://x.example/it's-here'", ["https://x.example/it's-here"]),
        ("[a]( <//x.example/p> )", ["//x.example/p"]),
        ("[1]: ftp://x.example", ["ftp://x.example"]),
        ("<a href=/x?y>", ["/x?y"]),
        ("www.x.example, and mailto:a@x.example", ["www.x.example", "mailto:a@x.example"]),
        ("data:text/html;base64,AAAA", ["data:text/html;base64,AAAA"]),
        ("[top](#lesson-3)", []),
        ("The scheme http:// is followed by a host.", []),
        ("data: what is stored; tel: a telephone", []),
        ("handlers[0](event) calls the first", []),
        ("Node.js and example.org are names.", []),
    ],
)  # fmt: skip
def test_addresses_in_a_text(text: str, addresses: list[str]) -> None:
    found = links_in(text)

    assert [link.address for link in found] == addresses
    for link in found:
        assert text[link.start : link.end] == link.address


@pytest.mark.parametrize(
    ("address", "leads"),
    [
        ("https://x.example/docs", True),
        ("HTTPS://X.example/docs/", True),
        ("https://x.example", True),
        ("https://x.example/doc", False),
        ("https://x.example/docs?q=1", False),
        ("https://x.example.evil.example/docs", False),
        ("http://x.example/docs", False),
    ],
)
def test_an_address_is_known_or_the_beginning_of_a_known_one(
    address: str, leads: bool
) -> None:
    assert leads_to_one_of(address, {"https://x.example/docs"}) is leads


@pytest.mark.parametrize("piece", ["](", "http://", "[", "src=", "www.", "(", "[x]: "])
def test_text_made_to_take_long_takes_no_time(piece: str) -> None:
    text = piece * (200_000 // len(piece))
    began = time.perf_counter()

    links_in(text)

    assert time.perf_counter() - began < 2.0
