"""Earley item sets as shared, immutable values: kernels, the predictor, the completer.

Read `item_sets` first; it has a worked example.
"""
