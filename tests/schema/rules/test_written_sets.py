"""Sets of written keys and items: as frozen sets, whatever text they grew along; and the rests that they refuse."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.texts import is_read
from support.vocabularies import BYTES

import structgen
from structgen.schema.json_text.layout import LAYOUTS
from structgen.schema.options import SchemaOptions
from structgen.schema.rules.call_notations import PythonNotation
from structgen.schema.rules.notation import JsonNotation
from structgen.schema.rules.written_sets import WrittenSet, rests_of, with_written

KEYS = ["", "a", "ab", "abc", "b", "é", "éa", "日本", '"', 'a"b', "\\", "a\nb", "string", "x" * 40]
VALUES = [("string", key) for key in KEYS] + [("number", 1), ("null",), ("array", (("string", "a"),))]
BEGUN = [b"", b'"', b'"a', b'"ab', b'"\xc3', b'"\xc3\xa9', b'"a1', b'"\\', b'"\\n', b'"\\u006', b"'", b"'a"]
NOTATIONS = [JsonNotation(LAYOUTS["compact"]), PythonNotation(SchemaOptions())]


@given(st.lists(st.tuples(st.integers(0, 30), st.sampled_from(VALUES)), max_size=60))
def test_sets_of_a_tree_of_texts_are_those_of_a_frozen_set(steps):
    """Each step continues any of the sets so far, as masks and other texts do."""
    sets = [(with_written(frozenset(), VALUES[0]), frozenset(VALUES[:1]))]
    for at, value in steps:
        written, known = sets[at % len(sets)]
        sets.append((with_written(written, value), known | {value}))
    for written, known in sets:
        assert frozenset(written) == known and len(written) == len(known) == len([*written])
        assert all((value in written) == (value in known) for value in VALUES)
        assert written.union(VALUES[:3]) == known.union(VALUES[:3])
        assert written.difference(VALUES[:3]) == known.difference(VALUES[:3])
        for other, its in sets:
            assert (written == other) == (known == its)
            assert written != other or hash(written) == hash(other)


@given(st.lists(st.sampled_from(KEYS), min_size=1, unique=True), st.sampled_from(VALUES))
def test_a_frozen_set_goes_on_as_a_written_one(keys, value):
    assert frozenset(with_written(frozenset(keys), value)) == {*keys, value}


@pytest.mark.parametrize("notation", NOTATIONS, ids=lambda notation: type(notation).__name__)
@pytest.mark.parametrize("is_item", [False, True])
def test_rests_are_those_of_all_texts(notation, is_item):
    texts = [*KEYS, *(f"{letter}{number}" for number in range(150) for letter in "aé\n")]
    written = frozenset()
    for size, text in enumerate(texts, 1):
        written = with_written(written, ("string", text) if is_item else text)
        if size % 37 and size != len(texts):
            continue
        for begun in (
            b"",
            b'"',
            b'"a',
            b'"ab',
            b'"\xc3',
            b'"\xc3\xa9',
            b'"a1',
            b'"\\',
            b'"\\n',
            b'"\\u006',
            b"'",
            b"'a",
        ):
            groups, others = rests_of(notation, written, begun)
            found = [*others, *(rest for group in groups for rest in group)]
            assert all(groups)
            assert sorted(found) == sorted(notation.completions(tuple(sorted(texts[:size])), begun))


def test_groups_stay_the_same_objects_along_a_text():
    written = with_written(frozenset(), "first")
    for number in range(300):
        written = with_written(written, f"key {number}")
    before, _ = rests_of(NOTATIONS[0], written, b'"')
    with_written(written, "another")  # a text that is tried, and not written
    after, _ = rests_of(NOTATIONS[0], with_written(written, "next"), b'"')
    assert len(before) > 1 and all(one is other for one, other in zip(before, after, strict=False))


class Counting(JsonNotation):
    """Counts the texts of which the rests are asked for."""

    asked = 0

    def completions(self, keys, begun):
        self.asked += len(keys)
        return super().completions(keys, begun)


@pytest.mark.parametrize("begun", [b"", b'"', b'"k', b'"k1', b'"k123'])
def test_the_work_for_one_more_text_does_not_grow(begun):
    notation = Counting(LAYOUTS["compact"])
    written = with_written(frozenset(), "first")
    for number in range(3000):
        written = with_written(written, f"k{number % 997}{number}")
        rests_of(notation, written, begun)
        with_written(written, "tried")
    assert isinstance(written, WrittenSet)
    most = 400 if begun == b'"k1' else 40  # a tenth of all texts begin so
    assert notation.asked < most * 3000


@pytest.mark.parametrize("count", [15, 16, 17, 18, 40, 300])
def test_no_key_of_many_comes_twice(count):
    constraint = structgen.compile({"type": "object", "additionalProperties": {"type": "null"}}, BYTES)
    keys = [f"k{number}" for number in range(count)]
    text = json.dumps(dict.fromkeys(keys))
    assert is_read(constraint, text)
    for key in (keys[0], keys[-1], keys[count // 2]):
        assert not is_read(constraint, f'{text[:-1]}, "{key}": null}}')
        assert not is_read(constraint, f'{text[:-1]}, "\\u006b{key[1:]}": null}}')
    assert is_read(constraint, f'{text[:-1]}, "other": null, "another": null}}')
    assert not is_read(constraint, f'{text[:-1]}, "other": null, "other": null}}')
