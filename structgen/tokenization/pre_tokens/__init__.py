"""The pre-tokenizer: where it cuts a text, as an automaton over bytes.

Read `split_patterns` first, then `scanner`.
"""
