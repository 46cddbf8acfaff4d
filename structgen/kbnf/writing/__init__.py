"""Writers of KBNF, GBNF, xgrammar's EBNF and Lark: tree to text, and what a dialect needs before.

kbnf, gbnf, lark     the writers
naming               the first step of each: names that the dialect accepts
infix, tokens        bodies of rules, and token terminals, in the notations that share them
kbnf_dialects        the current KBNF and the older one, each in terms of the other
lowering             a tree without constructs that KBNF has no syntax for
shorter_regex        regexes that people can read; regex_text writes them
shared_parts         parts that occur in several regexes, as rules
character_rules      regexes as rules over characters, for GBNF
automaton_rules      regexes as right-linear rules; state_graphs makes them few
productive           the grammar without parts that derive no text
left_recursion       its refusal, for programs that cannot parse it
longest_match        what llguidance's lexer could not tell apart
"""
