"""The key of a URL for deduplication by datatrove.

    from datatrove.pipeline.dedup import ExactDedupConfig
    from dedust.datatrove import DocumentKey

    config = ExactDedupConfig(content_getter=DocumentKey("rules.bin"))

Releases with a URL deduplication of its own take `UrlDedupConfig(url_normalizer=UrlNormalizer("rules.bin"))`.
"""

# datatrove looks at the type that a getter returns, so annotations are no strings here.

from typing import Any

import dedust
from dedust._types import Path


class UrlNormalizer:
    """Called with a URL, gives its key; what is no URL stays as it is. Pickled with its rules, as workers need it."""

    def __init__(self, rules: dedust.RuleSet | Path, *, trust_mirrors: bool = False) -> None:
        self.normalizer = dedust.Normalizer(rules, trust_mirrors=trust_mirrors)

    def __call__(self, url: str) -> str:
        try:
            return self.normalizer.key(url)
        except dedust.ParseUrlError:
            return url


class DocumentKey:
    """Called with a document, gives the key of the URL in its metadata; one without a URL is known by its id."""

    def __init__(self, rules: dedust.RuleSet | Path, *, trust_mirrors: bool = False) -> None:
        self.url_normalizer = UrlNormalizer(rules, trust_mirrors=trust_mirrors)

    def __call__(self, document: Any) -> bytes:
        url = document.metadata.get("url")
        key = self.url_normalizer(url) if isinstance(url, str) else f"id {document.id}"
        return key.encode("utf-8", "surrogatepass")
