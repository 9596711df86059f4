"""Learns from a crawl how each website spells its URLs, and rewrites every URL of a page to one form.

>>> import dedust
>>> rules = dedust.RuleSet.from_json('''{"version": 2, "sites": {"example.org": {"edits": [
...     {"change": [{"drop": "q.sid"}], "fetchable": true}]}}}''')
>>> normalizer = dedust.Normalizer(rules)
>>> normalizer.normalize("http://example.org/view?sid=9&id=1")
'http://example.org/view?id=1'
>>> normalizer.key_many(["http://example.org/view?id=1&sid=3", None])
['http://example.org/view?id=1', None]

`learn` makes rules of crawls. What may be wrong with the input is told by `logging`, under the name "dedust".
"""

from collections.abc import Iterable, Mapping
from typing import Literal

from dedust._dedust import (
    VERSION as __version__,
    Clusters,
    Column,
    DedustError,
    Evaluation,
    Explanation,
    LoadRulesError,
    Normalizer,
    ObservationWriter,
    ParseUrlError,
    ReadError,
    RuleSet,
    SeenError,
    SeenSet,
    TrainError,
    Trainer,
    Training,
    WriteError,
    cluster,
    evaluate,
    site_of,
)
from dedust._types import Inputs, Progress

__all__ = [
    "Clusters",
    "Column",
    "DedustError",
    "Evaluation",
    "Explanation",
    "LoadRulesError",
    "Normalizer",
    "ObservationWriter",
    "ParseUrlError",
    "ReadError",
    "RuleSet",
    "SeenError",
    "SeenSet",
    "TrainError",
    "Trainer",
    "Training",
    "WriteError",
    "__version__",
    "cluster",
    "evaluate",
    "learn",
    "site_of",
]


def learn(
    inputs: Inputs,
    *,
    method: str = "canonfd",
    evidence: str = "auto",
    mode: Literal["strict", "balanced", "paper"] = "balanced",
    max_loss: float = 0.005,
    max_fpr: float = 0.05,
    mirrors: Mapping[str, str] | None = None,
    find_mirrors: bool = True,
    trust_hosts: bool = False,
    prefer: Iterable[str] | None = None,
    keep: RuleSet | None = None,
    sample: float = 0.2,
    max_sample: int = 100_000,
    memory: int = 256,
    host: str | None = None,
    columns: Mapping[str, str] | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Training:
    """Learns rules from crawls: the paths of files of any format, tables with a column "url", or a list of both.

    The options are those of the command `dedust learn`, and the rules the same to the byte. `columns` says which column is
    which where names do not tell: {"digest": "content_md5"}. `prefer` names forms: ["https", "example.org=www"]. `keep` are
    earlier rules, of which edits that are off or pinned stay so. `progress` is called now and then with the stage ("reading" or
    "learning"), what is done of it, and what there is to do, if that is known; with True there is a bar, by tqdm.
    """
    trainer = Trainer(
        method=method,
        evidence=evidence,
        mode=mode,
        max_loss=max_loss,
        max_fpr=max_fpr,
        mirrors=None if mirrors is None else dict(mirrors),
        find_mirrors=find_mirrors,
        trust_hosts=trust_hosts,
        prefer=None if prefer is None else list(prefer),
        keep=keep,
        sample=sample,
        max_sample=max_sample,
        memory=memory,
        host=host,
        columns=None if columns is None else dict(columns),
        threads=threads,
    )
    return trainer.train(inputs, progress=progress)
