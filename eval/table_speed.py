#!/usr/bin/env python3
"""How fast a Parquet table gets a key and a canonical URL for each row, beside DuckDB, in one run.

    eval/table_speed.py RULES TABLE.parquet [--dedust target/release/dedust] [--runs 3]

Needs `pip install duckdb`. With one thread each, and by turns: `dedust normalize` writes the table with its two columns; DuckDB
writes it with one column of one `regexp_replace`, as people do today for a single parameter; and DuckDB copies it. Before anything
is timed, the number of rows of each result is checked. Prints the least processor time of all runs in seconds, and ratios.

    cargo run --release -p dedust-io --example common_crawl -- 5000000 index     # makes a table of five million rows
    dedust learn index -o rules.json                                             # and rules for it
"""

import argparse
import os
import subprocess
import sys
import tempfile

DUCKDB = "import duckdb, sys; db = duckdb.connect(); db.execute('SET threads = 1'); db.execute(sys.argv[1])"
ONE_PATTERN = "*, regexp_replace(url, '[?&]utm_[a-z]+=[^&]*', '') AS canonical"


def processor_time(command):
    """Of one run, in seconds."""
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    if code := os.waitstatus_to_exitcode(status):
        sys.exit(f"{' '.join(command)} failed with exit code {code}")
    return usage.ru_utime + usage.ru_stime


def rows_of(table):
    import duckdb

    return duckdb.connect().execute(f"SELECT count(*) FROM read_parquet('{table}')").fetchall()[0][0]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rules", metavar="RULES")
    parser.add_argument("table", metavar="TABLE")
    parser.add_argument("--dedust", default="target/release/dedust")
    parser.add_argument("--runs", type=int, default=3)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:

        def duckdb_writes(columns, to):
            query = f"COPY (SELECT {columns} FROM read_parquet('{given.table}')) TO '{folder}/{to}' (FORMAT parquet)"
            return [sys.executable, "-c", DUCKDB, query]

        commands = {
            "dedust, key and canonical URL": [
                *(given.dedust, "normalize", given.rules, given.table, "-o", f"{folder}/both.parquet"),
                *("--threads", "1", "--force", "-q"),
            ],
            "DuckDB, one regexp_replace": duckdb_writes(ONE_PATTERN, "one.parquet"),
            "DuckDB, a copy": duckdb_writes("*", "copy.parquet"),
        }
        # The first pass reads the table into the cache of the system, and its results are checked.
        for command in commands.values():
            processor_time(command)
        expected = rows_of(given.table)
        for name in ("both", "one", "copy"):
            if (rows := rows_of(f"{folder}/{name}.parquet")) != expected:
                sys.exit(f"{name}.parquet has {rows} rows, the table has {expected}")
        times = {name: [] for name in commands}
        for _ in range(given.runs):
            for name, command in commands.items():
                times[name].append(processor_time(command))
    least = {name: min(measured) for name, measured in times.items()}
    ours = least["dedust, key and canonical URL"]
    print(f"{expected:,} rows, least of {given.runs} runs\n")
    print(f"{'':<32} {'CPU s':>7} {'against dedust':>15}")
    for name, seconds in least.items():
        print(f"{name:<32} {seconds:>7.2f} {seconds / ours:>13.2f} x")


if __name__ == "__main__":
    main()
