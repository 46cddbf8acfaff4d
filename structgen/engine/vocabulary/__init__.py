"""Vocabularies: the bytes of each token, their trie, and bit masks over tokens.

Read `vocabulary` first.
"""
