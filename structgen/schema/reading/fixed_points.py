"""Shapes of subschemas that refer to themselves without a step into a value: the least fixed point.

In `{"anyOf": [{"type": "string"}, {"$ref": "#"}]}`, whether a value satisfies `#` depends on itself. The schema accepts
a value only if that can be derived in finitely many steps: here, strings. So the subschemas that lead back to
themselves are the unknowns of a system of equations (`equations.py`). All others are known shapes. The system is solved
in rounds, which begin with no values and end when nothing changes:

    # = string or #          round   `#` on the right     `#` on the left
                             1       nothing              string
                             2       string               string

The equations are solved in the names of the known shapes (`formulas.py`), not in the shapes: there are finitely many
formulas, and each has one form. They are solved for one JSON type after the other, because most keywords are about one
type: for all others, their shapes are every value, and have no name.

A subschema and its complement are two unknowns. So the values that satisfy a schema are derived, and so are those that
do not. A value of neither is undecided: for `{"not": {"$ref": "#"}}`, all of them are. This is the three-valued fixed
point of "A Kripke-Kleene Semantics for Logic Programs" (Fitting, 1985).
"""

from __future__ import annotations

from collections.abc import Iterator

from structgen.engine.deadlines import spend
from structgen.schema.algebra import EVERYTHING, NOTHING, AnyOf, Node, Shape, complements
from structgen.schema.reading.applicators import with_names, with_other_name
from structgen.schema.reading.equations import Equation, Names, beside_value, equation
from structgen.schema.reading.formulas import ALWAYS, KINDS, NEVER, Formula, Formulas
from structgen.schema.reading.nodes import NodeSpace
from structgen.schema.reading.widening import Widening

__all__ = ["FixedPoints", "Reentered"]


class Reentered(Exception):
    """Raised inside `Space` when a shape is needed that a fixed point has to find first. Never leaves it."""


class FixedPoints:
    """The subschemas of a document that lead back to themselves, and the solutions of their equations.

    Args:
        space: makes the nodes and shapes of subschemas.
        widening: notes the keywords that are dropped.

    Attributes:
        has_circles: a subschema that leads back to itself was found.
    """

    def __init__(self, space: NodeSpace, widening: Widening) -> None:
        self.has_circles = False
        self._space = space
        self._widening = widening
        self._is_circular = {1: False}  # by subschema: it leads to itself, or to one that does; 1 is `true`
        self._solutions: dict[int, _Solution] = {}  # by atom
        self._widened: set[int] = set()  # solved atoms that may have too many values

    def find(self, node: Node) -> None:
        """Find the subschemas that a node applies to the same value, and which of them lead back to themselves."""
        leads_to: dict[int, list[int]] = {}
        work = [abs(atom) for atom in _atoms(node)]
        while work:
            atom = work.pop()
            if atom not in leads_to and atom not in self._is_circular:
                nodes = beside_value(self._space, atom)
                leads_to[atom] = [abs(other) for node in nodes for other in _atoms(node)]
                work += leads_to[atom]
        self._is_circular |= dict.fromkeys(leads_to, True)
        before = -1
        while before != len(leads_to):
            before = len(leads_to)
            spend(before)
            for atom, others in reversed(list(leads_to.items())):  # those that others lead to come first
                if not any(self._is_circular[other] for other in others):
                    self._is_circular[atom] = False
                    del leads_to[atom]
        self.has_circles = self.has_circles or bool(leads_to)

    def is_unknown(self, atom: int | AnyOf) -> bool:
        """Return whether an atom is known to lead back to itself, and its equation is not solved."""
        return isinstance(atom, int) and atom not in self._solutions and self._is_circular.get(abs(atom), False)

    def solve(self, node: Node) -> None:
        """Solve the equations of the unknown atoms of a node, and of all that they depend on."""
        self.find(node)
        outer, self._widening.is_used = self._widening.is_used, False
        equations: dict[int, Equation] = {}
        work = list(_atoms(node))
        while work:
            atom = work.pop()
            if atom not in equations and self.is_unknown(atom):
                equations[atom] = found = equation(self._space, atom, self._widening)
                work += [other for cases in reversed(found) for case in reversed(cases) for other in _needed(*case)]
        solution = _Solution(self._space, self._widening, equations)
        if self._widening.is_used:
            self._widened |= equations.keys()
        self._widening.is_used = outer
        self._solutions |= dict.fromkeys(equations, solution)

    def shape(self, atom: int) -> Shape | None:
        """Return the shape of a solved atom; None for other atoms."""
        solution = self._solutions.get(atom)
        if solution is None:
            return None
        if atom in self._widened:
            self._widening.is_used = True
        return solution.shape(atom)


_Factor = int | Formula
"""An unknown atom, or a formula of known shapes."""


class _Solution:
    """The solution of some equations.

    Args:
        space: makes the shapes of nodes.
        widening: notes the keywords that are dropped.
        equations: the equations of unknown atoms. The other atoms in them have shapes.
    """

    def __init__(self, space: NodeSpace, widening: Widening, equations: dict[int, Equation]) -> None:
        self._space = space
        self._widening = widening
        self._equations = equations
        self._formulas = {kind: Formulas(space, kind) for kind in KINDS}
        self._values: dict[str, dict[int, Formula]] = {}
        for kind in KINDS:
            self._solve(kind)

    def shape(self, atom: int) -> Shape:
        """Return the shape of an atom."""
        parts = [self._formulas[kind].shape(self._values[kind][atom]) for kind in KINDS]
        return self._space.spend(NOTHING.unite(*parts))

    def _solve(self, kind: str) -> None:
        """Find the values of one kind."""
        formulas, values = self._formulas[kind], dict.fromkeys(self._equations, NEVER)
        self._values[kind] = values
        products = {
            atom: [[product for case in cases for product in self._products(kind, *case)] for cases in each]
            for atom, each in self._equations.items()
        }
        is_settled = False
        while not is_settled:
            is_settled = True
            for atom in reversed(products):
                spend(10)
                found = ALWAYS
                for alternatives in products[atom]:
                    found = formulas.both(found, self._any_of(kind, alternatives))
                if found.keys() != values[atom].keys():
                    values[atom] = found
                    is_settled = False

    def _any_of(self, kind: str, products: list[list[_Factor]]) -> Formula:
        """Return the formula of a union of intersections, with what is known so far of the unknown atoms."""
        formulas, values = self._formulas[kind], self._values[kind]
        met: list[Formula] = []
        for product in products:
            found = ALWAYS
            for factor in product:
                found = formulas.both(found, values[factor] if isinstance(factor, int) else factor)
            met.append(found)
        return formulas.either(met)

    def _products(self, kind: str, node: Node, given: Shape | Names) -> list[list[_Factor]]:
        """Return the values of one kind that are in a node and in what is given, as a union of intersections."""
        shape = self._named(kind, given) if isinstance(given, Names) else given
        found: list[list[_Factor]] = [[]]
        for atom in node:
            if isinstance(atom, AnyOf):
                options = [option for inner in atom.nodes for option in self._products(kind, inner, EVERYTHING)]
            else:
                options = [[atom if atom in self._equations else self._known(kind, self._space.shape((atom,)))]]
            found = [[*product, *option] for product in found for option in options]
        last = self._known(kind, shape)
        return [[*product, last] for product in found if NEVER not in product] if last else []

    def _known(self, kind: str, shape: Shape) -> Formula:
        return self._formulas[kind].of(shape)

    def _named(self, kind: str, names: Names) -> Shape:
        """Return the objects that `propertyNames` accepts or refuses, and what it says of values of another kind."""
        if kind != "objects":
            return NOTHING if names.is_refused else EVERYTHING
        nodes = complements(names.node) if names.is_refused else [names.node]
        products = [product for node in nodes for product in self._products("strings", node, EVERYTHING)]
        strings = self._formulas["strings"].shape(self._any_of("strings", products))
        if names.is_refused:
            return with_other_name(strings)
        return self._widening.or_everything(lambda: with_names(strings, names.location))


def _needed(node: Node, given: Shape | Names) -> Iterator[int]:
    """Yield the atoms that a case needs the values of."""
    yield from _atoms(node)
    if isinstance(given, Names):
        for inner in complements(given.node) if given.is_refused else [given.node]:
            yield from _atoms(inner)


def _atoms(node: Node) -> Iterator[int]:
    """Yield the atoms of a node, those of unions inside included."""
    for atom in node:
        if isinstance(atom, int):
            yield atom
        else:
            for inner in atom.nodes:
                yield from _atoms(inner)
