"""A website out of what `dedust simulate` wrote: every URL shows its page, or leads to another URL of it.

    python simulated_site.py sites/_truth/site-0001.example.jsonl

Comes in: one line of JSON for each URL, with the page that it shows. Goes out: a proxy on the loopback interface that answers for
all hosts of the site, so that a crawler sees the URLs as they are; its address is the first line of standard output, and the URL
to start from the second. Links to all URLs of a page are on pages chosen at random, so that a crawl of all pages meets all URLs,
and none of them depends on which URL of a page was fetched.
"""

import argparse
import hashlib
import json
import random
from collections import defaultdict
from collections.abc import Iterable, Mapping
from html import escape
from pathlib import Path

from twisted.internet import reactor
from twisted.web.http import HTTPFactory, Request
from w3lib.url import safe_url_string

# Pages that are linked from a page above them.
CHILDREN = 8
WORDS = "amber birch cedar delta ember fjord grove heath inlet jetty knoll larch marsh north ocean prairie quartz ridge stone tide".split()


class SimulatedSite:
    """What is answered for each URL."""

    def __init__(self, page_by_url: Mapping[str, int], redirected: float, seed: int) -> None:
        chance = random.Random(seed)
        urls_by_page: defaultdict[int, list[str]] = defaultdict(list)
        for url, page in page_by_url.items():
            urls_by_page[page].append(url)
        pages = list(urls_by_page)
        chance.shuffle(pages)
        self.page_by_url = page_by_url
        self.redirects: dict[str, str] = {}
        self.links: defaultdict[int, list[str]] = defaultdict(list)
        self.start = urls_by_page[pages[0]][0]
        for number, page in enumerate(pages):
            first, *others = urls_by_page[page]
            parent = pages[(number - 1) // CHILDREN] if number else page
            self.links[parent].append(first)
            for url in others:
                self.links[chance.choice(pages)].append(url)
                if chance.random() < redirected:
                    self.redirects[url] = first

    def answer(self, url: str) -> tuple[int, str, str]:
        """Status, target of a redirect, and the page."""
        page = self.page_by_url.get(url)
        if page is None:
            return 404, "", "<title>Not found</title>"
        if url in self.redirects:
            return 301, self.redirects[url], ""
        links = "".join(f'<li><a href="{escape(link)}">{escape(link)}</a>' for link in self.links[page])
        # Not two fetches give the same bytes, as on sites that are real; the text is that of the page.
        return 200, "", (
            f"<!doctype html><!-- {escape(url)} --><title>Page {page}</title><nav><a href='{escape(self.start)}'>Home</a></nav>"
            f"<main><h1>Page {page}</h1><p>{text_of(page)}</p></main><ul>{links}</ul>"
        )


def text_of(page: int) -> str:
    """Words that only this page has in this order."""
    chance = random.Random(hashlib.sha256(str(page).encode()).digest())
    return " ".join(chance.choices(WORDS, k=60)) + f" number {page}"


def read(path: Path) -> dict[str, int]:
    """The page of each URL, as crawlers write it that may not send spaces and accents."""
    with path.open() as lines:
        return {safe_url_string(row["url"]): row["page"] for row in map(json.loads, lines)}


def serve(site: SimulatedSite) -> None:
    class Answer(Request):
        def process(self) -> None:
            # To a proxy, crawlers send the whole URL.
            status, location, body = site.answer(self.uri.decode("latin-1"))
            self.setResponseCode(status)
            if location:
                self.setHeader("Location", location)
            self.setHeader("Content-Type", "text/html; charset=utf-8")
            self.write(body.encode())
            self.finish()

    factory = HTTPFactory()
    factory.log = lambda _: None
    protocol = factory.protocol

    def channel() -> object:
        made = protocol()
        made.requestFactory = Answer
        return made

    factory.protocol = channel
    port = reactor.listenTCP(0, factory, interface="127.0.0.1")
    print(f"http://127.0.0.1:{port.getHost().port}\n{site.start}", flush=True)
    reactor.run()


def main(arguments: Iterable[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("truth", type=Path)
    parser.add_argument("--redirected", type=float, default=0.1, help="share of the duplicates that lead to the first URL of their page")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args(arguments)
    serve(SimulatedSite(read(given.truth), given.redirected, given.seed))


if __name__ == "__main__":
    main()
