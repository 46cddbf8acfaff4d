"""Masks and matchers of proper tokenizations.

Read `proper_tokenization` first, then `proper_masks`.
"""
