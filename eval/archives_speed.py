#!/usr/bin/env python3
"""How fast archives become labelled observations, beside warcio, in one run.

    eval/archives_speed.py ARCHIVE.warc.gz... [--dedust target/release/dedust] [--runs 3]

For each archive, takes turns: warcio (pip install warcio) reads every record and body and does nothing with them;
`dedust cluster --threads 1` reads them too, and takes text, titles and links from the pages, compares them and writes
labelled observations. Prints megabytes of uncompressed archive per second of processor time, best of all runs, the ratio,
and peak memory; then the same for the archive ten times over, whose memory should be no larger.
"""
import argparse, gzip, os, subprocess, sys, tempfile, time

from warcio.archiveiterator import ArchiveIterator


def read_with_warcio(path):
    started, records = time.process_time(), 0
    with open(path, "rb") as stream:
        for record in ArchiveIterator(stream):
            records += 1
            record.content_stream().read()
    return time.process_time() - started, records


def cluster_with_dedust(dedust, path, output):
    """Processor time in seconds and peak memory in kilobytes of one run."""
    command = [dedust, "cluster", path, "-o", output, "--force", "--threads", "1", "-q"]
    child = subprocess.Popen(command)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        sys.exit(f"{' '.join(command)} failed with exit code {child.returncode}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("archives", nargs="+", metavar="ARCHIVE")
    parser.add_argument("--dedust", default="target/release/dedust")
    parser.add_argument("--runs", type=int, default=3)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        output = os.path.join(folder, "labelled.jsonl")
        for path in args.archives:
            with gzip.open(path) as unpacked:
                megabytes = sum(len(block) for block in iter(lambda: unpacked.read(1 << 20), b"")) / 1e6
            warcio, dedust, memory = [], [], []
            for _ in range(args.runs):
                seconds, records = read_with_warcio(path)
                warcio.append(megabytes / seconds)
                seconds, kilobytes = cluster_with_dedust(args.dedust, path, output)
                dedust.append(megabytes / seconds)
                memory.append(kilobytes)
            tenfold = os.path.join(folder, "tenfold.warc.gz")
            with open(path, "rb") as source, open(tenfold, "wb") as copies:
                archive = source.read()
                for _ in range(10):
                    copies.write(archive)
            _, tenfold_memory = cluster_with_dedust(args.dedust, tenfold, output)
            print(f"{path}: {records} records, {megabytes:.0f} MB")
            print(f"  warcio, reading only            {max(warcio):8.1f} MB/s")
            print(f"  dedust cluster, one thread      {max(dedust):8.1f} MB/s, {max(dedust) / max(warcio):.2f} x")
            print(f"  peak memory                     {max(memory) / 1024:8.1f} MB, ten times over {tenfold_memory / 1024:.1f} MB")


if __name__ == "__main__":
    main()
