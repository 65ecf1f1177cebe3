"""`antiphon keys`: makes, lists, rotates and revokes the keys of a service, sets their limits, and shows their use."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from antiphon import service
from antiphon.cli.session import DataDir, Json, settings_for_people
from antiphon.cli.terminal import counted, err, new_table, out, print_json
from antiphon.vocabulary.access import SCOPES
from antiphon.vocabulary.errors import BadInputError, ServiceError

NamedKey = Annotated[str, typer.Argument(help="The key's id, or its name.")]
_UNITS = {"s": 1.0, "m": 60.0, "h": 3_600.0, "d": 86_400.0}
_LENGTH = re.compile(r"(\d{1,6})([smhd])")

Requests = Annotated[
    int | None, typer.Option("--requests", min=0, help="Maximum requests per day.")
]
Tokens = Annotated[
    int | None, typer.Option("--tokens", min=0, help="Maximum tokens per day.")
]
Cost = Annotated[
    float | None,
    typer.Option("--cost-usd", min=0.0, help="Maximum US dollars per day."),
]
AtOnce = Annotated[
    int | None, typer.Option("--at-once", min=0, help="Maximum queries at once.")
]


def add(
    name: Annotated[
        str,
        typer.Argument(help="A name for the key: lower-case letters, digits, hyphens."),
    ],
    tenant: Annotated[
        str,
        typer.Option(
            "--tenant",
            help="The tenant whose conversations, traces and documents it sees; `local` is this machine's own.",
        ),
    ],
    scope: Annotated[
        list[str] | None,
        typer.Option(
            "--scope",
            help=f"A scope, repeatable: {', '.join(SCOPES)}.",
            show_default="ask",
        ),
    ] = None,
    expires: Annotated[
        str | None,
        typer.Option("--expires", help="When the key expires: 90d, 12h."),
    ] = None,
    requests: Requests = None,
    tokens: Tokens = None,
    cost_usd: Cost = None,
    at_once: AtOnce = None,
    data_dir: DataDir = None,
) -> None:
    """Creates a key and prints it: `antiphon keys add NAME --tenant TENANT`.

    It is not stored, so nothing can show it to you again.

    Once a key exists, the service answers only callers who have one.
    """
    limits = service.Limits(
        requests=requests, tokens=tokens, cost_usd=cost_usd, at_once=at_once
    )
    with _access(data_dir) as file:
        keys = service.Keys(file)
        key, info = keys.add(name, tenant, scope or ["ask"], _seconds(expires))
        if limits != service.Limits():
            service.Quotas(file).limit("key", info.key_id, limits)
    _show_once(key)
    err.print(
        f"Its id is {info.key_id}; it may {', '.join(info.scopes)}.", soft_wrap=True
    )


def listed(as_json: Json = False, data_dir: DataDir = None) -> None:
    """Lists all keys by name and id, revoked ones included; never the keys themselves."""
    with _access(data_dir) as file:
        found = service.Keys(file).listed()
    now = time.time()
    if as_json:
        print_json(msgspec.json.encode(found).decode())
        return
    if not found:
        out.print(
            "There is no key: `antiphon keys add NAME --tenant TENANT` makes one."
        )
        return
    table = new_table("id", "name", "tenant", "scopes", "state", "made", "expires")
    for each in found:
        table.add_row(
            each.key_id,
            each.name,
            each.tenant,
            ", ".join(each.scopes),
            each.state(now),
            _day(each.made_at),
            _day(each.expires_at),
        )
    out.table(table)


def rotate(
    key: NamedKey,
    keep_old: Annotated[
        str,
        typer.Option("--keep-old", help="How long the old key keeps working: 1d, 2h."),
    ] = "0s",
    data_dir: DataDir = None,
) -> None:
    """Replaces a key with a new one of the same id, scopes and limits, and prints it."""
    with _access(data_dir) as file:
        new, info = service.Keys(file).rotate(key, _seconds(keep_old) or 0.0)
    _show_once(new)
    if info.old_until is not None and info.old_until > time.time():
        until = f"until {_moment(info.old_until)}"
    else:
        until = "no more"
    err.print(f"The old one counts {until}.", soft_wrap=True)


def reset(data_dir: DataDir = None) -> None:
    """Does without keys again if their file is lost: anyone who works on this machine is the owner."""
    with _access(data_dir) as file:
        service.Keys(file).reset()
    out.print(
        "From now on, callers on this machine need no key; callers from elsewhere are refused.",
        soft_wrap=True,
    )


def revoke(key: NamedKey, data_dir: DataDir = None) -> None:
    """Revokes a key for good; a running service refuses it from the next request on."""
    with _access(data_dir) as file:
        info = service.Keys(file).revoke(key)
    out.print(f"The key {info.key_id} ({info.name}) is revoked.", soft_wrap=True)


def limit(
    holder: Annotated[
        str,
        typer.Argument(help="A key's id or name, or `tenant:NAME`."),
    ],
    requests: Requests = None,
    tokens: Tokens = None,
    cost_usd: Cost = None,
    at_once: AtOnce = None,
    data_dir: DataDir = None,
) -> None:
    """Sets all limits of a key or a tenant; a limit that you leave out is removed."""
    limits = service.Limits(
        requests=requests, tokens=tokens, cost_usd=cost_usd, at_once=at_once
    )
    with _access(data_dir) as file:
        kind, name = _holder(file, holder)
        service.Quotas(file).limit(kind, name, limits)
    out.print(f"{kind} {name}: {_limits_in_words(limits)}", soft_wrap=True)


def usage(as_json: Json = False, data_dir: DataDir = None) -> None:
    """Shows what each key and tenant has used today (UTC), its limits, and a forecast for the day."""
    settings = settings_for_people(data_dir=data_dir)
    with _access(data_dir) as file:
        shares = asyncio.run(service.shares_of(settings, file))
    if as_json:
        print_json(msgspec.json.encode(shares).decode())
        return
    table = new_table("of", "requests", "tokens", "US dollars", "by the end of the day")
    for share in shares:
        most, used, then = share.limits, share.used, share.forecast
        table.add_row(
            f"{share.holder} {share.name}",
            _of(used.requests, most.requests),
            _of(used.tokens, most.tokens),
            _of(used.cost_usd, most.cost_usd),
            f"{counted(then.requests, 'request')}, {then.tokens:,} tokens, ${then.cost_usd:.2f}",
        )
    out.table(table)


def _holder(file: service.AccessFile, named: str) -> tuple[str, str]:
    kind, colon, name = named.partition(":")
    if colon and kind == "tenant":
        return kind, name
    return "key", service.Keys(file).find(named).key_id


@contextmanager
def _access(data_dir: Path | None) -> Iterator[service.AccessFile]:
    settings = settings_for_people(data_dir=data_dir)
    # Before the command, so that it sees keys that other nodes have made, and after it, so that they see its own.
    _share(settings)
    file = service.AccessFile(settings.data_dir, service.COMMAND_WAIT_MS)
    try:
        yield file
    finally:
        file.close()
    _share(settings)


def _share(settings: service.Settings) -> None:
    """Shares the keys with other nodes; if these cannot be reached, a key can still be made or revoked here."""
    try:
        asyncio.run(service.share_keys(settings))
    except ServiceError as error:
        err.print(
            f"! Other nodes' keys are not known now, and they hear of these from the next node of this folder: {error}",
            style="yellow",
            soft_wrap=True,
        )


def _show_once(key: str) -> None:
    # The key is alone on standard output, so that it can be piped into the place that keeps it.
    err.print("The key, shown this once:", soft_wrap=True)
    out.print_line(key)


def _seconds(length: str | None) -> float | None:
    if length is None:
        return None
    found = _LENGTH.fullmatch(length)
    if found is None:
        raise BadInputError(
            f"{length[:40]!r} is no length of time: write a number and s, m, h or d, such as 90d."
        )
    return int(found[1]) * _UNITS[found[2]]


def _limits_in_words(limits: service.Limits) -> str:
    words: list[str] = []
    for name in limits.__struct_fields__:
        value = getattr(limits, name)
        if value is not None:
            words.append(f"{name} {value:,}")
    return ", ".join(words) or "no limits"


def _of(used: float, most: float | None) -> str:
    shown = f"{used:,.2f}".removesuffix(".00")
    return shown if most is None else f"{shown} of {most:,}"


def _day(at: float | None) -> str:
    return "never" if at is None else f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d}"


def _moment(at: float) -> str:
    return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M} UTC"
