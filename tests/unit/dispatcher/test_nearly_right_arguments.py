"""Arguments that are nearly right are read as they are meant; what is valid is never read in another way."""

from __future__ import annotations

import json
from typing import Annotated, Literal

import pytest
from pydantic import Field

from antiphon.dispatcher import tool_from_function
from antiphon.vocabulary.errors import BadInputError
from antiphon.vocabulary.ports import Json


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


def test_a_list_of_numbers_may_be_json_text_but_no_word_is_one_of_them() -> None:
    assert read(rows="[1, 2]")["rows"] == [1, 2]
    with pytest.raises(BadInputError, match="rows: wanted a valid array, found 'one'"):
        read(rows="one")


def test_an_object_that_is_written_as_a_string_is_read() -> None:
    arguments = json.dumps(json.dumps({"room": "A1", "seats": 2}))

    assert BOOK.parameters.read(arguments) == {"room": "A1", "seats": 2}


def test_several_slips_at_once_are_put_right() -> None:
    arguments = '{"room": "A\n1", "seats": "", "guests": "Ada", "rows": "[3]"}'

    found = BOOK.parameters.read(json.dumps(arguments))

    assert found == {"room": "A\n1", "guests": ["Ada"], "rows": [3]}


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
