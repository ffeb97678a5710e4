"""The errors of patterns. All are TableErrors and have a code; every other error comes from the SDK."""

from __future__ import annotations

from typing import Any, ClassVar, Mapping, NamedTuple, Sequence


class WriteOf(NamedTuple):
    """One of several writes in a transaction: its pattern, and its index in a tx."""

    pattern: str
    place: int | None


class TableError(Exception):
    """An error of a pattern.

    A rejected step of a write has its number (-1 is the idempotency record), its name if the design gives it one, its line (-1
    without one) and the item as it was stored, in DynamoDB's format, or None. An error without a step is not a rejection.
    """

    codes: ClassVar[tuple[str, ...]] = ()
    """The error's code, and the more general one that it specializes: OrderNotFound, NotFound."""

    def __init__(
        self, message: str, step: int | None = None, step_name: str = "", line: int = -1, old: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.step = step
        self.step_name = step_name
        self.line = line
        self.old = old
        self.of: WriteOf | None = None
        self.tx_write: int | None = None
        """The index of the write in a tx, from 0."""

    def __str__(self) -> str:
        return self.message

    @property
    def code(self) -> str:
        return self.codes[0] if self.codes else ""


class NotFoundError(TableError):
    """An item is missing, or belongs to another owner."""

    codes: ClassVar[tuple[str, ...]] = ("NotFound",)


class ExistsError(TableError):
    """An item, or a unique value, already exists."""

    codes: ClassVar[tuple[str, ...]] = ("Exists",)


class ConflictError(TableError):
    """A write conflicted with other writes in each attempt."""

    codes: ClassVar[tuple[str, ...]] = ("Conflict",)


class CursorError(TableError):
    """A cursor is damaged, or belongs to another pattern, input, owner or caller."""

    codes: ClassVar[tuple[str, ...]] = ("Cursor",)


class ReusedError(TableError):
    """A request key was used with a different request."""

    codes: ClassVar[tuple[str, ...]] = ("Reused",)


class RefusedError(TableError):
    """A condition does not hold, and the design declares no error for it."""

    codes: ClassVar[tuple[str, ...]] = ("Refused",)


class OverlapError(TableError):
    """Two writes of a tx touch the same item."""

    codes: ClassVar[tuple[str, ...]] = ("Overlap",)


class LinesError(TableError):
    """A write has no lines, too many, or two for one item."""

    codes: ClassVar[tuple[str, ...]] = ("Lines",)


class UnfinishedError(TableError):
    """Reports the lines of a batch that may not be done, from 0 and in ascending order, and the cause. All others are done, and a
    line may be repeated.
    """

    codes: ClassVar[tuple[str, ...]] = ("Unfinished",)

    def __init__(self, lines: Sequence[int], cause: Exception) -> None:
        super().__init__(f"{len(lines)} lines may not be done, starting with line {lines[0] + 1}: {cause}")
        self.lines = lines
        self.cause = cause


class StillWrittenError(TableError):
    """A person continues to write while being erased."""

    codes: ClassVar[tuple[str, ...]] = ("StillWritten",)


class ConfigError(TableError):
    """The configuration is incomplete."""

    codes: ClassVar[tuple[str, ...]] = ("Config",)


class InvalidValueError(TableError):
    """An input value of the wrong type. The field includes a path into it: address.city, lines[2].price."""

    codes: ClassVar[tuple[str, ...]] = ("Value",)

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(f"{field} {reason}")
        self.field = field
        self.reason = reason


class DecodeError(TableError):
    """A stored value of the wrong type, or a missing one: another program wrote it, or the design has changed."""

    codes: ClassVar[tuple[str, ...]] = ("Decode",)

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(f"stored {field} {reason}")
        self.field = field
        self.reason = reason


class Fault(Exception):
    """An error without a code: the design requests something impossible."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message
        self.of: WriteOf | None = None

    def __str__(self) -> str:
        return self.message


_sentences = {
    NotFoundError: "not found",
    ExistsError: "already exists",
    ConflictError: "conflicts with other writes",
    CursorError: "invalid cursor",
    ReusedError: "request key was used with another request",
    RefusedError: "condition does not hold",
    OverlapError: "writes touch the same item",
    LinesError: "invalid lines",
    StillWrittenError: "items of the person are still being written",
    ConfigError: "invalid configuration",
}
_builtin = {of.codes[0]: of for of in _sentences}


def builtin(of: type[TableError], more: str = "") -> TableError:
    """An error with its class's message."""
    return of(_sentences[of] + more)


def missing(field: str) -> InvalidValueError:
    return InvalidValueError(field, "is missing")


class Declared:
    """The errors that a design declares, by their names."""

    def __init__(self, document: Mapping[str, Any], classes: Mapping[str, type[TableError]]) -> None:
        self._document = document
        self._classes = classes

    def refusal(self, name: str, pattern: str, step: int, step_name: str, line: int, old: Mapping[str, Any] | None) -> TableError:
        """The rejection of a step, by the name of its error, declared or builtin."""
        found = self._document.get(name)
        if found is None:
            of = _builtin[name.removeprefix("Err")]
            message = _sentences[of]
        else:
            of, message = self._classes[name], found["message"]
            if found.get("wraps"):
                message += ": " + _sentences[_builtin[found["wraps"].removeprefix("Err")]]
        where = ", ".join([pattern, *([step_name] if step_name else []), *([f"line {line + 1}"] if line >= 0 else [])])
        return of(f"{where}: {message}", step, step_name, line, old)


def named(pattern: str, err: Exception) -> None:
    """Adds the pattern's name to an error's message. Rejections have it, and errors of the SDK are not changed. An error of one
    of the writes of a call gets that write's name.
    """
    if isinstance(err, (TableError, Fault)) and err.of:
        pattern = err.of.pattern
        if isinstance(err, TableError):
            err.tx_write = err.of.place
    if isinstance(err, Fault) or (isinstance(err, TableError) and err.step is None):
        err.message = f"{pattern}: {err.message}"
