"""Checks of `antiphon doctor` for a service that others use: the prices of models, and the keys of callers."""

from __future__ import annotations

import time
from datetime import date

from antiphon import service
from antiphon.cli.doctor_model import Check
from antiphon.cli.terminal import counted
from antiphon.vocabulary.errors import ConfigurationError

OLD_DAYS = 180
"""Days after which prices may well have changed."""
SOON_S = 14 * 86_400.0
"""Seconds before its end in which the check names a key."""


def prices(settings: service.Settings) -> Check:
    """Checks that the price of every model that the settings name is known, and the table not old."""
    if not settings.speaks_to_claude:
        return Check("Prices", True, "the offline reasoner costs nothing")
    shown: list[str] = []
    unknown: list[str] = []
    for model, price in service.prices_of(settings).items():
        if price is None:
            unknown.append(model)
        else:
            shown.append(f"{model} ${price.input:g} in, ${price.output:g} out")
    made = date.fromisoformat(service.PRICES_OF)
    days = (date.fromtimestamp(time.time()) - made).days
    found = f"of {made}, a million tokens: {', '.join(shown) or 'none'}"
    if unknown:
        return Check(
            "Prices",
            False,
            f"not known for {', '.join(unknown)}",
            "No limit of cost can be kept for these, and what they cost is not counted: "
            "give their prices in ANTIPHON_PRICES.",
        )
    return Check(
        "Prices",
        days <= OLD_DAYS,
        found,
        f"The table is {days} days old: compare it with {service.PRICES_FROM}.",
    )


def callers(settings: service.Settings) -> Check:
    """Checks that `antiphon serve` would listen, and names the keys that expire soon."""
    try:
        service.check_listening(settings)
    except ConfigurationError as error:
        return Check(
            "Callers", False, f"nothing is served on {settings.host}", str(error)
        )
    file = service.AccessFile(settings.data_dir)
    try:
        keys = service.Keys(file).listed()
    finally:
        file.close()
    if not keys:
        return Check("Callers", True, f"no keys: {_without_keys(settings)}")
    now = time.time()
    active = [each for each in keys if each.state(now) == "active"]
    ending = [
        each.name
        for each in active
        if each.expires_at is not None and each.expires_at - now < SOON_S
    ]
    found = f"{counted(len(keys), 'key')}, of which {len(active)} active"
    if not active:
        make = "Make one: `antiphon keys add NAME --tenant TENANT`."
        return Check("Callers", False, found, make)
    return Check(
        "Callers",
        not ending,
        found,
        f"These end within two weeks: {', '.join(ending)}; make new ones.",
    )


def _without_keys(settings: service.Settings) -> str:
    if settings.anybody_may:
        return f"anybody who reaches {settings.host} may {settings.anybody_may}"
    return (
        "anyone who works on this machine may do everything, and nobody else comes in"
    )
