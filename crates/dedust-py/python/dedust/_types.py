"""Types of arguments."""

from collections.abc import Callable, Sequence
from os import PathLike
from typing import Any, Protocol, TypeAlias


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
