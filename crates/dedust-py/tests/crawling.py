"""Crawls by Scrapy in a process of their own, as users start them."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

SPIDER = Path(__file__).parent / "crawl" / "spider.py"


class Crawl:
    """What came of a crawl."""

    def __init__(self, process: subprocess.CompletedProcess[str]) -> None:
        assert process.returncode == 0, process.stderr
        self.log = process.stderr
        answer = json.loads(process.stdout.splitlines()[-1])
        self.stats: dict[str, Any] = answer["stats"]
        self.pages: list[str] = answer["pages"]
        self.titles: list[str] = answer["titles"]
        assert "Traceback" not in self.log, self.log


def command(start: str, *, log_level: str = "DEBUG", **settings: object) -> list[str]:
    """The command that crawls from a URL, with these settings of Scrapy."""
    addons = json.dumps({"dedust.scrapy.Addon": 650})
    options = [f"ADDONS={addons}", "ROBOTSTXT_OBEY=False", "TELNETCONSOLE_ENABLED=False", f"LOG_LEVEL={log_level}"]
    options += [f"{name}={value}" for name, value in settings.items()]
    arguments = [argument for option in options for argument in ("-s", option)]
    return [sys.executable, "-W", "error::DeprecationWarning", "-m", "scrapy", "runspider", str(SPIDER), "-a", f"start={start}", *arguments]


def crawl(start: str, *, proxy: str = "", **settings: object) -> Crawl:
    environment = {**os.environ, "http_proxy": proxy, "no_proxy": ""}
    process = subprocess.run(command(start, **settings), capture_output=True, text=True, timeout=120, env=environment)
    return Crawl(process)
