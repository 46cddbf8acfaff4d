"""One sequence under a compiled grammar: masks, accepting, rolling back, expectations, explanations.

Read `compiled` and `matcher` first.
"""
