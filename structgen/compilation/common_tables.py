"""Tables that nearly all JSON texts need, made at the first compile for a vocabulary.

Free strings, numbers, keys, white space and brackets are the same in all schemas. Their tables belong to the vocabulary
(`structgen.engine.masks.terminal_masks`), as does the index of tokens that serves all bounds on a string's length.
Without this module the first texts of a process would wait for them, mask by mask. A small schema is compiled instead,
and the masks along a text of it are made:

    text    {"   a   ":   "   he   llo   ",   "   …
    masks   key  key colon    string …    comma

Then the schema is dropped; the tables stay. Masks do not change, as a table depends on its terminal only. This happens
once for a vocabulary: not for other limits, and not again where the tables were dropped. It takes about 5 ms for a
vocabulary of 128,000 tokens. Masks of small vocabularies are made fast enough.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from structgen.compilation.inputs import CompileInput, from_source
from structgen.engine.constants import DEAD_SET
from structgen.engine.deadlines import Deadline
from structgen.engine.matching.compiled import CompiledGrammar, SharedState, Turn
from structgen.engine.matching.matcher import Matcher
from structgen.engine.vocabulary.bitmask import allocate_token_bitmask
from structgen.engine.vocabulary.vocabulary import Vocabulary
from structgen.errors import LimitExceededError
from structgen.limits import Limits
from structgen.schema import resolve
from structgen.schema.options import SchemaOptions

__all__ = ["COMMON_SCHEMA", "common_text", "make_common_tables"]

MIN_TOKENS = 4_096  # of a vocabulary
FIRST_STEPS = 2
COMMON_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "a": {"type": "string"},
        "b": {"type": "integer"},
        "c": {"type": "number"},
        "d": {"type": "boolean"},
        "e": {"type": "array", "items": {"type": "string"}},
        "f": {"type": "null"},
        "g": {"type": "string", "minLength": 1, "maxLength": 100},
    },
}
# A mask is made at each bar, as if tokens ended there. Other keys and any values follow those of the schema.
_TEXT = (
    r'{"|a|":| "|he|llo|\|n|\n|",| "|b|":| |1|20|,| "|c|":| |1|0|.|5|0|,| "|d|":| true|,| "|e|":| ["|x|",| "|y|"],|'
    r' "|f|":| null|,| "|g|":| "|h|i|",| "|zz|":| "|A|",| "|yy|":| -|1|,| "|xx|":| [|1|,| {"|a|":| |2|}]|}'
)


def common_text(options: SchemaOptions) -> list[bytes]:
    """Return a text of the small schema, written as some options say, in pieces after which a mask is made."""
    text = _TEXT
    if options.whitespace == "compact":
        text = text.replace(" ", "")
    if options.numbers == "any":
        text = text.replace("|.|5|0|", "|.|5|0|e|3|")
    return text.encode().split(b"|")


def make_common_tables(prepared: CompileInput, vocabulary: Vocabulary, limits: Limits) -> None:
    """Make the tables that nearly all JSON texts need, if this is the first compile of JSON for the vocabulary.

    Args:
        prepared: what was compiled. White space and numbers are written as its options say.
        vocabulary: the tokens.
        limits: the bounds of the tables. Where one is passed, the rest of the tables is left out.
    """
    source = prepared.source
    if source is None or not prepared.is_json or vocabulary.size < MIN_TOKENS:
        return
    if not SharedState.of(vocabulary).begin_common():
        return
    options = SchemaOptions(whitespace=source.options.whitespace, numbers=source.options.numbers)
    try:
        with Deadline(limits.compile_seconds, memory_bytes=limits.memory_bytes):
            common = from_source(resolve(COMMON_SCHEMA, limits=limits, options=options), limits)
            is_empty = SharedState.of(vocabulary).is_empty(vocabulary, limits)
            tables = common.tables(limits, Deadline(limits.compile_seconds), is_empty, None, vocabulary)
            compiled = CompiledGrammar(tables, vocabulary, limits=limits)
    except LimitExceededError:
        return
    _make_masks(compiled, common_text(options))
    with suppress(LimitExceededError):
        _take_steps(compiled)


def _take_steps(compiled: CompiledGrammar) -> None:
    """Take the first steps of a text: code that runs for the first time is read from its file."""
    matcher = Matcher(compiled)
    row = allocate_token_bitmask(1, compiled.vocabulary.size)
    for _ in range(FIRST_STEPS):
        matcher.fill_next_token_bitmask(row, 0)
        allowed = matcher.allowed_token_ids()
        if not allowed:
            return
        matcher.accept_token(allowed[0])


def _make_masks(compiled: CompiledGrammar, pieces: list[bytes]) -> None:
    """Make the mask after each piece of a text. A mask that another thread waits for long ends early, as in a warm-up.

    No lock is held between two masks.
    """
    epoch, set_id = compiled.epoch, compiled.sets.start_set
    for piece in pieces:
        with Turn(compiled):
            if compiled.epoch != epoch:
                return
            try:
                compiled.let_move()
                set_id = compiled.sets.goto_all(set_id, piece)
                if set_id == DEAD_SET:
                    return
                compiled.masks.get(set_id)
            except LimitExceededError as error:
                if error.limit == "memory_bytes":
                    compiled.drop_tables()
                    return
