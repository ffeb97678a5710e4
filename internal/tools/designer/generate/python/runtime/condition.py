"""Conditions of a design: added to a request, or evaluated here on an item that was read."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Mapping, Sequence

from .descriptor import Type
from .errors import Fault, missing
from .expression import Node, Scope, evaluate, parse, paths
from .types import check_value, time_as
from .values import Item, Value, Values


@dataclass
class Inputs:
    """The values of a condition's parameters. now is in milliseconds, None if unknown."""

    values: Values
    now: int | None
    line: Values | None = None


@dataclass
class ConditionParam:
    placeholder: str
    input: str
    type: Type | None


class Condition:
    def __init__(
        self, expression: str, names: Mapping[str, str], params: Sequence[ConditionParam], constants: Mapping[str, Value], root: Node | None = None,
    ) -> None:
        self.expression = expression
        self.names = names
        self.params = params
        self.constants = constants
        self.root = root or parse(expression)

    def conjuncts(self) -> list[Condition]:
        """The conditions that must all hold: the operands of AND."""
        if self.root.op != "and":
            return [self]
        return [Condition(self.expression, self.names, self.params, self.constants, t) for t in self.root.args]

    def attributes(self) -> list[str]:
        """The top-level attributes in the condition."""
        return list(dict.fromkeys(self.attribute(steps) for steps in paths(self.root)))

    def attribute(self, steps: Sequence[str | int]) -> str:
        return self.names.get(str(steps[0]), str(steps[0]))

    def bind(self, inputs: Inputs, names: dict[str, str], values: Item) -> str:
        """Adds the condition to a request's names and values, and returns its expression. Inputs are checked."""
        fresh: dict[str, str] = {}

        def to(found: re.Match[str]) -> str:
            reference = found[0]
            if reference not in fresh:
                if reference.startswith("#"):
                    if reference not in self.names:
                        raise _undefined(reference)
                    fresh[reference] = alias_in(names, self.names[reference])
                else:
                    v = self.value(reference, inputs)
                    fresh[reference] = free(values, ":c")
                    values[fresh[reference]] = v
            return fresh[reference]

        return re.sub("[#:][A-Za-z0-9_]+", to, self.expression)

    def check(self, inputs: Inputs) -> None:
        """Rejects invalid inputs of the condition before a request is sent."""
        self.bind(inputs, {}, {})

    def holds(self, item: Item | None, inputs: Inputs) -> bool:
        """Whether the condition holds for an item; None means no item."""
        return evaluate(self.root, item, Scope(self.names, lambda placeholder: self.value(placeholder, inputs)))

    def value(self, placeholder: str, inputs: Inputs) -> Value:
        """The value of a placeholder."""
        if placeholder in self.constants:
            return self.constants[placeholder]
        p = next((x for x in self.params if x.placeholder == placeholder), None)
        if p is None:
            raise _undefined(placeholder)
        v = (inputs.line or {}).get(p.input[len("line."):]) if p.input.startswith("line.") else inputs.values.get(p.input)
        if v is None:
            if p.input == "now":
                return time_as(p.type.kind if p.type else "", p.input, inputs.now)
            raise missing(p.input)
        if p.type:
            check_value(p.type, p.input, v)
        return v


def alias_in(names: dict[str, str], attribute: str) -> str:
    """The alias of an attribute in a request; added if there is none."""
    found = min((alias for alias in names if names[alias] == attribute), default="")
    if found == "":
        found = free(names, "#c")
        names[found] = attribute
    return found


def free(m: Mapping[str, Any], prefix: str) -> str:
    """A reference to a prefix that a map does not have."""
    n = len(m)
    while prefix + str(n) in m:
        n += 1
    return prefix + str(n)


def _undefined(reference: str) -> Fault:
    return Fault(f"the condition has no value for {reference}")
