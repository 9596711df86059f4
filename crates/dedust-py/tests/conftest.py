"""What tests share: rules, sample crawls and the command line to compare with."""

import os
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

import dedust
from local_site import Site

ROOT = Path(__file__).resolve().parents[3]
SAMPLE = ROOT / "testdata" / "sample"

# Of hashes of keys.
SECRET = b"0123456789abcdef"

RULES = """{"version": 1, "method": "by hand", "sites": {"example.org": {"rules": [
    {"change": [{"drop": "q.sid"}], "fetchable": true},
    {"change": [{"forget": "q.page"}]}
]}}}"""


@pytest.fixture
def rules() -> dedust.RuleSet:
    return dedust.RuleSet.from_json(RULES)


@pytest.fixture
def normalizer(rules: dedust.RuleSet) -> dedust.Normalizer:
    return dedust.Normalizer(rules)


@pytest.fixture(scope="session")
def blog() -> Path:
    return SAMPLE / "blog.jsonl.gz"


@pytest.fixture(scope="session")
def blog_rules(blog: Path) -> dedust.RuleSet:
    return dedust.learn(blog).rules


@pytest.fixture(scope="session")
def command() -> str:
    """The command `dedust`, as `.ci/python` builds it."""
    command = os.environ.get("DEDUST_COMMAND")
    if not command:
        pytest.skip("the variable DEDUST_COMMAND names no `dedust` command to compare with")
    return command


@pytest.fixture
def site() -> Iterator[Site]:
    site = Site()
    yield site
    site.server.shutdown()


def run(*arguments: str | Path) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([str(argument) for argument in arguments], check=True, capture_output=True)


@pytest.fixture
def redis_server(tmp_path: Path) -> Iterator[str]:
    """A redis-server on loopback: redis://HOST:PORT. DEDUST_REDIS_SERVER names another program, as in the tests in Rust."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = ["--bind", "127.0.0.1", "--port", str(port), "--save", "", "--dir", str(tmp_path)]
    try:
        server = subprocess.Popen([os.environ.get("DEDUST_REDIS_SERVER", "redis-server"), *options], stdout=subprocess.PIPE)
    except FileNotFoundError:
        pytest.skip("there is no redis-server")
    assert server.stdout is not None
    for line in server.stdout:
        if b"Ready to accept connections" in line:
            break
    yield f"redis://127.0.0.1:{port}"
    server.kill()
    server.wait()
    server.stdout.close()
