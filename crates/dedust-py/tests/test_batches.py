"""Many URLs at once: lists, and columns of any library by Arrow."""

import concurrent.futures
import gc
import os
import resource
import signal
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

import dedust
from conftest import SECRET

pa = pytest.importorskip("pyarrow")

URLS = ["http://example.org/view?sid=9&id=1", None, "no URL", "HTTP://EXAMPLE.org/view?page=2"]
CANONICAL = ["http://example.org/view?id=1", None, "no URL", "http://example.org/view?page=2"]
KEYS = ["http://example.org/view?id=1", None, "no URL", "http://example.org/view?page=*"]

TYPES = ["string", "large_string", "string_view", "binary", "large_binary", "binary_view"]


def values(column: Any) -> list[Any]:
    return [value.decode() if isinstance(value, bytes) else value for value in column.to_pylist()]


def test_a_list_comes_back_as_a_list(normalizer: dedust.Normalizer) -> None:
    assert normalizer.normalize_many(URLS) == CANONICAL
    assert normalizer.key_many(tuple(URLS)) == KEYS
    assert normalizer.key_many(url for url in URLS) == KEYS
    assert normalizer.key_many([b"http://example.org/?sid=1"]) == [b"http://example.org/"]
    assert normalizer.key_many([]) == []


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("threads", [1, 3])
def test_a_column_keeps_its_type_and_its_nulls(normalizer: dedust.Normalizer, kind: str, threads: int) -> None:
    column = pa.array(URLS).cast(getattr(pa, kind)())
    for chunked in (column, pa.chunked_array([column, column[1:], column[:0]])):
        for method, expected in ((normalizer.normalize_many, CANONICAL), (normalizer.key_many, KEYS)):
            result = method(chunked, threads=threads)
            back = pa.chunked_array(result)
            assert back.type == column.type
            expected_rows = expected if chunked is column else expected + expected[1:]
            assert values(back) == values(result) == expected_rows
            assert values(pa.array(result)) == expected_rows
            assert len(result) == len(expected_rows)
            assert result.null_count == expected_rows.count(None)
            assert result[-1] is not None
    with pytest.raises(IndexError):
        normalizer.key_many(column)[len(URLS)]


@pytest.mark.parametrize("threads", [1, 3])
def test_keys_and_canonical_urls_come_together(normalizer: dedust.Normalizer, threads: int) -> None:
    assert normalizer.both("HTTP://EXAMPLE.org/view?page=2") == (KEYS[3], CANONICAL[3])
    assert normalizer.both(b"http://example.org/view?page=2")[0] == b"http://example.org/view?page=*"
    with pytest.raises(dedust.ParseUrlError, match="no URL"):
        normalizer.both("no URL")
    assert normalizer.both_many(URLS, threads=threads) == (KEYS, CANONICAL)
    assert normalizer.both_many([]) == ([], [])
    assert [rows[2] for rows in normalizer.both_many(URLS, errors="null")] == [None, None]
    with pytest.raises(dedust.ParseUrlError, match="row 2: `no URL` is no URL: no scheme"):
        normalizer.both_many(URLS, errors="raise")
    # Enough rows for each thread, the first and the last of which are null.
    rows = [None, *(url for number in range(2_000) for url in (*URLS, f"http://example.org/view?page={number}")), None]
    column = pa.array(rows)
    for chunked in (column, pa.chunked_array([column, column[7:], column[:0]])):
        keys, canonical = normalizer.both_many(chunked, threads=threads)
        assert pa.chunked_array(keys).equals(pa.chunked_array(normalizer.key_many(chunked)))
        assert pa.chunked_array(canonical).equals(pa.chunked_array(normalizer.normalize_many(chunked)))
        assert keys.null_count == canonical.null_count >= 2_002


def test_slices_of_a_column_are_read_where_they_are(normalizer: dedust.Normalizer) -> None:
    column = pa.array([f"http://example.org/{number}?sid=1" for number in range(100)])[37:41]
    assert normalizer.normalize_many(column).to_pylist() == [f"http://example.org/{n}" for n in range(37, 41)]


def test_hashes_of_keys_are_16_bytes(normalizer: dedust.Normalizer) -> None:
    column = pa.array(normalizer.key128_many(pa.array(URLS), secret=SECRET))
    assert column.type == pa.binary(16)
    assert column.to_pylist()[0] == normalizer.key128(URLS[0] or "", secret=SECRET)
    assert column.to_pylist() == normalizer.key128_many(URLS, secret=SECRET)
    assert column.null_count == 1


def test_what_is_no_url_is_kept_or_null_or_raises(normalizer: dedust.Normalizer) -> None:
    for urls in (URLS, pa.array(URLS), pa.chunked_array([pa.array(URLS)])):
        result = normalizer.key_many(urls, errors="null")
        assert list(result)[2] is None
        with pytest.raises(dedust.ParseUrlError, match="row 2: `no URL` is no URL: no scheme"):
            normalizer.key_many(urls, errors="raise")
    chunks = pa.chunked_array([URLS[:2], URLS[:3]])
    with pytest.raises(dedust.ParseUrlError, match="row 4: `no URL` is no URL"):
        normalizer.key_many(chunks, errors="raise", threads=2)
    with pytest.raises(ValueError, match='errors="ignore", expected "keep", "null" or "raise"'):
        normalizer.key_many(URLS, errors="ignore")  # type: ignore[call-overload]


def test_a_lone_surrogate_is_no_url(normalizer: dedust.Normalizer) -> None:
    assert normalizer.key_many(["\ud800", "http://example.org/?sid=1"]) == ["\ud800", "http://example.org/"]
    assert normalizer.key_many(["\ud800"], errors="null") == [None]
    with pytest.raises(dedust.ParseUrlError, match="row 0: .* has a lone surrogate"):
        normalizer.key_many(["\ud800"], errors="raise")


@pytest.mark.parametrize(
    ("urls", "message"),
    [
        ("http://example.org/", "expected many URLs, not one str"),
        (b"http://example.org/", "expected many URLs, not one bytes"),
        (7, "expected a column or a list of URLs, not int"),
        ({"http://example.org/": 1}, "not dict"),
        (["http://example.org/", 7], "row 1: expected a URL as str or bytes, not int"),
        (pa.array([1, 2]), "expected a column of URLs as strings or bytes, not of type Int64"),
        (pa.array(["a"]).dictionary_encode(), "cast it to string"),
        (pa.table({"url": ["a"], "n": [1]}), "not a table; choose one of its columns: url, n"),
    ],
)
def test_what_is_no_column_of_urls_is_refused(normalizer: dedust.Normalizer, urls: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        normalizer.key_many(urls)


def test_threads_change_nothing(normalizer: dedust.Normalizer) -> None:
    urls = [f"http://example.org/{n % 977}?sid={n}" if n % 5 else None for n in range(200_000)]
    column = pa.array(urls)
    one = pa.array(normalizer.key_many(column))
    assert pa.array(normalizer.key_many(column, threads=2)).equals(one)
    assert pa.array(normalizer.key_many(column, threads=None)).equals(one)
    assert one.to_pylist()[1] == "http://example.org/1"
    for threads in (0, 5000):
        with pytest.raises(ValueError, match=f"threads={threads}, expected a number from 1 to 1024"):
            normalizer.key_many(column, threads=threads)


def test_a_normalizer_serves_many_threads_of_python(normalizer: dedust.Normalizer) -> None:
    urls = [f"http://example.org/{n}?sid={n}" for n in range(5_000)]
    expected = normalizer.key_many(urls)
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        batches = list(pool.map(lambda _: normalizer.key_many(urls, threads=2), range(16)))
        singles = list(pool.map(normalizer.key, urls))
    assert all(batch == expected for batch in batches)
    assert singles == expected


def test_forked_children_use_threads(normalizer: dedust.Normalizer) -> None:
    column = pa.array([f"http://example.org/{n}?sid={n}" for n in range(10_000)])
    expected = normalizer.key_many(column, threads=2).to_pylist()
    child = os.fork()
    if child == 0:
        same = normalizer.key_many(column, threads=2).to_pylist() == expected
        os._exit(0 if same else 1)
    assert os.waitpid(child, 0)[1] == 0


class Interrupted:
    """Sends this process an interrupt while it is at work."""

    def __enter__(self) -> None:
        # Whoever is started in the background ignores it otherwise.
        self.before = signal.signal(signal.SIGINT, signal.default_int_handler)
        self.timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
        self.timer.start()

    def __exit__(self, *_: object) -> None:
        self.timer.cancel()
        signal.signal(signal.SIGINT, self.before)


def test_control_c_ends_a_long_batch(normalizer: dedust.Normalizer) -> None:
    column = pa.array([f"http://example.org/a/b/c/{n}?sid={n}" for n in range(1_000_000)])
    column = pa.chunked_array([column] * 200)
    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt), Interrupted():
        normalizer.key_many(column)
    assert time.monotonic() - started < 20


def test_a_thousand_batches_leave_nothing_behind(normalizer: dedust.Normalizer) -> None:
    column = pa.array([f"http://example.org/a/b/c/{n}?sid={n}" for n in range(2_000)])
    chunked = pa.chunked_array([column])

    def some_batches(count: int) -> None:
        for _ in range(count):
            pa.array(normalizer.key_many(column))
            pa.chunked_array(normalizer.normalize_many(chunked))
            normalizer.key_many(["http://example.org/?sid=1"] * 100)

    some_batches(50)
    gc.collect()
    arrow_before, before = pa.total_allocated_bytes(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    some_batches(1_000)
    gc.collect()
    assert pa.total_allocated_bytes() == arrow_before
    # One result that is kept, of 60 kB, would be 60 MB by now.
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 20_000


def test_a_stream_that_fails_raises(normalizer: dedust.Normalizer) -> None:
    def batches() -> Iterator[Any]:
        yield pa.record_batch({"url": ["http://example.org/"]})
        raise OSError("the disk is gone")

    reader = pa.RecordBatchReader.from_batches(pa.schema({"url": pa.string()}), batches())
    with pytest.raises(dedust.ReadError, match="the disk is gone"):
        dedust.learn(reader)


def test_polars_and_pandas_and_duckdb_take_and_give_columns(normalizer: dedust.Normalizer) -> None:
    pl = pytest.importorskip("polars")
    pd = pytest.importorskip("pandas")
    series = pl.Series("url", URLS)
    assert pl.Series(normalizer.key_many(series)).to_list() == KEYS
    frame = pd.DataFrame({"url": URLS})
    result = normalizer.key_many(frame["url"])
    keys = pa.chunked_array(result).to_pylist() if isinstance(result, dedust.Column) else result
    assert keys == KEYS
