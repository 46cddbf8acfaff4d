"""Languages that are not JSON: a KBNF grammar, and a regex."""

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

phone = structgen.Grammar.regex(r"\d{3}-\d{4}")
print(structgen.generate(model, "What is the phone number in: Call Jim at 555-0187 tonight!", phone))
