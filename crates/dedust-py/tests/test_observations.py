"""What a crawler sees, appended to a file that `learn` reads."""

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import dedust

PAGE = b"<title>A page</title><link rel=canonical href=/canonical><p>" + b"some words of this page " * 20


def rows(path: Path) -> list[dict[str, Any]]:
    text = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    return [json.loads(line) for line in text.splitlines()]


def test_a_page_says_what_pages_of_archives_say(tmp_path: Path) -> None:
    path = tmp_path / "crawl.jsonl"
    with dedust.ObservationWriter(path) as writer:
        writer.write("http://a.example/1", status=200, headers="Content-Type: text/html; charset=utf-8", body=PAGE)
        writer.write("http://a.example/old", status=301, redirect="http://a.example/1")
        writer.write(b"http://a.example/2", status=500, body=PAGE, time="2026-11-16T12:00:00Z")
    found = {row["url"]: row for row in rows(path)}
    page = found["http://a.example/1"]
    assert (page["status"], page["mime"], page["size"]) == (200, "text/html", len(PAGE))
    assert (page["title"], page["canonical"]) == ("A page", "http://a.example/canonical")
    assert {"digest", "text_digest", "simhash"} <= page.keys()
    assert "main_digest" not in page, "no reader has a column for it"
    assert found["http://a.example/old"]["redirect"] == "http://a.example/1"
    assert "digest" not in found["http://a.example/2"], "the page of an error speaks of the error"


def test_a_file_is_appended_to(tmp_path: Path) -> None:
    path = tmp_path / "crawl.jsonl.gz"
    for number in range(3):
        with dedust.ObservationWriter(path) as writer:
            writer.write(f"http://a.example/{number}", status=404)
    assert [row["url"] for row in rows(path)] == [f"http://a.example/{number}" for number in range(3)]


def test_what_is_no_url_is_refused_and_a_closed_writer_says_so(tmp_path: Path) -> None:
    writer = dedust.ObservationWriter(tmp_path / "crawl.jsonl")
    with pytest.raises(dedust.ParseUrlError, match="`x` is no URL"):
        writer.write("x")
    writer.close()
    writer.close()
    with pytest.raises(dedust.WriteError, match="crawl.jsonl was closed"):
        writer.write("http://a.example/")
    with pytest.raises(dedust.WriteError, match="missing"):
        dedust.ObservationWriter(tmp_path / "missing" / "crawl.jsonl")


def test_what_was_flushed_can_be_read_after_a_kill(tmp_path: Path) -> None:
    path = tmp_path / "crawl.jsonl.zst"
    program = (
        "import dedust, os, signal, sys\n"
        "writer = dedust.ObservationWriter(sys.argv[1])\n"
        "for n in range(100):\n"
        "    writer.write(f'http://a.example/{n % 50}?sid={n}', status=200, redirect=f'http://a.example/{n % 50}')\n"
        "writer.flush()\n"
        "writer.write('http://a.example/lost', status=200)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    subprocess.run([sys.executable, "-c", program, str(path)])
    assert len(dedust.cluster(path)) == 100


def test_a_forked_child_leaves_the_file_alone(tmp_path: Path) -> None:
    path = tmp_path / "crawl.jsonl"
    writer = dedust.ObservationWriter(path)
    writer.write("http://a.example/1", status=200, body=PAGE)
    child = os.fork()
    if child == 0:
        try:
            writer.write("http://a.example/2", status=404)
        except dedust.WriteError:
            del writer
            os._exit(0)
        os._exit(1)
    assert os.waitpid(child, 0)[1] == 0
    writer.close()
    assert len(rows(path)) == 1
