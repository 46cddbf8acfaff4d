"""Writers of KBNF, GBNF, xgrammar's EBNF and Lark: tree to text, and what a dialect needs before."""
