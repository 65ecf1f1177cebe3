"""Arguments that are nearly right are read as they are meant; what is valid is never read in another way."""

from __future__ import annotations

import json
from typing import Annotated, Literal

import pytest
from pydantic import Field

from antiphon.dispatcher import tool_from_function
from antiphon.vocabulary.errors import BadInputError
from antiphon.vocabulary.events import ToolSubstituted, ToolSucceeded
from antiphon.vocabulary.ports import Json
from tests.unit.dispatcher.fakes import Session


async def book(
    room: Annotated[str, Field(min_length=1)],
    seats: int = 1,
    day: Literal["Monday", "Friday"] | None = None,
    note: str | None = None,
    guests: list[str] | None = None,
    rows: Annotated[list[int], Field(min_length=1)] | None = None,
    either: str | list[str] | None = None,
) -> str:
    """Books a room."""
    return f"{room} {seats} {day} {note} {guests} {rows} {either}"


BOOK = tool_from_function(book)


def read(**arguments: object) -> Json:
    return BOOK.parameters.read(json.dumps({"room": "A1", **arguments}))


@pytest.mark.parametrize("blank", ["", None])
@pytest.mark.parametrize("name", ["seats", "day", "rows"])
def test_an_optional_argument_that_is_blank_was_not_given(
    name: str, blank: str | None
) -> None:
    found = read(**{name: blank})

    assert found.get(name) is None
    assert found["room"] == "A1"


def test_an_optional_list_that_is_empty_was_not_given() -> None:
    assert read(rows=[]) == {"room": "A1"}


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ('["Ada", "Bo"]', ["Ada", "Bo"]),
        ("[]", []),
        ("Ada", ["Ada"]),
        ("[Ada]", ["[Ada]"]),
    ],
)
def test_a_list_may_be_written_as_json_text_or_as_the_one_string_that_it_holds(
    written: str, meant: list[str]
) -> None:
    assert read(guests=written)["guests"] == meant


def test_a_list_of_numbers_may_be_json_text_but_no_word_is_one_of_them() -> None:
    assert read(rows="[1, 2]")["rows"] == [1, 2]
    with pytest.raises(BadInputError, match="rows: wanted a valid array, found 'one'"):
        read(rows="one")


def test_a_list_of_choices_may_be_one_of_them() -> None:
    async def paint(colours: list[Literal["red", "blue"]]) -> str:
        """Paints."""
        return str(colours)

    parameters = tool_from_function(paint, strict=True).parameters

    assert parameters.read('{"colours": "red"}') == {"colours": ["red"]}


def test_an_object_that_is_written_as_a_string_is_read() -> None:
    arguments = json.dumps(json.dumps({"room": "A1", "seats": 2}))

    assert BOOK.parameters.read(arguments) == {"room": "A1", "seats": 2}


@pytest.mark.parametrize("character", ["\n", "\t", "\r", "\x01"])
def test_a_control_character_may_stand_in_a_string_as_it_is(character: str) -> None:
    arguments = f'{{"room": "A1", "note": "one{character}two"}}'

    assert BOOK.parameters.read(arguments)["note"] == f"one{character}two"


def test_several_slips_at_once_are_put_right() -> None:
    arguments = '{"room": "A\n1", "seats": "", "guests": "Ada", "rows": "[3]"}'

    found = BOOK.parameters.read(json.dumps(arguments))

    assert found == {"room": "A\n1", "guests": ["Ada"], "rows": [3]}


def test_what_is_valid_as_it_stands_is_left_as_it_is() -> None:
    found = read(seats="4", note="", guests=[], either="[1]")

    assert found == {"room": "A1", "seats": 4, "note": "", "guests": [], "either": "[1]"}  # fmt: skip


def test_a_slip_in_one_argument_changes_no_other() -> None:
    found = read(seats="", note="", either='["x"]')

    assert found == {"room": "A1", "note": "", "either": '["x"]'}


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ('{"room": ""}', "room: wanted String should have at least 1 character, found ''."),
        ('{"room": null}', "room: wanted a valid string, found None."),
        ('{"room": "A1", "seats": []}', "seats: wanted a valid integer, found []."),
        ('{"room": "A1", "guests": [1]}', "guests.0: wanted a valid string, found 1."),
        ('{"room": "A1", "guests": 1}', "guests: wanted a valid array, found 1."),
        ('{"day": "", "seats": "many"}', "room: is required and was not given; "
         "seats: wanted a valid integer, unable to parse string as an integer, found 'many'; "
         "day: wanted 'Monday' or 'Friday', found ''."),
        ('"what"', "the arguments must be a JSON object, found 'what'."),
        ('"[1]"', "the arguments must be a JSON object, found '[1]'."),
        ("[1]", "the arguments must be a JSON object, found [1]."),
    ],
)  # fmt: skip
def test_what_stays_wrong_is_refused_in_the_same_words(
    arguments: str, says: str
) -> None:
    with pytest.raises(BadInputError) as refused:
        BOOK.parameters.read(arguments)

    assert str(refused.value) == says


def test_what_is_wrong_within_a_wrong_form_is_named() -> None:
    with pytest.raises(BadInputError, match=r"^room: is required and was not given"):
        BOOK.parameters.read(json.dumps('{"note": "a\tb"}'))


async def test_a_substitute_is_given_what_was_meant() -> None:
    async def phone(room: str, guests: list[str] | None = None) -> str:
        """Books by telephone."""
        return f"{room} for {guests}"

    async def web(room: str, guests: list[str] | None = None) -> str:
        """Books, and fails."""
        raise OSError(f"no {room} for {guests}")

    session = Session(
        tool_from_function(web, substitutes=("phone",)), tool_from_function(phone)
    )

    outcome = await session.call("web", json.dumps('{"room": "A1", "guests": "Ada"}'))

    assert isinstance(outcome, ToolSucceeded)
    assert outcome.output.text == "A1 for ['Ada']"
    (substituted,) = session.heard(ToolSubstituted)
    assert json.loads(substituted.arguments) == {"room": "A1", "guests": ["Ada"]}
