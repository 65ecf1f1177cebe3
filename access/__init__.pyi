"""Who calls, what they may do and see, and what they may spend: keys, tenants, quotas."""

from antiphon.access.access_file import COMMAND_WAIT_MS, AccessFile
from antiphon.access.access_file import FILE_NAME as ACCESS_FILE
from antiphon.access.callers import (
    Callers,
    check_listening,
    has_keys,
    is_loopback,
    share_keys,
    shares_of,
)
from antiphon.access.earlier_queries import count_earlier
from antiphon.access.keys import KeyInfo, Keys
from antiphon.access.ledgers import UnderWay
from antiphon.access.metering import (
    Metering,
    Need,
    bounded,
    need_of,
    spent_on,
    within,
)
from antiphon.access.quotas import Quotas
from antiphon.access.usage import Allowance, Limits, Share, UsageReport, Used

__all__ = [
    "ACCESS_FILE",
    "COMMAND_WAIT_MS",
    "AccessFile",
    "Allowance",
    "Callers",
    "KeyInfo",
    "Keys",
    "Limits",
    "Metering",
    "Need",
    "Quotas",
    "Share",
    "UnderWay",
    "UsageReport",
    "Used",
    "bounded",
    "check_listening",
    "count_earlier",
    "has_keys",
    "is_loopback",
    "need_of",
    "share_keys",
    "shares_of",
    "spent_on",
    "within",
]
