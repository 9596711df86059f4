"""Types of arguments."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, TypedDict

if TYPE_CHECKING:
    from dedust._dedust import RuleSet


class ArrowArray(Protocol):
    """An array or a batch of rows, of any library."""

    def __arrow_c_array__(self, requested_schema: Any = None) -> tuple[Any, Any]: ...


class ArrowStream(Protocol):
    """A column in chunks or a table, of any library."""

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any: ...


Path: TypeAlias = str | PathLike[str]
Input: TypeAlias = Path | ArrowArray | ArrowStream
Inputs: TypeAlias = Input | Sequence[Input]
# Called with the stage, what is done of it, and what there is to do if that is known; or whether to show a bar.
Progress: TypeAlias = Callable[[str, int, int | None], object] | bool


class LearnOptions(TypedDict, total=False):
    """How rules are learned. `dedust.Trainer` has the defaults."""

    method: str
    evidence: str
    mode: Literal["strict", "balanced", "paper"]
    max_loss: float
    max_fpr: float
    mirrors: Mapping[str, str] | None
    find_mirrors: bool
    trust_hosts: bool
    prefer: Iterable[str] | None
    sample: float
    max_sample: int
    columns: Mapping[str, str] | None


class TrainerOptions(LearnOptions, total=False):
    """How rules are learned in this process."""

    keep: RuleSet | None
    memory: int
    host: str | None
    threads: int | None
