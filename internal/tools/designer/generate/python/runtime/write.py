"""Writes: one request if a write changes one item, otherwise one transaction, retried after conflicts."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Callable, Sequence

from .call import MAX_BATCH_ITEMS, MAX_IDLE_BATCHES, BatchItems, Call, error_code
from .change import Change
from .descriptor import Write
from .counters import Movement, movements
from .effect import Effect
from .entity import Entity, identity
from .errors import ConflictError, Fault, InvalidValueError, TableError, UnfinishedError, WriteOf, builtin
from .known import Unread, Unsettled
from .operation import Operation
from .source import Input
from .transaction import MAX_ACTIONS, REQUEST_FIELD, Transaction, twice
from .update import check_sums
from .values import Item, Values, equal
from .writing import Writing

_MIN_ATTEMPTS = 8
_CONFLICT_TIME = 5
"""How long a write is retried after conflicts, in seconds, with at least _MIN_ATTEMPTS attempts. Conflicting writes may take
long.
"""
_LONGEST_PAUSE = 0.32
_MAX_COUNT_DEPTH = 8


@dataclass
class Outcome:
    """The result of a write."""

    items: list[list[Values | None]] = field(default_factory=list)
    """The items of the steps, in their order; None if the response does not have it. A step that runs per line has one per line.
    """
    replayed: bool = False
    """Set if the request was a repetition: nothing was done."""
    record: Values | None = None
    """The record of the first request, if known."""


class _Again(Exception):
    """The attempt conflicted with another write."""


class _Repetition(Exception):
    """The attempt is a repetition."""


def write(call: Call, w: Write, given: Input) -> Outcome:
    """Runs a write."""
    return _attempted(Transaction([Writing(call, w, given)]))[0]


def tx(call: Call, asked: Sequence[tuple[Write, Callable[[], Input]]]) -> list[Outcome]:
    """Executes writes, each with a function that creates its input, as one transaction."""
    writings: list[Writing] = []
    for place, (w, given) in enumerate(asked):
        try:
            writings.append(Writing(call, w, given(), place))
        except (TableError, Fault) as err:
            err.of = WriteOf(w.pattern, place)
            raise
    return _attempted(Transaction(writings))


def _attempted(t: Transaction) -> list[Outcome]:
    """Executes a transaction, with retries after conflicts: returns the outcomes of the calls in the given order."""
    call = t.call
    while True:
        try:
            a = _Attempt(t)
            return a.run()
        except _Repetition:
            return [Outcome(replayed=True, record=a.records.get(r)) for r in t.given]
        except Unsettled as unsettled:
            if call.seen.attempts >= _MIN_ATTEMPTS:
                raise unsettled.cause from None
        except _Again:
            if call.seen.attempts >= _MIN_ATTEMPTS and (call.env.sequential or call.elapsed() >= _CONFLICT_TIME):
                raise builtin(ConflictError, f", {call.seen.attempts} times in a row") from None
        if not call.env.sequential:
            call.pause(min(0.01 * 2 ** (call.seen.attempts - 1), _LONGEST_PAUSE))
        call.seen.attempts += 1


class _Attempt:
    def __init__(self, t: Transaction) -> None:
        self._t = t
        self._call = t.call
        self._effects = [Effect(c, t.learned) for c in t.changes()]
        self.records: dict[Writing, Values] = {}
        """For a repetition, the records of the first requests."""
        # Calls that must be ordered: see merge.
        self._counted: set[Writing] = set()
        self._counts: set[Writing] = set()

    def run(self) -> list[Outcome]:
        self._prepare()
        ops = self._operations()
        if all(o.role == "nothing" for o in ops):
            return self._outcomes()  # the item to delete does not exist
        if self._t.batch:
            return self._batch(ops)
        return self._single(ops[0]) if len(ops) == 1 and ops[0].kind != "checking" else self._transact(ops)

    def _prepare(self) -> None:
        """Creates the operations of all effects, and reads the items on which they depend."""
        unread = [e for e in self._effects if _unread(lambda e=e: _first(e))]  # type: ignore[misc]
        if unread:
            self._look(unread)
            first = self._effects[0]
            if first.doomed:
                raise self._refused_itself(first, first.old)  # no earlier one is rejected
        self._count()
        while True:
            left = [e for e in self._effects if not e.planned and self._remains(e)]
            if not left:
                return
            self._look(left)

    def _remains(self, e: Effect) -> bool:
        """Creates the operations of an effect, unless they depend on an item that was not read."""
        try:
            e.derive()
            return False
        except Unread:
            if e.read:
                raise Fault("depends on an item that was not read") from None
            return True
        except (TableError, Fault) as err:
            raise self._fault(e, err) from None

    def _fault(self, of: Effect, err: Exception) -> Exception:
        """The error of an effect that cannot be written. If that is because of a counter, the cause may be a change that will be
        rejected and so must not be counted: items that were not read yet are read to find out.
        """
        if of.moved:
            self._look([e for e in self._effects if not e.read and not _is_record(e)])
            for e in self._effects:
                refusal = None if _is_record(e) else self._refused_itself(e, e.old)
                if refusal is not None and not isinstance(refusal, _Again):
                    return refusal
        return of.fault(err)

    def _look(self, effects: list[Effect]) -> None:
        """Reads the current items of effects. Idempotency records are read too: an earlier request with the same key may be why
        an item is missing.
        """
        groups: dict[str, list[Effect]] = {}
        for e in [*(e for e in self._effects if _is_record(e) and e not in effects), *effects]:
            groups.setdefault(e.c.entity.table.name, []).append(e)
        found = [(e, item) for group in groups.values() for e, item in zip(group, self._fetch(group))]
        for e, item in found:
            if _is_record(e) and item is not None and not self._expired(e.c.entity, item):
                self._replay(e, item)
        if self.records:
            raise _Repetition
        for e, item in found:
            if not _is_record(e):
                try:
                    e.see(item)
                except (TableError, Fault, Unread) as err:
                    raise e.fault(err) from None

    def _fetch(self, effects: Sequence[Effect]) -> Sequence[Item | None]:
        t = effects[0].c.entity.table
        if len(effects) > 1:
            return self._call.fetch(t, [e.c.primary for e in effects], True)
        return [self._call.get(t, effects[0].c.primary, True)]

    def _expired(self, e: Entity, item: Item | None) -> bool:
        return e.expired(item, self._call.now // 1000)

    def _count(self) -> None:
        """Adds the moves of counters to the effects. Effects on counted items are before the effects on their counters."""
        while True:
            waiting = [e for e in self._effects if not e.counted]
            if not waiting:
                return
            e = max(waiting, key=lambda x: _count_depth(x.c.entity, 0))
            try:
                moved = movements(e)
            except Unread:
                if e.read:
                    raise
                self._look([e])
                continue
            except (TableError, Fault) as err:
                raise e.fault(err) from None
            e.counted = True
            for m in moved:
                self._move(e, m)

    def _move(self, by: Effect, m: Movement) -> None:
        """Moves a counter."""
        entity = m.counter.entity
        f = entity.field(m.counter.field)
        primary = entity.key_of(entity.key, m.key)
        if f is None:
            raise Fault(f"entity {entity.name} has no field {m.counter.field}, which counts {by.c.entity.name}")
        of = identity(entity.table, primary)
        e = next((x for x in self._effects if x.c.entity is entity and identity(entity.table, x.c.primary) == of), None)
        if e is None:
            e = Effect(Change(by.c.of, by.c.number, by.c.line, "update", "update", entity, m.key, primary, by.c.inputs), self._t.learned)
            e.counters = e.moved = True
            self._effects.append(e)
            e.add(f, m.by)
            return
        self._merge(by, e)
        if e.counted and e.c.entity.counts:
            raise Fault(f"counter {entity.name}.{m.counter.field} is counted by the entity that it counts")
        e.planned = False
        e.moved = True
        if e.counters and e.c.line != by.c.line:
            e.c = replace(e.c, line=-1)  # of several lines
        if e.doomed or e.c.action == "delete":
            return  # it is rejected, or the counter is deleted with its item
        try:
            if e.creates():
                e.begin(f, m.by)
                return
            if e.c.action == "check":
                e.c = replace(e.c, action="update")  # it remains as a check, so that it can be rejected
            e.add(f, m.by)
            if e.read:
                e.compute()
        except (TableError, Fault) as err:
            raise e.fault(err) from None

    def _merge(self, by: Effect, e: Effect) -> None:
        """Decides whether a counter that one call moves may be moved in a step of another, which is then as if it were first: its
        condition and values refer to the old counter. If no order of the calls satisfies that for all, they are rejected.
        """
        if e.counters or e.doomed or by.c.of is e.c.of:
            return
        if by.c.of in self._counted or e.c.of in self._counts or e.c.action == "delete":
            raise twice(by.c, e.c, f"count of {e.c.entity.name}", e.c.entity.name, e.c.primary)
        self._counts.add(by.c.of)
        self._counted.add(e.c.of)

    def _operations(self) -> list[Operation]:
        """All operations in the order of their effects. Two on one item, or more than a transaction may have, are rejected."""
        met: dict[bytes, Operation] = {}
        for o in (o for e in self._effects for o in e.ops):
            before = met.setdefault(o.identity, o)
            if before is not o:
                raise twice(before.of.c, o.of.c, before.noun, o.noun, o.item)
        if len(met) > MAX_ACTIONS and not self._t.batch:
            raise self._t.too_many(list(met.values()))
        return list(met.values())

    def _outcomes(self, updated: Item | None = None) -> list[Outcome]:
        """The result of the attempt. updated are the attributes of the item of a single update."""
        out = {r: Outcome([[] for _ in r.w.steps]) for r in self._t.given}
        for e in self._effects:
            if e.c.number < 0 or e.counters:
                continue
            v: Values | None = None
            if e.creates():
                v = e.c.entity.values_of(e.ops[0].item)
            elif e.c.action in ("update", "upsert") and e.c.refused_as != "check":
                v = e.c.entity.values_of(updated) if updated is not None else e.will if e.read else None
            out[e.c.of].items[e.c.number].append(v)
        return [*out.values()]

    def _single(self, o: Operation) -> list[Outcome]:
        """Writes the single item of a write."""
        operation = {"putting": "put_item", "deleting": "delete_item"}.get(o.kind, "update_item")
        request = o.request(self._call.env.table_name(o.table))
        tells = self._call.tells_refused(operation)
        if tells:
            request["ReturnValuesOnConditionCheckFailure"] = "ALL_OLD"
        if o.kind == "updating":
            request["ReturnValues"] = "ALL_NEW"
        try:
            answer = self._call.send(operation, request, True)
        except Exception as err:
            code = error_code(err)
            if code == "TransactionConflictException":
                raise _Again from None
            if code != "ConditionalCheckFailedException":
                raise
            response: dict[str, Any] = getattr(err, "response", {})
            old = response.get("Item") if tells else self._call.get(o.table, o.of.c.primary, True)
            raise self._refused(o, old) from None
        return self._outcomes(answer.get("Attributes", {}) if o.kind == "updating" else None)

    def _transact(self, ops: Sequence[Operation]) -> list[Outcome]:
        """Writes several items as a transaction."""
        items = [o.transact_item(self._call.env.table_name(o.table)) for o in ops]
        try:
            self._call.send("transact_write_items", {"TransactItems": items}, True)
        except Exception as err:
            # One that is still in progress is raised too: another attempt might repeat what this one does later.
            why = self._canceled(ops, err) if error_code(err) == "TransactionCanceledException" else None
            if why is None:
                raise
            raise why from None
        return self._outcomes()

    def _batch(self, ops: Sequence[Operation]) -> list[Outcome]:
        """Writes the items of a batch separately, in as few requests as possible."""
        for begin in range(0, len(ops), MAX_BATCH_ITEMS):
            left = list(ops[begin : begin + MAX_BATCH_ITEMS])
            idle = 0
            try:
                while left:
                    if idle == MAX_IDLE_BATCHES:
                        raise self._call.exceeded("BatchWriteItem", "BatchWriteItem processed none of its items in repeated attempts")
                    if idle > 0:
                        self._call.pause_after(idle)
                    remain = self._batch_once(left)
                    idle = idle + 1 if len(remain) == len(left) else 1
                    left = remain
            except Exception as err:
                lines = {o.of.c.line for o in (*left, *ops[begin + MAX_BATCH_ITEMS :])}
                raise UnfinishedError(sorted(lines), err) from err
        return self._outcomes()

    def _batch_once(self, ops: Sequence[Operation]) -> list[Operation]:
        """Sends one request, and returns the unprocessed items: all of them if DynamoDB throttles it."""
        requests: BatchItems = {}
        for o in ops:
            requests.setdefault(self._call.env.table_name(o.table), []).append(o.batch_item())
        unprocessed = self._call.write_batch(requests)

        def remains(o: Operation) -> bool:
            return any(
                identity(o.table, r["DeleteRequest"]["Key"] if "DeleteRequest" in r else r["PutRequest"]["Item"]) == o.identity
                for r in unprocessed.get(self._call.env.table_name(o.table), ())
            )

        return [o for o in ops if remains(o)]

    def _canceled(self, ops: Sequence[Operation], err: Exception) -> Exception | None:
        """Why a transaction was cancelled: the first operation with a reason decides. None keeps the SDK's error."""
        reasons: Sequence[dict[str, Any]] = getattr(err, "response", {}).get("CancellationReasons", ())
        for o, reason in zip(ops, reasons):
            code = reason.get("Code", "None")
            if code == "None":
                continue
            if code == "TransactionConflict":
                return _Again()
            return self._refused(o, reason.get("Item")) if code == "ConditionalCheckFailed" else None
        return None

    def _refused(self, o: Operation, item: Item | None) -> Exception:
        """The error for the rejection of an operation, by the item that caused it."""
        old = item or None
        e = o.of
        if o.role == "nothing":
            return _Again()
        if o.role == "releasing":
            self._t.learned.foreign.add(o.identity)
            return _Again()
        if o.role == "elsewhere":
            if o.kind == "updating" and old is None:
                self._t.learned.lost.add(o.identity)
            return _Again()
        if o.role == "taking":
            return self._refusal(e.c, o.marker.taken if o.marker else "ErrExists", old)
        if o.role == "occupying":
            return self._refusal(e.c, e.c.entity.exists, old)
        if _is_record(e):
            return _Again() if old is None or self._expired(e.c.entity, old) else self._repeats(e, old)
        return self._refused_itself(e, old)

    def _repeats(self, e: Effect, old: Item) -> Exception:
        """The end of a repetition, whose record already exists. Records of other calls were created with it, and are read."""
        self._replay(e, old)
        if any(o is not e and _is_record(o) for o in self._effects):
            self._look([])
        return _Repetition()

    def _refused_itself(self, e: Effect, old: Item | None) -> Exception:
        """The error of a change that its own item rejected. It is Again if the item satisfies the whole condition."""
        c = e.c
        if c.refused_as == "create" and old is not None and not self._expired(c.entity, old):
            return self._declared(c, old, c.entity.exists)
        holds = c.when is None or c.when.holds(old, c.inputs)
        if old is None and c.refused_as == "update" and c.when:
            return self._refusal(c, c.entity.not_found, None)
        if old is None and (c.refused_as in ("update", "check") or (c.refused_as == "delete" and c.when)):
            return self._declared(c, None, c.entity.not_found)
        if not holds:
            return self._declared(c, old, "ErrRefused")
        try:
            check_sums(e.assigned, old)
        except InvalidValueError as err:
            return c.of.fault(err)
        return _Again()

    def _declared(self, c: Change, old: Item | None, otherwise: str) -> Exception:
        """The first declared error whose condition holds for the item that caused the rejection."""
        found = next((x.err for x in c.refusals if x.when is None or x.when.holds(old, c.inputs)), otherwise)
        return self._refusal(c, found, old)

    def _refusal(self, c: Change, name: str, old: Item | None) -> Exception:
        w = c.of.w
        step_name = w.steps[c.number].name if c.number >= 0 else ""
        return c.of.fault(self._call.env.declared.refusal(name, w.pattern, c.number, step_name, c.line, old))

    def _replay(self, e: Effect, old: Item) -> None:
        """Sets the record of the first request, which this one repeats. It is rejected if that was a different request."""
        v = e.c.entity.values_of(old)
        i = e.c.of.w.idempotent
        if i and i.request and not equal(v.get(REQUEST_FIELD), e.c.values.get(REQUEST_FIELD)):
            raise self._refusal(e.c, i.reused, old)
        self.records[e.c.of] = v


def _is_record(e: Effect) -> bool:
    """Whether an effect creates an idempotency record."""
    return e.c.number < 0 and e.c.action == "create"


def _first(e: Effect) -> None:
    """Creates the operations of an effect, as far as they are known without reading items."""
    try:
        movements(e)
        e.derive()
    except (TableError, Fault) as err:
        raise e.fault(err) from None


def _unread(task: Callable[[], Any]) -> bool:
    try:
        task()
        return False
    except Unread:
        return True


def _count_depth(e: Entity, above: int) -> int:
    """The length of the longest chain of counters of an entity's items."""
    return above if above >= _MAX_COUNT_DEPTH else max((above, *(_count_depth(c.entity, above + 1) for c in e.counts)))
