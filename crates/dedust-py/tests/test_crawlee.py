"""Real crawls by Crawlee of a real server: URLs of one page are one request, and redirects are followed."""

import asyncio
import json
from typing import Any

import pytest

import dedust
from local_site import Site

pytest.importorskip("crawlee.crawlers")

from crawlee import Request  # noqa: E402
from crawlee.crawlers import ParselCrawler, ParselCrawlingContext  # noqa: E402
from crawlee.http_clients import ImpitHttpClient  # noqa: E402
from crawlee.storage_clients import MemoryStorageClient  # noqa: E402
from crawlee.storages import RequestQueue  # noqa: E402

from dedust.crawlee import UniqueKey  # noqa: E402

RULES = dedust.RuleSet.from_json(
    json.dumps(
        {
            "version": 1,
            "sites": {
                "127.0.0.1": {
                    "rules": [
                        {"change": [{"drop": "q.sid"}], "fetchable": True},
                        {"change": [{"drop": "tslash"}], "fetchable": True},
                    ]
                }
            },
        }
    )
)


@pytest.fixture
def unique_key() -> UniqueKey:
    return UniqueKey(RULES)


def crawl(site: Site, unique_key: UniqueKey, *, follow_redirects: bool = True) -> list[str]:
    """The paths of the pages that a crawl gets."""

    async def run() -> list[str]:
        client = MemoryStorageClient()
        queue = await RequestQueue.open(alias="crawl", storage_client=client)
        crawler = ParselCrawler(
            request_manager=queue,
            storage_client=client,
            http_client=ImpitHttpClient(follow_redirects=follow_redirects),
            configure_logging=False,
            max_request_retries=2,
        )
        pages: list[str] = []

        @crawler.router.default_handler
        async def handle(context: ParselCrawlingContext) -> None:
            location = context.http_response.headers.get("location")
            if location:
                await context.add_requests([unique_key.redirected(context.request, location)])
                return
            pages.append((context.request.loaded_url or context.request.url).removeprefix(site.url))
            await context.enqueue_links(transform_request_function=unique_key)

        await crawler.run([unique_key.request(site.url + "/")])
        await queue.drop()
        return sorted(pages)

    return asyncio.run(run())


def test_urls_of_one_page_are_fetched_once(site: Site, unique_key: UniqueKey) -> None:
    site.links("/", "/a?sid=1", "/a?sid=2", "/a", "/a/", "/b?x=1", "/b?x=2", "/B?x=1", "/")
    site.pages |= {"/a": "page a", "/a/": "page a", "/b": "page b", "/B": "another page"}
    pages = crawl(site, unique_key)
    assert pages == ["/", "/B?x=1", "/a?sid=1", "/b?x=1", "/b?x=2"]
    assert sorted(site.fetched) == pages


@pytest.mark.parametrize("follow_redirects", [True, False])
def test_a_redirect_to_a_url_with_the_same_key_is_followed(
    site: Site, unique_key: UniqueKey, follow_redirects: bool
) -> None:
    site.links("/", "/page", "/a?sid=1", "/old?sid=4", "/page/", "/a")
    site.pages |= {"/page/": "the page", "/a": "page a", "/new": "moved"}
    site.redirects |= {"/page": "/page/", "/a?sid=1": "/a", "/old?sid=4": "/old?sid=5", "/old?sid=5": "/old/", "/old/": "/new"}
    assert crawl(site, unique_key, follow_redirects=follow_redirects) == ["/", "/a", "/new", "/page/"]
    assert len(site.fetched) == len(set(site.fetched)) == 9


def test_redirects_in_a_circle_end(site: Site, unique_key: UniqueKey) -> None:
    site.links("/", "/a")
    site.redirects |= {"/a": "/a/", "/a/": "/a"}
    assert crawl(site, unique_key, follow_redirects=False) == ["/"]
    assert len(site.fetched) <= 4


def test_retries_are_no_duplicates(site: Site, unique_key: UniqueKey) -> None:
    site.links("/", "/a?sid=1", "/a?sid=2")
    site.pages["/a"] = "the page"
    site.failures["/a?sid=1"] = 2
    assert crawl(site, unique_key) == ["/", "/a?sid=1"]
    assert site.count("/a?sid=1") == 3 and site.count("/a?sid=2") == 0


@pytest.mark.parametrize(
    "options",
    [
        {"method": "POST"},
        {"unique_key": "mine"},
        {"always_enqueue": True},
        {"use_extended_unique_key": True},
        {"keep_url_fragment": True},
        {"user_data": {"dedust": False}},
        {"url": "data:,text?sid=1"},
        {"url": "/relative?sid=1"},
    ],
)
def test_what_asks_to_be_left_alone_is(unique_key: UniqueKey, options: dict[str, Any]) -> None:
    given: Any = {"url": "http://127.0.0.1/a?sid=1#part", **options}
    assert unique_key(given) == given


def test_keys_are_those_of_the_rules(unique_key: UniqueKey) -> None:
    request = unique_key.request("http://127.0.0.1/a/?sid=1", label="page")
    assert (request.url, request.unique_key, request.label) == ("http://127.0.0.1/a/?sid=1", "http://127.0.0.1/a", "page")
    head = unique_key.request("http://127.0.0.1/a/?sid=1", method="HEAD")
    assert head.unique_key == "HEAD http://127.0.0.1/a"
    other = unique_key.request("http://other.example/A?sid=1")
    assert other.unique_key == "http://other.example/A?sid=1", "Crawlee's own key is in lower case"
    elsewhere = unique_key.redirected(request, "/b?sid=7")
    assert elsewhere.unique_key == "http://127.0.0.1/b"
    assert elsewhere.user_data["redirect_urls"] == [request.url]
    assert isinstance(elsewhere, Request)
