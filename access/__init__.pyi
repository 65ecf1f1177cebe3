"""Who calls, what they may do and see, and what they may spend: keys, tenants, quotas."""

from antiphon.access.access_file import COMMAND_WAIT_MS, AccessFile
from antiphon.access.access_file import FILE_NAME as ACCESS_FILE
from antiphon.access.callers import KeyCallers
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
    "ACCESS_FILE",
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
    "Quotas",
    "Share",
    "Spent",
    "TenantResources",
    "UnderWay",
    "UsageReport",
    "Used",
    "check_listening",
    "day_of",
    "has_keys",
    "holders_of",
    "is_loopback",
    "settled",
    "shares_of",
]
