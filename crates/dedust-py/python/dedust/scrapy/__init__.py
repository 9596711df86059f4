"""Scrapy with learned rules: URLs of one page are one request.

    ADDONS = {"dedust.scrapy.Addon": 650}
    DEDUST_RULES = "rules.bin"               # a rule file, plain or compiled, or a folder of plain ones
    DEDUST_MODE = "shadow"                   # counts what would be saved; "filter" saves it
    DEDUST_OBSERVATIONS = "crawl.jsonl.zst"  # evidence for the next `dedust learn`

Only GET and HEAD requests are looked at. A request with meta["dedust"] = False, or with meta["verbatim_url"], is left alone.
"""

from typing import TYPE_CHECKING, Any

from dedust.scrapy.addon import Addon
from dedust.scrapy.dupefilter import DupeFilter, SeenDupeFilter
from dedust.scrapy.fingerprinter import RequestFingerprinter

if TYPE_CHECKING:
    from dedust.scrapy.redis import RedisDupeFilter

__all__ = ["Addon", "DupeFilter", "RedisDupeFilter", "RequestFingerprinter", "SeenDupeFilter"]


def __getattr__(name: str) -> Any:
    # Only who uses Redis needs scrapy-redis.
    if name == "RedisDupeFilter":
        from dedust.scrapy.redis import RedisDupeFilter

        return RedisDupeFilter
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
