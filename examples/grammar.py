"""Answers that are not JSON: a KBNF grammar and a regex."""

import structgen

MOVES = r"""
start    ::= move ", " move ".";
move     ::= "go " way " " steps;
way      ::= "north" | "south" | "east" | "west";
steps    ::= #"[1-9][0-9]?" " steps";
"""

model = structgen.load("smollm2")
text = structgen.generate(
    model, "Give directions: first go north for 10 steps, then east for 5 steps.", structgen.Grammar.kbnf(MOVES)
)
print(text)

date = structgen.Grammar.regex("[0-9]{4}-[0-9]{2}-[0-9]{2}")
print(structgen.generate(model, "On which date was the letter written? Text: Basel, 2026-03-14. Dear Ann, …", date))
