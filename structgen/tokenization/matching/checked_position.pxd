import cython

from structgen.tokenization.matching.next_tokens cimport NextTokens
from structgen.tokenization.matching.token_sets cimport UndecidedTokens, has
from structgen.tokenization.matching.token_steps cimport TokenSteps
from structgen.tokenization.matching.whole_words cimport WholeWords
from structgen.tokenization.pre_tokens.scanner cimport Scanner


cdef class Place:
    cdef readonly int set_id
    cdef readonly object state
    cdef readonly object branch
    cdef readonly bint joined


cdef class CheckedPosition:
    cdef readonly TokenSteps steps
    cdef readonly bint is_kept
    cdef public dict checked
    cdef Scanner _scanner
    cdef WholeWords _words
    cdef NextTokens _next_tokens
    cdef bint _begins_word      # whether the tokens begin a pre-token
    cdef int _word_before
    cdef unsigned int[::1] _usual       # see `TokenTexts`
    cdef Place _place

    @cython.locals(joined=bint, before=int)
    cpdef int begin(self, Place place) except -1
    @cython.locals(known=UndecidedTokens)
    cpdef int recall(self, UndecidedTokens undecided, Place place) except -1
    cdef int word_after(self, int token) except -2
    @cython.locals(place=Place)
    cdef int drop(self, int token) except -1
