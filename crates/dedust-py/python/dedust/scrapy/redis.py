"""The filter of scrapy-redis, which compares requests as Scrapy is told to.

The one that comes with scrapy-redis hashes URLs itself, and would not know of rules.
"""

# scrapy-redis has no types.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy.http import Request
from scrapy_redis.dupefilter import RFPDupeFilter  # type: ignore[import-untyped]

if TYPE_CHECKING:
    from scrapy import Spider
    from scrapy.crawler import Crawler


class RedisDupeFilter(RFPDupeFilter):  # type: ignore[misc]
    """Keeps fingerprints, 20 bytes each, in the set of Redis that scrapy-redis names."""

    fingerprinter: Any

    @classmethod
    def from_spider(cls, spider: Spider) -> RedisDupeFilter:
        return cls.with_fingerprinter(super().from_spider(spider), spider.crawler)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> RedisDupeFilter:
        return cls.with_fingerprinter(super().from_crawler(crawler), crawler)

    @staticmethod
    def with_fingerprinter(instance: RedisDupeFilter, crawler: Crawler) -> RedisDupeFilter:
        instance.fingerprinter = crawler.request_fingerprinter
        return instance

    def request_seen(self, request: Request) -> bool:
        added: int = self.server.sadd(self.key, self.fingerprinter.fingerprint(request))
        return added == 0

    def request_fingerprint(self, request: Request) -> str:
        fingerprint: bytes = self.fingerprinter.fingerprint(request)
        return fingerprint.hex()
