"""Unions of sets of objects as one set: clauses keep their order, on which the order of keys depends."""

from structgen.schema.algebra import ANY, Literal, ObjectSet, ObjectUnions


def test_clauses_that_all_sets_have_keep_their_order():
    shared = tuple((Literal(f"k{i}", (2,), True), Literal(f"l{i}", (3,), False)) for i in range(20))
    parts = [ObjectSet({"a": (node,)}, required=("a",), clauses=shared) for node in (4, 5, 6)]
    found = ObjectUnions().as_one(parts)
    assert found is not None
    assert [clause for clause in found.clauses if clause in shared] == list(shared)
    assert found.required == ("a",)
    assert found.at("b") == ANY
