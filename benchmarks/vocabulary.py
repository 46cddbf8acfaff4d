"""What does structgen keep for a vocabulary, which part takes how long, and what does the first text add?

    python benchmarks/vocabulary.py [TOKENIZER_FOLDER ...]

Without folders: those below STRUCTGEN_TOKENIZERS that hold a tokenizer.json, and SmolLM2's where it is installed.
Milliseconds of processor time, the median of five, each from nothing; loading the tokenizer itself is not counted.
`set_up.py` has the same beside other engines.

A text's masks are computed along a first schema's text and then along a second's, with other names and the same kinds
of values: the difference is what the first adds to the tables of terminals that belong to the vocabulary.
"""

from __future__ import annotations

import gc
import json
import os
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from _peers import Structgen, load_tokenizer, logits_width
from _report import heading, table

from structgen.engine.vocabulary import vocabulary as module
from structgen.engine.vocabulary.token_bytes import spell_tokens
from structgen.engine.vocabulary.token_trie import TokenTrie
from structgen.engine.vocabulary.vocabulary import Vocabulary

RUNS = 5
MB = 2**20
NAMES = (("name", "age"), ("author", "years"))


def milliseconds(call: Callable[[], Any]) -> float:
    """What a call takes by itself, nothing being known from the calls before."""
    times = []
    for _ in range(RUNS):
        module._CACHE = module._Cache()
        gc.collect()
        began = time.process_time()
        call()
        times.append(1000 * (time.process_time() - began))
    return statistics.median(times)


def parts(tokenizer: Any) -> list[int | float]:
    """Counts, times and sizes."""
    vocabulary = Vocabulary.from_huggingface(tokenizer)
    spellings = [vocabulary.token_bytes(token) or b"" for token in range(vocabulary.size)]
    meant = [token for token, spelling in enumerate(spellings) if spelling]
    ids = sorted(meant, key=spellings.__getitem__)
    ordered = [spellings[token] for token in ids]
    trie = vocabulary.trie
    arrays = (trie.node_byte, trie.node_end, trie.node_depth, trie.token_start, trie.tokens, trie.first_node)
    return [
        vocabulary.size,
        trie.node_count,
        vocabulary.max_token_bytes,
        milliseconds(lambda: Vocabulary.from_huggingface(tokenizer)),
        milliseconds(lambda: spell_tokens(tokenizer)),
        milliseconds(lambda: sorted(meant, key=spellings.__getitem__)),
        milliseconds(lambda: TokenTrie(ordered, ids)),
        (8 * len(spellings) + sum(map(sys.getsizeof, ordered))) / MB,
        sum(4 * len(values) for values in arrays) / MB,
    ]


def texts(tokenizer: Any) -> list[float]:
    """Milliseconds for the masks of a first text and of a second, the medians."""
    runs: list[list[float]] = []
    for _ in range(RUNS):
        module._CACHE = module._Cache()
        engine = Structgen(tokenizer, logits_width(tokenizer) + len(runs))  # a width of its own: nothing is shared
        runs.append([follow(engine, tokenizer, *names) for names in NAMES])
    return [statistics.median(times) for times in zip(*runs, strict=True)]


def follow(engine: Structgen, tokenizer: Any, person: str, age: str) -> float:
    """The milliseconds of all masks along one text."""
    place = {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2}
    properties = {person: {"type": "string"}, age: {"type": "integer", "minimum": 0}, "place": place}
    engine.compile({"type": "object", "properties": properties, "required": [*properties]})
    text = json.dumps({person: "Ada Lovelace, Countess", age: 36, "place": [51.5074, -0.1278]})
    tokens = tokenizer.encode(text, add_special_tokens=False)
    engine.reset()
    began = time.process_time()
    for token in tokens:
        engine.fill_mask()
        if not engine.commit(token):
            raise ValueError(f"token {token} of {text} is refused")
    return 1000 * (time.process_time() - began)


def tokenizers(folders: list[str]) -> dict[str, Any]:
    """The tokenizers by name."""
    files = Path(os.environ.get("STRUCTGEN_TOKENIZERS") or "/nonexistent").glob("*/tokenizer.json")
    found = [Path(folder) for folder in folders] or sorted(file.parent for file in files)
    loaded = {folder.name: load_tokenizer(str(folder)) for folder in found}
    if not folders:
        from structgen import ModelError

        try:
            loaded["smollm2"] = load_tokenizer()
        except ModelError as error:
            print(error, file=sys.stderr)
    return loaded


def main(folders: list[str]) -> None:
    columns = ["tokenizer", "tokens", "trie nodes", "longest, bytes", "all, ms", "reading", "sorting", "trie"]
    columns += ["spellings, MB", "trie, MB", "first text, ms", "second"]
    rows = [[name, *parts(tokenizer), *texts(tokenizer)] for name, tokenizer in tokenizers(folders).items()]
    print(heading(), end="\n\n")
    print(table(columns, rows))


if __name__ == "__main__":
    main(sys.argv[1:])
