"""From a schema, a type or a grammar to a `Constraint`, or to a text for another engine (`export`).

Read `compiler` first.
"""
