"""Constants that several modules of the engine share.

This module is not compiled. A compiled module imports a constant and declares it `cdef int` in its `.pxd`, which gives
it a copy of its own as a C integer.
"""

from __future__ import annotations

# Terms that every table has.
NOTHING = 0
EMPTY = 1
ANY_BYTE = 2
ALL = 3  # every byte string: any byte, repeated

# Kinds of heads; the payload of each. `LITERAL` to `BOUNDED` are sequences: they have a tail.
K_NOTHING = 0
K_EMPTY = 1
K_UNION = 3  # tuple of terms, sorted, none a union; no tail
K_LITERAL = 4  # bytes, 1 to CHUNK of them
K_BYTES = 5  # 256-bit mask, two bits at least
K_CHARS = 6  # number of a class of byte sequences
K_REPEAT = 7  # (body, min, max); max -1 is without bound; a body that is nullable has min 0
K_INTERSECTION = 8  # tuple of terms, sorted
K_COMPLEMENT = 9  # term
K_EARLY = 10  # term
K_TABLE = 11  # (table, low, high, depth): what is left after `depth` bytes of the texts low to high - 1
K_SUBSTRINGS = 12  # (suffix automaton, state)
K_MULTIPLE = 13  # (divisor, remainder, factors); see `Terms.multiple`
K_COUNTING = 14  # (star, phase, term): what spells `phase`, then `star`, and is matched by `term`; see `Terms.counting`
K_BOUNDED = 15  # (counting term, most): its texts that begin at most so many of what is counted
K_DIGITS = 16  # (remainder set, remainder, least, most): so many digits, most -1 is without bound; `Terms.digits`

FAR = 1 << 60  # lengths and counts saturate here

NEVER = 1 << 30  # a count that no text has

# Class maps, which divide the 256 bytes into classes.
NO_MAP = 0  # no class map has this number: the derivatives of the term are not computed yet
ONE_CLASS = 1  # the class map in which all bytes are in one class

DEAD = 0  # the state from which nothing is matched

# Values of a state's `only_byte` besides the bytes 0 to 255.
NOT_EXPANDED = -2
MANY_BYTES = -1
NO_BYTE = 256

# What is known of a term that holds an intersection or a complement; 0 is nothing.
ALIVE = 1
LIFELESS = 2  # it matches nothing

# The captured text of an Earley set; see `engine/earley/item_sets.py`.
NO_TEXT = 0  # the set is in no capture
UNKNOWN_TEXT = 1  # a mask is being made, and the text so far may be one of many
AFTER = 2  # after a capture of unknown text, which does not matter yet
NEEDS_CHECK = 3  # the captured text is unknown, and may matter
EMPTY_TEXT = 4  # this and larger numbers are texts in `CapturedTexts`

# Earley sets; see `engine/earley/`.
UNSET = -1  # a number that is not known yet
DEAD_SET = 0  # the set from which nothing is accepted
ROOT = 0  # the group whose completion is the end of the whole text

# Bits of a group's captures.
CAPTURED = 1  # the group is captured, or waits inside of a capture
FRESH = 2  # and that capture began after another one of unknown text
REFUSING = 4  # the group is captured itself, and some texts are refused where they end

# Masks; see `engine/masks/`.
ROOT_NODE = -1  # the root of a trie, which has no node of its own
NO_REST = -1  # no state follows what is counted
ALL_BITS = 0xFFFFFFFF  # of a mask's word; `~` would give a negative number where modules run uncompiled
SAMPLES = b"eA0 -"  # nearly every state that some character leads back to is one that one of these leads back to
MAX_ROUNDS = 2**31 - 1  # of the numbers that tell one mask in the making from the next

FIRST_LEAD = 0xC2  # the least byte that begins a character of several bytes
MANY_NODES = 16  # of remainders; from so many on, a table tells which nodes a byte leads to

# What a walk over a trie does after a node; see `engine/masks/trie_walk.py`.
STOP = 0
DESCEND = 1
SKIP = 2

# Sizes of the tables of `engine/masks/`.
MAX_LISTED_TOKENS = 128  # a longer list of token ids takes longer to write into a mask than a finished mask to copy
RECORD_BYTES = 500  # about the size of a state's tables, their lists left out
