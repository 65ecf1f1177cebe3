"""Events of kinds that this process does not know, because the subscriber that defined them is not loaded.

They are read, shown and stored with the fields that they have, so that a trace stays readable without the subscriber.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, cast

import msgspec

from antiphon.vocabulary.events import Event, Role

UNKNOWN: Role = "unknown"
"""The emitter of an event that nothing here defines."""


class UnknownEvent(Event, frozen=True, kw_only=True, tag="unknown_event"):
    """An event as plain JSON; the classes of `unknown_event` derive from it, one for each kind and set of fields.

    Its attributes have names of ours (`field_0`), because the recorded ones may be no identifiers, or clash with those
    of `Event`.
    """

    emitted_by = (UNKNOWN,)

    def fields(self) -> dict[str, Any]:
        """Returns the fields by their recorded names."""
        names = type(self).__struct_encode_fields__
        return dict(zip(names, msgspec.structs.astuple(self), strict=True))


def unknown_words(kind: str) -> str:
    """Says in a sentence that nothing here defines events of a kind, and how to load what does."""
    return (
        f"there is no event of kind {kind[:80]!r} here: a subscriber that defines it must be named in "
        "ANTIPHON_SUBSCRIBERS"
    )


def unknown_event(form: Mapping[str, Any]) -> UnknownEvent:
    """Builds an event of any kind from its fields, `kind` among them."""
    fields = {name: value for name, value in form.items() if name != "kind"}
    kind = _class_of(str(form["kind"]), tuple(fields))
    return kind(**dict(zip(kind.__struct_fields__, fields.values(), strict=True)))


# Bounded, because a trace from a file may name as many kinds as it has events.
@lru_cache(maxsize=512)
def _class_of(kind: str, names: tuple[str, ...]) -> type[UnknownEvent]:
    own = [f"field_{number}" for number in range(len(names))]
    made = msgspec.defstruct(
        "UnknownEvent",
        [(name, Any) for name in own],
        bases=(UnknownEvent,),
        tag=kind,
        rename=dict(zip(own, names, strict=True)),
        frozen=True,
        kw_only=True,
    )
    return cast(type[UnknownEvent], made)
