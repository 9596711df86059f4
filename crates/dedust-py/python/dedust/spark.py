"""Learns rules, applies them and removes duplicates on Apache Spark.

    from dedust import spark as ds

    index = spark.read.parquet("s3a://commoncrawl/cc-index/table/cc-main/warc/crawl=CC-MAIN-2026-43/")
    sites = ds.learn(index)                              # site, rules, urls, pages, saved, promise, ...
    sites.write.parquet("rules-by-site")                 # then: dedust collect rules-by-site -o rules.bin
    ds.keys(index, "rules.bin")                          # with a column dedust_key
    ds.dedup(index, "rules.bin")                         # one row for each page

Rules and keys are those of the command line, to the byte, in any partitioning and order. Rules travel as files, and are read once
by each Python process. Workers need this package and pyarrow. Tested with PySpark 4 and 3.5; without `arrow_udf`, before 4.1, functions
on columns take the way of pandas. Sessions of Spark Connect work where the engine has `mapInArrow` and `applyInArrow`.
"""

# pyspark's types are wider than what is used here, and pyarrow has none.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false, reportUnknownLambdaType=false

from __future__ import annotations

import hashlib
import logging
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Unpack

import pyarrow as pa  # type: ignore[import-untyped]
from pyspark import SparkFiles, StorageLevel
from pyspark.errors import UnsupportedOperationException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from dedust import spread
from dedust._dedust import Normalizer, RuleSet, SamplePlan, always_whole, declared_sites, unused_columns
from dedust._types import LearnOptions

__all__ = ["ReadCounts", "dedup", "evaluate", "keys", "learn", "normalize", "register"]

Rules = str | Path | RuleSet

_log = logging.getLogger("dedust")
# Partitions whose findings the driver puts together itself.
_FEW = 16


@dataclass
class ReadCounts:
    """What was read, and what was left out: `learn(df, counts=counts)` fills it."""

    rows: int = 0
    bad_rows: int = 0
    bad_values: int = 0
    too_long: int = 0
    sites: int = 0
    failed_sites: int = 0


def learn(df: DataFrame, *, counts: ReadCounts | None = None, **options: Unpack[LearnOptions]) -> DataFrame:
    """Learns the rules of every site of a table with a column "url" and others that tell of the pages.

    Gives a row for each site: `site`, `rules` (a rule file of this site alone, as bytes), `urls` that were learned from, their `pages`,
    how many URLs are `saved`, the `promise` (so many pages are lost at most), the `observations` of the site, and `error` where
    learning failed, in which case there are no rules. Options are those of `dedust.Trainer`, without those of files and threads. The
    result is kept (`persist`) since all of it was computed.
    """
    counts = counts if counts is not None else ReadCounts()
    rows = _used(df, options)
    plan = _plan(rows, options, counts, "learn")
    learned = _reduce_sites(rows, options, plan, "learn")
    found = pa.table(plan.mirrors()).to_pylist()
    if found:
        learned = learned.unionByName(df.sparkSession.createDataFrame(found, spread.REDUCED["learn"]))
    learned = learned.persist(StorageLevel.MEMORY_AND_DISK)
    told = learned.agg(F.count("*"), F.count("error")).collect()[0]
    counts.sites, counts.failed_sites = int(told[0]), int(told[1])
    if counts.failed_sites:
        _log.warning("%d of %d sites could not be learned: see the column error", counts.failed_sites, counts.sites)
    return learned.drop("state")


def evaluate(
    df: DataFrame,
    rules: Rules,
    *,
    evidence: str = "auto",
    trust_mirrors: bool = False,
    max_urls: int = 1_000_000,
    columns: Mapping[str, str] | None = None,
    counts: ReadCounts | None = None,
) -> DataFrame:
    """How good rules are on each site: a row with `urls`, `pages`, `compression`, `fpr`, `precision`, `recall` and `f1`.

    Figures are those of `dedust evaluate`; of sites with more than `max_urls` rows so many are drawn, by groups that rules may bring
    together.
    """
    options: LearnOptions = {
        "evidence": evidence,
        "find_mirrors": False,
        "sample": 1.0,
        "max_sample": max_urls,
        "columns": columns,
    }
    rows = _used(df, options)
    plan = _plan(rows, options, counts if counts is not None else ReadCounts(), "evaluate")
    name = _ship(df.sparkSession, rules)
    normalizer = partial(_rules, name, trust_mirrors)
    return _reduce_sites(rows, options, plan, "evaluate", normalizer).drop("state")


def keys(df: DataFrame, rules: Rules, *, url: str = "url", key_column: str = "dedust_key", trust_mirrors: bool = False) -> DataFrame:
    """The table with a column of keys more: equal keys, equal pages. What is no URL has none."""
    function = _function(_ship(df.sparkSession, rules), trust_mirrors, "key_many")
    return df.withColumn(key_column, function(F.col(url)))


def normalize(
    df: DataFrame,
    rules: Rules,
    *,
    url: str = "url",
    key_column: str = "dedust_key",
    url_column: str = "dedust_url",
    trust_mirrors: bool = False,
) -> DataFrame:
    """The table with columns of keys and canonical URLs more, as `dedust normalize` writes it."""
    name = _ship(df.sparkSession, rules)
    key, canonical = (_function(name, trust_mirrors, what) for what in ("key_many", "normalize_many"))
    return df.withColumns({key_column: key(F.col(url)), url_column: canonical(F.col(url))})


def register(session: SparkSession, rules: Rules, *, trust_mirrors: bool = False) -> None:
    """Adds the functions dedust_key(url) and dedust_url(url) to SQL."""
    name = _ship(session, rules)
    for sql, what in (("dedust_key", "key_many"), ("dedust_url", "normalize_many")):
        session.udf.register(sql, _function(name, trust_mirrors, what))


def dedup(
    df: DataFrame,
    rules: Rules,
    *,
    url: str = "url",
    status: str | None = None,
    order_by: Iterable[str] = (),
    trust_mirrors: bool = False,
) -> DataFrame:
    """One row for each key, and all rows whose URL is none. Whole rows are not moved: of each, its key and its URL are.

    Of rows with one key, a page goes before a redirect and an error (by `status`, which may also be called fetch_status); then the
    least by `order_by`; then the least URL; then the one with the least hash of all columns. `df` must give the same rows in the same
    order each time it is computed, as files do; keep (`persist`) others first.
    """
    session = df.sparkSession
    key = _function(_ship(session, rules), trust_mirrors, "key_many")
    status = status or next((name for name in ("status", "fetch_status") if name in df.columns), None)
    is_page = F.lit(True) if status is None else F.coalesce(F.col(status).between(200, 299), F.lit(True))
    order: list[Column] = [~is_page, *map(F.col, order_by), F.col(url), F.xxhash64(*df.columns)]
    ordered = F.struct(*[column.alias(f"o{index}") for index, column in enumerate(order)], _row_id().alias("id"))
    # The key is hashed for equality alone: 128 bits, so that a cluster of billions of rows has none twice.
    hashed = F.unhex(F.md5(key(F.col(url)).cast("binary")))
    rows = df.select(hashed.alias("key"), ordered.alias("order"))
    kept = rows.where(F.col("key").isNotNull()).groupBy("key").agg(F.min("order").alias("order"))
    kept = kept.select(F.col("order.id").alias("id"))
    bits = kept.repartition(F.shiftright("id", _INDEX_BITS)).mapInArrow(_pack, "partition long, bits binary")
    name = _ship_bits(session, ((row["partition"], bytes(row["bits"])) for row in bits.toLocalIterator()))
    keeps = _arrow_function(partial(_keeps, name), "boolean")
    marked = df.withColumn("_dedust_id", _row_id()).withColumn("_dedust_bad", key(F.col(url)).isNull())
    return marked.where(F.col("_dedust_bad") | keeps(F.col("_dedust_id"))).drop("_dedust_id", "_dedust_bad")


# Learning: count, plan, draw, reduce.


def _used(df: DataFrame, options: LearnOptions) -> DataFrame:
    """The columns that are used: no others are moved to Python."""
    empty = df.limit(0).toArrow() if hasattr(df, "toArrow") else pa.Table.from_pandas(df.limit(0).toPandas())
    unused = set(unused_columns(spread.trainer_of(options), empty))
    return df.select(*[F.col(f"`{name}`") for name in df.columns if name not in unused])


def _plan(rows: DataFrame, options: LearnOptions, counts: ReadCounts, purpose: spread.Purpose) -> SamplePlan:
    """Counts the rows of sites, and says which are sampled and how."""
    counted = rows.mapInArrow(partial(spread.count, options=options, purpose=purpose), spread.COUNTED)
    counted = counted.persist(StorageLevel.DISK_ONLY)
    totals = counted.where("site IS NULL")
    told = totals.agg(*[F.sum(name) for name in ("good", "bad", "bad_columns", "too_long")]).collect()[0]
    counts.rows, counts.bad_rows, counts.bad_values, counts.too_long = (int(number or 0) for number in told)
    if counts.bad_rows:
        _log.warning("%d rows skipped, of %d rows", counts.bad_rows, counts.rows + counts.bad_rows)
    sightings = _merged(totals.select("sightings"))
    by_site = counted.where("site IS NOT NULL").groupBy("site")
    sites = by_site.agg(*[F.sum(name).alias(name) for name in spread.SIZE])
    trainer = spread.trainer_of(options)
    wanted = {name for pair in (options.get("mirrors") or {}).items() for name in pair}.union(declared_sites(sightings))
    few_rows, few_bytes, few_parts = always_whole(trainer)
    small = (F.col("rows") < few_rows) & (F.col("bytes") < few_bytes) & (F.col("parts") < few_parts)
    found = sites.where(F.col("site").isin(*wanted) | ~small if wanted else ~small).collect()
    counted.unpersist()
    plan = SamplePlan(trainer, [(row["site"], [row[name] for name in spread.SIZE]) for row in found], sightings)
    if plan.has_large_sites:
        drawn = _drawn(rows, options, plan, "pilot", purpose)
        groups = _reduced(drawn, options, plan, "groups").collect()
        plan.set_groups([(row["site"], bytes(row["groups"])) for row in groups])
    return plan


def _merged(sightings: DataFrame) -> bytes:
    """What all partitions found that tells of mirrors, in a tree: each step makes one of sixteen."""
    schema = "sightings binary"
    parts = sightings.rdd.getNumPartitions() if _has_jvm(sightings.sparkSession) else 1
    while parts > _FEW:
        parts = -(-parts // _FEW)
        sightings = sightings.coalesce(parts).mapInArrow(spread.merge, schema)
        # A step of its own: otherwise Spark would do all before it in as few partitions.
        sightings = sightings.persist(StorageLevel.DISK_ONLY)
        sightings.count()
    rows = [pa.RecordBatch.from_arrays([pa.array([row[0]], pa.binary())], ["s"]) for row in sightings.collect()]
    return bytes(next(spread.merge(rows)).column(0)[0].as_py())


def _drawn(
    rows: DataFrame, options: LearnOptions, plan: SamplePlan, stage: spread.Stage, purpose: spread.Purpose
) -> DataFrame:
    shipped = _ship_plan(rows.sparkSession, plan)
    function = partial(spread.draw, options=options, plan=partial(_plan_at, shipped), stage=stage, purpose=purpose)
    return rows.mapInArrow(function, spread.DRAWN)


def _reduced(
    drawn: DataFrame,
    options: LearnOptions,
    plan: SamplePlan,
    task: spread.Task,
    normalizer: Callable[[], Normalizer] | None = None,
) -> DataFrame:
    """Brings what was drawn of each site to one place, and makes something of it."""
    shipped = _ship_plan(drawn.sparkSession, plan)
    how: dict[str, Any] = {"options": options, "plan": partial(_plan_at, shipped), "task": task, "normalizer": normalizer}
    if _has_jvm(drawn.sparkSession):
        sorted_rows = drawn.repartition("site").sortWithinPartitions("site")
        return sorted_rows.mapInArrow(partial(spread.reduce, **how), spread.REDUCED[task])

    # Not all engines that speak Spark Connect keep the order of rows before a map. Spark looks at what the function takes.
    def reduce_site(rows: pa.Table) -> pa.Table:
        return spread.reduce_site(rows, **how)

    return drawn.groupBy("site").applyInArrow(reduce_site, spread.REDUCED[task])


def _reduce_sites(
    rows: DataFrame,
    options: LearnOptions,
    plan: SamplePlan,
    task: spread.Purpose,
    normalizer: Callable[[], Normalizer] | None = None,
) -> DataFrame:
    """Draws and reduces; sites of which too few rows were drawn, again. Rules of large sites are then held against all rows."""
    found = _reduced(_drawn(rows, options, plan, "draw", task), options, plan, task, normalizer)
    if not plan.has_large_sites:
        return found
    done: DataFrame | None = None
    drawing = plan
    stage: spread.Stage = "draw"
    step: spread.Task = task
    unchecked: list[bytes] = []
    while True:
        found = found.persist(StorageLevel.MEMORY_AND_DISK)
        again = [row["site"] for row in found.where("state = 'again'").select("site").collect()]
        if step == "learn":
            unchecked += [bytes(row["rules"]) for row in found.where("state = 'unchecked'").select("rules").collect()]
        complete = found.where("state NOT IN ('again', 'unchecked')")
        done = complete if done is None else done.unionByName(complete)
        if again:
            drawing = drawing.wider(again)
        elif unchecked:
            drawing, stage, step, unchecked = plan.to_check(unchecked), "check", "check", []
        else:
            return done
        found = _reduced(_drawn(rows, options, drawing, stage, task), options, drawing, step, normalizer)


# Files that travel to the workers.


def _ship(session: SparkSession, rules: Rules) -> str:
    """Sends rules to the workers, compiled, and gives the name by which they find them."""
    normalizer = rules.compile(trust_mirrors=True) if isinstance(rules, RuleSet) else Normalizer(rules, trust_mirrors=True)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "rules.bin")
        normalizer.save(path)
        return _send(session, "rules", path.read_bytes())


def _ship_plan(session: SparkSession, plan: SamplePlan) -> str:
    return _send(session, "plan", plan.to_json().encode())


def _ship_bits(session: SparkSession, parts: Iterator[tuple[int, bytes]]) -> str:
    """Which rows are kept: for each partition, a bit for each row. One table for all, of which each task reads its own."""
    sink = pa.BufferOutputStream()
    schema = pa.schema([("partition", pa.int64()), ("bits", pa.binary())])
    with pa.ipc.new_file(sink, schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as writer:
        for partition, bits in parts:
            writer.write_batch(pa.RecordBatch.from_arrays([pa.array([partition]), pa.array([bits])], schema=schema))
    return _send(session, "kept", sink.getvalue().to_pybytes())


# Files that were sent, until this process ends: executors that start later fetch them too.
_sent = tempfile.TemporaryDirectory(prefix="dedust-spark-")


def _send(session: SparkSession, what: str, content: bytes) -> str:
    """Sends a file to the workers. The same content has the same name and path, which Spark asks for."""
    name = f"dedust-{what}-{hashlib.sha256(content).hexdigest()[:32]}"
    path = Path(_sent.name, name)
    if not path.exists():
        path.write_bytes(content)
    if _has_jvm(session):
        session.sparkContext.addFile(str(path))
        return name
    try:
        session.addArtifact(str(path), file=True)
    except UnsupportedOperationException:
        # An engine that speaks Spark Connect and sends no files, such as Sail: its workers have to see this disk.
        return str(path)
    return name


def _has_jvm(session: SparkSession) -> bool:
    """Whether the session is one of Spark itself, not of Spark Connect."""
    return hasattr(session, "_jsc")


def _sent_file(name: str) -> str:
    """Where a worker finds what was sent."""
    return name if os.path.isabs(name) else SparkFiles.get(name)


def _plan_at(name: str) -> SamplePlan:
    return SamplePlan.from_json(Path(_sent_file(name)).read_text())


def _rules(name: str, trust_mirrors: bool) -> Normalizer:
    return spread.open_rules(_sent_file(name), trust_mirrors)


# Functions on columns.


def _arrow_function(apply: Callable[[Any], Any], returns: str) -> Callable[[Column], Column]:
    # Spark looks at the types of a function to know what it takes.
    if hasattr(F, "arrow_udf"):

        def with_arrow(column: pa.Array) -> pa.Array:
            return apply(column)

        return F.arrow_udf(with_arrow, returns)  # type: ignore[no-any-return]
    import pandas as pd
    from pyspark.sql.pandas import functions as pandas_functions

    def with_pandas(column: Any) -> Any:
        return apply(pa.array(column, from_pandas=True)).to_pandas()

    with_pandas.__annotations__ = {"column": pd.Series, "return": pd.Series}
    functions: Any = pandas_functions
    return functions.pandas_udf(with_pandas, returns)  # type: ignore[no-any-return]


def _function(name: str, trust_mirrors: bool, what: str) -> Callable[[Column], Column]:
    return _arrow_function(partial(_apply, name, trust_mirrors, what), "string")


def _apply(name: str, trust_mirrors: bool, what: str, urls: Any) -> Any:
    return spread.column_of(getattr(_rules(name, trust_mirrors), what)(urls, errors="null"))


# Bits of the number of a row in its partition, in `monotonically_increasing_id`.
_INDEX_BITS = 33
_INDEX_MASK = (1 << _INDEX_BITS) - 1


def _row_id() -> Column:
    return F.monotonically_increasing_id()


def _pack(batches: Iterable[Any]) -> Iterator[Any]:
    """Of the numbers of rows, in any order, a bit for each row of their partition."""
    import numpy as np

    packed: dict[int, Any] = {}
    for batch in batches:
        numbers = batch.column(0).to_numpy()
        for start, end in _runs(numbers >> _INDEX_BITS):
            partition, indexes = int(numbers[start] >> _INDEX_BITS), numbers[start:end] & _INDEX_MASK
            bits, needed = packed.get(partition, np.zeros(0, np.uint8)), int(indexes.max()) // 8 + 1
            if len(bits) < needed:
                packed[partition] = bits = np.concatenate([bits, np.zeros(max(needed, 2 * len(bits)) - len(bits), np.uint8)])
            np.bitwise_or.at(bits, indexes // 8, np.left_shift(1, indexes % 8).astype(np.uint8))
    for partition, bits in packed.items():
        columns = [pa.array([partition], pa.int64()), pa.array([bits.tobytes()], pa.binary())]
        yield pa.RecordBatch.from_arrays(columns, names=["partition", "bits"])


def _runs(values: Any) -> Iterator[tuple[int, int]]:
    """Where equal values start and end."""
    import numpy as np

    ends = [*(np.flatnonzero(np.diff(values)) + 1).tolist(), len(values)] if len(values) else []
    return zip([0, *ends], ends)


# Bits of the partition that this process worked on last, by the name of their file.
_kept: dict[str, tuple[int, bytes]] = {}


def _keeps(name: str, ids: Any) -> Any:
    import numpy as np

    numbers = ids.to_numpy(zero_copy_only=False)
    kept = np.zeros(len(numbers), bool)
    for start, end in _runs(numbers >> _INDEX_BITS):
        bits = np.frombuffer(_bits_of(name, int(numbers[start] >> _INDEX_BITS)), np.uint8)
        indexes = numbers[start:end] & _INDEX_MASK
        # Rows behind the last bit are not kept.
        is_there = indexes // 8 < len(bits)
        kept[start:end][is_there] = bits[indexes[is_there] // 8] >> (indexes[is_there] % 8).astype(np.uint8) & 1
    return pa.array(kept)


def _bits_of(name: str, partition: int) -> bytes:
    if name not in _kept or _kept[name][0] != partition:
        found = b""
        with pa.memory_map(_sent_file(name)) as file:
            reader = pa.ipc.open_file(file)
            for index in range(reader.num_record_batches):
                batch = reader.get_batch(index)
                if batch.column(0)[0].as_py() == partition:
                    found = batch.column(1)[0].as_py()
                    break
        _kept[name] = (partition, found)
    return _kept[name][1]
