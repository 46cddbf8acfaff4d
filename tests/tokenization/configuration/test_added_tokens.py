"""Added tokens that a text is in the middle of."""

from structgen.tokenization.configuration.added_tokens import AddedTokens

CONTENTS = [b"<a>", b"<aa>", b"a>", b"ab", b"\n\n", b"\n\n\n", b"b<"]


def test_only_tokens_that_continue_another_differ_from_those_at_the_beginning():
    added = AddedTokens(dict(enumerate(CONTENTS)), set(range(len(CONTENTS))))
    differing = 0
    for text in (b"<", b"<a", b"x\n", b"b", b"ab"[:1], b"zz<aa"):
        nodes = added.after(frozenset(), text)
        continuing = added.continuing(nodes)
        for token in range(len(CONTENTS)):
            same = added.after_added(nodes, token) == added.after_added(frozenset(), token)
            assert same or token in continuing, (text, CONTENTS[token])
            differing += not same
    assert differing > 2
