"""What was seen of each URL, written while crawling, as evidence for the next `dedust learn`.

Redirects are seen before Scrapy follows them, pages when they are unpacked. Pages say of themselves what those of archives do:
title, canonical link, digests of body and text, and a fingerprint of what is left without what repeats on their site.
"""

from __future__ import annotations

import logging
from datetime import datetime, timezone
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit
from weakref import WeakKeyDictionary

from scrapy import signals
from scrapy.http import Request, Response

import dedust

if TYPE_CHECKING:
    from scrapy import Spider
    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)

# What pages say outside of their bodies.
HEADERS = ("Content-Type", "Link", "Refresh")
REDIRECTS = {301, 302, 303, 307, 308}
# Bodies of which a part is missing.
PARTIAL = {"partial", "dataloss"}

_writers: WeakKeyDictionary[Crawler, dedust.ObservationWriter] = WeakKeyDictionary()


class Observer:
    """Passes on every response as it is, and writes what it says."""

    def __init__(self, crawler: Crawler, writer: dedust.ObservationWriter) -> None:
        self.crawler = crawler
        self.writer = writer

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Observer:
        return cls(crawler, writer_of(crawler))

    def process_response(self, request: Request, response: Response, spider: Spider | None = None) -> Response:
        if request.method == "GET" and is_page(response.url):
            try:
                is_written = self.observe(response)
            except dedust.ParseUrlError as error:
                logger.debug("Not observed: %s", error)
            else:
                if is_written:
                    self.crawler.stats.inc_value("dedust/observations")
        return response

    def observe(self, response: Response) -> bool:
        """Writes what a response says, if it says anything."""
        raise NotImplementedError


class RedirectObserver(Observer):
    """Writes redirects, also those whose target is never fetched."""

    def observe(self, response: Response) -> bool:
        location = response.headers.get("Location")
        if response.status not in REDIRECTS or not location:
            return False
        target = urljoin(response.url, location.decode("utf-8", "surrogateescape"))
        redirect = target.encode("utf-8", "surrogateescape")
        self.writer.write(response.url, status=response.status, redirect=redirect, time=now())
        return True


class PageObserver(Observer):
    """Writes pages, and the status of what is none."""

    def observe(self, response: Response) -> bool:
        headers = "\r\n".join(
            f"{name}: {value.decode('latin-1').splitlines()[0]}"
            for name in HEADERS
            for value in response.headers.getlist(name)
            if value.strip()
        )
        body = None if PARTIAL.intersection(response.flags) else response.body
        self.writer.write(response.url, status=response.status, headers=headers, body=body, time=now())
        return True


def is_page(url: str) -> bool:
    """Whether a URL is one that pages have."""
    parts = urlsplit(url)
    return parts.scheme in ("http", "https") and parts.path != "/robots.txt"


def now() -> str:
    return datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def writer_of(crawler: Crawler) -> dedust.ObservationWriter:
    """The one writer of a crawl. It is closed when the spider is."""
    writer = _writers.get(crawler)
    if writer is None:
        path = crawler.settings.get("DEDUST_OBSERVATIONS")
        writer = _writers[crawler] = dedust.ObservationWriter(path)

        def close() -> None:
            writer.close()
            logger.info("Observations are in %s; learn from them: dedust learn %s -o rules.json", path, path)

        # Kept by the crawler, since receivers are held weakly.
        crawler.signals.connect(close, signals.spider_closed, weak=False)
    return writer
