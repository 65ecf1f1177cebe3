"""Who the callers of a service are: those with a key, and those without, by its settings."""

from __future__ import annotations

from antiphon.composition import Settings
from antiphon.service.access_file import AccessFile
from antiphon.service.keys import Keys
from antiphon.service.quotas import Quotas
from antiphon.vocabulary.access import (
    LOCAL_TENANT,
    NOBODY,
    OWNER,
    Principal,
    scopes_of,
)
from antiphon.vocabulary.errors import NotFoundError
from antiphon.vocabulary.imports import split_names


class Callers:
    """The callers of a service.

    Attributes:
        without_key: Who everybody is as long as no key was made.
    """

    def __init__(self, settings: Settings) -> None:
        self._file = AccessFile(settings.data_dir)
        self.keys = Keys(self._file)
        self.quotas = Quotas(self._file)
        self.without_key = without_key(settings)

    def principal_of(self, key: str | None) -> Principal:
        """Returns who a caller is by the key that they sent; None: they sent none.

        Raises:
            UnauthorizedError: A key is asked for, and this is none that counts.
        """
        if not self.keys.are_asked_for:
            return self.without_key
        return self.keys.principal(key)

    def public_principal(self) -> Principal:
        """Returns who a caller is to what asks nobody for a key."""
        if self.keys.are_asked_for:
            return NOBODY
        return self.without_key

    def opener_of(self, query_id: str, tenant: str | None) -> Principal:
        """Returns who goes on with a query that a process left behind: whoever began it, with the rights of today."""
        try:
            found = self.keys.find(self.quotas.key_under_way(query_id) or "")
        except NotFoundError:
            if tenant is None or tenant == LOCAL_TENANT:
                return self.without_key
            return Principal(tenant=tenant, scopes=frozenset())
        return Principal(
            tenant=found.tenant, scopes=scopes_of(found.scopes), key_id=found.key_id
        )

    def close(self) -> None:
        self._file.close()


def without_key(settings: Settings) -> Principal:
    """Returns who everybody is where no key was made: the owner, unless the settings say what anybody may do."""
    scopes = scopes_of(split_names(settings.anybody_may))
    if not scopes:
        return OWNER
    return Principal(tenant=LOCAL_TENANT, scopes=scopes, sees_all=True)
