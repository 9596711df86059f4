"""What was filtered, and why? Counts beside any filter, and a filter with bounded memory."""

from __future__ import annotations

import logging
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrapy.dupefilters import BaseDupeFilter
from scrapy.http import Request
from scrapy.settings import BaseSettings
from scrapy.utils.misc import build_from_crawler, load_object

import dedust
from dedust.scrapy.fingerprinter import RequestFingerprinter, concerns

if TYPE_CHECKING:
    from scrapy import Spider
    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)

# Sites that have counts of their own; the others are counted together.
MAX_SITES = 1_000
# Rules that have counts of their own.
MAX_RULES = 10_000
# Sites, and rules of all of them, that the closing report names.
SHOWN_SITES = 10
SHOWN_RULES = 20
# Said of a duplicate that no rule changed.
UNCHANGED = "other URLs of the page are rewritten to it"


class DupeFilter(BaseDupeFilter):
    """The configured filter, with counts of what rules save, or would save in mode "shadow".

    A duplicate is counted if the other way of comparing, without rules or with them, says otherwise. What that has seen is kept
    in a SeenSet: in the job directory if there is one, else in memory.
    """

    def __init__(self, crawler: Crawler, inner: Any) -> None:
        fingerprinter = crawler.request_fingerprinter
        if not isinstance(fingerprinter, RequestFingerprinter):
            raise TypeError(
                f"REQUEST_FINGERPRINTER_CLASS is {type(fingerprinter).__name__}, expected dedust.scrapy.RequestFingerprinter"
            )
        self.inner = inner
        self.crawler = crawler
        self.fingerprinter = fingerprinter
        self.others = open_set(crawler.settings, f"dedust.{fingerprinter.mode}")
        self.requests = 0
        self.by_site: Counter[str] = Counter()
        # By site and what a rule says.
        self.by_rule: Counter[tuple[str, str]] = Counter()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> DupeFilter:
        return cls(crawler, build_from_crawler(cls.inner_class(crawler), crawler))

    @classmethod
    def from_spider(cls, spider: Spider) -> DupeFilter:
        """As the scheduler of scrapy-redis asks for it."""
        inner = cls.inner_class(spider.crawler)
        if hasattr(inner, "from_spider"):
            return cls(spider.crawler, inner.from_spider(spider))
        return cls.from_crawler(spider.crawler)

    @staticmethod
    def inner_class(crawler: Crawler) -> Any:
        return load_object(crawler.settings.get("DEDUST_FALLBACK_DUPEFILTER_CLASS", "scrapy.dupefilters.RFPDupeFilter"))

    def request_seen(self, request: Request) -> bool:
        is_seen = bool(self.inner.request_seen(request))
        if concerns(request):
            self.count(request, is_seen)
        return is_seen

    def count(self, request: Request, is_seen: bool) -> None:
        self.requests += 1
        self.inc("dedust/requests")
        key = self.fingerprinter.key(request)
        if key is not None and self.fingerprinter.is_within_page(request, key):
            key = None
        if self.fingerprinter.mode == "filter":
            is_new = self.others.insert(self.fingerprinter.plain(request))
            if is_seen and is_new and key is not None:
                self.note("dedust/duplicates", request.url, key)
        elif key is not None:
            is_new = self.others.insert(f"{request.method} {key}")
            if not is_seen and not is_new:
                self.note("dedust/shadow_duplicates", request.url, key)

    def note(self, name: str, url: str, key: str) -> None:
        site = dedust.site_of(url)
        if site not in self.by_site and len(self.by_site) >= MAX_SITES:
            site = "other sites"
        self.by_site[site] += 1
        self.inc(name)
        self.inc(f"{name}/{site}")
        reasons = self.reasons(url)
        for reason in reasons or [UNCHANGED]:
            if (site, reason) in self.by_rule or len(self.by_rule) < MAX_RULES:
                self.by_rule[site, reason] += 1
        level = logging.INFO if self.by_site[site] == 1 else logging.DEBUG
        if logger.isEnabledFor(level):
            verb = "Filtered" if self.fingerprinter.mode == "filter" else "Would filter"
            why = f" since {'; '.join(reasons)}" if reasons else ""
            more = " (further ones of this site at level DEBUG)" if level == logging.INFO else ""
            logger.log(level, "%s %s: a URL with the key %s was met before%s%s", verb, url, key, why, more)

    def reasons(self, url: str) -> list[str]:
        """What the rules that change a URL say; compiled rules only have their numbers."""
        explanation = self.fingerprinter.normalizer.explain(url)
        return explanation.sentences or [f"rule {number} applies" for number in explanation.rules]

    def inc(self, name: str) -> None:
        self.crawler.stats.inc_value(name)

    def open(self) -> Any:
        return self.inner.open()

    def close(self, reason: str) -> Any:
        self.report()
        self.others.close()
        return self.inner.close(reason)

    def report(self) -> None:
        """Says what was saved, or would have been, and by which rules."""
        count = self.by_site.total()
        share = 100 * count / self.requests if self.requests else 0.0
        sites = ", ".join(f"{site} {number}" for site, number in self.by_site.most_common(SHOWN_SITES))
        of_sites = f": {sites}" if sites else ""
        rules = "".join(
            f"\n  {number:>9,}  {site}: {reason}" for (site, reason), number in self.by_rule.most_common(SHOWN_RULES)
        )
        if self.fingerprinter.mode == "filter":
            text = "of %d requests %d (%.1f %%) were duplicates by the learned rules, and not made%s%s"
            by = f"; these rules saved them:{rules}" if rules else ""
        else:
            text = "of %d requests %d (%.1f %%) were duplicates by the learned rules, and made nevertheless%s%s"
            by = f'; these rules would have saved them, with DEDUST_MODE = "filter":{rules}' if rules else ""
        logger.info(text, self.requests, count, share, of_sites, by)

    def log(self, request: Request, spider: Spider) -> None:
        self.inner.log(request, spider)

    def __getattr__(self, name: str) -> Any:
        # What other schedulers ask of their filters, such as `clear`.
        if name == "inner":
            raise AttributeError(name)
        return getattr(self.inner, name)


class SeenDupeFilter(BaseDupeFilter):
    """Filters duplicates with bounded memory: 6.4 bytes for a request, and some 150 MB.

    The set is in the folder of the setting DEDUST_SEEN, which may be used by one crawl after another, or on the server that
    it names as redis://HOST/PREFIX, for many processes at the same time, in the session of DEDUST_SESSION if there is one; else in the
    job directory, where it survives `kill -9`; else in memory.
    """

    def __init__(self, crawler: Crawler, seen: dedust.SeenSet) -> None:
        self.crawler = crawler
        self.fingerprinter = crawler.request_fingerprinter
        self.seen = seen
        self.logs_all = crawler.settings.getbool("DUPEFILTER_DEBUG")
        self.has_logged = False

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> SeenDupeFilter:
        location = crawler.settings.get("DEDUST_SEEN")
        if location and "://" in str(location):
            fingerprinter = crawler.request_fingerprinter
            # Without rules, fingerprints do not depend on them.
            is_by_key = isinstance(fingerprinter, RequestFingerprinter) and fingerprinter.mode == "filter"
            normalizer: dedust.Normalizer | None = getattr(fingerprinter, "normalizer", None) if is_by_key else None
            session: str | None = crawler.settings.get("DEDUST_SESSION")
            seen = dedust.SeenSet.connect(str(location), normalizer=normalizer, session=session)
        else:
            seen = dedust.SeenSet(location) if location else open_set(crawler.settings, "dedust.seen")
        return cls(crawler, seen)

    def request_seen(self, request: Request) -> bool:
        return not self.seen.insert(self.fingerprinter.fingerprint(request))

    def close(self, reason: str) -> None:
        self.seen.close()

    def log(self, request: Request, spider: Spider) -> None:
        if self.logs_all or not self.has_logged:
            more = "" if self.logs_all else " - no more will be shown (see DUPEFILTER_DEBUG)"
            logger.debug("Filtered duplicate request: %s%s", request, more, extra={"spider": spider})
        self.has_logged = True
        self.crawler.stats.inc_value("dupefilter/filtered")


def open_set(settings: BaseSettings, name: str) -> dedust.SeenSet:
    """A set in the job directory, or else in memory."""
    folder = settings.get("JOBDIR")
    if not folder:
        return dedust.SeenSet()
    Path(folder).mkdir(parents=True, exist_ok=True)
    return dedust.SeenSet(Path(folder) / name)
