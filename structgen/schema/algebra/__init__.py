"""Sets of JSON values, with intersection, union and complement.

`Node` names a set by the subschemas that its values satisfy. `Shape` holds a set as parts, a kind of part for each JSON
type (`NumberSet`, `StringSet`, `ArraySet`, `ObjectSet`). The members of arrays and objects are nodes again, so a shape
describes one level of a value. Nothing here depends on grammars or on how schemas are written.
"""

from structgen.schema.algebra.arrays import ALL_ARRAYS, ArraySet, Contains, Inexpressible
from structgen.schema.algebra.clauses import Clause, Literal
from structgen.schema.algebra.nodes import (
    ANY,
    NONE,
    AnyOf,
    Case,
    Node,
    any_of,
    complement,
    complements,
    is_decided,
    is_subschema,
    meet,
)
from structgen.schema.algebra.numbers import ALL_NUMBERS, INTEGERS, Number, NumberSet
from structgen.schema.algebra.object_unions import ObjectUnions
from structgen.schema.algebra.objects import ALL_OBJECTS, OPEN, KeyClass, ObjectSet
from structgen.schema.algebra.shape import EVERYTHING, NOTHING, Shape
from structgen.schema.algebra.strings import ALL_STRINGS, Language, StringSet

__all__ = [
    "ALL_ARRAYS",
    "ALL_NUMBERS",
    "ALL_OBJECTS",
    "ALL_STRINGS",
    "ANY",
    "EVERYTHING",
    "INTEGERS",
    "NONE",
    "NOTHING",
    "OPEN",
    "AnyOf",
    "ArraySet",
    "Case",
    "Clause",
    "Contains",
    "Inexpressible",
    "KeyClass",
    "Language",
    "Literal",
    "Node",
    "Number",
    "NumberSet",
    "ObjectSet",
    "ObjectUnions",
    "Shape",
    "StringSet",
    "any_of",
    "complement",
    "complements",
    "is_decided",
    "is_subschema",
    "meet",
]
