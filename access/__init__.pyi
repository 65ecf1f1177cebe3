"""Whose data it is: keys, tenants, quotas; and the data folder as a whole: backups, encryption."""

from antiphon.access.access_file import COMMAND_WAIT_MS, AccessFile
from antiphon.access.backup import Manifest, back_up, restore
from antiphon.access.callers import KeyCallers
from antiphon.access.encrypting import encrypt_store
from antiphon.access.keys import KeyInfo, Keys
from antiphon.access.ledgers import Grant, Ledger, UnderWay
from antiphon.access.listening import check_listening, has_keys, is_loopback
from antiphon.access.quotas import Quotas, shares_of
from antiphon.access.tenant_resources import TenantResources
from antiphon.access.usage import (
    Balance,
    Balances,
    Holder,
    Limits,
    Share,
    Spent,
    UsageReport,
    Used,
    day_of,
    holders_of,
    settled,
)

__all__ = [
    "COMMAND_WAIT_MS",
    "AccessFile",
    "Balance",
    "Balances",
    "Grant",
    "Holder",
    "KeyCallers",
    "KeyInfo",
    "Keys",
    "Ledger",
    "Limits",
    "Manifest",
    "Quotas",
    "Share",
    "Spent",
    "TenantResources",
    "UnderWay",
    "UsageReport",
    "Used",
    "back_up",
    "check_listening",
    "day_of",
    "encrypt_store",
    "has_keys",
    "holders_of",
    "is_loopback",
    "restore",
    "settled",
    "shares_of",
]
