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
    """How rules are learned. What is not given, or None, has the default of the command `dedust learn`."""

    method: str | None
    evidence: str | None
    mode: Literal["strict", "balanced", "paper"] | None
    max_loss: float | None
    max_fpr: float | None
    mirrors: Mapping[str, str] | None
    find_mirrors: bool | None
    trust_hosts: bool | None
    prefer: Iterable[str] | None
    sample: float | None
    max_sample: int | None
    columns: Mapping[str, str] | None


class TrainerOptions(LearnOptions, total=False):
    """How rules are learned in this process."""

    keep: RuleSet | None
    memory: int
    host: str | None
    threads: int | None
