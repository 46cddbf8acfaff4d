"""KBNF, the notation of grammars: its tree, readers, writers, and the normal form that the engine takes."""
