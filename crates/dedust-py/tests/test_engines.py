"""Other engines than Spark's own: Ray Data and Sail. What comes out is what one process makes.

Tests are skipped where the engine is not installed: pip install 'ray[data]'; pip install pysail 'pyspark[connect]<4.2'.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT

import dedust

pa = pytest.importorskip("pyarrow")
pytest.importorskip("dedust.spread")

# Fewer than the rows of the first site, so that it is sampled.
OPTIONS = {"max_sample": 400}
URL = "http://pages.example/list?page=7"


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three files: shops with sessions, one of them large; a site whose parameter matters; a row that is none."""
    import pyarrow.parquet

    rows = [{"url": "no url", "digest": None}]
    for site, pages in (("shop.example", 500), ("small.example", 60)):
        for page in range(pages):
            for visit in range(3):
                url = f"http://{site}/view?id={page}&sid={7919 * page + 104729 * visit}"
                rows.append({"url": url, "digest": f"{site} {page}"})
    rows += [{"url": f"http://pages.example/list?page={page}", "digest": f"list {page}"} for page in range(60)]
    folder = tmp_path_factory.mktemp("engines") / "index"
    folder.mkdir()
    schema = pa.schema([("url", pa.string()), ("digest", pa.string())])
    for part in range(3):
        pyarrow.parquet.write_table(pa.Table.from_pylist(rows[part::3], schema=schema), folder / f"{part}.parquet")
    return folder


@pytest.fixture(scope="module")
def rules(index: Path) -> dedust.RuleSet:
    learned = dedust.learn(index, **OPTIONS).rules
    assert learned.rules("shop.example") and not learned.rules("pages.example")
    return learned


def keys_of(index: Path, rules: dedust.RuleSet) -> dict[str, str | None]:
    import pyarrow.parquet

    urls = pyarrow.parquet.read_table(index)["url"]
    keys = dedust.Normalizer(rules).key_many(urls, errors="null").to_pylist()
    found = dict(zip(urls.to_pylist(), keys))
    assert found[URL] == URL and len(set(keys)) < len(keys)
    return found


def joined(rules: Iterator[bytes]) -> str:
    """One rule set of those of single sites."""
    alone = [dedust.RuleSet.from_json(bytes(json)) for json in rules]
    whole = alone[0]
    for more in alone[1:]:
        whole = whole.joined(more)
    return whole.to_json()


@pytest.fixture(scope="module")
def ray() -> Iterator[Any]:
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    ray = pytest.importorskip("ray", reason="ray is not installed: pip install 'ray[data]'")
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, _node_ip_address="127.0.0.1", object_store_memory=200 << 20)
    yield ray
    ray.shutdown()


def test_ray_data_gives_the_rules_and_keys_of_one_process(
    ray: Any, index: Path, rules: dedust.RuleSet, tmp_path: Path
) -> None:
    guide = (ROOT / "docs" / "tasks" / "common-crawl.md").read_text().split("### Ray Data")[1]
    learn, apply = re.findall(r"```python\n(.*?)```", guide, re.DOTALL)[:2]
    names: dict[str, Any] = {"options": OPTIONS}
    rules.save(tmp_path / "rules.json")
    exec(learn.replace('"index"', repr(str(index))), names)
    assert joined(row["rules"] for row in names["sites"]) == rules.to_json()
    exec(apply.replace('"index"', repr(str(index))).replace('"rules.bin"', repr(str(tmp_path / "rules.json"))), names)
    assert {row["url"]: row["dedust_key"] for row in names["keyed"].take_all()} == keys_of(index, rules)


@pytest.fixture(scope="module")
def sail() -> Iterator[Any]:
    """A session on Sail, which speaks Spark Connect, without a JVM."""
    pysail = pytest.importorskip("pysail.spark", reason="pysail is not installed: pip install pysail 'pyspark[connect]'")
    pytest.importorskip("grpc", reason="grpcio is not installed: pip install 'pyspark[connect]'")
    import pyspark
    from pyspark.sql import SparkSession

    server = pysail.SparkConnectServer("127.0.0.1", 0)
    server.start()
    session = SparkSession.builder.remote(f"sc://127.0.0.1:{server.listening_address[1]}").getOrCreate()
    try:
        session.range(1).collect()
    except Exception as error:
        if not re.search("unsupported PySpark version|session .* is not running", str(error)):
            raise
        server.stop()
        pytest.skip(f"this Sail does not take PySpark {pyspark.__version__}; Sail 0.7 takes 4.1")
    yield session
    session.stop()
    server.stop()


def test_sail_gives_the_rules_and_keys_of_one_process(sail: Any, index: Path, rules: dedust.RuleSet) -> None:
    from dedust import spark as ds

    table = sail.read.parquet(str(index))
    counts = ds.ReadCounts()
    sites = ds.learn(table, counts=counts, **OPTIONS).collect()
    assert joined(row["rules"] for row in sites) == rules.to_json()
    assert (counts.bad_rows, counts.failed_sites) == (1, 0)
    found = ds.keys(table, rules).collect()
    assert {row["url"]: row["dedust_key"] for row in found} == keys_of(index, rules)
    figures = {row["site"]: row for row in ds.evaluate(table, rules).collect()}
    expected = dedust.evaluate(dedust.Normalizer(rules), index).sites
    assert {site: (row["urls"], row["f1"]) for site, row in figures.items()} == {
        site: (row["urls"], row["f1"]) for site, row in expected.items()
    }
