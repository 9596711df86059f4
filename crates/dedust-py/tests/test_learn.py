"""Crawls in, rules out: from files and from tables, the same as the command line."""

import gzip
import json
import os
import signal
import threading
import time
from pathlib import Path
from typing import Any

import pytest

import dedust
from conftest import SAMPLE, run

pa = pytest.importorskip("pyarrow")


def crawl(pages: int = 40) -> list[dict[str, Any]]:
    return [
        {"url": f"http://shop.example/view?id={page}&sid={page * 7919 + visit}", "status": 200, "digest": f"{page:032x}"}
        for page in range(pages)
        for visit in (1, 2)
    ]


def test_rules_are_learned_from_a_file_a_list_of_files_and_tables(tmp_path: Path) -> None:
    rows = crawl()
    path = tmp_path / "crawl.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    expected = dedust.learn(path).rules.to_json()
    assert "sid" in expected
    table = pa.Table.from_pylist(rows)
    halves = [table[:40], table[40:].to_batches()[0]]
    for inputs in (str(path), [path], table, halves, table.to_reader()):
        assert dedust.learn(inputs).rules.to_json() == expected
    pl = pytest.importorskip("polars")
    assert dedust.learn(pl.DataFrame(rows)).rules.to_json() == expected


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (pa.timestamp("s"), "2026-10-06T12:34:56"),
        (pa.timestamp("ms", "Europe/Berlin"), "2026-10-06T12:34:56.789"),
        (pa.timestamp("us"), "2026-10-06T12:34:56.789012"),
        (pa.timestamp("ns", "UTC"), "2026-10-06T12:34:56.789012"),
        (pa.date32(), "2026-10-06"),
    ],
    ids=str,
)
def test_a_time_has_one_text_in_files_and_tables(kind: Any, expected: str, tmp_path: Path) -> None:
    import pyarrow.feather
    import pyarrow.parquet

    table = pa.Table.from_pylist(crawl())
    moment = pa.scalar(1_791_290_096_789_012, pa.timestamp("us"))
    table = table.append_column("time", pa.array([moment] * len(table)).cast(kind, safe=False))
    paths = [tmp_path / name for name in ("a.parquet", "b.parquet", "c.arrow")]
    pyarrow.parquet.write_table(table, paths[0])
    # The type that Spark writes, unless it is a day.
    pyarrow.parquet.write_table(table, paths[1], use_deprecated_int96_timestamps=True)
    pyarrow.feather.write_feather(table, paths[2])
    found = {dedust.learn(source).rules.to_json() for source in (table, *paths)}
    assert len(found) == 1
    assert f'"{expected}"' in found.pop()


def test_learned_rules_are_those_of_the_command_line(command: str, blog: Path, tmp_path: Path) -> None:
    for options, arguments in [
        ({}, []),
        ({"mode": "strict", "max_loss": 0.001}, ["--mode", "strict", "--max-loss", "0.001"]),
        ({"method": "tree-graph", "evidence": "digest"}, ["--method", "tree-graph", "--evidence", "digest"]),
    ]:
        path = tmp_path / "rules.json"
        run(command, "learn", blog, "-o", path, "--force", "-q", *arguments)
        for threads in (1, 2):
            learned = dedust.learn(blog, threads=threads, **options).rules  # type: ignore[arg-type]
            assert learned.to_json() == path.read_text()
    assert dedust.RuleSet.load(path) == learned


def test_options_are_repeated_unless_others_are_given(blog: Path, caplog: pytest.LogCaptureFixture) -> None:
    strict = dedust.learn(blog, mode="strict", prefer=["http"]).rules
    plain = dedust.learn(blog).rules
    assert strict != plain
    with caplog.at_level("INFO", logger="dedust"):
        assert dedust.learn(blog, keep=strict).rules == strict
    assert "with the options of the rules to keep: mode strict, prefer http" in caplog.text
    assert dedust.learn(blog, keep=strict, mode="balanced", prefer=[]).rules == plain
    # A number that rules cannot have been learned with is named, wherever it comes from.
    wrong = dedust.RuleSet.from_json('{"version": 1, "options": {"max_loss": 2}, "sites": {}}')
    with pytest.raises(ValueError, match="keep: in the options .* max_loss is 2, expected 0 to 1"):
        dedust.learn(blog, keep=wrong)


def test_urls_become_what_the_command_line_makes_of_them(
    command: str, blog_rules: dedust.RuleSet, tmp_path: Path
) -> None:
    path, urls = tmp_path / "rules.json", tmp_path / "urls.txt"
    blog_rules.save(path)
    with gzip.open(SAMPLE / "blog-unseen.jsonl.gz", "rt") as lines:
        texts = [json.loads(line)["url"] for line in lines]
    urls.write_text("".join(url + "\n" for url in texts))
    normalizer = dedust.Normalizer(path)
    for method, arguments in ((normalizer.normalize_many, []), (normalizer.key_many, ["--key"])):
        expected = run(command, "normalize", path, urls, "-q", *arguments).stdout.decode().splitlines()
        assert method(texts) == expected
        assert method(pa.array(texts), threads=2).to_pylist() == expected
    assert expected != texts


def test_the_preferred_form_is_written(command: str, tmp_path: Path) -> None:
    # Under https half of the pages were seen.
    pages = [("http", page) for page in range(60)] + [("https", page) for page in range(30)]
    rows = [{"url": f"{scheme}://a.example/page/{page}", "digest": f"{page:032x}"} for scheme, page in pages]
    crawl = tmp_path / "crawl.jsonl"
    crawl.write_text("".join(json.dumps(row) + "\n" for row in rows))
    http, https = "http://a.example/page/70", "https://a.example/page/70"
    assert dedust.learn(crawl).rules.compile().normalize(https) == http
    training = dedust.learn(crawl, prefer=["https"])
    assert training.rules.compile().normalize(http) == https
    run(command, "learn", crawl, "-o", tmp_path / "rules.json", "--prefer", "https")
    assert training.rules.to_json() == (tmp_path / "rules.json").read_text()
    with pytest.raises(ValueError, match="ftp"):
        dedust.learn(crawl, prefer=["ftp"])


def test_decisions_survive_learning_again(command: str, blog: Path, tmp_path: Path) -> None:
    path = tmp_path / "rules.json"
    dedust.learn(blog).rules.save(path)
    run(command, "rules", "off", path, "example.net", "--all", "--why", "a trial")
    url = "https://blog.example.net/2023/01/spl/?replytocom=3"
    rules = dedust.learn(blog, keep=dedust.RuleSet.load(path)).rules
    assert rules.compile().normalize(url) == url
    assert "a trial" in rules.to_json()


def test_figures_are_those_of_the_command_line(command: str, blog_rules: dedust.RuleSet, tmp_path: Path) -> None:
    path, unseen = tmp_path / "rules.json", SAMPLE / "blog-unseen.jsonl.gz"
    blog_rules.save(path)
    lines = run(command, "evaluate", path, unseen, "--format", "json", "-q").stdout.splitlines()
    records = [json.loads(line) for line in lines]
    evaluation = dedust.evaluate(blog_rules.compile(), unseen)
    site, micro, average = records
    assert evaluation.micro["f1"] == micro["f1"] > 0.5
    assert evaluation.micro["url"]["f1"] == micro["url"]["f1"]
    assert evaluation.sites[site["site"]]["recall"] == site["recall"]
    assert evaluation.macro_average["f1"] == average["f1"]
    assert evaluation.unlabelled == micro["unlabelled"]
    assert site["site"] in evaluation._repr_html_()


def test_clusters_are_those_of_the_command_line(command: str, blog: Path, tmp_path: Path) -> None:
    path = tmp_path / "labelled.jsonl"
    run(command, "cluster", blog, "-o", path, "-q")
    expected = [(row["url"], row["cluster"]) for row in map(json.loads, path.read_text().splitlines())]
    clusters = dedust.cluster(blog)
    assert clusters.to_pylist() == expected
    table = pa.table(clusters)
    assert table.column_names == ["url", "cluster", "evidence"]
    assert list(zip(*(table[name].to_pylist() for name in ("url", "cluster")), strict=True)) == expected


def archive(path: Path) -> None:
    """A web archive of pages that can be seen under two URLs each."""
    with gzip.open(path, "wb") as out:
        for number in range(120):
            page = f"<title>Page {number // 2}</title><p>" + f"Words of page number {number // 2} alone. " * 10
            http = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<nav>Menu</nav>{page}".encode()
            head = (
                f"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://a.example/p?id={number // 2}&sid={number}\r\n"
                f"WARC-Date: 2026-11-16T12:00:00Z\r\nWARC-Record-ID: <urn:uuid:{number}>\r\n"
                f"Content-Type: application/http; msgtype=response\r\nContent-Length: {len(http)}\r\n\r\n"
            )
            out.write(head.encode() + http + b"\r\n\r\n")


def test_pages_of_archives_are_read_as_the_command_line_reads_them(command: str, tmp_path: Path) -> None:
    path, rules = tmp_path / "crawl.warc.gz", tmp_path / "rules.json"
    archive(path)
    run(command, "learn", path, "-o", rules, "-q")
    for threads in (1, 2, 3):
        assert dedust.learn(path, threads=threads).rules.to_json() == rules.read_text()
    assert dedust.RuleSet.load(rules).rule_count == 1


def test_the_report_says_what_is_saved(blog: Path) -> None:
    training = dedust.learn(blog)
    (site,) = training.report
    assert 0 < site["saved"] < site["urls"]
    assert site["site"] in training._repr_html_()
    assert training.rules.sites == [site["site"]]


def test_columns_of_other_names_can_be_named(caplog: pytest.LogCaptureFixture) -> None:
    rows = [{"url": row["url"], "md5_of_it": row["digest"]} for row in crawl()]
    assert dedust.learn(pa.Table.from_pylist(rows)).rules.rule_count == 0
    assert "nothing was learned" in caplog.text
    assert dedust.learn(pa.Table.from_pylist(rows), columns={"digest": "md5_of_it"}).rules.rule_count == 1
    with pytest.raises(ValueError, match="columns: .*hash"):
        dedust.learn(pa.Table.from_pylist(rows), columns={"hash": "md5_of_it"})


def test_progress_is_told(blog: Path) -> None:
    told: list[tuple[str, int, int | None]] = []
    dedust.learn([blog] * 20, progress=lambda *step: told.append(step))
    stage, done, total = told[-1]
    assert (stage, done) == ("learning", total)
    assert all(kind in ("reading", "learning") for kind, _, _ in told)


def test_a_bar_shows_progress(blog: Path, capfd: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("tqdm")
    normalizer = dedust.learn([blog] * 20, progress=True).rules.compile()
    assert "learning: 100%" in capfd.readouterr().err
    dedust.evaluate(normalizer, [blog] * 20, progress=True)
    assert "reading: " in capfd.readouterr().err
    dedust.cluster(blog, progress=False)
    assert capfd.readouterr().err == ""


def test_an_exception_of_progress_ends_the_work(blog: Path) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        dedust.learn([blog] * 50, progress=fail)


def test_control_c_ends_learning(blog: Path) -> None:
    started = time.monotonic()
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        dedust.learn([blog] * 20_000)
    timer.cancel()
    assert time.monotonic() - started < 60


def test_bad_rows_are_logged_with_file_and_line(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "crawl.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in crawl()) + '{"uri": 1}\n{"url": "x"}\n')
    dedust.learn(path)
    assert f'{path}:81: no "url" column, row skipped' in caplog.text
    assert f"{path}:82: no scheme" in caplog.text
    assert "2 rows skipped, of 82 rows" in caplog.text


@pytest.mark.parametrize(
    ("inputs", "error", "message"),
    [
        ("missing.jsonl", dedust.ReadError, "missing.jsonl"),
        (7, TypeError, "expected the path of a file, or a table"),
        ([], ValueError, "no inputs"),
        (pa.array(["http://a.example/"]), TypeError, "not a column of type Utf8"),
        (pa.table({"n": [1]}), dedust.ReadError, "url"),
        (pa.table({"url": pa.array([], pa.string())}), dedust.ReadError, "no URLs in table 1"),
    ],
)
def test_what_cannot_be_read_is_named(inputs: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        dedust.learn(inputs)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "magic"}, "magic"),
        ({"mode": "bold"}, "mode is bold: .*`strict`, `balanced`, `paper`"),
        ({"evidence": "hearsay"}, "evidence is hearsay: unknown kind"),
        ({"sample": 2.0}, "sample is 2, expected 0 to 1"),
        ({"max_sample": 0}, "max_sample is 0, expected 1 or more"),
        ({"max_loss": -1.0}, "max_loss is -1, expected 0 to 1"),
        ({"max_loss": float("nan")}, "max_loss is no finite number"),
        ({"max_fpr": 5}, "max_fpr is 5, expected 0 to 1"),
        ({"prefer": ["www", "bare"]}, "prefer cannot be met: `www` and `bare` exclude each other"),
        ({"prefer": ["www"], "method": "standard"}, "prefer says which form canonfd writes"),
        ({"mirrors": {"a": "b.example"}}, "mirrors is a=b.example: expected two registrable domains"),
        ({"threads": 0}, "threads=0"),
    ],
)
def test_settings_that_make_no_sense_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        dedust.learn(pa.Table.from_pylist(crawl()), **options)


def test_learning_works_in_a_forked_child(blog: Path, blog_rules: dedust.RuleSet) -> None:
    child = os.fork()
    if child == 0:
        os._exit(0 if dedust.learn(blog).rules == blog_rules else 1)
    assert os.waitpid(child, 0)[1] == 0
