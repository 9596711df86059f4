"""What do learned rules save in a crawl, and what do they cost?

    maturin develop --release
    pip install scrapy 'duplicate-url-discarder[rules]'
    cargo build --release -p dedust-cli
    python bench_scrapy.py

Makes a site with `dedust simulate`, in which 60 % of the URLs are duplicates, and serves it on the loopback interface. Crawls it with
plain Scrapy, with duplicate-url-discarder and the rules that come with it, and with rules that dedust learned from the first 20 % of
its URLs. Prints requests, pages, seconds and CPU seconds of each, in one run. A page that plain Scrapy gets and dedust does not is
an error.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import dedust

ROOT = Path(__file__).resolve().parents[2]
CRAWL = Path(__file__).resolve().parent / "tests" / "crawl"
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
# What a site of any kind may have, and a crawler without TLS can see.
PHENOMENA = "two-random-keys,session-in-path,rare-tracking,directory-index,default-value,slug-and-id,parameter-order,print-and-mobile"
# A share of URLs that have a page for themselves, with which 60 % of all are duplicates.
SINGLETONS = 0.053
# Of two sites the larger is taken, which has so much of the URLs of both; the other one is mostly one page.
LARGER = 0.9533


@dataclass
class Crawl:
    requests: int
    titles: set[str]
    seconds: float
    cpu_seconds: float
    memory_bytes: int


def crawl(proxy: str, start: str, **settings: object) -> Crawl:
    options = {"ROBOTSTXT_OBEY": False, "TELNETCONSOLE_ENABLED": False, "LOG_LEVEL": "ERROR", **settings}
    arguments = [argument for name, value in options.items() for argument in ("-s", f"{name}={value}")]
    command = [sys.executable, "-m", "scrapy", "runspider", str(CRAWL / "spider.py"), "-a", f"start={start}", *arguments]
    started = time.perf_counter()
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(command, env={**os.environ, "http_proxy": proxy, "no_proxy": ""}, stdout=output)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        seconds = time.perf_counter() - started
        if process.returncode != 0:
            raise SystemExit(f"the crawl ended with exit status {process.returncode}")
        output.seek(0)
        answer = json.loads(output.read().splitlines()[-1])
    stats = answer["stats"]
    return Crawl(
        stats["downloader/request_count"],
        set(answer["titles"]),
        seconds,
        usage.ru_utime + usage.ru_stime,
        usage.ru_maxrss * 1024,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--urls", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--phenomena", default=PHENOMENA)
    parser.add_argument("--singletons", type=float, default=SINGLETONS)
    given = parser.parse_args()
    command = os.environ.get("DEDUST_COMMAND", str(TARGET / "release" / "dedust"))
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        mean_urls = round(given.urls / LARGER / 2)
        simulate = [command, "simulate", "-o", folder / "sites", "--sites", 2, "--urls", mean_urls, "--seed", given.seed, "-q"]
        simulate += ["--phenomena", given.phenomena, "--singletons", given.singletons]
        subprocess.run([str(argument) for argument in simulate], check=True)
        truth = max((folder / "sites" / "_truth").iterdir(), key=lambda path: path.stat().st_size)
        site = subprocess.Popen(
            [sys.executable, CRAWL / "simulated_site.py", truth, "--seed", str(given.seed)], stdout=subprocess.PIPE, text=True
        )
        try:
            assert site.stdout is not None
            proxy, start = (site.stdout.readline().strip() for _ in range(2))
            compare(folder, truth, proxy, start)
        finally:
            site.terminate()
            site.wait()


def compare(folder: Path, truth: Path, proxy: str, start: str) -> None:
    pages = {row["url"]: row["page"] for row in map(json.loads, truth.read_text().splitlines())}
    duplicates = 1 - len(set(pages.values())) / len(pages)
    print(f"{len(pages):,} URLs of {len(set(pages.values())):,} pages: {duplicates:.1%} are duplicates")
    plain = crawl(proxy, start)
    others = crawl(proxy, start, ADDONS=json.dumps({"duplicate_url_discarder.Addon": 600}))
    addon = json.dumps({"dedust.scrapy.Addon": 650})
    observations = folder / "crawl.jsonl.zst"
    first = crawl(proxy, start, ADDONS=addon, DEDUST_OBSERVATIONS=observations, CLOSESPIDER_PAGECOUNT=len(pages) // 5)
    started, started_cpu = time.perf_counter(), time.process_time()
    rules = dedust.learn(observations).rules
    learning, learning_cpu = time.perf_counter() - started, time.process_time() - started_cpu
    rules.save(folder / "rules.json")
    ours = crawl(proxy, start, ADDONS=addon, DEDUST_RULES=folder / "rules.json", DEDUST_MODE="filter")

    achievable = plain.requests - len(plain.titles)
    print(f"{first.requests:,} requests to learn from; {rules.rule_count} rules in {learning:.1f} s, {learning_cpu:.1f} s of CPU\n")
    print("| | requests | saved, of what can be | pages | lost | s | CPU s | MB |\n|---|---|---|---|---|---|---|---|")
    for name, found in (("Scrapy", plain), ("duplicate-url-discarder", others), ("dedust", ours)):
        saved = (plain.requests - found.requests) / achievable
        lost = len(plain.titles - found.titles)
        figures = f"{found.seconds:.0f} | {found.cpu_seconds:.0f} | {found.memory_bytes / 1e6:.0f}"
        print(f"| {name} | {found.requests:,} | {saved:.1%} | {len(found.titles):,} | {lost} | {figures} |")
    for site in rules.sites:
        print(f"\n{site}", *(f"- {rule}" for rule in rules.rules(site)), sep="\n")
    if lost := plain.titles - ours.titles:
        raise SystemExit(f"dedust lost {len(lost)} pages: {sorted(lost)[:20]}")


if __name__ == "__main__":
    main()
