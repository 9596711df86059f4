"""Follows the links of one host, with dedust. Needs no project:

scrapy runspider links.py -a start=http://127.0.0.1:8000/ -s DEDUST_OBSERVATIONS=crawl.jsonl.zst
scrapy runspider links.py -a start=http://127.0.0.1:8000/ -s DEDUST_RULES=rules.json -s DEDUST_MODE=filter
"""

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import urljoin

import scrapy
from scrapy.http import Response
from scrapy.linkextractors import LinkExtractor


class LinksSpider(scrapy.Spider):
    name = "links"
    custom_settings = {"ADDONS": {"dedust.scrapy.Addon": 650}}

    def __init__(self, start: str, **arguments: Any) -> None:
        super().__init__(**arguments)
        self.start_urls = [start]
        self.links = LinkExtractor(allow="^" + re.escape(urljoin(start, "/")))

    def parse(self, response: Response) -> Iterator[Any]:
        yield {"url": response.url, "title": response.css("title::text").get()}
        yield from response.follow_all(self.links.extract_links(response), self.parse)
