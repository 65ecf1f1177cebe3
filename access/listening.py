"""Checks before a service listens that only the callers whom its owner wants can reach it."""

from __future__ import annotations

import ipaddress

from antiphon.access.access_file import FILE_NAME, MODE_FILE, AccessFile
from antiphon.access.keys import Keys
from antiphon.composition import Settings
from antiphon.vocabulary.access import LOCAL_TENANT, OWNER, Principal, scopes_of
from antiphon.vocabulary.errors import ConfigurationError
from antiphon.vocabulary.imports import split_names


def without_key(settings: Settings) -> Principal:
    """Returns who callers are while there are no keys: the owner, unless a setting says what anybody may do."""
    scopes = scopes_of(split_names(settings.anybody_may))
    if not scopes:
        return OWNER
    return Principal(tenant=LOCAL_TENANT, scopes=scopes, sees_all=True)


def has_keys(settings: Settings) -> bool:
    """Returns True if a key was ever made for the data folder: then the service asks callers for one.

    Raises:
        ConfigurationError: Keys were made, and are lost or cannot be read.
    """
    file = AccessFile(settings.data_dir)
    try:
        keys = Keys(file)
        if keys.are_lost:
            raise ConfigurationError(
                f"Callers of this service need a key, as {MODE_FILE} in {settings.data_dir} says, but the file of keys "
                f"beside it, {FILE_NAME}, is missing or holds none. So nothing is served: without keys everybody would "
                "be the owner. Bring the file back from a backup, or make new keys with `antiphon keys add NAME "
                "--tenant TENANT`. To do without keys from now on, run `antiphon keys reset`."
            )
        return keys.are_asked_for
    finally:
        file.close()


def check_listening(settings: Settings) -> None:
    """Refuses to serve other machines without keys, unless the settings say explicitly what anybody may do.

    Raises:
        ConfigurationError: The settings do not say who may use the service or what its names are, or the keys are lost.
    """
    keyed = has_keys(settings)
    if is_loopback(settings.host):
        return
    if not settings.anybody_may and not keyed:
        raise ConfigurationError(
            f"Anyone who reaches {settings.host} could read every conversation and spend your money, so nothing is "
            "served there without keys: make one with `antiphon keys add NAME --tenant TENANT`, or say with "
            "ANTIPHON_ANYBODY_MAY what anybody may do, such as ANTIPHON_ANYBODY_MAY=ask."
        )
    if "allowed_hosts" not in settings.model_fields_set:
        raise ConfigurationError(
            f"On {settings.host} the service must know its names, so that no other site's page can pass for it: set "
            "ANTIPHON_ALLOWED_HOSTS to those that callers use, with commas between, such as answers.example,127.0.0.1."
        )


def is_loopback(host: str) -> bool:
    """Returns True if only this machine can reach `host`."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host.lower() == "localhost"
