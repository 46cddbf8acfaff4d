"""Openings: how a text may begin after an added token, since the tokenizer may change its beginning.

After an added token, a tokenizer may first remove white space (`rstrip`), and then insert a space ("Prepend",
"Metaspace", "ByteLevel"). Tokens must spell the text that they were made from, so:

    Phi-3's `<|assistant|>` has rstrip      no text begins with white space there: the tokenizer would remove it
    Llama 2 inserts a space after `<s>`     after a prompt, that space is written first, as if it were the prompt's
    "UnicodeScripts"                        it removes spaces there
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from structgen.errors import VocabularyError
from structgen.tokenization.pre_tokens.character_classes import ANY_SCRIPT, SCRIPT, SPACE_MARK

__all__ = ["Opening", "read_openings"]


SCRIPTLESS = f"{SCRIPT}{ANY_SCRIPT}}}"  # a character that goes with any script, such as a space


@dataclass(frozen=True, slots=True)
class Opening:
    """The texts that may follow an added token: those at whose beginning a regex does not match.

    Attributes:
        in_text: the regex where the added token is part of the text.
        after_prompt: the regex where a prompt ends with the added token.
        inserted: the bytes that the tokenizer inserts there, if any text follows.
    """

    in_text: str
    after_prompt: str
    inserted: bytes


def read_openings(
    tokens: list[dict[str, Any]],
    prepended: list[str],
    is_marked_first: bool,
    pre_tokenizers: list[dict[str, Any]],
    stripped: str | None = None,
) -> dict[int, Opening]:
    """Return the openings of added tokens by id; none for those after which texts are read as they are.

    Args:
        tokens: the added tokens, as the configuration has them.
        prepended: the texts that normalizers insert before a text.
        is_marked_first: whether a normalizer makes spaces `▁`.
        pre_tokenizers: the pre-tokenizers, as the configuration has them.
        stripped: the form that spaces have when a normalizer removes white space at the beginning of a text; None if
            none does.

    Raises:
        VocabularyError: the tokenizer inserts something other than a space.
    """
    marks_spaces = is_marked_first or any(part["type"] == "Metaspace" for part in pre_tokenizers)
    if prepended not in ([], [SPACE_MARK if marks_spaces else " "]):
        raise VocabularyError(f"the tokenizer's 'Prepend' of {prepended} is not supported")
    completes = any(_inserts_missing_space(part) for part in pre_tokenizers)
    removes = any(part["type"] == "UnicodeScripts" for part in pre_tokenizers)
    found = {}
    for token in tokens:
        # An added token that is "normalized" is looked for after the normalizer.
        prepends = bool(prepended) and not token["normalized"]
        strips = token["rstrip"] or (stripped is not None and not token["normalized"])
        keeps_spaces = is_marked_first if token["normalized"] else not token["rstrip"] and stripped == SPACE_MARK
        if strips or prepends or completes:
            patterns = _patterns(marks_spaces, strips, keeps_spaces, prepends, completes)
            found[token["id"]] = Opening(*patterns, b" " if prepends or completes else b"")
        elif removes:
            found[token["id"]] = Opening(SCRIPTLESS, SCRIPTLESS, b"")
    return found


def _inserts_missing_space(part: dict[str, Any]) -> bool:
    """Return whether a pre-tokenizer inserts a space before each text that does not begin with one."""
    if part["type"] == "Metaspace":
        return bool(part.get("prepend_scheme", "always") == "always")
    return bool(part["type"] == "ByteLevel" and part["add_prefix_space"])


def _patterns(marks_spaces: bool, strips: bool, keeps_spaces: bool, prepends: bool, completes: bool) -> tuple[str, str]:
    """Return the two regexes of an opening: inside a text, and after a prompt.

    Args:
        marks_spaces: whether a space is seen as `▁`.
        strips: whether white space is removed.
        keeps_spaces: whether only white space before the first space is removed.
        prepends: whether a space is always inserted.
        completes: whether a space is inserted if there is none.
    """
    space = SPACE_MARK if marks_spaces else " "
    if strips and not (prepends or completes):
        white = rf"[\s{space}]" if marks_spaces and not keeps_spaces else r"\s"
        return white, white
    if strips and not keeps_spaces:  # one space stands for any white space, if something follows
        stripped = rf"[^{space}]|{space}(?![^\s{space}])"
        return stripped, stripped
    if prepends:
        return r"[\s\S]", rf"[^{space}]|{space}(?![\s\S])"
    return f"[^{space}]", f"[^{space}]"
