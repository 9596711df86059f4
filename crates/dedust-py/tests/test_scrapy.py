"""Real crawls of a real server: what is fetched, what is filtered, what is counted."""

import json
import signal
import subprocess
import time
from pathlib import Path

import pytest

import dedust
from crawling import command, crawl
from local_site import Site

pytest.importorskip("scrapy")

RULES = json.dumps(
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


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    path = tmp_path / "rules.json"
    path.write_text(RULES)
    return path


def test_duplicates_are_filtered_and_counted(site: Site, rules: Path) -> None:
    site.links("/", "/a?sid=1", "/a?sid=2", "/a", "/b?x=1", "/b?x=2", "/a?sid=2")
    site.pages |= {"/a": "page a", "/b": "page b"}
    result = crawl(site.url + "/", DEDUST_RULES=rules, DEDUST_MODE="filter")
    assert result.pages == [f"{site.url}{path}" for path in ("/", "/a?sid=1", "/b?x=1", "/b?x=2")]
    assert result.stats["dedust/duplicates"] == result.stats["dedust/duplicates/127.0.0.1"] == 2
    assert result.stats["dupefilter/filtered"] == 3, "/a?sid=2 is there twice, which Scrapy knows by itself"
    assert "Filtered http" in result.log and "was met before since `sid` does not matter" in result.log
    assert "of 6 requests 2 (33.3 %) were duplicates by the learned rules, and not made: 127.0.0.1 2" in result.log


def test_shadow_mode_fetches_all_and_says_what_would_be_saved(site: Site, rules: Path) -> None:
    site.links("/", "/a?sid=1", "/a?sid=2", "/a", "/b?x=1", "/a?sid=2")
    site.pages |= {"/a": "page a", "/b": "page b"}
    result = crawl(site.url + "/", DEDUST_RULES=rules)
    assert len(result.pages) == 5
    assert result.stats["dedust/shadow_duplicates"] == 2
    assert "dedust/duplicates" not in result.stats
    assert "of 5 requests 2 (40.0 %) were duplicates by the learned rules, and made nevertheless: 127.0.0.1 2" in result.log
    assert "these rules would have saved them" in result.log
    assert "1  127.0.0.1: `sid` does not matter" in result.log
    assert "1  127.0.0.1: other URLs of the page are rewritten to it" in result.log


@pytest.mark.parametrize("mode", ["shadow", "filter"])
def test_a_redirect_to_a_url_with_the_same_key_is_followed(site: Site, rules: Path, mode: str) -> None:
    site.links("/", "/page", "/old?sid=4")
    site.pages |= {"/page/": "the page", "/new": "moved"}
    site.redirects |= {"/page": "/page/", "/old?sid=4": "/old?sid=5", "/old?sid=5": "/old/", "/old/": "/new"}
    result = crawl(site.url + "/", DEDUST_RULES=rules, DEDUST_MODE=mode)
    assert result.pages == [f"{site.url}{path}" for path in ("/", "/new", "/page/")]
    assert result.stats.get("dedust/duplicates", 0) == result.stats.get("dedust/shadow_duplicates", 0) == 0


@pytest.mark.parametrize("dupefilter", ["scrapy.dupefilters.RFPDupeFilter", "dedust.scrapy.SeenDupeFilter"])
def test_a_redirect_to_the_key_of_a_page_is_followed(site: Site, rules: Path, dupefilter: str) -> None:
    site.links("/", "/a?sid=1", "/b/", "/a", "/a?sid=2")
    site.redirects |= {"/a?sid=1": "/a", "/b/": "/b"}
    site.pages |= {"/a": "page a", "/b": "page b"}
    result = crawl(site.url + "/", DEDUST_RULES=rules, DEDUST_MODE="filter", DUPEFILTER_CLASS=dupefilter)
    assert result.pages == [f"{site.url}{path}" for path in ("/", "/a", "/b")]
    assert site.fetched.count("/a") == 1
    assert result.stats["dedust/duplicates"] == 2


def test_a_page_reached_by_a_redirect_is_fetched_once(site: Site, rules: Path) -> None:
    site.links("/", "/page")
    site.redirects["/page"] = "/page/"
    site.links("/page/", "/page", "/page/", "/page?sid=3", "/page/?sid=4")
    result = crawl(site.url + "/", DEDUST_RULES=rules, DEDUST_MODE="filter")
    assert result.pages == [f"{site.url}/", f"{site.url}/page/"]
    assert site.fetched == ["/", "/page", "/page/"]


def test_redirects_in_a_circle_end(site: Site, rules: Path) -> None:
    site.links("/", "/a")
    site.redirects |= {"/a": "/a/", "/a/": "/a"}
    result = crawl(site.url + "/", DEDUST_RULES=rules, DEDUST_MODE="filter")
    assert result.pages == [f"{site.url}/"]
    assert len(site.fetched) <= 4


def test_a_canonical_link_to_the_same_page_is_not_fetched_again(site: Site, rules: Path) -> None:
    site.links("/", "/a?sid=1", "/b")
    site.pages["/a"] = '<link rel="canonical" href="/a">the page'
    site.pages["/b"] = '<link rel="canonical" href="/c">another page'
    site.pages["/c"] = "another page, whole"
    result = crawl(site.url + "/", DEDUST_RULES=rules, DEDUST_MODE="filter")
    assert result.pages == [f"{site.url}{path}" for path in ("/", "/a?sid=1", "/b", "/c")]


def test_retries_are_no_duplicates(site: Site, rules: Path) -> None:
    site.links("/", "/a?sid=1")
    site.pages["/a"] = "the page"
    site.failures["/a?sid=1"] = 2
    for mode in ("filter", "shadow"):
        site.failures["/a?sid=1"] = 2
        result = crawl(site.url + "/", DEDUST_RULES=rules, DEDUST_MODE=mode)
        assert f"{site.url}/a?sid=1" in result.pages
        assert result.stats["retry/count"] == 2
        assert result.stats.get("dedust/duplicates", 0) == result.stats.get("dedust/shadow_duplicates", 0) == 0


def test_what_asks_to_be_left_alone_is(site: Site, rules: Path) -> None:
    site.pages["/"] = (
        '<a href="/a?sid=1">1</a><a href="/a?sid=2" rel="again">2</a><a href="/a?sid=3" rel="alone">3</a>'
        '<a href="/a?sid=4">4</a><form action="/a?sid=5"></form><form action="/a?sid=6"></form>'
    )
    site.pages["/a"] = "the page"
    result = crawl(site.url + "/", DEDUST_RULES=rules, DEDUST_MODE="filter")
    assert [page[-5:] for page in result.pages[1:]] == ["sid=1", "sid=2", "sid=3", "sid=5", "sid=6"]
    assert result.stats["dedust/duplicates"] == 1


def test_the_cache_knows_redirects_within_a_page_apart(site: Site, rules: Path, tmp_path: Path) -> None:
    site.links("/", "/page", "/b?sid=1")
    site.redirects["/page"] = "/page/"
    site.pages |= {"/page/": "the page", "/b": "page b"}
    settings: dict[str, object] = {"HTTPCACHE_ENABLED": True, "HTTPCACHE_DIR": tmp_path / "cache"}
    first = crawl(site.url + "/", DEDUST_RULES=rules, DEDUST_MODE="filter", **settings)
    fetched = len(site.fetched)
    again = crawl(site.url + "/", DEDUST_RULES=rules, DEDUST_MODE="filter", **settings)
    assert again.pages == first.pages == [f"{site.url}{path}" for path in ("/", "/b?sid=1", "/page/")]
    assert len(site.fetched) == fetched, "all came from the cache"


def test_the_fingerprinter_that_was_configured_is_asked(site: Site, rules: Path) -> None:
    site.links("/", "/a?sid=1", "/a?sid=2")
    site.pages["/a"] = "the page"
    fallback = "scrapy.utils.request.RequestFingerprinter"
    result = crawl(site.url + "/", DEDUST_RULES=rules, DEDUST_MODE="filter", REQUEST_FINGERPRINTER_CLASS=fallback)
    assert len(result.pages) == 2


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"DEDUST_MODE": "block"}, "DEDUST_MODE is 'block', expected \"shadow\" or \"filter\""),
        ({"DEDUST_RULES": "missing.json"}, "there is no rule file missing.json"),
    ],
)
def test_settings_that_make_no_sense_end_the_crawl(rules: Path, settings: dict[str, object], message: str) -> None:
    given: dict[str, object] = {"DEDUST_RULES": rules, **settings}
    process = subprocess.run(command("http://127.0.0.1:9/", **given), capture_output=True, text=True, timeout=60)
    assert message in process.stderr


def test_without_settings_the_addon_says_what_it_needs() -> None:
    process = subprocess.run(command("http://127.0.0.1:9/"), capture_output=True, text=True, timeout=60)
    assert "set DEDUST_RULES to a rule file, DEDUST_OBSERVATIONS to a file to be written" in process.stderr


def test_fingerprints_are_those_of_keys_where_rules_have_a_say() -> None:
    from scrapy import Request
    from scrapy.utils.request import RequestFingerprinter as Plain

    from dedust.scrapy import RequestFingerprinter

    plain = Plain()
    normalizer = dedust.Normalizer(dedust.RuleSet.from_json(RULES))
    ours = RequestFingerprinter(normalizer, "filter", plain)
    shadow = RequestFingerprinter(normalizer, "shadow", plain)
    one, same = "http://127.0.0.1/a?sid=1", "http://127.0.0.1/a?sid=2"
    for options in ({}, {"method": "HEAD"}, {"body": b"x"}):
        assert ours.fingerprint(Request(one, **options)) == ours.fingerprint(Request(same, **options))
        assert shadow.fingerprint(Request(one, **options)) == plain.fingerprint(Request(one, **options))
    assert ours.fingerprint(Request(one)) != ours.fingerprint(Request(one, method="HEAD"))
    assert ours.fingerprint(Request(one)) != ours.fingerprint(Request(one, body=b"x"))
    for options in (
        {"method": "POST"},
        {"meta": {"dedust": False}},
        {"meta": {"verbatim_url": True}},
    ):
        assert ours.fingerprint(Request(one, **options)) == plain.fingerprint(Request(one, **options))
    within = {"meta": {"redirect_urls": ["http://127.0.0.1/a/?sid=7"]}}
    apart = {ours.fingerprint(Request(url, **within)) for url in (one, same, "http://127.0.0.1/a")}
    assert len(apart) == 3 and ours.fingerprint(Request(one)) not in apart
    assert ours.fingerprint(Request(one, **within)) in apart
    for url in ("data:,text?sid=1", "http://other.example/a?sid=1"):
        assert ours.fingerprint(Request(url)) == plain.fingerprint(Request(url))
    elsewhere = Request(one, meta={"redirect_urls": ["http://127.0.0.1/other", "no URL"]})
    assert ours.fingerprint(elsewhere) == ours.fingerprint(Request(same))


def test_a_folder_of_rule_files_is_one_set_of_rules(site: Site, tmp_path: Path) -> None:
    folder = tmp_path / "rules"
    folder.mkdir()
    (folder / "a.json").write_text('{"version": 1, "sites": {"a.example": {"rules": [{"change": [{"drop": "q.s"}]}]}}}')
    (folder / "b.json").write_text(RULES)
    site.links("/", "/a?sid=1", "/a?sid=2")
    site.pages["/a"] = "the page"
    assert len(crawl(site.url + "/", DEDUST_RULES=folder, DEDUST_MODE="filter").pages) == 2


@pytest.mark.parametrize("name", ["crawl.jsonl", "crawl.jsonl.gz", "crawl.jsonl.zst"])
def test_crawl_learn_and_crawl_again(site: Site, tmp_path: Path, name: str) -> None:
    site.links("/", *(f"/view?id={page}&sid={100 * page + visit}" for page in range(40) for visit in (1, 2)), "/old")
    site.redirects["/old"] = "/view?id=0"
    for page in range(40):
        text = f"<title>Page {page}</title><p>" + f"Words of page number {page} and of no other. " * 10
        for visit in ("1", "2"):
            site.pages[f"/view?id={page}&sid={100 * page + int(visit)}"] = text
        site.pages[f"/view?id={page}"] = text
    observations = tmp_path / name
    first = crawl(site.url + "/", DEDUST_OBSERVATIONS=observations)
    assert len(first.pages) == 82
    assert first.stats["dedust/observations"] == 83
    training = dedust.learn(observations)
    assert any("sid" in rule for rule in training.rules.rules("127.0.0.1"))
    rules = tmp_path / "learned.bin"
    training.rules.compile().save(rules)
    second = crawl(site.url + "/", DEDUST_RULES=rules, DEDUST_MODE="filter")
    assert second.stats["dedust/duplicates"] >= 40
    ids = {page.partition("id=")[2].partition("&")[0] for page in second.pages if "id=" in page}
    assert ids == {str(page) for page in range(40)}, "no page is lost"


def test_observations_have_redirects_pages_and_failures(site: Site, tmp_path: Path) -> None:
    site.links("/", "/a", "/gone", "/old")
    site.redirects["/old"] = "/a"
    site.pages["/a"] = '<title>A</title><link rel="canonical" href="/canonical-a"><p>' + "some text of the page " * 20
    site.pages["/canonical-a"] = "x"
    observations = tmp_path / "crawl.jsonl"
    crawl(site.url + "/", DEDUST_OBSERVATIONS=observations)
    rows = {row["url"]: row for row in map(json.loads, observations.read_text().splitlines())}
    assert rows[f"{site.url}/old"]["redirect"] == f"{site.url}/a"
    assert rows[f"{site.url}/gone"]["status"] == 404
    page = rows[f"{site.url}/a"]
    assert (page["title"], page["canonical"]) == ("A", f"{site.url}/canonical-a")
    assert len(page["digest"]) == len(page["text_digest"]) == 32
    assert len(page["simhash"]) == 16


def test_seen_requests_survive_kill(site: Site, rules: Path, tmp_path: Path) -> None:
    site.links("/", *(f"/{number}" for number in range(30)))
    for number in range(30):
        site.pages[f"/{number}"] = f"page {number}"
    site.delay = 0.05
    settings: dict[str, object] = {
        "DEDUST_RULES": rules,
        "DEDUST_MODE": "filter",
        "DUPEFILTER_CLASS": "dedust.scrapy.SeenDupeFilter",
        "JOBDIR": tmp_path / "job",
        "CONCURRENT_REQUESTS": 1,
    }
    process = subprocess.Popen(command(site.url + "/", **settings), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while len(site.fetched) < 10 and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    with dedust.SeenSet(tmp_path / "job" / "dedust.seen") as seen:
        assert len(seen) == 30
    site.links("/other", "/7", "/31")
    site.pages["/31"] = "new"
    before = site.count("/7")
    result = crawl(site.url + "/other", **settings)
    assert f"{site.url}/31" in result.pages
    assert site.count("/7") <= before + 1, "at most once more, from the queue of Scrapy"
    assert result.stats["dupefilter/filtered"] >= 1


def test_the_seen_filter_works_without_rules_and_across_crawls(site: Site, tmp_path: Path) -> None:
    site.links("/", "/a", "/a", "/b")
    site.pages |= {"/a": "page a", "/b": "page b"}
    settings: dict[str, object] = {
        "DUPEFILTER_CLASS": "dedust.scrapy.SeenDupeFilter",
        "DEDUST_SEEN": tmp_path / "seen",
        "ADDONS": "{}",
    }
    assert len(crawl(site.url + "/", **settings).pages) == 3
    assert crawl(site.url + "/", **settings).pages == [f"{site.url}/"]


def test_the_seen_filter_is_shared_on_a_server(site: Site, rules: Path, redis_server: str) -> None:
    site.links("/", "/a?sid=1", "/a?sid=2", "/b")
    site.pages |= {"/a": "page a", "/b": "page b"}
    settings: dict[str, object] = {
        "DUPEFILTER_CLASS": "dedust.scrapy.SeenDupeFilter",
        "DEDUST_SEEN": f"{redis_server}/crawl",
        "DEDUST_SESSION": "november",
        "DEDUST_RULES": rules,
        "DEDUST_MODE": "filter",
    }
    assert len(crawl(site.url + "/", **settings).pages) == 3
    assert crawl(site.url + "/", **settings).pages == [f"{site.url}/"]
    # Another session sees nothing of one that was not committed.
    assert len(crawl(site.url + "/", **(settings | {"DEDUST_SESSION": "december"})).pages) == 3


def test_requests_are_compared_by_key_in_redis(site: Site, rules: Path, redis_server: str) -> None:
    pytest.importorskip("scrapy_redis")
    site.links("/", "/a?sid=1", "/a?sid=2", "/page", "/b")
    site.redirects["/page"] = "/page/"
    site.pages |= {"/a": "page a", "/b": "page b", "/page/": "the page"}
    result = crawl(
        site.url + "/",
        DEDUST_RULES=rules,
        DEDUST_MODE="filter",
        REDIS_URL=redis_server,
        SCHEDULER="scrapy_redis.scheduler.Scheduler",
        SCHEDULER_PERSIST=True,
        DUPEFILTER_CLASS="dedust.scrapy.RedisDupeFilter",
    )
    assert result.pages == [f"{site.url}{path}" for path in ("/", "/a?sid=1", "/b", "/page/")]
    assert result.stats["dedust/duplicates"] == 1
    import redis

    keys = redis.Redis.from_url(redis_server).smembers("links:dupefilter")
    assert {len(key) for key in keys} == {20}
