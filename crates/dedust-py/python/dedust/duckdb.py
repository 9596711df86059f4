"""Keys and canonical URLs as functions of SQL in DuckDB.

    import duckdb
    from dedust.duckdb import register

    connection = duckdb.connect()
    register(connection, dedust.Normalizer("rules.bin"))
    connection.sql("SELECT count(DISTINCT dedust_key(url)) FROM 'crawl.parquet'")
"""

# pyarrow has no types.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

from typing import Any

import duckdb
import pyarrow as pa  # type: ignore[import-untyped]

import dedust


def register(connection: duckdb.DuckDBPyConnection, normalizer: dedust.Normalizer) -> None:
    """Adds the functions dedust_key(url) and dedust_url(url). Null stays null."""

    def keys(urls: Any) -> Any:
        return pa.chunked_array(normalizer.key_many(urls))

    def canonical_urls(urls: Any) -> Any:
        return pa.chunked_array(normalizer.normalize_many(urls))

    # The name of the type is taken by all versions; the module of its enum has moved.
    create_function: Any = connection.create_function
    for name, function in (("dedust_key", keys), ("dedust_url", canonical_urls)):
        create_function(name, function, ["VARCHAR"], "VARCHAR", type="arrow")
