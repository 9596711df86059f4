"""Keys that were seen: in memory, on disk, in one process at a time; on a server, in many."""

import os
import signal
import subprocess
import sys
from datetime import timedelta
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


def test_processes_share_a_set_on_a_server(redis_server: str) -> None:
    address = f"{redis_server}/crawl"
    program = (
        "import sys, dedust\n"
        "with dedust.SeenSet.connect(sys.argv[1]) as seen:\n"
        "    print(sum(seen.insert_many([str(n) for n in range(5000)])))\n"
    )
    command = [sys.executable, "-c", program, address]
    processes = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(3)]
    assert sum(int(process.communicate()[0]) for process in processes) == 5000
    with dedust.SeenSet.connect(address) as seen:
        assert seen.insert_many(["0", "0", "5000"]) == [False, False, True]
        assert len(seen) == 5001
        assert (seen.stats["asked_keys"], seen.stats["unconfirmed_keys"], seen.stats["reconnects"]) == (2, 0, 0)


def test_sessions_on_a_server_are_committed_or_cancelled(redis_server: str) -> None:
    address = f"{redis_server}/crawl"
    seen = dedust.SeenSet.connect(address, session="november")
    assert seen.insert("a")
    assert seen.cancel() == 1
    with pytest.raises(dedust.SeenError, match="the set is closed"):
        seen.commit()
    seen = dedust.SeenSet.connect(address, session="november", ttl=None)
    assert seen.insert("a")
    assert seen.commit() == 1
    with dedust.SeenSet.connect(address) as seen:
        assert not seen.insert("a")
        assert seen.insert("b")
    with dedust.SeenSet() as seen, pytest.raises(dedust.SeenError, match="no session"):
        seen.cancel()


def test_keys_of_other_rules_are_apart_on_a_server(redis_server: str, normalizer: dedust.Normalizer) -> None:
    address = f"{redis_server}/crawl"
    key = normalizer.key("http://example.org/?sid=1")
    with dedust.SeenSet.connect(address, normalizer=normalizer) as seen:
        assert seen.insert(key)
    with dedust.SeenSet.connect(address, normalizer=normalizer) as seen:
        assert not seen.insert(key)
    with dedust.SeenSet.connect(address) as seen:
        assert seen.insert(key)


def test_the_command_does_not_print_what_python_has_seen(
    redis_server: str, rules: dedust.RuleSet, command: str, tmp_path: Path
) -> None:
    address, file = f"{redis_server}/crawl", tmp_path / "rules.json"
    rules.save(file)
    # Whether mirrors are trusted changes nothing in rules that have none.
    for number, normalizer in enumerate([dedust.Normalizer(file), dedust.Normalizer(rules, trust_mirrors=True)]):
        seen_url, new_url = f"http://example.org/{number}", f"http://example.org/new/{number}"
        with dedust.SeenSet.connect(address, normalizer=normalizer) as seen:
            assert seen.insert(normalizer.key(f"{seen_url}?sid=1"))
        printed = subprocess.run(
            [command, "dedup", file, "--seen", address], input=f"{seen_url}?sid=2\n{new_url}\n", capture_output=True, text=True
        )
        assert (printed.stdout, printed.stderr) == (f"{new_url}\n", "")
        with dedust.SeenSet.connect(address, normalizer=normalizer) as seen:
            assert not seen.insert(normalizer.key(new_url))


def test_a_server_is_named_without_its_password(redis_server: str) -> None:
    for address in ("redis://:secret@127.0.0.1:1/crawl", "redis:/:secret@127.0.0.1/0", "mysql://:secret@host/crawl"):
        with pytest.raises(dedust.SeenError, match="cannot use the set of seen keys at") as raised:
            dedust.SeenSet.connect(address, patience=timedelta(0))
        assert "secret" not in str(raised.value)
    for folder in ("redis:/:secret@host/crawl", Path("rediss://:secret@host/crawl"), ":secret@host/crawl"):
        with pytest.raises(ValueError, match=r"\.\.\.@host/crawl is meant as the address of a server, expected a folder") as refused:
            dedust.SeenSet(folder)
        assert "secret" not in str(refused.value)
        assert not Path(str(folder)).exists()
    day = timedelta(days=1)
    with dedust.SeenSet.connect(f"{redis_server}/crawl", ttl=day, patience=timedelta(seconds=1)) as seen:
        assert seen.insert("a")
    with pytest.raises(dedust.SeenError, match="86400 s, not for 172800 s"):
        dedust.SeenSet.connect(f"{redis_server}/crawl", ttl=2 * day)
