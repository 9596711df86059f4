"""Crawlee with learned rules: URLs of one page are one request.

    import asyncio

    from crawlee.crawlers import ParselCrawler, ParselCrawlingContext
    from dedust.crawlee import UniqueKey

    unique_key = UniqueKey("rules.bin")
    crawler = ParselCrawler()

    @crawler.router.default_handler
    async def handle(context: ParselCrawlingContext) -> None:
        await context.enqueue_links(transform_request_function=unique_key)

    asyncio.run(crawler.run([unique_key.request("http://example.org/")]))

Crawlee follows redirects within one request, so that the URLs of a chain are never compared with each other. Where that is turned
off, `UniqueKey.redirected` makes the request for the target: a URL with the key of a member of its own chain is no duplicate.

Only GET and HEAD requests are looked at. A request with a `unique_key` of its own, with `always_enqueue`, `use_extended_unique_key`
or `keep_url_fragment`, or with user_data["dedust"] = False, is left alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from urllib.parse import urljoin

from crawlee import Request, RequestOptions

import dedust
from dedust._types import Path

METHODS = {"GET", "HEAD"}
# With any of these the caller says what is a duplicate.
SAID_BY_CALLER = ("unique_key", "always_enqueue", "use_extended_unique_key", "keep_url_fragment")
CHAIN = "redirect_urls"


class UniqueKey:
    """A `transform_request_function` that compares requests by the keys of their URLs."""

    def __init__(self, rules: dedust.Normalizer | dedust.RuleSet | Path, *, trust_mirrors: bool = False) -> None:
        if not isinstance(rules, dedust.Normalizer):
            rules = dedust.Normalizer(rules, trust_mirrors=trust_mirrors)
        self.normalizer = rules

    def __call__(self, options: RequestOptions) -> RequestOptions:
        """The same request with the key of its URL, where rules have a say."""
        user_data: Any = options.get("user_data") or {}
        method = options.get("method", "GET")
        is_page = method in METHODS and options["url"].startswith(("http:", "https:"))
        if not is_page or user_data.get("dedust") is False or any(options.get(name) for name in SAID_BY_CALLER):
            return options
        try:
            key = self.key(options["url"], user_data.get(CHAIN) or ())
        except dedust.ParseUrlError:
            return options
        return {**options, "unique_key": key if method == "GET" else f"{method} {key}"}

    def key(self, url: str, redirect_urls: Iterable[str] = ()) -> str:
        """What a URL is compared by. `redirect_urls` are those that led to it."""
        key = self.normalizer.key(url)
        # The key of the page is taken by the URL that the chain began with, and may be this URL.
        return f"redirect to {url}" if key in self.normalizer.key_many(redirect_urls) else key

    def request(self, url: str, **options: Any) -> Request:
        """A request for a URL that no link led to, such as the first one. The options are those of `Request.from_url`."""
        given: Any = {**options, "url": url}
        return Request.from_url(**self(given))

    def redirected(self, request: Request, location: str) -> Request:
        """The request for where a request was redirected to, for clients that do not follow redirects."""
        own = {name: value for name, value in request.user_data.items() if not name.startswith("__")}
        chain = [*self.chain(request), request.url]
        return Request.from_url(
            **self({"url": urljoin(request.url, location), "method": request.method, "user_data": {**own, CHAIN: chain}})
        )

    @staticmethod
    def chain(request: Request) -> list[str]:
        """The URLs that led to a request by redirects."""
        chain: Any = request.user_data.get(CHAIN) or []
        return [str(url) for url in chain]
