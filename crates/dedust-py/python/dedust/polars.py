"""Keys and canonical URLs as expressions of Polars.

    import polars as pl
    from dedust.polars import key

    pages = frame.unique(key("url", dedust.Normalizer("rules.bin")).alias("key"))
"""

from __future__ import annotations

import polars as pl

import dedust


def key(urls: str | pl.Expr, normalizer: dedust.Normalizer) -> pl.Expr:
    """The keys of a column of URLs. Equal keys, equal pages."""
    return expression(urls).map_batches(lambda series: as_series(series, normalizer.key_many(series)), pl.String)


def canonical_url(urls: str | pl.Expr, normalizer: dedust.Normalizer) -> pl.Expr:
    """The canonical forms of a column of URLs, which can be fetched."""
    return expression(urls).map_batches(lambda series: as_series(series, normalizer.normalize_many(series)), pl.String)


def expression(urls: str | pl.Expr) -> pl.Expr:
    return pl.col(urls) if isinstance(urls, str) else urls


def as_series(like: pl.Series, column: dedust.Column) -> pl.Series:
    return pl.Series(like.name, column)
