"""Normalizers that came from other processes: the same rules are kept once, however often they come."""

import hashlib
from weakref import WeakValueDictionary

from dedust._dedust import Normalizer

_normalizers: WeakValueDictionary[tuple[bytes, bool], Normalizer] = WeakValueDictionary()


def normalizer(compiled: bytes, trust_mirrors: bool) -> Normalizer:
    """The normalizer of compiled rules."""
    name = (hashlib.blake2b(compiled).digest(), trust_mirrors)
    found = _normalizers.get(name)
    if found is None:
        found = _normalizers[name] = Normalizer._from_compiled(compiled, trust_mirrors)  # pyright: ignore[reportPrivateUsage]
    return found
