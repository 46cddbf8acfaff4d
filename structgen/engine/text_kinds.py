"""What a set of items has as its text inside of captures; see `engine/earley.py`. Not compiled, as `term_kinds`."""

from __future__ import annotations

NO_TEXT = 0  # it is in no capture
UNKNOWN_TEXT = 1  # a mask is being made: what was captured so far has many values
AFTER = 2  # after a capture of unknown text that does not matter yet
SUSPECT = 3  # what was captured, and is not known, may matter
EMPTY_TEXT = 4  # from here on numbers in `Texts`
