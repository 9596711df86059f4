"""Which requests are the same? Those whose URLs have the same key.

A URL that has the key of a member of its own chain of redirects is not a duplicate of it: where `/page` leads to `/page/` and
rules know both as one page, that page has not been fetched yet.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from weakref import WeakKeyDictionary

from scrapy.http import Request
from scrapy.settings import BaseSettings
from scrapy.utils.misc import build_from_crawler, load_object

import dedust

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

METHODS = {"GET", "HEAD"}


class RequestFingerprinter:
    """Fingerprints requests by their keys in mode "filter"; as the configured class does in mode "shadow"."""

    def __init__(self, normalizer: dedust.Normalizer, mode: Literal["shadow", "filter"], fallback: Any) -> None:
        self.normalizer = normalizer
        self.mode = mode
        self.fallback = fallback
        self._fingerprints: WeakKeyDictionary[Request, bytes] = WeakKeyDictionary()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> RequestFingerprinter:
        settings = crawler.settings
        fallback = settings.get("DEDUST_FALLBACK_REQUEST_FINGERPRINTER_CLASS", "scrapy.utils.request.RequestFingerprinter")
        return cls(load_rules(settings), mode_of(settings), build_from_crawler(load_object(fallback), crawler))

    def fingerprint(self, request: Request) -> bytes:
        fingerprint = self._fingerprints.get(request)
        if fingerprint is None:
            fingerprint = self.learned(request) if self.mode == "filter" else self.plain(request)
            self._fingerprints[request] = fingerprint
        return fingerprint

    def learned(self, request: Request) -> bytes:
        """The fingerprint by rules."""
        key = self.key(request)
        if key is None:
            return self.plain(request)
        if self.is_within_page(request, key):
            # The page's own fingerprint is that of its key, which may be this URL: `/page?sid=1` leads to `/page`.
            return hashlib.sha1(b"redirect within a page" + self.plain(request)).digest()
        return self.plain(request.replace(url=key))

    def plain(self, request: Request) -> bytes:
        """The fingerprint without rules."""
        fingerprint: bytes = self.fallback.fingerprint(request)
        return fingerprint

    def key(self, request: Request) -> str | None:
        """The key of a request's URL; None where rules have no say."""
        if not concerns(request):
            return None
        try:
            return self.normalizer.key(request.url)
        except dedust.ParseUrlError:
            return None

    def is_within_page(self, request: Request, key: str) -> bool:
        """Whether a URL of the same key led to a request by redirects."""
        chain: list[str] = request.meta.get("redirect_urls") or []
        return key in self.normalizer.key_many(chain)


def concerns(request: Request) -> bool:
    """Whether rules have a say in a request."""
    return (
        request.method in METHODS
        and request.url.startswith(("http:", "https:"))
        and request.meta.get("dedust", True) is not False
        and not request.meta.get("verbatim_url")
    )


def mode_of(settings: BaseSettings) -> Literal["shadow", "filter"]:
    mode = settings.get("DEDUST_MODE", "shadow")
    if mode == "shadow":
        return "shadow"
    if mode == "filter":
        return "filter"
    raise ValueError(f'DEDUST_MODE is {mode!r}, expected "shadow" or "filter"')


def load_rules(settings: BaseSettings) -> dedust.Normalizer:
    """The rules of the setting DEDUST_RULES: a file, or all *.json files of a folder."""
    path = settings.get("DEDUST_RULES")
    if not path:
        raise ValueError("DEDUST_RULES is not set, expected the path of a rule file")
    trust_mirrors = settings.getbool("DEDUST_TRUST_MIRRORS")
    if not Path(path).is_dir():
        try:
            # Plain rules say in words what they do.
            return dedust.Normalizer(dedust.RuleSet.load(path), trust_mirrors=trust_mirrors)
        except dedust.LoadRulesError:
            return dedust.Normalizer(path, trust_mirrors=trust_mirrors)
    files = sorted(file for file in Path(path).iterdir() if ".json" in file.suffixes)
    if not files:
        raise dedust.LoadRulesError(f"there is no rule file (*.json) in the folder {path} of DEDUST_RULES")
    rules = dedust.RuleSet.load(files[0])
    for file in files[1:]:
        rules = rules.joined(dedust.RuleSet.load(file))
    return dedust.Normalizer(rules, trust_mirrors=trust_mirrors)
