"""Compare the kinds of characters below nodes, and of those that lead back to a state, with single characters."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.tries import trie_of

from structgen.engine.automata.store import AutomatonStore
from structgen.engine.masks.character_kinds import CharacterKinds, TrieCharacters, kinds_in
from structgen.engine.regex_syntax.parser import parse_regex
from structgen.engine.vocabulary.token_trie import TokenTrie

SAMPLES = [
    *map(chr, range(128)),
    "\u0080",
    "\u0085",
    "\u00a0",
    "\u00bf",
    "\u1000",
    "\u1680",
    "\u2003",
    "\u2014",
    "\u2028",
    "\u2500",
    "\u3000",
    "\u3042",
    "\ufeff",
    "\uff01",
    "é",
    "\u07ff",
    "\u0800",
    "日",
    "\ud7ff",
    "\ue000",
    "\U00010000",
    "\U0010ffff",
]
TEXTS = st.lists(
    st.one_of(
        st.text(st.sampled_from('ab"\\ é日\U0001f600'), min_size=1, max_size=5).map(str.encode),
        st.binary(min_size=1, max_size=4),
        st.text(st.sampled_from("aé日\U0001f600"), min_size=1, max_size=3).map(lambda text: text.encode()[:-1] or b"a"),
    ),
    max_size=40,
)


def kinds_of(text: str) -> int:
    """Return the kinds of some characters: of the only token below a node that is another character."""
    contents = TrieCharacters(trie_of([(b"~" + text.encode(), 0)]))
    return contents.kinds_below[0]


def node_of(trie: TokenTrie, path: bytes) -> int:
    node = -1
    for depth, byte in enumerate(path, 1):
        node += 1
        while trie.node_depth[node] != depth or trie.node_byte[node] != byte:
            node = trie.node_end[node] if trie.node_depth[node] == depth else node + 1
    return node


def test_every_character_has_one_kind_and_cut_off_ones_have_that_too() -> None:
    for char in map(chr, [*range(0xD800), *range(0xE000, 0x10000), 0x10000, 0x10FFFF]):
        assert kinds_in(char.encode()).bit_count() == 1, char
    for char in SAMPLES:
        assert kinds_of(char) == kinds_in(char.encode()), char
        spelled = char.encode()
        for end in range(1, len(spelled)):
            kinds = TrieCharacters(trie_of([(b"~" + spelled[:end], 0)])).kinds_below[0]
            assert kinds == kinds_in(spelled[:end]), char
            assert kinds & kinds_of(char) if end == 1 else kinds == kinds_of(char), char


@given(TEXTS.map(sorted))
def test_behind_a_node_are_the_kinds_of_all_that_goes_on_there(texts: list[bytes]) -> None:
    trie = trie_of([(text, index) for index, text in enumerate(texts)])
    contents = TrieCharacters(trie)
    broken = TrieCharacters(trie_of([(b"~\xff", 0)])).kinds_below[0]
    for path in {text[:end] for text in texts for end in range(1, len(text) + 1)}:
        node = node_of(trie, path)
        assert contents.characters[node] == sum(byte & 0xC0 != 0x80 for byte in path)
        is_inner = contents.first_inner[node] < contents.first_inner[node + 1]
        following = [text for text in texts if text.startswith(path) and text != path]
        try:
            path.decode()
        except UnicodeDecodeError:
            assert not is_inner
            assert not following or contents.kinds_below[node] & broken
            continue
        assert is_inner == bool(following)
        assert not is_inner or contents.inner[contents.first_inner[node]] == node
        expected = 0
        for text in following:
            rest = text[len(path) :]
            whole = rest.decode(errors="ignore")
            cut_off = rest[len(whole.encode()) :] if rest.startswith(whole.encode()) else b"\xff"
            expected |= kinds_of(whole) if whole else 0
            expected |= TrieCharacters(trie_of([(b"~" + cut_off, 0)])).kinds_below[0] if cut_off else 0
        if not expected & broken:
            assert contents.kinds_below[node] == expected
        else:
            assert contents.kinds_below[node] & broken


PATTERNS = (
    '[^"]*"',
    '([^"\\\\]|\\\\.)*"',
    "[a-z]+,",
    "[0-9a-f]*-",
    "[^a]*a[^b]*b",
    "(?:\\S+ )*\\S+!",
    "[\\x00-\\u07ff]*\U0010ffff",
    "[^\\n0]*",
    "é[a-z日]*0?",
    "\\S*\\s+\\S*!",
    "[^\\u2028\\u3042]*!",
    "[^\\u3000\\u2014]*a",
)
NO_WHOLE_KIND = "(a|é|日)*x"


@pytest.mark.parametrize("pattern", [*PATTERNS, NO_WHOLE_KIND])
def test_characters_of_a_loop_lead_back_and_end_nothing(pattern: str) -> None:
    automata = AutomatonStore()
    kinds = CharacterKinds(automata)
    states = [automata.add(parse_regex(pattern))]
    for state in states:
        after = {automata.step(state, byte) for byte in 'ab"\\é日 0'.encode()} - {0, *states}
        states.extend(sorted(after)[: 30 - len(states)])
    looped = 0
    for state in states:
        loops, returns = kinds.loops(state), kinds.returns(state)
        assert loops == (0 if automata.is_accepting(state) else returns)
        refused = kinds.refused(state)
        for char in SAMPLES:
            kind = kinds_of(char)
            target = state
            for byte in char.encode():
                target = automata.step(target, byte)
            if returns & kind:
                assert target == state, (pattern, char)
                looped += 1
            if refused & kind:
                first, *others = char.encode()
                after_first = automata.step(state, first)
                assert not after_first or (others and not automata.step(after_first, others[0])), (pattern, char)
    assert (looped > 10) != (pattern == NO_WHOLE_KIND)


def test_a_string_s_state_is_left_by_no_kind_but_those_of_its_ends() -> None:
    automata = AutomatonStore()
    loops = CharacterKinds(automata).loops(automata.add(parse_regex('[^"\\\\]*"')))
    assert [char for char in SAMPLES if not loops & kinds_of(char)] == ['"', "\\"]
    looks_for_a_word = CharacterKinds(automata).loops(automata.add(parse_regex(".*github.*!")))
    assert [char for char in SAMPLES if not looks_for_a_word & kinds_of(char)] == ["\n", "g"]
