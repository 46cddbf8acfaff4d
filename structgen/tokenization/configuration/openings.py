"""What a tokenizer does to the text behind an added token, and so how a proper one may begin there.

It may take white space away (`rstrip`), and put a space there ("Prepend", "Metaspace", "ByteLevel"), in this order.
What tokens spell has to be the text that they were made of. Behind a prompt that is the text with the space: there the
space is written as if it were the prompt's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from structgen.errors import VocabularyError
from structgen.tokenization.pre_tokens.character_classes import SPACE_MARK

__all__ = ["Opening", "read_openings"]


@dataclass(frozen=True, slots=True)
class Opening:
    """How texts may begin behind an added token. It is said by regexes that must not match there.

    Attributes:
        in_text: the one for a text that holds the token.
        behind_prompt: the one for a text behind a prompt that ends in it.
        put: what the tokenizer puts there, if any text follows.
    """

    in_text: str
    behind_prompt: str
    put: bytes


def read_openings(
    tokens: list[dict[str, Any]],
    prepended: list[str],
    is_marked_first: bool,
    pre_tokenizers: list[dict[str, Any]],
    stripped: str | None = None,
) -> dict[int, Opening]:
    """By id, the openings behind added tokens; none for those behind which texts are read as they are.

    Args:
        tokens: the added tokens.
        prepended: what normalizers put before texts.
        is_marked_first: whether a normalizer makes spaces `▁`.
        pre_tokenizers: what comes behind the normalizers.
        stripped: what spaces are when a normalizer takes white space away at the beginning; None if none does.

    Raises:
        VocabularyError: the tokenizer puts something else than a space there.
    """
    marks_spaces = is_marked_first or any(part["type"] == "Metaspace" for part in pre_tokenizers)
    if prepended not in ([], [SPACE_MARK if marks_spaces else " "]):
        raise VocabularyError(f"the tokenizer's 'Prepend' of {prepended} is not supported")
    completes = any(_puts_missing_space(part) for part in pre_tokenizers)
    found = {}
    for token in tokens:
        # Where an added token is "normalized", it is looked for behind the normalizer.
        prepends = bool(prepended) and not token["normalized"]
        strips = token["rstrip"] or (stripped is not None and not token["normalized"])
        keeps_spaces = is_marked_first if token["normalized"] else not token["rstrip"] and stripped == SPACE_MARK
        if strips or prepends or completes:
            patterns = _patterns(marks_spaces, strips, keeps_spaces, prepends, completes)
            found[token["id"]] = Opening(*patterns, b" " if prepends or completes else b"")
    return found


def _puts_missing_space(part: dict[str, Any]) -> bool:
    """Whether a pre-tokenizer puts a space before each text that does not begin with one."""
    if part["type"] == "Metaspace":
        return bool(part.get("prepend_scheme", "always") == "always")
    return bool(part["type"] == "ByteLevel" and part["add_prefix_space"])


def _patterns(marks_spaces: bool, strips: bool, keeps_spaces: bool, prepends: bool, completes: bool) -> tuple[str, str]:
    """What must not match behind an added token in a text, and at the end of a prompt.

    Args:
        marks_spaces: whether a space is seen as `▁`.
        strips: whether white space is taken away,
        keeps_spaces: up to the first space.
        prepends: whether a space is put there,
        completes: or if there is none.
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
