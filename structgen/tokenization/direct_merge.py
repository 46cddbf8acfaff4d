"""The public form of DirectMerge: from a regular grammar and a tokenizer's merges to an automaton over tokens.

    "( a|b)+"  ──▶  automaton over bytes  ──▶  automaton over symbols  ──▶  automaton over tokens
               regular, AutomatonStore    _symbols_automaton           apply_merges

Symbols are what a text consists of before any merge: bytes, or characters with a byte fallback.

DirectMerge, as V. Tran-Thien published it (2024), follows the merges alone. A tokenizer does more: it cuts a text into
pre-tokens, finds added tokens, and may normalize. A grammar with a text of which that changes the tokens is refused
here, with the text; `merges_only=True` takes it as published. `tokenization="proper"` (`matching/`) handles all of it,
for any grammar, without an automaton made in advance. Each method is a test of the other.
"""

from __future__ import annotations

from structgen.engine.automata.store import AutomatonStore
from structgen.engine.constants import DEAD
from structgen.engine.deadlines import Deadline
from structgen.engine.regex import tree as rx
from structgen.engine.vocabulary.vocabulary import Vocabulary
from structgen.errors import LimitExceededError, VocabularyError
from structgen.kbnf import ast
from structgen.kbnf.regular import regular
from structgen.limits import Limits
from structgen.output_types.grammar import Grammar
from structgen.tokenization.configuration.symbols import Symbols, check_spellings
from structgen.tokenization.configuration.tokenizer_parts import Parts, read_tokenizer
from structgen.tokenization.matching.tokenizer_copy import only_tokenizer
from structgen.tokenization.merges.merge_table import MergeTable
from structgen.tokenization.merges.token_automata import TokenAutomaton, Transitions, apply_merges
from structgen.tokenization.pre_tokens.characters import character_length
from structgen.tokenization.pre_tokens.scanner import Scanner

__all__ = ["direct_merge"]

CHECKED_STATES = 256  # the number of states between two looks at the clock
HINT = "merges_only=True follows the merges alone; compile(…, tokenization='proper') follows the whole tokenizer"


def direct_merge(
    grammar: Grammar | str,
    vocabulary: Vocabulary,
    *,
    merges: int | None = None,
    merges_only: bool = False,
    limits: Limits | None = None,
) -> TokenAutomaton:
    r"""Return the automaton of the token sequences that a tokenizer makes of a grammar's texts (DirectMerge).

    It is V. Tran-Thien's method of 2024, which rewrites an automaton once for each merge. Use it to look at all proper
    sequences of a small grammar, or as a second opinion on masks. For generation, use `tokenization="proper"`: it makes
    no automaton in advance, and takes any grammar.

    Args:
        grammar: a regex, or a grammar whose rules do not recurse; whether it ends eagerly does not matter.
        vocabulary: the vocabulary of a Hugging Face tokenizer, which must still exist.
        merges: use only the first merges of the tokenizer, so many; all of them by default. Tokens that they do not
            make do not occur.
        merges_only: take each text as one pre-token without added tokens, as published.
        limits: `automaton_states` bounds the states of each automaton, `compile_seconds` the time.

    Returns:
        A `TokenAutomaton`. It accepts exactly one sequence for each text of the grammar. With `merges_only`, texts
        with characters that have no tokens are left out.

    Raises:
        TypeError: the grammar is neither a `Grammar` nor a string.
        ValueError: `merges` is negative.
        GrammarError: a rule recurses, or the grammar has look-aheads or margins.
        VocabularyError: the vocabulary's tokenizer is gone, is not a byte-pair encoding, or a text of the grammar meets
            merges in an order that training does not make; or, without `merges_only`, the tokenizer cuts, normalizes or
            cannot spell a text of the grammar, or finds an added token in it.
        LimitExceededError: automaton_states or compile_seconds.

    Example:
        >>> from tokenizers import Tokenizer, decoders, models
        >>> tokens = {"l": 0, "o": 1, "w": 2, "lo": 3, "low": 4, "<end>": 5}
        >>> tokenizer = Tokenizer(models.BPE(tokens, [("l", "o"), ("lo", "w")]))
        >>> tokenizer.decoder = decoders.Fuse()
        >>> vocabulary = Vocabulary.from_huggingface(tokenizer, eos_token_ids=5)
        >>> automaton = direct_merge("(low|l|owl)+", vocabulary)
        >>> automaton.accepts([0, 4]), automaton.accepts([0, 0, 1, 2])  # `l`, `low`; and the same text, split otherwise
        (True, False)
    """
    if not isinstance(grammar, Grammar | str):
        raise TypeError(f"direct_merge takes a Grammar or a regex, not a {type(grammar).__name__}")
    if merges is not None and merges < 0:
        raise ValueError(f"merges={merges}: a number of merges is not negative")
    limits = limits or Limits()
    tree = (Grammar.regex(grammar, limits=limits) if isinstance(grammar, str) else grammar).tree
    regex = _regex_of(tree)
    parts = read_tokenizer(only_tokenizer(vocabulary))
    check_spellings(parts, vocabulary)
    store = AutomatonStore(limits)
    start = store.add(regex)
    table = MergeTable(parts.size, parts.merges[:merges], parts.lengths)
    symbols = Symbols(parts, vocabulary)
    deadline = Deadline(limits.compile_seconds)
    if not merges_only:
        _check_added_tokens(store, regex, parts)
        _check_pre_tokens(store, start, parts, limits, deadline)
        if parts.ignore_merges and merges is None:
            _check_whole_words(store, start, parts, table, vocabulary)
    automaton = _symbols_automaton(store, start, symbols, limits, deadline)
    try:
        return apply_merges(automaton, table.taken_merges(), limits)
    except ValueError as error:
        raise VocabularyError(f"the tokenizer's merges are not in an order that training makes: {error}") from error


def _regex_of(tree: ast.Grammar) -> rx.Regex:
    """Return the regex of a grammar without recursion."""
    grouped: dict[str, list[ast.Expression]] = {}
    for rule in tree.rules:
        grouped.setdefault(rule.name, []).append(rule.body)
    return regular(ast.Reference(tree.start), grouped)


# -- from bytes to symbols --------------------------------------------------------------------------------------------


def _symbols_automaton(
    store: AutomatonStore, start: int, symbols: Symbols, limits: Limits, deadline: Deadline
) -> TokenAutomaton:
    """Return the automaton over the tokens of single symbols.

    Its states are pairs: a state of the store, and the first bytes of a character that byte tokens spell.
    """
    numbers: dict[tuple[int, bytes], int] = {(start, b""): 0}
    states = [(start, b"")]
    transitions: Transitions = {}
    for number, (state, prefix) in enumerate(states):  # grows meanwhile
        if number % CHECKED_STATES == 0:
            deadline.check()
        arrows = transitions[number] = {}
        for token, following in _symbol_steps(store, state, prefix, symbols):
            if following not in numbers:
                numbers[following] = len(states)
                states.append(following)
            arrows[token] = numbers[following]
        if len(states) > limits.automaton_states:
            raise LimitExceededError("automaton_states", limits.automaton_states)
    accepting = {number for (state, prefix), number in numbers.items() if not prefix and store.is_accepting(state)}
    return TokenAutomaton(0, frozenset(accepting), transitions)


def _symbol_steps(
    store: AutomatonStore, state: int, prefix: bytes, symbols: Symbols
) -> list[tuple[int, tuple[int, bytes]]]:
    """Return the symbols that lead on from a state, each with the next state and unfinished character."""
    steps: list[tuple[int, tuple[int, bytes]]] = []
    for target, targets_bytes in store.successors(state).items() if state != DEAD else ():
        for byte in range(256):
            token = symbols.of_byte.get(bytes([byte]))
            if not targets_bytes >> byte & 1 or token is None:
                continue
            text = prefix + bytes([byte])
            is_whole = not symbols.of_character or len(text) == character_length(text)
            if is_whole and text not in symbols.of_character:  # a character with a token is not spelled by bytes
                steps.append((token, (target, b"")))
            elif not is_whole:
                steps.append((token, (target, text)))
    if not prefix:
        for text, token in symbols.of_character.items():
            target = state
            for byte in text:
                target = store.next(target, byte) if target != DEAD else DEAD
            if target != DEAD:
                steps.append((token, (target, b"")))
    return steps


# -- what merges do not say -------------------------------------------------------------------------------------------


def _check_added_tokens(store: AutomatonStore, regex: rx.Regex, parts: Parts) -> None:
    """Raise an error if an added token occurs in a text: it is taken out before any merge."""
    contents = [content.encode() for content in parts.added.values()]
    if not contents:
        return
    held = rx.sequence(rx.ANY_BYTES, rx.literal_set(contents), rx.ANY_BYTES)
    text = store.shortest_text(store.meet([regex, held]))
    if text is not None:
        raise VocabularyError(f"an added token of the tokenizer occurs in {_shown(text)}", hint=HINT)


def _check_pre_tokens(store: AutomatonStore, start: int, parts: Parts, limits: Limits, deadline: Deadline) -> None:
    """Raise an error if the tokenizer cuts a text into pre-tokens, normalizes it or cannot spell it.

    A text is one pre-token if and only if the guess without any cut turns out to be right. So that guess is followed
    along all texts; it must stay possible, and be right wherever a text may end.
    """
    scanner = Scanner(parts.splits, parts.memberships, (), 0, byte_splits=parts.byte_splits)
    first = (start, scanner.start, 0)
    came_from: dict[tuple[int, int, int], tuple[tuple[int, int, int], int]] = {first: (first, 0)}
    states = [first]
    for number, here in enumerate(states if start != DEAD else ()):  # grows meanwhile
        if number % CHECKED_STATES == 0:
            deadline.check()
        state, guess, partial = here
        if store.is_accepting(state) and number and not scanner.may_end(guess):
            raise _cut_error(store, here, came_from)
        for target, targets_bytes in store.successors(state).items():
            for byte in range(256):
                if targets_bytes >> byte & 1:
                    following = (target, *scanner.follow(guess, partial, bytes([byte])))
                    if following not in came_from:
                        came_from[following] = (here, byte)
                        states.append(following)
                    if not following[1] or (byte >= 0x80 and parts.is_normal is not None):
                        raise _cut_error(store, following, came_from)
        if len(states) > limits.automaton_states:
            raise LimitExceededError("automaton_states", limits.automaton_states)


def _cut_error(
    store: AutomatonStore,
    here: tuple[int, int, int],
    came_from: dict[tuple[int, int, int], tuple[tuple[int, int, int], int]],
) -> VocabularyError:
    """Return the error for texts that are not one pre-token as they are, with one of them."""
    rest = store.shortest_text(here[0]) or b""
    spelled = []
    while came_from[here][0] != here:
        here, byte = came_from[here]
        spelled.append(byte)
    text = bytes(reversed(spelled)) + rest
    return VocabularyError(
        f"the tokenizer cuts, normalizes or cannot spell texts of the grammar, such as {_shown(text)}",
        hint=HINT,
    )


def _check_whole_words(
    store: AutomatonStore, start: int, parts: Parts, table: MergeTable, vocabulary: Vocabulary
) -> None:
    """Raise an error if a text is one token although the merges do not make it (`ignore_merges`)."""
    for token, text in enumerate(vocabulary.spellings[: parts.size]):
        is_whole = text and parts.lengths[token] and not table.is_proper[token] and token not in parts.added
        if is_whole and start != DEAD and store.matches(start, text):
            raise VocabularyError(
                f"{_shown(text)} is one token of the tokenizer, which its merges do not make", hint=HINT
            )


def _shown(text: bytes) -> str:
    return repr(text.decode(errors="replace"))
