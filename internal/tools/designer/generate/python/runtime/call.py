"""A call of a pattern: its requests and their cost."""

from __future__ import annotations

import concurrent.futures
import random
import threading
import time
from dataclasses import dataclass, field, replace
from typing import Any, Callable, Mapping, Sequence, TypeAlias

from .cursor import Sealer
from .descriptor import Table
from .entity import identity
from .errors import Declared
from .values import Item


@dataclass
class Observation:
    """A finished call: its pattern, duration and cost."""

    pattern: str
    requests: int = 0
    read_units: float = 0
    """The total, as reported by DynamoDB."""
    write_units: float = 0
    attempts: int = 1
    """1, or more if a write was retried after a conflict."""
    seconds: float = 0
    error: Exception | None = None


@dataclass
class Environment:
    """The state that all calls of a database share."""

    client: Any
    table_name: Callable[[Table], str]
    clock: Callable[[], int]
    """Milliseconds since 1970."""
    sealer: Sealer | None
    caller: Callable[[], str] | None
    observe: Callable[[Observation], None] | None
    new_id: Callable[[str], str] | None
    sequential: bool
    declared: Declared
    tells_refused: dict[str, bool] = field(default_factory=dict)
    """Operations of the client that return the item of a failed condition: newer releases of botocore support the parameter."""


MAX_CONCURRENT_QUERIES = 8
_MAX_BATCH_KEYS = 100
_MAX_CONCURRENT_BATCHES = 2
MAX_IDLE_BATCHES = 10
MAX_BATCH_ITEMS = 25

BatchItems: TypeAlias = "dict[str, list[dict[str, Any]]]"
"""The requests of a batch, by table."""


class Call:
    def __init__(self, env: Environment, pattern: str) -> None:
        self.env = env
        self.now = env.clock()
        """The time of the call in milliseconds since 1970."""
        self.seen = Observation(pattern)
        self._start = time.monotonic()
        self._lock = threading.Lock()

    def end(self, error: Exception | None = None) -> None:
        if self.env.observe:
            self.env.observe(replace(self.seen, seconds=self.elapsed(), error=error))

    def elapsed(self) -> float:
        """How long the call has run, in seconds."""
        return time.monotonic() - self._start

    def send(self, operation: str, request: Mapping[str, Any], writes: bool = False) -> dict[str, Any]:
        """Sends a request and counts the consumed capacity."""
        measured = {"ReturnConsumedCapacity": "TOTAL"} if self.env.observe else {}
        with self._lock:
            self.seen.requests += 1
        out: dict[str, Any] = getattr(self.env.client, operation)(**request, **measured)
        consumed = out.get("ConsumedCapacity", [])
        with self._lock:
            for units in consumed if isinstance(consumed, list) else [consumed]:
                split = "ReadCapacityUnits" in units or "WriteCapacityUnits" in units
                own = 0 if split else units.get("CapacityUnits", 0)
                self.seen.read_units += units.get("ReadCapacityUnits", 0) + (0 if writes else own)
                self.seen.write_units += units.get("WriteCapacityUnits", 0) + (own if writes else 0)
        return out

    def tells_refused(self, operation: str) -> bool:
        """Whether a single write can return the item of a failed condition."""
        known = self.env.tells_refused
        if operation not in known:
            meta = self.env.client.meta
            shape = meta.service_model.operation_model(meta.method_to_api_mapping[operation]).input_shape
            known[operation] = "ReturnValuesOnConditionCheckFailure" in shape.members
        return known[operation]

    def get(self, t: Table, key: Item, consistent: bool) -> Item | None:
        """Reads an item by its primary key."""
        response = self.send("get_item", {"TableName": self.env.table_name(t), "Key": key, "ConsistentRead": consistent})
        return response.get("Item") or None

    def fetch(self, t: Table, keys: Sequence[Item], consistent: bool) -> list[Item | None]:
        """Reads items by their primary keys; None for a missing one. Equal keys are requested once."""
        distinct = list({identity(t, key): key for key in keys}.values())
        chunks = [distinct[i : i + _MAX_BATCH_KEYS] for i in range(0, len(distinct), _MAX_BATCH_KEYS)]
        responses = self.concurrently([_chunk(self, t, chunk, consistent) for chunk in chunks], _MAX_CONCURRENT_BATCHES)
        found = {identity(t, item): item for items in responses for item in items}
        return [found.get(identity(t, key)) for key in keys]

    def fetch_chunk(self, t: Table, keys: list[Item], consistent: bool) -> list[Item]:
        out: list[Item] = []
        rest: Any = {self.env.table_name(t): {"Keys": keys, "ConsistentRead": consistent}}
        idle = 0
        while rest:
            if idle == MAX_IDLE_BATCHES:
                raise self.exceeded("BatchGetItem", f"BatchGetItem processed none of its keys, {idle} times in a row")
            if idle > 0:
                self.pause_after(idle)
            response = self.send("batch_get_item", {"RequestItems": rest})
            idle += 1
            for items in response.get("Responses", {}).values():
                out.extend(items)
                if items:
                    idle = 1
            rest = response.get("UnprocessedKeys")
        return out

    def exceeded(self, operation: str, message: str) -> Exception:
        """The error of a batch without progress."""
        code = "ProvisionedThroughputExceededException"
        err: Exception = self.env.client.exceptions.from_code(code)({"Error": {"Code": code, "Message": message}}, operation)
        return err

    def write_batch(self, requests: BatchItems) -> BatchItems:
        """Sends one BatchWriteItem and returns the unprocessed items: all of them if DynamoDB throttles it."""
        try:
            left: BatchItems = self.send("batch_write_item", {"RequestItems": requests}, True).get("UnprocessedItems", {})
            return left
        except Exception as err:
            if error_code(err) not in ("ProvisionedThroughputExceededException", "ThrottlingException", "RequestLimitExceeded"):
                raise
            return requests

    def concurrently(self, tasks: Sequence[Callable[[], Any]], at_once: int) -> list[Any]:
        """Runs tasks with bounded concurrency. It raises the first error in their order."""
        if len(tasks) < 2 or self.env.sequential:
            return [task() for task in tasks]
        with concurrent.futures.ThreadPoolExecutor(min(len(tasks), at_once)) as pool:
            return [done.result() for done in [pool.submit(task) for task in tasks]]

    def pause_after(self, attempts: int) -> None:
        """Waits before the next attempt, longer after each failed one."""
        self.pause(min(0.025 * 2 ** (attempts - 1), 3))

    def pause(self, longest: float) -> None:
        """Waits for a random time up to some seconds."""
        time.sleep(random.random() * longest)


def _chunk(call: Call, t: Table, keys: list[Item], consistent: bool) -> Callable[[], list[Item]]:
    return lambda: call.fetch_chunk(t, keys, consistent)


def error_code(err: Exception) -> str:
    """The code of an error of the SDK's client; "" for any other."""
    response = getattr(err, "response", None)
    return str(response.get("Error", {}).get("Code", "")) if isinstance(response, dict) else ""
