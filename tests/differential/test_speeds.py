"""Compiled and uncompiled, the engine gives the same masks, bit for bit."""

from __future__ import annotations

import importlib.util
import json
import os
import pathlib
import subprocess
import sys

import pytest

TESTS = pathlib.Path(__file__).parent.parent

SCRIPT = """
import hashlib, json, random, sys
sys.path[:0] = [{tests!r}, {tests!r} + "/engine/masks"]
import numpy as np
import structgen
from structgen.engine.earley import item_sets as earley
from structgen.engine.matching.compiled import CompiledGrammar
from structgen.engine.matching.matcher import Matcher
from structgen.kbnf.normal_form.passes import normalize
from structgen.kbnf.reading.kbnf import parse
import test_set_masks as test_masks
from support.grammars import random_grammar
from support.kbnf_grammars import BY_HAND, realistic_grammar

SCHEMAS = [
    {{"type": "object", "properties": {{"a": {{"minimum": -3, "maximum": 1234}}, "b": {{"enum": ["a", "ab", 1]}}}},
      "required": ["a"], "additionalProperties": False}},
    {{"type": "array", "items": {{"type": "string", "maxLength": 5}}, "maxItems": 4}},
    {{"type": "string", "pattern": "^a+b*$"}},
    {{"type": "string", "format": "date"}},
    {{}},
]

def digest(compiled, seed):
    found = hashlib.sha256()
    rng = random.Random(seed)
    matcher = Matcher(compiled)
    mask = structgen.allocate_token_bitmask(1, compiled.vocabulary.size)
    for _ in range(12):
        matcher.fill_next_token_bitmask(mask)
        found.update(mask.tobytes())
        found.update(matcher.forced_bytes()[:64])
        found.update(bytes([matcher.is_accepting, matcher.is_terminated]))
        allowed = np.flatnonzero(np.unpackbits(mask.view(np.uint8), bitorder="little"))
        if not len(allowed):
            break
        matcher.accept_token(int(rng.choice(list(allowed))))
    return found.hexdigest()

texts = [*BY_HAND, *(realistic_grammar(random.Random(seed)) for seed in range(30))]
trees = [parse(text) for text in texts]
trees += [random_grammar(random.Random(seed)) for seed in range(40)]
trees += [test_masks.grammar_of(random.Random(seed)) for seed in range(20)]
digests = [digest(CompiledGrammar(normalize(tree), test_masks.WIDE), seed) for seed, tree in enumerate(trees)]
digests += [digest(structgen.compile(schema, test_masks.WIDE_ENOUGH).grammar, 1) for schema in SCHEMAS]
print(json.dumps([earley.__file__, digests]))
"""


def digests(uncompiled: str) -> tuple[str, list[str]]:
    environment = os.environ | {"STRUCTGEN_UNCOMPILED": uncompiled, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT.format(tests=str(TESTS))],
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    file, found = json.loads(done.stdout)
    return file, found


def test_compiled_and_uncompiled_masks_are_equal() -> None:
    if importlib.util.find_spec("structgen._compiled") is None:
        pytest.skip("the extensions are not built")
    fast_file, fast = digests("0")
    slow_file, slow = digests("1")
    assert not fast_file.endswith(".py") and slow_file.endswith(".py")
    assert fast == slow
    assert len(set(fast)) > 100
