"""What does Python add to the Rust loop?

    maturin develop --release
    cargo build --release -p dedust --example key_loop
    python bench.py [MILLIONS]

Makes URLs of the sample blog, 10 million by default, and takes their keys: in Rust alone, as a column, on two threads, as a list of
str, and one by one. Checks that all give the same before it times anything; reports the best of three, in CPU time, since other work may be going on.
"""

import gzip
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa

import dedust

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "testdata" / "sample"
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))


def best_of_three(work: Callable[[], object]) -> tuple[float, float]:
    """Seconds of CPU time, of all threads, and seconds that passed."""
    times = []
    for _ in range(3):
        started, passed = time.process_time(), time.perf_counter()
        work()
        times.append((time.process_time() - started, time.perf_counter() - passed))
    return min(times)


def main() -> None:
    count = int(float(sys.argv[1]) * 1e6) if len(sys.argv) > 1 else 10_000_000
    rules = dedust.learn(SAMPLE / "blog.jsonl.gz").rules
    normalizer = dedust.Normalizer(rules)
    with gzip.open(SAMPLE / "blog-unseen.jsonl.gz", "rt") as lines:
        sample = [json.loads(line)["url"] for line in lines]
    urls = [f"{sample[n % len(sample)]}{'&' if '?' in sample[n % len(sample)] else '?'}n={n}" for n in range(count)]
    column = pa.array(urls, pa.large_string())
    some = urls[:1_000_000]
    assert normalizer.key_many(some[:10_000]) == normalizer.key_many(column[:10_000], threads=2).to_pylist()
    assert [normalizer.key(url) for url in some[:10_000]] == normalizer.key_many(some[:10_000])

    with tempfile.TemporaryDirectory() as folder:
        rule_file, url_file = Path(folder) / "rules.json", Path(folder) / "urls.txt"
        rules.save(rule_file)
        url_file.write_text("\n".join(urls))
        example = TARGET / "release" / "examples" / "key_loop"
        answers = [subprocess.run([example, rule_file, url_file], capture_output=True, text=True, check=True) for _ in range(3)]
        rust = min(float(re.split(" ", answer.stdout)[0]) for answer in answers)

    print(f"{count:,} URLs of {sum(map(len, some)) / len(some):.0f} bytes, {rules.rule_count} rules")
    print(f"{'Rust loop':<28} {rust:7.1f} ns for each URL")
    for name, number, work in [
        ("Arrow column", count, lambda: normalizer.key_many(column)),
        ("Arrow column, 2 threads", count, lambda: normalizer.key_many(column, threads=2)),
        ("list of str", len(some), lambda: normalizer.key_many(some)),
        ("one str at a time", len(some), lambda: [normalizer.key(url) for url in some]),
    ]:
        busy, passed = (seconds / number * 1e9 for seconds in best_of_three(work))
        print(f"{name:<28} {busy:7.1f} ns for each URL, {busy / rust:5.2f} times the Rust loop; {passed:7.1f} ns passed")


if __name__ == "__main__":
    main()
