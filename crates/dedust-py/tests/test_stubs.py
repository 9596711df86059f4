"""The stubs say what the module has, no more and no less: names, members, parameters and their defaults."""

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("mypy.stubtest")

# PyO3 lists what a module exports; and a column is iterated over by its indexes.
ALLOWED = """
dedust._dedust.__all__
dedust._dedust.Column.__iter__
"""


def test_stubs_are_those_of_the_module(tmp_path: Path) -> None:
    allowed = tmp_path / "allowed"
    allowed.write_text(ALLOWED)
    command = [sys.executable, "-m", "mypy.stubtest", "--concise", "--allowlist", str(allowed), "dedust._dedust"]
    outcome = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
