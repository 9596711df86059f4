"""Crawls of whole sites that `dedust simulate` makes, and of files beside pages."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import dedust
from conftest import run
from crawling import crawl
from local_site import Site

pytest.importorskip("scrapy")

SIMULATED_SITE = Path(__file__).parent / "crawl" / "simulated_site.py"


@pytest.fixture
def simulated(command: str, tmp_path: Path) -> Iterator[tuple[str, str]]:
    """The proxy that answers for a site of 500 URLs, a tenth of the duplicates as redirects, and its first URL."""
    sites = tmp_path / "sites"
    phenomena = "two-random-keys,session-in-path,directory-index"
    run(command, "simulate", "-o", sites, "--sites", "1", "--urls", "500", "--phenomena", phenomena, "--seed", "1", "-q")
    (truth,) = (sites / "_truth").iterdir()
    with subprocess.Popen([sys.executable, SIMULATED_SITE, truth], stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        proxy, start = (server.stdout.readline().strip() for _ in range(2))
        yield proxy, start
        server.terminate()


def test_no_page_of_a_site_is_lost_and_most_duplicates_are_saved(simulated: tuple[str, str], tmp_path: Path) -> None:
    proxy, start = simulated
    observations, rules = tmp_path / "crawl.jsonl.zst", tmp_path / "rules.json"
    plain = crawl(start, proxy=proxy, log_level="INFO", DEDUST_OBSERVATIONS=observations)
    made = plain.stats["downloader/request_count"]
    assert plain.stats["downloader/response_status_count/301"] > 10
    dedust.learn(observations).rules.save(rules)
    for settings in ({}, {"DUPEFILTER_CLASS": "dedust.scrapy.SeenDupeFilter", "JOBDIR": tmp_path / "job"}):
        ours = crawl(start, proxy=proxy, log_level="INFO", DEDUST_RULES=rules, DEDUST_MODE="filter", **settings)
        assert ours.titles == plain.titles
        assert made - ours.stats["downloader/request_count"] >= 0.8 * (made - len(plain.titles))
    shadow = crawl(start, proxy=proxy, log_level="INFO", DEDUST_RULES=rules)
    assert shadow.stats["downloader/request_count"] == made
    assert shadow.stats["dedust/shadow_duplicates"] > 0.5 * (made - len(plain.titles))
    assert "these rules would have saved them" in shadow.log


def test_media_pipelines_fetch_a_file_once_and_follow_its_redirects(site: Site, tmp_path: Path) -> None:
    rules = tmp_path / "rules.json"
    rules.write_text('{"version": 1, "sites": {"127.0.0.1": {"rules": [{"change": [{"drop": "q.sid"}], "fetchable": true}]}}}')
    site.pages["/"] = '<object data="/f?sid=1"></object><object data="/f?sid=2"></object><object data="/g?sid=1"></object><a href="/f">'
    site.pages |= {"/f": "a file", "/g": "another file"}
    site.redirects["/g?sid=1"] = "/g"
    for mode, fetched in (("filter", 1), ("shadow", 2)):
        site.fetched.clear()
        result = crawl(
            site.url + "/",
            DEDUST_RULES=rules,
            DEDUST_MODE=mode,
            ITEM_PIPELINES='{"scrapy.pipelines.files.FilesPipeline": 1}',
            FILES_STORE=tmp_path / mode,
            MEDIA_ALLOW_REDIRECTS=True,
        )
        assert site.count("/f?sid=1") + site.count("/f?sid=2") == fetched
        assert site.count("/g") == 1
        assert f"{site.url}/f" in result.pages, "a page is no duplicate of a file: files pass by the filter"
        assert result.stats["item_scraped_count"] == 3
        assert {path.read_text() for path in (tmp_path / mode / "full").iterdir()} == {"a file", "another file"}
