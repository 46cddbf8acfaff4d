"""`compile`: the cache of compiled grammars, its bound, and its use by several threads."""

import gc
import itertools
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from functools import partial
from typing import Annotated

import pytest
from pydantic import BaseModel, Field

import structgen
from structgen.compilation import cache as cache_module
from structgen.compilation.cache import CompileCache, estimated_bytes
from structgen.schema.rules.lazy_rules import LazyRules
from structgen.schema.rules.objects import ObjectRules

VOCABULARY = structgen.Vocabulary.from_bytes({i: bytes([i]) for i in range(256)}, eos_token_ids=[256])
OTHER = structgen.Vocabulary.from_bytes({i: bytes([i]) for i in range(256)}, eos_token_ids=[257])


@pytest.fixture(autouse=True)
def _empty_cache():
    structgen.clear_cache()
    yield
    structgen.clear_cache()


def same(one, other):
    return one.grammar is other.grammar


def test_equal_content_is_compiled_once():
    one = structgen.compile({"type": "integer", "minimum": 3}, VOCABULARY)
    assert same(one, structgen.compile({"type": "integer", "minimum": 3}, VOCABULARY))
    assert same(
        structgen.compile(structgen.Grammar.regex("a+"), VOCABULARY),
        structgen.compile(structgen.Grammar.regex("a+"), VOCABULARY),
    )


@pytest.mark.parametrize(
    ("schema", "options"),
    [
        ({"enum": ["b", "a"]}, {}),
        ({"enum": ["a", "b"]}, {"whitespace": "compact"}),
        ({"enum": ["a", "b"]}, {"limits": structgen.Limits(compile_seconds=7.0)}),
        (structgen.Grammar.regex('"a"|"b"'), {}),
    ],
)
def test_different_content_is_compiled_apart(schema, options):
    one = structgen.compile({"enum": ["a", "b"]}, VOCABULARY)
    assert not same(one, structgen.compile(schema, VOCABULARY, **options))


def test_order_of_properties_is_content():
    def schema(*names):
        return {"type": "object", "properties": {n: {"const": 1} for n in names}, "required": list(names)}

    def start(*names):
        matcher = structgen.compile(schema(*names), VOCABULARY, whitespace="compact").matcher()
        return matcher.forced_bytes()

    assert start("a", "b").startswith(b'{"a"')
    assert start("b", "a").startswith(b'{"b"')


def test_vocabularies_are_content():
    schema = {"type": "boolean"}
    assert not same(structgen.compile(schema, VOCABULARY), structgen.compile(schema, OTHER))


def test_eager_and_patient_grammars_are_apart():
    eager, patient = (structgen.Grammar.kbnf('start ::= "a" "b"?;', eager=eager) for eager in (True, False))
    for grammar, after_a in ((eager, [256]), (patient, [ord("b"), 256])):
        matcher = structgen.compile(grammar, VOCABULARY).matcher()
        matcher.accept_token(ord("a"))
        assert matcher.allowed_token_ids() == after_a


def test_types_with_one_schema_keep_their_own_values():
    class Thing(BaseModel):
        x: bool

    one = Thing

    class Thing(BaseModel):
        x: bool

    compiled = [structgen.compile(model, VOCABULARY) for model in (one, Thing)]
    assert same(*compiled)
    assert [type(c.parse('{"x": true}')) for c in compiled] == [one, Thing]


def test_wrong_arguments():
    with pytest.raises(TypeError, match="Vocabulary"):
        structgen.compile({"type": "null"}, {0: b"a"})
    with pytest.raises(ValueError, match="whitespace"):
        structgen.compile({"type": "null"}, VOCABULARY, whitespace="none")


class Compiled:
    def __init__(self, size_bytes):
        self.size_bytes = size_bytes


def weighing_cache():
    return CompileCache(lambda compiled: compiled.size_bytes)


def test_the_least_recently_used_go_first():
    cache = weighing_cache()
    made = []

    def get(key, size=40):
        return cache.get(key, lambda: made.append(key) or Compiled(size), max_bytes=100)

    get("a"), get("b"), get("a"), get("c")
    assert made == ["a", "b", "c"]
    get("a"), get("b")
    assert made == ["a", "b", "c", "b"]
    get("huge", 1000)
    assert len(cache) == 1


def test_what_grows_in_use_is_weighed_anew():
    cache = weighing_cache()
    first = cache.get("a", lambda: Compiled(10), max_bytes=100)
    first.size_bytes = 95
    cache.get("b", lambda: Compiled(10), max_bytes=100)
    assert len(cache) == 1


def test_what_grew_after_it_was_asked_for_is_weighed_with_the_next():
    cache = weighing_cache()
    for key in "abc":
        grown = cache.get(key, lambda: Compiled(10), max_bytes=100)
    grown.size_bytes = 85
    cache.get("d", lambda: Compiled(10), max_bytes=100)
    assert len(cache) == 2


def test_worn_tables_count_for_the_grammars_that_keep_them():
    """Tables that wear are no longer shared by new grammars: only the cache may keep them in memory."""
    limits = structgen.Limits(automaton_states=300)
    texts = [f"number {number} of a list of many different texts" for number in range(20)]
    one = structgen.compile({"const": texts[0]}, VOCABULARY, limits=limits)
    fresh = estimated_bytes(one.grammar)
    for text in texts:
        matcher = structgen.compile({"const": text}, VOCABULARY, limits=limits).matcher()
        for byte in f'"{text}"'.encode():  # read at once, the bytes of a literal make no states
            matcher.accept_bytes(bytes([byte]))
    assert one.grammar.shared.is_worn
    assert estimated_bytes(one.grammar) > fresh + 300 * 150


def test_one_thread_compiles_what_many_ask_for():
    cache = weighing_cache()
    barrier, made = threading.Barrier(8), []

    def make():
        made.append(1)
        return Compiled(1)

    def ask(_):
        barrier.wait()
        return cache.get("key", make, max_bytes=100)

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(ask, range(8)))
    assert len(made) == 1
    assert len(set(map(id, answers))) == 1


def test_an_error_reaches_every_caller_and_is_not_kept():
    cache = weighing_cache()
    with pytest.raises(structgen.GrammarError):
        cache.get("key", lambda: (_ for _ in ()).throw(structgen.GrammarError("no")), max_bytes=100)
    assert cache.get("key", lambda: Compiled(1), max_bytes=100).size_bytes == 1


def _interrupted(call, step):
    """Run a call, and raise KeyboardInterrupt where one of the functions of `cache.py` begins, as Ctrl-C may.

    Returns:
        Whether so many functions began.
    """
    begun = itertools.count(1)

    def trace(frame, event, arg):
        if frame.f_code.co_filename == cache_module.__file__ and next(begun) == step:
            raise KeyboardInterrupt

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        call()
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(before)
    return False


def test_the_cache_works_after_an_interrupt():
    for step in itertools.count(1):
        cache = CompileCache(lambda compiled: 10)
        for key in ("a", "b", "c"):
            cache.get(key, object, max_bytes=30)
        calls = [partial(cache.get, key, object, max_bytes=30) for key in ("b", "new", "new", "c")]
        reached = [_interrupted(call, step) for call in calls]
        if not any(reached):
            break
        for key in ("new", "b", "other"):
            assert cache.get(key, object, max_bytes=30) is cache.get(key, object, max_bytes=30)
        assert len(cache) == 3
    assert step > 8


def test_the_estimate_grows_with_use():
    constraint = structgen.compile({"type": "array", "items": {"type": "integer"}}, VOCABULARY)
    before = estimated_bytes(constraint.grammar)
    constraint.matcher().accept_bytes(b"[1, 22, 333")
    assert 10_000 < before < estimated_bytes(constraint.grammar)


def test_a_small_cache_keeps_the_last():
    limits = structgen.Limits(cache_bytes=1)
    one = structgen.compile({"const": 1}, VOCABULARY, limits=limits)
    assert same(one, structgen.compile({"const": 1}, VOCABULARY, limits=limits))
    structgen.compile({"const": 2}, VOCABULARY, limits=limits)
    assert not same(one, structgen.compile({"const": 1}, VOCABULARY, limits=limits))
    assert one.matcher().forced_bytes() == b"1"  # what is in use stays usable


def test_decimal_bounds_are_content():
    def price(top):
        return structgen.compile(Annotated[Decimal, Field(ge=0, le=Decimal(top))], VOCABULARY)

    assert same(price("0.10"), price("0.10"))
    assert not same(price("0.10"), price("0.11"))


def test_schemas_that_are_no_json():
    deep = {}
    for _ in range(100_000):
        deep = {"not": deep}
    with pytest.raises(structgen.LimitExceededError):
        structgen.compile(deep, VOCABULARY)
    with pytest.raises(structgen.SchemaError):
        structgen.compile({"enum": [{1, 2}]}, VOCABULARY)


def test_many_threads_compile_and_match():
    def work(index):
        constraint = structgen.compile({"enum": [f"value{index % 4}"]}, VOCABULARY)
        matcher = constraint.matcher()
        matcher.accept_bytes(f'"value{index % 4}"'.encode())
        return matcher.is_accepting

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(40)))


def test_what_is_dropped_goes():
    """Most of a compiled grammar is not tracked by the garbage collector, so it must not contain reference cycles."""

    def use(number):
        schema = {
            "type": "object",
            "properties": {"a": {"type": "array", "items": {"enum": ["x", number]}, "uniqueItems": True}},
            "patternProperties": {"^b": {"not": {"type": "string"}}},
        }
        matcher = structgen.compile(schema, VOCABULARY).matcher()
        matcher.accept_bytes(b'{"a": ["x"], "b": ')
        matcher.allowed_token_ids()

    def rules():
        structgen.clear_cache()
        gc.collect()
        return [thing for thing in gc.get_objects() if type(thing) in (LazyRules, ObjectRules)]

    others = rules()  # of other tests, kept alive: no new thing can get the identity of one of them
    for number in range(20):
        use(number)
    assert {id(thing) for thing in rules()} <= {id(thing) for thing in others}


@pytest.mark.parametrize(
    ("schema", "is_made"),
    [
        ({"type": "object"}, True),
        ({"type": ["array", "object"]}, True),
        ({}, True),
        ({"type": "integer", "multipleOf": 3}, False),
    ],
)
def test_the_first_mask_is_made_by_the_compile_where_scalars_have_no_conditions(schema, is_made):
    structgen.clear_cache()
    sets = structgen.compile(schema, VOCABULARY).grammar.sets
    assert (sets.table.first_scan[sets.start_set] >= 0) == is_made


def test_a_limit_passed_by_the_first_mask_is_told_where_it_is_asked_for():
    schema = {"type": "object", "properties": {"a": True}}
    limits = structgen.Limits(set_items=1)
    matcher = structgen.compile(schema, VOCABULARY, limits=limits).matcher()
    with pytest.raises(structgen.LimitExceededError, match="set_items"):
        matcher.allowed_token_ids()
