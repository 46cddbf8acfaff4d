"""Byte automata of regexes, built lazily from derivatives.

A state is a *term*: a number for the texts that may still come. Read `terms` and `term_table` first, then
`derivatives`, `emptiness` and `store`, which the other rooms use.
"""
