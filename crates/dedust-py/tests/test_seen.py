"""Keys that were seen: in memory, on disk, in one process at a time."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import dedust

pa = pytest.importorskip("pyarrow")


def test_a_key_is_new_once(tmp_path: Path) -> None:
    for folder in (None, tmp_path / "seen"):
        with dedust.SeenSet(folder) as seen:
            assert seen.insert("http://a.example/")
            assert not seen.insert(b"http://a.example/")
            assert seen.insert_many(["http://b.example/", None, "http://b.example/"]) == [True, False, False]
            assert len(seen) == 2
            assert seen.stats["new_keys"] == 2


def test_a_column_of_keys_gives_a_column_of_answers() -> None:
    keys = pa.array(["a", "b", None, "a"])
    with dedust.SeenSet() as seen:
        assert pa.array(seen.insert_many(keys)).to_pylist() == [True, True, False, False]
        assert seen.insert_many(pa.chunked_array([keys, ["c"]])).to_pylist() == [False] * 4 + [True]


def test_keys_outlive_the_set(tmp_path: Path) -> None:
    keys = [f"http://a.example/{number}" for number in range(10_000)]
    with dedust.SeenSet(tmp_path / "seen") as seen:
        assert all(seen.insert_many(keys))
    with dedust.SeenSet(str(tmp_path / "seen"), durability="power") as seen:
        assert not any(seen.insert_many(keys))
        assert seen.insert("http://a.example/new")


def test_keys_outlive_a_process_that_is_killed(tmp_path: Path) -> None:
    program = (
        "import dedust, os, signal, sys\n"
        "seen = dedust.SeenSet(sys.argv[1])\n"
        "assert all(seen.insert_many([str(n) for n in range(5000)]))\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    killed = subprocess.run([sys.executable, "-c", program, str(tmp_path / "seen")])
    assert killed.returncode == -signal.SIGKILL
    with dedust.SeenSet(tmp_path / "seen") as seen:
        assert not any(seen.insert_many([str(number) for number in range(5000)]))


def test_a_closed_set_says_so(tmp_path: Path) -> None:
    seen = dedust.SeenSet(tmp_path / "seen")
    seen.close()
    seen.close()
    for use in (lambda: seen.insert("a"), lambda: seen.insert_many(["a"]), lambda: len(seen), lambda: seen.stats):
        with pytest.raises(dedust.SeenError, match="the set is closed; open it again"):
            use()


def test_a_folder_is_opened_once(tmp_path: Path) -> None:
    with dedust.SeenSet(tmp_path / "seen"):
        with pytest.raises(dedust.SeenError, match="seen"):
            dedust.SeenSet(tmp_path / "seen")
    with pytest.raises(ValueError, match='durability="none", expected "process" or "power"'):
        dedust.SeenSet(durability="none")  # type: ignore[arg-type]


def test_a_foreign_folder_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "photo.jpg").write_bytes(b"mine")
    with pytest.raises(dedust.SeenError):
        dedust.SeenSet(tmp_path)
    assert (tmp_path / "photo.jpg").read_bytes() == b"mine"


def test_a_forked_child_cannot_use_the_set_of_its_parent(tmp_path: Path) -> None:
    seen = dedust.SeenSet(tmp_path / "seen")
    child = os.fork()
    if child == 0:
        try:
            seen.insert("a")
        except dedust.SeenError as error:
            del seen
            os._exit(0 if "before the process was forked" in str(error) else 1)
        os._exit(2)
    assert os.waitpid(child, 0)[1] == 0
    assert seen.insert("a")
    seen.close()
