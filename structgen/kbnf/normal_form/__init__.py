"""The normal form of a grammar, which the engine reads, as a sequence of small passes.

Read `passes` first: it has the order of the passes, and an example.
"""
