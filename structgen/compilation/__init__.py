"""From a schema, a type or a grammar to a `Constraint`: the compiler, its cache, the logits processor.

Read `compiler` first.
"""
