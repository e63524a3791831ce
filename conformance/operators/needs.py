"""What an operator has for a clause or a fault to concern it: predicates on operators, by name.

A clause or a fault names all that it needs: `needs=(has("auto_pad"), *SUMS)`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING, Any

from conformance.operators.attributes import Attribute, Role, roles_of

if TYPE_CHECKING:  # which is made of clauses
    from conformance.operators.operator import Operator

Need = Callable[["Operator"], bool]
Needs = tuple[Need, ...]
"""Predicates that all hold; every operator meets (). What one is asked of is always the same."""


def meets(operator: Operator, needs: Needs) -> bool:
    """Say whether an operator meets all needs."""
    return all(need(operator) for need in needs)


def all_of(*needs: Needs) -> Needs:
    """Return several needs together, each predicate once."""
    return tuple(dict.fromkeys(chain(*needs)))


# Of attributes: the same function for the same arguments -----------------------------------------


@cache
def has(role: Role) -> Need:
    """Ask for an attribute or an input of a role."""
    return lambda operator: role in operator.roles


@cache
def has_any(*roles: Role) -> Need:
    """Ask for an attribute or an input of one role at least."""
    return lambda operator: not operator.roles.isdisjoint(roles)


@cache
def lacks(*roles: Role) -> Need:
    """Ask for no attribute and no input of some roles."""
    return lambda operator: operator.roles.isdisjoint(roles)


@cache
def lacks_clause(name: str) -> Need:
    """Ask for a document without a clause of its own."""
    return lambda operator: all(clause.name != name for clause in operator.clauses)


@cache
def has_default(role: Role) -> Need:
    """Ask for an attribute of a role that may be left out."""
    return lambda operator: role in roles_of(a for a in operator.attributes if not a.required)


@cache
def requires(role: Role) -> Need:
    """Ask for an attribute of a role that may not be left out."""
    return lambda operator: role in roles_of(a for a in operator.attributes if a.required)


@cache
def can_mean(role: Role, meaning: Any) -> Need:
    """Ask for an attribute that can have a value of `Params`."""

    def need(operator: Operator) -> bool:
        attribute = operator.attribute(role)
        return attribute is not None and _can_mean(attribute, meaning)

    return need


@cache
def has_other_default(role: Role, meaning: Any) -> Need:
    """Ask for an attribute that can have a value of `Params`, and has another by default."""

    def need(operator: Operator) -> bool:
        attribute = operator.attribute(role)
        if attribute is None or attribute.required or not _can_mean(attribute, meaning):
            return False
        return bool(attribute.values.get(attribute.default, attribute.default) != meaning)

    return need


def _can_mean(attribute: Attribute, meaning: Any) -> bool:
    return attribute.is_list or meaning in attribute.values.values()


# Of values ---------------------------------------------------------------------------------------


@cache
def pools(reduction: str) -> Need:
    """Ask for a reduction by name, that of the forward operator of a gradient."""
    return lambda operator: (operator.forward or operator).reduction.name == reduction


@cache
def takes(dtype: str) -> Need:
    """Ask for data of an element type."""
    return lambda operator: dtype in operator.dtypes


SUMS: Needs = (lambda operator: operator.reduction.sums,)
POWERS: Needs = (lambda operator: operator.reduction.powers,)  # a norm, or the gradient of one
NO_POWERS: Needs = (lambda operator: not operator.reduction.powers,)
INTEGERS: Needs = (lambda operator: operator.takes_integers,)
INDICES: Needs = (lambda operator: operator.has_indices,)

# Of kinds of operators ---------------------------------------------------------------------------


def is_gradient(operator: Operator) -> bool:
    """Ask for the gradient of an operator."""
    return operator.is_gradient


def is_no_gradient(operator: Operator) -> bool:
    """Ask for no gradient."""
    return not operator.is_gradient


def is_unpooling(operator: Operator) -> bool:
    """Ask for an unpooling."""
    return operator.scatters


WINDOWS: Needs = (lambda operator: operator.has_windows,)
AVERAGES: Needs = (pools("average"), is_no_gradient)
MAXIMUM: Needs = (pools("maximum"), is_no_gradient)
GRADIENTS_OF_MAXIMA: Needs = (pools("maximum"), is_gradient)
GRADIENTS_OF_NORMS: Needs = (pools("norm"), is_gradient)
UNPOOLINGS: Needs = (is_unpooling,)
