"""The merged reading of a source's partitions."""

from __future__ import annotations

import sys
from typing import Any, Callable, Iterator, Sequence

from .call import MAX_CONCURRENT_QUERIES, Call
from .cursor import Position
from .source import Source, Start
from .values import Item
from .walk import Walk

_MAX_PAGE_ROUNDS = 10


class _Lane:
    """A partition that is read: the items that were returned and not consumed yet, and the position."""

    def __init__(self, number: int, request: dict[str, Any], position: Position) -> None:
        self.number = number
        """Its segment of a Scan."""
        self.request = request
        self.buffer: list[Item] = []
        self.next = position.at
        self.position = position

    def dry(self) -> bool:
        return not self.buffer and not self.position.done

    def settle(self) -> None:
        """Moves a lane with an empty buffer to the start of its next request, or to its end."""
        if not self.buffer:
            self.position = Position(self.next) if self.next else Position(done=True)


class Reading:
    """Reads the partitions of a source, and merges their items."""

    def __init__(
        self, call: Call, source: Source, request: dict[str, Any] | None, start: Start, positions: Sequence[Position] | None = None, most: int | None = None,
    ) -> None:
        """Without a request there is nothing to read. most is the maximum number of periods to start."""
        self._call = call
        self._source = source
        self._request = request
        self._lanes: list[_Lane] = []
        self._walk = start.walk
        """Creates the lanes of further periods; None without periods."""
        self._at = [start.at] if start.at else []
        """The periods with lanes."""
        self._passed = 0
        """How many periods have been read completely."""
        self._most = sys.maxsize if most is None else most
        self._ahead = 1
        """How many groups of lanes are read concurrently: one, and twice as many after each round without items."""
        self._begin(start.partitions, positions)

    def _begin(self, partitions: Sequence[Item], positions: Sequence[Position] | None = None) -> None:
        """Adds lanes."""
        if self._request is None:
            return
        for i, partition in enumerate(partitions):
            values = dict(self._request["ExpressionAttributeValues"])
            for n, a in enumerate(self._source.o.pk):
                values[f":p{n}"] = partition[a.name]
            self._lanes.append(_Lane(i, {**self._request, "ExpressionAttributeValues": values}, positions[i] if positions else Position()))

    def _extend(self, walk: Walk) -> None:
        """Adds the lanes of a walk's next period."""
        following = walk.step()
        if following:
            self._at.append(following[0])
            self._begin(following[1])

    def _leave(self, walk: Walk) -> None:
        """Drops the lanes of periods that have been read completely."""
        while self._lanes and all(lane.position.done for lane in self._lanes[: walk.shards]):
            del self._lanes[: walk.shards]
            del self._at[0]
            self._passed += 1

    def done(self) -> bool:
        if self._walk is None:
            return all(lane.position.done for lane in self._lanes)
        self._leave(self._walk)
        return not self._lanes and self._walk.ended

    def another(self, turn: int) -> bool:
        """Whether a page may be read in another round. A walk reads periods, any of which may be empty."""
        return turn < _MAX_PAGE_ROUNDS + self._passed and not self.done() and self._passed < self._most

    def _groups(self, n: int) -> list[_Lane]:
        """The lanes that are read together, in groups from the first unfinished one: all, but of a walk those of one period."""
        walk = self._walk
        if walk is None:
            return self._lanes
        self._leave(walk)
        most = min(n, self._most - self._passed)
        while len(self._at) < most and not walk.ended:
            self._extend(walk)
        return self._lanes[: most * walk.shards]

    def progress(self) -> tuple[str, list[Position]]:
        """The positions in the partitions: of a walk, those of its current period, which is not finished."""
        walk = self._walk
        if walk is None:
            return "", [lane.position for lane in self._lanes]
        self._leave(walk)
        if not self._at:
            self._extend(walk)
        return self._at[0], [lane.position for lane in self._lanes[: walk.shards]]

    def count(self) -> int:
        """The number of items, which the requests count."""

        def counting(lane: _Lane) -> Callable[[], int]:
            return lambda: sum(response.get("Count", 0) for response in self._pages({**lane.request, "Select": "COUNT"}))

        return sum(self._call.concurrently([counting(lane) for lane in self._groups(sys.maxsize)], MAX_CONCURRENT_QUERIES))

    def _pages(self, request: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """The results of a Query, to the end."""
        response = self._call.send("query", request)
        yield response
        while response.get("LastEvaluatedKey"):
            response = self._call.send("query", {**request, "ExclusiveStartKey": response["LastEvaluatedKey"]})
            yield response

    def next(self, n: int) -> list[Item]:
        """Consumes up to n items in order. It reads every partition with an empty buffer once, so there may be fewer before the
        end.
        """
        self._call.concurrently([self._asking(lane, n) for lane in self._groups(self._ahead) if lane.dry()], MAX_CONCURRENT_QUERIES)
        self._ahead = min(2 * self._ahead, MAX_CONCURRENT_QUERIES)
        out: list[Item] = []
        while len(out) < n:
            lane = self._least()
            if lane is None:
                break
            self._ahead = 1
            item = lane.buffer.pop(0)
            out.append(item)
            lane.position = Position(self._source.key_of_item(item))
            lane.settle()
        return out

    def _asking(self, lane: _Lane, limit: int) -> Callable[[], None]:
        def ask() -> None:
            begin = {"ExclusiveStartKey": lane.next} if lane.next else {}
            response = self._send(lane, {**lane.request, "Limit": limit, **begin})
            lane.buffer = list(response.get("Items", []))
            more = response.get("LastEvaluatedKey")
            lane.next = more if more and not (lane.buffer and self._source.single()) else None
            lane.settle()

        return ask

    def _send(self, lane: _Lane, request: dict[str, Any]) -> dict[str, Any]:
        """Creates a lane's request: a Query, or a Scan of a segment."""
        if not self._source.o.segments:
            return self._call.send("query", request)
        wanted = {key: x for key, x in request.items() if key != "ScanIndexForward" and x != {}}
        if len(self._lanes) > 1:
            wanted.update(Segment=lane.number, TotalSegments=len(self._lanes))
        return self._call.send("scan", wanted)

    def _least(self) -> _Lane | None:
        """The lane with the next item; None if there is none, or if a lane must be read to know."""
        least: _Lane | None = None
        for lane in self._groups(1):
            if lane.dry() and not self._source.o.segments:  # the items of a Scan are unordered
                return None
            if lane.buffer and (least is None or self._source.compare(lane.buffer[0], least.buffer[0]) < 0):
                least = lane
        return least
