#!/usr/bin/env python3
"""Check that `dedust evaluate` agrees with an independent scorer to four digits.

    eval/agrees_with_scorer.py --scorer SCORER.py SITE_DIR... [--dedust target/release/dedust] [--method M]

A SITE_DIR holds pages.jsonl.gz (observations) and truth.jsonl.gz (url and page). For each, rules are learned from a
random 30 % of the URLs and the rest is scored twice: by `dedust evaluate`, and by the function `score(truth, mapping)`
of SCORER.py on what `dedust normalize` prints. Exit 1 when any figure differs.
"""
import argparse, gzip, hashlib, importlib.util, json, os, subprocess, sys, tempfile

KEY_FIGURES = ["urls", "pages", "canonical", "compression", "achievable", "dup_reduction", "fpr", "support_pairs",
               "false_pairs", "precision", "recall", "f1"]
URL_FIGURES = KEY_FIGURES + ["live", "changed"]


def read(path):
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def fraction(url):
    return int.from_bytes(hashlib.blake2b(url.encode(), digest_size=8).digest(), "big") / 2**64


def run(command, text=None):
    done = subprocess.run(command, input=text, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} failed: {done.stderr}")
    return done.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scorer", required=True)
    parser.add_argument("--dedust", default="target/release/dedust")
    parser.add_argument("--method", default="tree-graph")
    parser.add_argument("sites", nargs="+")
    args = parser.parse_args()
    spec = importlib.util.spec_from_file_location("scorer", args.scorer)
    scorer = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(scorer)

    differences = 0
    for site in args.sites:
        pages = read(os.path.join(site, "pages.jsonl.gz"))
        truth = {row["url"]: row["page"] for row in read(os.path.join(site, "truth.jsonl.gz"))}
        unseen = {row["url"]: truth[row["url"]] for row in pages
                  if fraction(row["url"]) >= 0.3 and row["url"] in truth}
        with tempfile.TemporaryDirectory() as folder:
            train, held_out, rules = (os.path.join(folder, name) for name in ("train.jsonl", "rest.jsonl", "rules.json"))
            with open(train, "w") as out:
                out.writelines(json.dumps(row) + "\n" for row in pages if fraction(row["url"]) < 0.3)
            with open(held_out, "w") as out:
                out.writelines(json.dumps({"url": url, "page": page}) + "\n" for url, page in unseen.items())
            run([args.dedust, "learn", train, "-o", rules, "--method", args.method])
            ours = [json.loads(line) for line in
                    run([args.dedust, "evaluate", rules, held_out, "--format", "json", "--trust-mirrors"]).splitlines()]
            micro = next(row for row in ours if row["type"] == "micro")
            wrong = []
            for kind, flags, figures in (("key", ["--key"], KEY_FIGURES), ("url", [], URL_FIGURES)):
                printed = run([args.dedust, "normalize", rules, "-", "--format", "tsv", "--trust-mirrors"] + flags, "\n".join(unseen) + "\n")
                mapping = dict(line.split("\t", 1) for line in printed.splitlines() if "\t" in line)
                theirs = scorer.score(unseen, mapping)
                mine = {**micro, **micro[kind]} if kind in micro else micro
                wrong += [f"{kind}.{name}: {mine.get(name)} here, {theirs[name]} there" for name in figures
                          if round(mine.get(name, -1), 4) != round(theirs[name], 4)]
        print(f"{os.path.basename(site.rstrip('/')):32} {'differs' if wrong else 'agrees'}", *wrong, sep="\n  " if wrong else " ")
        differences += len(wrong)
    sys.exit(1 if differences else 0)


if __name__ == "__main__":
    main()
