"""Rules of one grammar as flat arrays, and grammars composed of others.

Read `tables` first: the form in which a grammar enters the engine.
"""
