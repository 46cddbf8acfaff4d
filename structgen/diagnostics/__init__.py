"""Tools that show why: `check`, `trace`, and statistics of grammars."""
