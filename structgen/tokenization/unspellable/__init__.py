"""Texts that the tokenizer cannot spell: found when a grammar is compiled, then removed or refused by name."""
