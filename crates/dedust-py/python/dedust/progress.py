"""A bar that shows how far long work has come, in terminals and notebooks.

    dedust.learn("crawl.warc.gz", progress=True)

Needs tqdm: pip install dedust[progress].
"""

from __future__ import annotations

from typing import Any

try:
    from tqdm.auto import tqdm
except ImportError as error:
    raise ImportError("a bar needs tqdm: pip install dedust[progress]; or give `progress` a function") from error

UNITS = {"reading": " rows", "learning": " URLs"}


class Bar:
    """What `progress=True` stands for: called with the stage, what is done of it, and what there is to do."""

    def __init__(self) -> None:
        self.stage: str | None = None
        self.bar: Any = None

    def __call__(self, stage: str, done: int, total: int | None) -> None:
        if self.bar is None or stage != self.stage:
            self.close()
            self.stage = stage
            self.bar = tqdm(desc=stage, total=total, unit=UNITS.get(stage, ""), unit_scale=True)
        self.bar.update(done - self.bar.n)

    def close(self) -> None:
        """Leaves the bar as it is."""
        if self.bar is not None:
            self.bar.close()
            self.bar = None
