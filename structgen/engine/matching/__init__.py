"""Matching of one sequence against a compiled grammar: masks, accepting, rolling back, expectations, explanations.

Read `compiled` and `matcher` first.
"""
