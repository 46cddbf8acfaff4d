import cython

from structgen.tokenization.matching.conflicts cimport ConflictTable
from structgen.tokenization.matching.token_sets cimport first_bytes
from structgen.tokenization.matching.whole_words cimport WholeWords
from structgen.tokenization.pre_tokens.scanner cimport Scanner, TokenRows

cdef int MAX_ROWS, MAX_PARTIAL_ROWS, MAX_ENDS, MAX_KEPT


cdef class NextTokens:
    cdef object _vocabulary
    cdef tuple _spellings
    cdef Scanner _scanner
    cdef object _cutters
    cdef WholeWords _words
    cdef ConflictTable _conflicts
    cdef object _never
    cdef object _is_piece
    cdef int _word_count
    cdef object _only_whole
    cdef object _spelled        # the added tokens that stand for their text
    cdef TokenRows _no_rows
    cdef readonly dict _rows    # by state of the scanner and unfinished character
    cdef readonly dict _dropped  # by state of the scanner, unfinished character, and whether it joins: tokens
    cdef int _dropped_count
    cdef dict _can_continue     # by state of the scanner, unfinished character and token
    cdef dict _first_bytes      # by state of the scanner, node of `WholeWords` and token

    @cython.locals(rows=TokenRows)
    cpdef TokenRows rows(self, int scanner_state, int partial)
    @cython.locals(rows=TokenRows, scanner=Scanner)
    cdef TokenRows _make_rows(self, int scanner_state, int partial)
    @cython.locals(rows=TokenRows)
    cpdef bint can_continue(self, int scanner_state, int partial, int token) except -1
    cpdef int drop(self, int scanner_state, int partial, bint joined, int token) except -1
    cpdef bint is_stuck(self, int scanner_state, int partial, int token) except -1
    @cython.locals(text=bytes)
    cpdef object first_bytes_after(self, int scanner_state, int word, int token)
    @cython.locals(rows=TokenRows)
    cdef object _find_first_bytes(self, int scanner_state, int word, int token)
