"""Writers of KBNF, GBNF, xgrammar's EBNF and Lark: tree to text, and what a dialect needs before.

kbnf, gbnf, lark     the writers
kbnf_dialects        the current KBNF and the older one, each in terms of the other
lowering             a tree without constructs that KBNF has no syntax for
shorter_regex        regexes that people can read; regex_text writes them
shared_parts         parts that occur in several regexes, as rules
character_rules      regexes as rules over characters, for GBNF
automaton_rules      regexes as right-linear rules
longest_match        what llguidance's lexer could not tell apart
"""
