"""All terminals of a grammar, those of lazy nonterminals included: a walk over the bodies that its source makes.

    {"name": "…"}      ("value", person)  ->  {"name":  string  (0, "then", 1)      terminals   {"name":   string   }
                       (0, "then", 1)     ->  }

Nothing is kept of the rules: the parser makes them again when a text needs them. What follows a captured text is asked
for an unknown text, so terminals that depend on the text (a key other than those written) are not among these.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator

from structgen.engine.deadlines import Deadline
from structgen.engine.grammar.tables import Capture, GrammarTables, Lazy, Lookahead
from structgen.engine.regex.tree import Regex
from structgen.errors import LimitExceededError
from structgen.limits import Limits

__all__ = ["all_terminals"]


def all_terminals(tables: GrammarTables, limits: Limits, deadline: Deadline | None = None) -> Iterator[Regex]:
    """Yield the terminals of a grammar; one that stands in several bodies may come several times.

    Args:
        tables: the grammar in normal form.
        limits: `grammar_symbols` bounds the symbols of all bodies.
        deadline: checked at each nonterminal.

    Raises:
        LimitExceededError: grammar_symbols, a limit of the source, or the time is over.
    """
    yield from tables.terminals
    source = tables.source
    if source is None:
        return
    size = len(tables.symbols)
    pending: list[Hashable] = list(dict.fromkeys(tables.lazy))
    known = set(pending)
    for key in pending:
        if deadline is not None:
            deadline.check()
        for body in source.bodies(key):
            size += len(body) + 1
            if size > limits.grammar_symbols:
                raise LimitExceededError("grammar_symbols", limits.grammar_symbols)
            for part in body:
                symbol = part.of if isinstance(part, Capture) else part
                after = source.after(part.then, None) if isinstance(part, Capture) else None
                if not isinstance(symbol, (Lazy, Lookahead)):
                    yield symbol
                for new in (symbol.key if isinstance(symbol, Lazy) else None, after):
                    if new is not None and new not in known:
                        known.add(new)
                        pending.append(new)
