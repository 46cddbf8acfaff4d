"""Grammar rules of sets of JSON values, made when the engine predicts them, or written as KBNF.

Read `to_rules` and `lazy_rules` first.
"""
