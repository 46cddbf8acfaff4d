"""What does setting up take: the import, the vocabulary, the first schema and its first text?

    python benchmarks/vocabulary.py [--tokenizers FOLDER ...] [--rounds 3]

Without folders: those below STRUCTGEN_TOKENIZERS that hold a tokenizer.json, and SmolLM2's where it is installed. All
times are milliseconds of processor time, of all threads, each the median over rounds; every engine begins in a
new process in every round, and they take turns. Loading the tokenizer itself is not counted.

The first table is what the imports take, without transformers. In the second an engine reads its vocabulary out of the
tokenizer, compiles its first schema, computes the masks along its first text, and does the same for a second schema
with the same kinds of values: the difference is what it prepares late, and for all schemas. In the third is what
structgen keeps for a vocabulary, and which part takes how long.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from _peers import ENGINES, Engine, Llguidance, Structgen, Xgrammar, installed, load_tokenizer, logits_width
from _report import heading, ratio, table

MB = 2**20
IMPORTS = {
    "structgen": "import structgen",
    "structgen, and what compiles": "import structgen; structgen.compile, structgen.Vocabulary, structgen.Matcher",
    "structgen, and what generates": "import structgen; structgen.generate, structgen.compile, structgen.Vocabulary",
    "llguidance": "import llguidance, llguidance.numpy",
    "xgrammar": "import xgrammar",
    "outlines": "import outlines",
}
MAKERS: dict[str, tuple[str, Callable[[Any, int], Engine]]] = {  # what is imported first, and what makes an engine
    "structgen": ("structgen.cache", Structgen),
    "llguidance": ("llguidance.hf", Llguidance),
    "xgrammar": ("xgrammar", Xgrammar),
}
CLOCK = "import time; began = time.process_time()\n{}\nprint(time.process_time() - began)"
STEPS = ("vocabulary", "first schema", "first text", "second schema", "second text")


def schema(person: str, age: str) -> dict[str, Any]:
    """One of two schemas that differ in their names only."""
    number = {"type": "number"}
    return {
        "type": "object",
        "properties": {
            person: {"type": "string"},
            age: {"type": "integer", "minimum": 0},
            "place": {"type": "array", "items": number, "minItems": 2, "maxItems": 2},
        },
        "required": [person, age, "place"],
    }


def text(person: str, age: str) -> str:
    """An instance of that schema."""
    return json.dumps({person: "Ada Lovelace, Countess", age: 36, "place": [51.5074, -0.1278]})


NAMES = (("name", "age"), ("author", "years"))


def milliseconds(call: Callable[[], Any]) -> tuple[float, Any]:
    """What a call takes, and gives."""
    gc.collect()
    began = time.process_time()
    made = call()
    return 1000 * (time.process_time() - began), made


def follow(engine: Engine, tokens: list[int]) -> None:
    engine.reset()
    for token in tokens:
        engine.fill_mask()
        if not engine.commit(token):
            raise ValueError(f"{engine.name} refuses token {token}")


def steps(name: str, folder: str) -> dict[str, float]:
    """What one engine takes for each step, in this process."""
    tokenizer = load_tokenizer(folder)
    texts = [tokenizer.encode(text(*names), add_special_tokens=False) for names in NAMES]
    module, make = MAKERS[name]
    importlib.import_module(module)
    spent = {}
    engine: Engine
    spent["vocabulary"], engine = milliseconds(partial(make, tokenizer, logits_width(tokenizer)))
    for which, names, tokens in zip(("first", "second"), NAMES, texts, strict=True):
        spent[f"{which} schema"], _ = milliseconds(partial(engine.compile, schema(*names)))
        spent[f"{which} text"], _ = milliseconds(partial(follow, engine, tokens))
    return spent


def parts(folder: str) -> list[float | int]:
    """What structgen keeps for a vocabulary: tokens, nodes, the longest token; times and sizes of the parts."""
    from structgen.engine.spelling import spell_tokens
    from structgen.engine.token_trie import TokenTrie
    from structgen.engine.vocabulary import Vocabulary

    tokenizer = load_tokenizer(folder)
    reading, _ = milliseconds(lambda: spell_tokens(tokenizer))
    whole, vocabulary = milliseconds(lambda: Vocabulary.from_huggingface(tokenizer))
    spellings = [vocabulary.token_bytes(token) or b"" for token in range(vocabulary.size)]
    ids = [token for token, spelling in enumerate(spellings) if spelling]
    sorting, ids = milliseconds(lambda: sorted(ids, key=spellings.__getitem__))
    building, trie = milliseconds(lambda: TokenTrie([spellings[token] for token in ids], ids))
    arrays = (trie.node_byte, trie.node_end, trie.node_depth, trie.token_start, trie.tokens, trie.first_node)
    text_mb = sum(map(sys.getsizeof, filter(None, spellings))) / MB + 8 * len(spellings) / MB
    trie_mb = sum(4 * len(values) for values in arrays) / MB
    counts = [vocabulary.size, trie.node_count, vocabulary.max_token_bytes]
    return [*counts, whole, reading, sorting, building, text_mb, trie_mb]


# --- processes --------------------------------------------------------------------------------------------------------


def tokenizer_folders(given: list[str]) -> dict[str, str]:
    """Folders by name; "" stands for SmolLM2's."""
    found = Path(os.environ.get("STRUCTGEN_TOKENIZERS") or "/nonexistent").glob("*/tokenizer.json")
    folders = [Path(folder) for folder in given] or sorted(file.parent for file in found)
    named = {folder.name: str(folder) for folder in folders}
    if not given:
        from structgen import ModelError
        from structgen.models.smollm2 import smollm2_folder

        try:
            smollm2_folder()
            named["smollm2"] = ""
        except ModelError as error:
            print(error, file=sys.stderr)
    return named


def asked(*command: str) -> Any:
    """What a new process prints, as JSON."""
    done = subprocess.run([sys.executable, *command], check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout)


def medians(rounds: list[Any]) -> list[float]:
    return [statistics.median(values) for values in zip(*rounds, strict=True)]


def import_table(rounds: int) -> str:
    there = [name for name in IMPORTS if name.partition(",")[0] in installed(["structgen", *list(IMPORTS)[3:]])]
    times = [[asked("-c", CLOCK.format(IMPORTS[name])) for name in there] for _ in range(rounds + 2)]
    middle = medians(times)
    rows = [[name, 1000 * spent] for name, spent in zip(there, middle, strict=True)]
    return table(["import", "ms"], rows)


def step_table(folders: dict[str, str], rounds: int) -> str:
    engines = installed(ENGINES)
    rows: list[list[Any]] = []
    for tokenizer, folder in folders.items():
        found: dict[str, list[list[float]]] = {engine: [] for engine in engines}
        for _ in range(rounds):
            for engine in engines:
                spent = asked(__file__, "--steps", engine, folder)
                found[engine].append([spent[step] for step in STEPS])
        middle = {engine: medians(values) for engine, values in found.items()}
        for engine, values in middle.items():
            ours = middle["structgen"][0] if engine != "structgen" else None
            rows.append([tokenizer, engine, *values, ratio(ours, values[0])])
    return table(["tokenizer", "engine", *STEPS, "structgen's vocabulary of this"], rows, left=2)


def part_table(folders: dict[str, str], rounds: int) -> str:
    rows = []
    for tokenizer, folder in folders.items():
        middle = medians([asked(__file__, "--parts", folder) for _ in range(rounds)])
        rows.append([tokenizer, *map(int, middle[:3]), *middle[3:]])
    columns = ["tokenizer", "tokens", "trie nodes", "longest, bytes", "all, ms", "reading", "sorting", "trie"]
    return table([*columns, "spellings, MB", "trie, MB"], rows)


def main() -> None:
    if sys.argv[1:2] == ["--steps"]:
        print(json.dumps(steps(*sys.argv[2:4])))
        return
    if sys.argv[1:2] == ["--parts"]:
        print(json.dumps(parts(sys.argv[2])))
        return
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--tokenizers", nargs="*", default=[], metavar="FOLDER")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    folders = tokenizer_folders(options.tokenizers)
    print(heading(), end="\n\n")
    print(import_table(options.rounds), end="\n\n")
    print(step_table(folders, options.rounds), end="\n\n")
    print(part_table(folders, options.rounds))


if __name__ == "__main__":
    main()
