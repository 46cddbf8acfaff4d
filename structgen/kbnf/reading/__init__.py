"""Readers of KBNF, GBNF and Lark: text to tree."""
