"""KBNF: its tree, reading and writing it, and the normal form that the engine takes."""
