"""Keys and canonical URLs of a Series of pandas.

    import dedust.pandas

    frame["key"] = frame["url"].dedust.key(dedust.Normalizer("rules.bin"))
"""

from __future__ import annotations

import pandas as pd

import dedust


@pd.api.extensions.register_series_accessor("dedust")
class DedustAccessor:
    """`series.dedust`, for a Series of URLs."""

    def __init__(self, urls: pd.Series[str]) -> None:
        self.urls = urls

    def key(self, normalizer: dedust.Normalizer) -> pd.Series[str]:
        """The keys of the URLs. Equal keys, equal pages."""
        return self.result(normalizer.key_many(self.texts()))

    def canonical_url(self, normalizer: dedust.Normalizer) -> pd.Series[str]:
        """The canonical forms of the URLs, which can be fetched."""
        return self.result(normalizer.normalize_many(self.texts()))

    def texts(self) -> list[str | None]:
        # What pandas writes for a missing text depends on its version and on the column.
        return [None if missing else url for url, missing in zip(self.urls, self.urls.isna(), strict=True)]

    def result(self, texts: list[str | None]) -> pd.Series[str]:
        return pd.Series(texts, index=self.urls.index, name=self.urls.name, dtype="str")
