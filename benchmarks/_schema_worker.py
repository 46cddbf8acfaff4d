"""The worker process of one engine. Run by `_schema_process`, because a schema may take long or crash the engine.

    python benchmarks/_schema_worker.py ENGINE TOKENIZER_FOLDER [REMOTES_FOLDER]

The worker reads and writes JSON, one message per line. First it writes `{"version": …, "settings": …}`. Then it answers
each question `{"schema": …, "texts": […], "options": {…}}` with one of

- `{"outcome": "refused", "error": …, "why": …}`;
- `{"outcome": "empty"}`: the engine says that no value satisfies the schema;
- `{"outcome": "compiled", "allows": […]}`: for each text, whether the masks allow all of its tokens and then the end;
  or the error.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

from _peers import Engine, Structgen, is_allowed, load_tokenizer, make_engine, version

STRUCTGEN_SETTINGS = (
    'property_order="any", the rest as it is by default; formats="annotate" for the suite\'s file `format`'
)
SAYS_EMPTY = {
    "structgen": "UnsatisfiableSchemaError",
    "llguidance": "nsatisfiable schema",
    "xgrammar": "nsatisfiable",
}
"""The part of an engine's error which says that no value satisfies the schema."""


def registry_of(folder: Path) -> Any:
    """Return the suite's remote schemas, each at the URI that the suite expects."""
    import referencing
    from referencing.jsonschema import DRAFT202012

    registry: Any = referencing.Registry()
    for file in folder.rglob("*.json"):
        contents = json.loads(file.read_text())
        resource = referencing.Resource.from_contents(contents, default_specification=DRAFT202012)
        registry = registry.with_resource(f"http://localhost:1234/{file.relative_to(folder).as_posix()}", resource)
    return registry


def allows(engine: Engine, token_ids: list[int], end: int) -> bool:
    """Return whether the masks allow these tokens, one after another, and then the end token."""
    engine.reset()
    for token_id in [*token_ids, end]:
        if engine.is_stopped():
            return token_id == end
        engine.fill_mask()
        is_in_mask = is_allowed(engine.row, token_id)
        if not engine.commit(token_id) or not is_in_mask:  # some engines do not check the mask in `commit`
            return False
    return True


def answer(engine: Engine, tokenizer: Any, question: dict[str, Any]) -> dict[str, Any]:
    try:
        engine.compile(question["schema"])
    except BaseException as error:  # a panic in Rust is not an Exception
        if SAYS_EMPTY[engine.name] in f"{type(error).__name__}: {error}":
            return {"outcome": "empty"}
        # structgen's errors name the keyword, or the limit that was exceeded
        why = getattr(error, "keyword", "") or getattr(error, "limit", "")
        return {"outcome": "refused", "error": f"{type(error).__name__}: {error}"[:300], "why": why}
    allowed: list[bool | str] = []
    for text in question["texts"]:
        try:
            allowed.append(allows(engine, tokenizer.encode(text, add_special_tokens=False), tokenizer.eos_token_id))
        except BaseException as error:
            allowed.append(f"{type(error).__name__}: {error}"[:300])
    return {"outcome": "compiled", "allows": allowed}


def main(name: str, folder: str, remotes: str = "") -> None:
    os.environ["HF_HUB_OFFLINE"] = "1"
    answers = os.fdopen(os.dup(1), "w")  # anything else that writes to stdout now writes to stderr
    os.dup2(2, 1)
    tokenizer = load_tokenizer(folder)
    engine = make_engine(name, tokenizer)
    registry = registry_of(Path(remotes)) if remotes else None
    settings = STRUCTGEN_SETTINGS if name == "structgen" else engine.settings or "as it is by default"
    print(json.dumps({"version": version(name), "settings": settings}), file=answers, flush=True)
    for line in sys.stdin:
        question = json.loads(line)
        if isinstance(engine, Structgen):
            engine.options = {"registry": registry, **question["options"]}
        print(json.dumps(answer(engine, tokenizer, question)), file=answers, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
