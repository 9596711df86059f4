"""Learns from a crawl how each website spells its URLs, and rewrites every URL of a page to one form.

>>> import dedust
>>> rules = dedust.RuleSet.from_json('''{"version": 1, "sites": {"example.org": {"rules": [
...     {"change": [{"drop": "q.sid"}], "fetchable": true}]}}}''')
>>> normalizer = dedust.Normalizer(rules)
>>> normalizer.normalize("http://example.org/view?sid=9&id=1")
'http://example.org/view?id=1'
>>> normalizer.key_many(["http://example.org/view?id=1&sid=3", None])
['http://example.org/view?id=1', None]

`learn` makes rules of crawls. What may be wrong with the input is told by `logging`, under the name "dedust".
"""

from typing import Unpack

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
from dedust._types import Inputs, Progress, TrainerOptions

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


def learn(inputs: Inputs, *, progress: Progress | None = None, **options: Unpack[TrainerOptions]) -> Training:
    """Learns rules from crawls: the paths of files of any format, tables with a column "url", or a list of both.

    The options are those of `Trainer` and of the command `dedust learn`, and the rules the same to the byte. `columns` says which
    column is which where names do not tell: {"digest": "content_md5"}. `prefer` names forms: ["https", "example.org=www"]. `keep`
    are earlier rules, of which rules that are off or pinned stay so. `progress` is called now and then with the stage ("reading"
    or "learning"), what is done of it, and what there is to do, if that is known; with True there is a bar, by tqdm.
    """
    return Trainer(**options).train(inputs, progress=progress)
