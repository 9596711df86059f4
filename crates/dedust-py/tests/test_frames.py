"""A few lines for each library of tables, tested with the library itself."""

import pickle
from pathlib import Path

import pytest

import dedust

URLS = ["http://example.org/view?sid=9&page=2", None, "no URL"]
KEYS = ["http://example.org/view?page=*", None, "no URL"]
CANONICAL = ["http://example.org/view?page=2", None, "no URL"]


def test_polars_has_expressions(normalizer: dedust.Normalizer) -> None:
    pl = pytest.importorskip("polars")
    from dedust.polars import canonical_url, key, unique

    frame = pl.DataFrame({"url": URLS})
    result = frame.lazy().with_columns(
        key("url", normalizer).alias("key"), canonical_url(pl.col("url"), normalizer).alias("canonical")
    )
    assert result.collect().to_dict(as_series=False) == {"url": URLS, "key": KEYS, "canonical": CANONICAL}
    many = pl.DataFrame({"url": [None, *URLS, URLS[0], "http://example.org/view?page=7", "http://example.org/other"]})
    pages = [None, URLS[0], None, "no URL", "http://example.org/other"]
    assert unique(many, "url", normalizer)["url"].to_list() == pages
    assert unique(many.lazy(), pl.col("url"), normalizer).collect()["url"].to_list() == pages


def test_duckdb_has_functions(normalizer: dedust.Normalizer) -> None:
    duckdb = pytest.importorskip("duckdb")
    pytest.importorskip("pyarrow")
    from dedust.duckdb import register

    connection = duckdb.connect()
    register(connection, normalizer)
    connection.execute("CREATE TABLE crawl (url VARCHAR)")
    connection.executemany("INSERT INTO crawl VALUES (?)", [[url] for url in URLS])
    rows = connection.execute("SELECT dedust_key(url), dedust_url(url) FROM crawl").fetchall()
    assert rows == list(zip(KEYS, CANONICAL, strict=True))
    connection.execute(
        "CREATE TABLE many AS SELECT 'http://example.org/' || (i % 100) || '?sid=' || i AS url FROM range(50000) t(i)"
    )
    assert connection.execute("SELECT count(DISTINCT dedust_key(url)) FROM many").fetchone() == (100,)


def test_pandas_has_an_accessor(normalizer: dedust.Normalizer) -> None:
    pd = pytest.importorskip("pandas")
    import dedust.pandas  # noqa: F401

    frame = pd.DataFrame({"url": URLS}, index=[7, 8, 9])
    for column in (frame["url"], frame["url"].astype(object)):
        keys = column.dedust.key(normalizer)
        assert keys.where(keys.notna(), None).tolist() == KEYS or list(keys.dropna()) == [KEYS[0], KEYS[2]]
        assert keys.isna().tolist() == [False, True, False]
        assert (list(keys.index), keys.name) == ([7, 8, 9], "url")
        assert list(column.dedust.canonical_url(normalizer).dropna()) == [CANONICAL[0], CANONICAL[2]]


def test_datatrove_compares_documents_by_key(rules: dedust.RuleSet, tmp_path: Path) -> None:
    pytest.importorskip("datatrove.pipeline.dedup")
    from datatrove.data import Document
    from datatrove.pipeline.dedup import ExactDedupConfig, ExactDedupFilter, ExactDedupSignature, ExactFindDedups
    from dedust.datatrove import DocumentKey, UrlNormalizer

    url_normalizer = UrlNormalizer(rules)
    assert pickle.loads(pickle.dumps(url_normalizer))(URLS[0]) == KEYS[0]
    assert url_normalizer("no URL") == "no URL"
    config = ExactDedupConfig(content_getter=pickle.loads(pickle.dumps(DocumentKey(rules))))
    urls = [f"http://example.org/{page}?sid={visit}" for page in range(3) for visit in range(4)]
    documents = [Document(text="text", id=str(number), metadata={"url": url}) for number, url in enumerate(urls)]
    documents += [Document(text="text", id=f"unknown {number}") for number in range(2)]
    signatures, duplicates = str(tmp_path / "signatures"), str(tmp_path / "duplicates")
    ExactDedupSignature(output_folder=signatures, config=config).run(iter(documents))
    ExactFindDedups(data_folder=signatures, output_folder=duplicates, config=config).run()
    kept = list(ExactDedupFilter(data_folder=duplicates, config=config).run(iter(documents)))
    pages = [document.metadata.get("url", "").partition("?")[0] for document in kept]
    assert sorted(pages) == ["", "", *(f"http://example.org/{page}" for page in range(3))]
