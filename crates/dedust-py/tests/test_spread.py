"""Batches of rows, dealt out to workers in any way, make the rules that one process makes of all rows."""

import random
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import dedust
from dedust._dedust import Census, SamplePlan, SiteReducer, Trainer, declared_sites, merge_sightings

pa = pytest.importorskip("pyarrow")
spread = pytest.importorskip("dedust.spread")

OPTIONS = {"max_sample": 400}


def rows() -> list[dict[str, Any]]:
    """Shops with sessions, one of them large; an old domain that leads to a new one; pages whose parameter matters."""
    made = []
    for site, pages in (("shop.example", 500), ("small.example", 60)):
        for page in range(pages):
            for visit in range(3):
                url = f"http://{site}/view?id={page}&sid={7919 * page + 104729 * visit}"
                made.append({"url": url, "digest": f"{site} {page}", "status": 200})
    for page in range(60):
        new = f"https://new.example/a/{page}"
        made.append({"url": f"http://old.example/a/{page}", "redirect": new, "status": 301})
        made.append({"url": new, "digest": f"new {page}", "status": 200})
        made.append({"url": f"http://pages.example/list?page={page}", "digest": f"list {page}", "status": 200})
    return made


SCHEMA = pa.schema([("url", pa.string()), ("digest", pa.string()), ("redirect", pa.string()), ("status", pa.int16())])


def deal(all_rows: list[dict[str, Any]], workers: int, seed: int) -> list[list[Any]]:
    """Batches of rows for each worker."""
    chance = random.Random(seed)
    dealt: list[list[dict[str, Any]]] = [[] for _ in range(workers)]
    for row in chance.sample(all_rows, len(all_rows)):
        chance.choice(dealt).append(row)
    return [pa.Table.from_pylist(some, schema=SCHEMA).to_batches(max_chunksize=100) for some in dealt]


def by_site(drawn: Iterator[Any]) -> list[Any]:
    """What a cluster does between drawing and reducing."""
    table = pa.Table.from_batches(drawn, schema=pa.schema([("site", pa.string()), ("record", pa.binary())]))
    return list(table.sort_by("site").to_batches(max_chunksize=50))


def learned(workers: list[list[Any]], options: dict[str, Any]) -> tuple[dedust.RuleSet, list[dict[str, Any]]]:
    counted = [batch for batches in workers for batch in spread.count(iter(batches), options)]
    table = pa.Table.from_batches(counted)
    told = [row for row in table.to_pylist() if row["site"] is None]
    assert len(told) == len(workers)
    assert declared_sites(merge_sightings([row["sightings"] for row in told]))
    plan = spread.plan_of(table, options)

    def again(plan: SamplePlan) -> Callable[[], SamplePlan]:
        return lambda: SamplePlan.from_json(plan.to_json())

    def drawn(plan: SamplePlan, stage: str) -> Iterator[Any]:
        return (batch for batches in workers for batch in spread.draw(iter(batches), options, again(plan), stage))

    groups = spread.reduce(iter(by_site(drawn(plan, "pilot"))), options, again(plan), "groups")
    plan.set_groups([(row["site"], row["groups"]) for batch in groups for row in batch.to_pylist()])
    result = pa.table(plan.mirrors()).to_pylist()
    drawing, stage, task = plan, "draw", "learn"
    unchecked: list[bytes] = []
    while True:
        batches = spread.reduce(iter(by_site(drawn(drawing, stage))), options, again(drawing), task)
        reduced = [row for batch in batches for row in batch.to_pylist()]
        result += [row for row in reduced if row["state"] == "learned"]
        unchecked += [row["rules"] for row in reduced if row["state"] == "unchecked"]
        wider = [row["site"] for row in reduced if row["state"] == "again"]
        if wider:
            drawing = drawing.wider(wider)
        elif task == "learn":
            assert unchecked, "the large site is held against all rows"
            drawing, stage, task = plan.to_check(unchecked), "check", "check"
        else:
            break
    rules = None
    for row in result:
        alone = dedust.RuleSet.from_json(row["rules"])
        rules = alone if rules is None else rules.joined(alone)
    assert rules is not None
    return rules, told


@pytest.mark.parametrize("workers", [1, 3, 11])
def test_workers_learn_what_one_process_learns(workers: int) -> None:
    expected = dedust.learn(pa.Table.from_pylist(rows(), schema=SCHEMA), **OPTIONS)
    rules, told = learned(deal(rows(), workers, seed=workers), OPTIONS)
    assert rules.to_json() == expected.rules.to_json()
    assert "old.example" in rules and rules.rules("shop.example")
    assert rules.rules("pages.example") == []
    assert sum(row["good"] for row in told) == len(rows())


def test_poisoned_rows_are_counted() -> None:
    poison: list[dict[str, Any]] = [{"url": None}, {"url": "no url"}, {"url": "http://["}, {"url": ""}]
    poison += [{"url": f"http://long.example/?{'a&' * 300}"}]
    expected = dedust.learn(pa.Table.from_pylist(rows(), schema=SCHEMA), **OPTIONS)
    rules, told = learned(deal(rows() + poison, 4, seed=5), OPTIONS)
    assert rules.to_json() == expected.rules.to_json()
    assert sum(row["bad"] for row in told) == 4
    assert sum(row["too_long"] for row in told) == 1


def test_a_batch_of_nothing_but_poison_is_counted() -> None:
    census = Census(Trainer())
    census.take(pa.table({"url": ["no url", None]}))
    assert census.counts == (0, 2, 0, 0)
    with pytest.raises(dedust.ReadError, match="url"):
        census.take(pa.table({"address": ["http://a.example/"]}))


def test_a_poisoned_site_is_told_and_the_others_are_learned() -> None:
    options: dict[str, Any] = {}
    plan = SamplePlan(Trainer(), [], merge_sightings([]))
    batches = deal(rows(), 1, seed=2)[0]
    drawn = pa.Table.from_batches(spread.draw(iter(batches), options, lambda: plan, "draw"))
    poisoned = pa.table({"site": ["a.example", "a.example"], "record": [b"not a record", b""]}, schema=drawn.schema)
    together = pa.concat_tables([poisoned, drawn.sort_by("site")]).combine_chunks()
    reducer = SiteReducer(Trainer(), plan, "learn")
    found = [row for batch in together.to_batches() for row in pa.table(reducer.take(batch)).to_pylist()]
    found += pa.table(reducer.finish()).to_pylist()
    states = {row["site"]: row["state"] for row in found}
    assert states == {
        "a.example": "failed",
        "new.example": "learned",
        "old.example": "learned",
        "pages.example": "learned",
        "shop.example": "learned",
        "small.example": "learned",
    }
    assert found[0]["rules"] is None and "observation 1 of the sample is not as it was written" in found[0]["error"]


def test_what_is_no_plan_is_refused() -> None:
    with pytest.raises(ValueError):
        SamplePlan.from_json("{}")
    with pytest.raises(ValueError, match="sightings"):
        declared_sites(b"x")
