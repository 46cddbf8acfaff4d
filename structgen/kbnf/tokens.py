"""Token terminals of a grammar, resolved against a vocabulary: from names and ranges to the ids of tokens.

The notations of KBNF, and their tokens:

    #token"<|im_end|>"     the special or added token of this name; else the only token with this text
    #token[1000-1010,5]    these ids
    #token[*]              every token that is not an end token
    #token[^"<think>",7]   every token but these, and but the end tokens
"""

from __future__ import annotations

from difflib import get_close_matches
from typing import NoReturn

from structgen.engine.regex.unicode_classes import union_of
from structgen.engine.vocabulary.marks import Ranges
from structgen.engine.vocabulary.vocabulary import Vocabulary, byte_vocabulary
from structgen.errors import GrammarError
from structgen.kbnf import ast
from structgen.kbnf.rewriting import nodes_of

__all__ = ["has_tokens", "special_token", "token_ids"]

_MAX_NAMES_SHOWN = 8


def has_tokens(grammar: ast.Grammar) -> bool:
    """Return whether a grammar has token terminals."""
    return any(isinstance(node, ast.Token) for rule in grammar.rules for node in nodes_of(rule.body))


def token_ids(node: ast.Token, vocabulary: Vocabulary) -> Ranges:
    """Return the ids of a token terminal; at least one.

    A name stands for a special or added token of this name. If there is none, it stands for the token whose text it is.
    End tokens are left out of negations: a model that writes one ends its text.

    Args:
        node: the terminal.
        vocabulary: the tokens.

    Raises:
        GrammarError: the vocabulary has no such token; or a name is the text of several tokens.
    """
    if vocabulary is byte_vocabulary():
        _fail(
            node, "a text alone has no tokens: a grammar with token terminals is for the tokens of a model's vocabulary"
        )
    found = [_id_of(node, name, vocabulary) for name in node.names]
    for first, last in node.ids:
        if last < first:
            _fail(node, f"the range of tokens {first}-{last} is in the wrong order")
        if last >= vocabulary.size:
            _fail(node, f"there is no token {last}: the vocabulary has the ids 0 to {vocabulary.size - 1}")
    named = union_of([*node.ids, *((token_id, token_id) for token_id in found)])
    if node.is_negated:
        named = _all_but(union_of([*named, *((end, end) for end in vocabulary.eos_token_ids)]), vocabulary.size)
    if not named:
        _fail(node, "no token is left for this token terminal")
    return named


def special_token(name: str, vocabulary: Vocabulary) -> int:
    """Return the id of a token, given its name.

    Raises:
        GrammarError: the vocabulary has no such token.
    """
    return token_ids(ast.Token((name,)), vocabulary)[0][0]


def _all_but(ranges: Ranges, size: int) -> Ranges:
    """Return all ids below `size` that are not in some ranges."""
    starts = [0, *(last + 1 for _, last in ranges)]
    ends = [*(first - 1 for first, _ in ranges), size - 1]
    return tuple([(first, last) for first, last in zip(starts, ends, strict=True) if first <= last])


def _id_of(node: ast.Token, name: str, vocabulary: Vocabulary) -> int:
    special = vocabulary.special_tokens
    if name in special:
        return special[name]
    text = name.encode(errors="surrogatepass")
    ids = [token_id for token_id, spelling in enumerate(vocabulary.spellings) if spelling == text] if text else []
    if len(ids) == 1:
        return ids[0]
    if ids:
        listed = ", ".join(map(str, ids[:_MAX_NAMES_SHOWN]))
        _fail(node, f"{name!r} is the text of several tokens: {listed}", hint="name one by its id, as in #token[1000]")
    close = get_close_matches(name, list(special), n=1)
    some = ", ".join(list(special)[:_MAX_NAMES_SHOWN])
    hint = f"did you mean {close[0]!r}?" if close else f"its special tokens are {some}" if some else ""
    return _fail(node, f"the vocabulary has no token {name!r}", hint=hint)


def _fail(node: ast.Token, message: str, *, hint: str = "") -> NoReturn:
    """Raise an error that points at the terminal, where its position is known."""
    if node.source:
        raise GrammarError.at(node.source, node.offset, message, hint=hint)
    raise GrammarError(message, hint=hint)
