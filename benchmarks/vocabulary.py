"""How much memory and time does each part of a vocabulary take, and what does the first text add?

    python benchmarks/vocabulary.py [TOKENIZER_FOLDER ...]

Without folders, the tokenizers are those in the folders of STRUCTGEN_TOKENIZERS with a tokenizer.json, and SmolLM2's if
it is installed. Times are milliseconds of processor time, medians of five runs from scratch. Loading the tokenizer
itself does not count. `set_up.py` compares with other engines.

The last columns are the masks along a text of a first schema, and then along a text of a second one, with other names
and the same kinds of values. The difference is the time to compute the tables of terminals, which belong to the
vocabulary.
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
    """Return the median milliseconds of a call; caches are dropped before each run."""
    times = []
    for _ in range(RUNS):
        module._CACHE = module._Cache()
        gc.collect()
        began = time.process_time()
        call()
        times.append(1000 * (time.process_time() - began))
    return statistics.median(times)


def parts(tokenizer: Any) -> list[int | float]:
    """Return the counts, times and sizes of one tokenizer's row."""
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
    """Return the median milliseconds for the masks of a first text and of a second one."""
    runs: list[list[float]] = []
    for _ in range(RUNS):
        module._CACHE = module._Cache()
        engine = Structgen(tokenizer, logits_width(tokenizer) + len(runs))  # its own width: nothing is shared
        runs.append([follow(engine, tokenizer, *names) for names in NAMES])
    return [statistics.median(times) for times in zip(*runs, strict=True)]


def follow(engine: Structgen, tokenizer: Any, person: str, age: str) -> float:
    """Return the milliseconds of all masks along one text."""
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
    """Load the tokenizers; return them by name."""
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
