"""What the workers of a cluster do with batches of rows: functions from Arrow batches to Arrow batches.

`dedust.spark` puts them together for Spark. Other engines that map over Arrow batches, such as Ray Data, can use the same: `count`
every partition, make a plan of all counts (`plan_of`), `draw`, bring what was drawn of a site to one place in the order of sites, and
`reduce`; where the plan has large sites, with the stage and task `pilot` and `groups` before, and `check` and `check` after. Rows
stay where they are; what is moved is bounded for each site.

Options are those of `dedust.Trainer`, as a dict; they are the same in all steps, as is the purpose: to learn, or to evaluate, which
leaves out no URL.
"""

# pyarrow has no types.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Literal

import pyarrow as pa  # type: ignore[import-untyped]

from dedust._dedust import Census, Normalizer, Rows, SamplePlan, Sampler, SiteReducer, Trainer, merge_sightings
from dedust._types import LearnOptions

Purpose = Literal["learn", "evaluate"]
Task = Literal["groups", "check"] | Purpose
Stage = Literal["pilot", "draw", "check"]
Batches = Iterator[Any]

# The columns of `count` that make up the size of a site, and are added up.
SIZE = ("rows", "bytes", "parts", "digest")
# Of `count`: sites with their rows; then one row without a site, with what was read and what tells of mirrors.
COUNTED = "site string, rows long, bytes long, parts long, digest long, good long, bad long, bad_columns long, too_long long, sightings binary"
# Of `draw`.
DRAWN = "site string, record binary"
_LEARNED = "site string, rules binary, urls long, pages long, saved long, promise long, observations long, state string, error string"
# Of `reduce`, by its task.
REDUCED = {
    "groups": "site string, groups binary",
    "learn": _LEARNED,
    "check": _LEARNED,
    "evaluate": "site string, urls long, pages long, unlabelled long, compression double, fpr double, precision double, "
    "recall double, f1 double, state string, error string",
}


def trainer_of(options: LearnOptions) -> Trainer:
    """The trainer that workers use: they are many, so that each has one thread."""
    return Trainer(**options, threads=1)


def count(batches: Iterable[Any], options: LearnOptions, purpose: Purpose = "learn") -> Batches:
    """Counts the rows of each site."""
    census = Census(trainer_of(options), purpose)
    for batch in batches:
        if batch.num_rows:
            census.take(batch)
    counts = census.counts
    rows, sightings = census.finish()
    sites = pa.table(rows)
    nothing = [pa.nulls(len(sites), pa.int64())] * 4
    columns = [*sites.columns, *nothing, pa.nulls(len(sites), pa.binary())]
    names = [*sites.column_names, "good", "bad", "bad_columns", "too_long", "sightings"]
    yield from pa.table(columns, names=names).to_batches()
    total = [pa.nulls(1, pa.string()), *[pa.nulls(1, pa.int64())] * len(SIZE)]
    total += [pa.array([number], pa.int64()) for number in counts] + [pa.array([sightings], pa.binary())]
    yield pa.RecordBatch.from_arrays(total, names=names)


def merge(batches: Iterable[Any]) -> Batches:
    """Makes one of what several workers found that tells of mirrors: of a column of bytes, one row."""
    merged = merge_sightings([])
    for batch in batches:
        for sightings in batch.column(0):
            merged = merge_sightings([merged, sightings.as_py()])
    yield pa.RecordBatch.from_arrays([pa.array([merged], pa.binary())], names=["sightings"])


def plan_of(counted: Any, options: LearnOptions) -> SamplePlan:
    """The plan, made of a table of all that `count` gave: for engines that bring the counts of all sites to one place."""
    totals = counted.filter(counted["site"].is_null()).select(["sightings"])
    sightings = next(merge(totals.to_batches())).column(0)[0].as_py()
    sites = counted.filter(counted["site"].is_valid()).group_by("site").aggregate([(name, "sum") for name in SIZE])
    sizes = [(row["site"], [row[f"{name}_sum"] for name in SIZE]) for row in sites.to_pylist()]
    return SamplePlan(trainer_of(options), sizes, sightings)


def draw(
    batches: Iterable[Any],
    options: LearnOptions,
    plan: Callable[[], SamplePlan],
    stage: Stage,
    purpose: Purpose = "learn",
) -> Batches:
    """Draws rows, as the plan says: all of small sites, some of large ones."""
    sampler = Sampler(trainer_of(options), plan(), stage, purpose)
    for batch in batches:
        if batch.num_rows:
            yield from _batches(sampler.take(batch))
    yield from _batches(sampler.finish())


def reduce(
    batches: Iterable[Any],
    options: LearnOptions,
    plan: Callable[[], SamplePlan],
    task: Task,
    normalizer: Callable[[], Normalizer] | None = None,
) -> Batches:
    """Makes groups, rules or figures of sites, whose drawn rows come one after the other."""
    reducer = SiteReducer(trainer_of(options), plan(), task, normalizer=None if normalizer is None else normalizer())
    for batch in batches:
        yield from _batches(reducer.take(batch))
    yield from _batches(reducer.finish())


def reduce_site(
    rows: Any,
    options: LearnOptions,
    plan: Callable[[], SamplePlan],
    task: Task,
    normalizer: Callable[[], Normalizer] | None = None,
) -> Any:
    """What `reduce` makes of a table of the drawn rows of one site: for engines that group rows themselves."""
    reducer = SiteReducer(trainer_of(options), plan(), task, normalizer=None if normalizer is None else normalizer())
    made = [pa.table(reducer.take(batch)) for batch in rows.to_batches()]
    return pa.concat_tables([*made, pa.table(reducer.finish())])


def _batches(rows: Rows) -> Batches:
    # Batches without rows cost as much as others.
    return (batch for batch in pa.table(rows).to_batches() if batch.num_rows)


# Rules and plans that this process has read, by their paths.
_opened: dict[tuple[str, bool], Normalizer] = {}


def open_rules(path: str, trust_mirrors: bool = False) -> Normalizer:
    """The rules in a file, which is read once in each process."""
    key = (os.path.abspath(path), trust_mirrors)
    if key not in _opened:
        _opened[key] = Normalizer(path, trust_mirrors=trust_mirrors)
    return _opened[key]


def column_of(column: Any) -> Any:
    """A column of keys or URLs as an array that every engine takes."""
    array = pa.array(column)
    return array.cast(pa.string()) if array.type == pa.large_string() else array
