"""Who a caller is and what they may do: scopes, tenants, and the form of a key."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Literal, get_args

from antiphon.vocabulary.errors import BadInputError, ForbiddenError
from antiphon.vocabulary.values import Value

Scope = Literal["ask", "debug", "admin", "live", "faults", "effects", "documents"]

SCOPES: Mapping[Scope, str] = {
    "ask": "ask, and read the courses and one's own conversations and answers",
    "debug": "read, replay, compare, fork by the recording, export, import and delete one's own traces",
    "admin": "read the sums of the whole service, and its report of faults",
    "live": "fork with the model or the tools live, and resume: both spend",
    "faults": "send fault plans, if the service was started with --allow-faults",
    "effects": "let questions and live forks run tools that change something outside",
    "documents": "add documents, which only one's own tenant sees, and remove them",
}
"""What each scope lets its key do. Those after `admin` are granted only by name."""

LOCAL_TENANT = "local"
"""The tenant of questions asked on the machine itself, or without a key."""

MOST_NAME_CHARS = 40
_NAME = re.compile(rf"[a-z0-9](?:[a-z0-9-]{{0,{MOST_NAME_CHARS - 2}}}[a-z0-9])?")

KEY_PREFIX = "ant"
"""Begins every key, so that a scan for leaked secrets can find it."""
_BREAK = r"\s{0,3}"
KEY_FORM = (
    rf"(?i:{KEY_PREFIX}_(?:{_BREAK}[0-9a-f]){{12}}{_BREAK}_)"
    rf"(?:{_BREAK}[A-Za-z0-9_-]){{8,43}}[A-Za-z0-9_-]*"
)
"""Matches a key in a text, in any case, also cut short by a program that showed it, or broken over lines."""
_KEY = re.compile(KEY_FORM)
_NO_KEY = f"{KEY_PREFIX}_…"


class Principal(Value, frozen=True, kw_only=True):
    """A caller, as the API authenticated them; it passes this value to everything behind it.

    Attributes:
        tenant: Whose conversations, traces and documents they see.
        key_id: The public part of their key; empty if they have none.
        sees_all: They see those of every tenant; only a caller who needs no key does.
    """

    tenant: str
    scopes: frozenset[Scope]
    key_id: str = ""
    sees_all: bool = False

    def own(self, name: str) -> str:
        """Returns a name within the tenant's own names: another tenant may use the same one."""
        if self.sees_all or self.tenant == LOCAL_TENANT:
            return name
        # A tenant's name holds no NUL, so the names of two tenants cannot collide.
        return f"{self.tenant}\0{name}"

    def require(self, scope: Scope) -> None:
        """Refuses a caller without the scope.

        Raises:
            ForbiddenError: The caller lacks it.
        """
        if scope in self.scopes:
            return
        who = (
            f"The key {self.key_id} may" if self.key_id else "Callers without a key may"
        )
        raise ForbiddenError(
            f"{who} not do that here: it takes the scope `{scope}` ({SCOPES[scope]})."
        )


OWNER = Principal(tenant=LOCAL_TENANT, scopes=frozenset(get_args(Scope)), sees_all=True)
"""Any caller of a service that requires no keys: on loopback, the person who works on the machine."""

NOBODY = Principal(tenant="", scopes=frozenset())
"""A caller who sent no key to a service that requires one."""


def check_name(name: str, what: str) -> str:
    """Returns a tenant's or a key's name, which appears in folders, listings and logs.

    Raises:
        BadInputError: It is no valid name.
    """
    if _NAME.fullmatch(name):
        return name
    raise BadInputError(
        f"{name[:60]!r} is no name of a {what}: use up to {MOST_NAME_CHARS} small letters, digits and hyphens."
    )


def scopes_of(names: Iterable[str]) -> frozenset[Scope]:
    """Returns the scopes of these names.

    Raises:
        BadInputError: One of them is no scope.
    """
    found: list[Scope] = []
    for name in names:
        for scope in SCOPES:
            if scope == name:
                found.append(scope)
                break
        else:
            raise BadInputError(
                f"There is no scope {name[:40]!r}: there are {', '.join(SCOPES)}."
            )
    return frozenset(found)


def without_keys(text: str) -> str:
    """Returns the text with every key in it masked: for logs, and for messages about a request."""
    # Nearly no line holds one, and looking for four letters is faster than for a pattern.
    if f"{KEY_PREFIX}_" not in text.lower():
        return text
    return _KEY.sub(_NO_KEY, text)
