"""Keys and canonical URLs as expressions of Polars.

    import polars as pl
    from dedust.polars import key, unique

    normalizer = dedust.Normalizer("rules.bin")
    frame = frame.with_columns(key("url", normalizer).alias("key"))
    pages = unique(frame, "url", normalizer)
"""

from __future__ import annotations

from typing import TypeVar

import polars as pl

import dedust

Frame = TypeVar("Frame", pl.DataFrame, pl.LazyFrame)


def key(urls: str | pl.Expr, normalizer: dedust.Normalizer) -> pl.Expr:
    """The keys of a column of URLs. Equal keys, equal pages."""
    return expression(urls).map_batches(lambda series: as_series(series, normalizer.key_many(series)), pl.String)


def canonical_url(urls: str | pl.Expr, normalizer: dedust.Normalizer) -> pl.Expr:
    """The canonical forms of a column of URLs, which can be fetched."""
    return expression(urls).map_batches(lambda series: as_series(series, normalizer.normalize_many(series)), pl.String)


def unique(frame: Frame, urls: str | pl.Expr, normalizer: dedust.Normalizer) -> Frame:
    """The first row of each page, in their order. Rows without a URL stay."""
    keys = key(urls, normalizer)
    return frame.filter(keys.is_null() | keys.is_first_distinct())


def expression(urls: str | pl.Expr) -> pl.Expr:
    return pl.col(urls) if isinstance(urls, str) else urls


def as_series(like: pl.Series, column: dedust.Column) -> pl.Series:
    return pl.Series(like.name, column)
