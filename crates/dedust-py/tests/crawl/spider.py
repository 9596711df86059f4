"""A spider that follows every link, and says in the end what it got."""

import json
from collections.abc import Iterator
from typing import Any

import scrapy
from scrapy.http import Response


class LinkSpider(scrapy.Spider):
    name = "links"

    def __init__(self, start: str, **arguments: Any) -> None:
        super().__init__(**arguments)
        self.start_urls = [start]
        self.pages: list[str] = []
        self.titles: set[str] = set()

    def parse(self, response: Response) -> Iterator[Any]:
        self.pages.append(response.url)
        self.titles.update(response.css("title::text").getall())
        for link in response.css("a"):
            meta = {"dedust": False} if link.attrib.get("rel") == "alone" else {}
            again = link.attrib.get("rel") == "again"
            yield response.follow(link, self.parse, meta=meta, dont_filter=again)
        for link in response.css("link[rel=canonical]"):
            yield response.follow(link.attrib["href"], self.parse)
        for form in response.css("form"):
            yield response.follow(form.attrib["action"], self.parse, method="POST")
        for file in response.css("object"):
            yield {"file_urls": [response.urljoin(file.attrib["data"])]}

    def closed(self, reason: str) -> None:
        assert self.crawler.stats is not None
        stats = {name: value for name, value in self.crawler.stats.get_stats().items() if isinstance(value, (int, str))}
        print(json.dumps({"pages": sorted(self.pages), "titles": sorted(self.titles), "stats": stats, "reason": reason}))
