import cython

from structgen.engine.arrays cimport zeros
from structgen.engine.automata.store cimport AutomatonStore
from structgen.engine.pair_table cimport PairTable
from structgen.tokenization.matching.checked_position cimport CheckedPosition
from structgen.tokenization.matching.continuations cimport Continuations
from structgen.tokenization.matching.inner_ways cimport InnerWays
from structgen.tokenization.matching.token_sets cimport UndecidedTokens
from structgen.tokenization.matching.token_steps cimport TokenSteps
from structgen.tokenization.pre_tokens.scanner cimport Scanner

cdef int FREE, GOOD, MAX_KEPT, UNKNOWN, WORDS


cdef class InnerWalk:
    cdef AutomatonStore _automata
    cdef bint _is_eager
    cdef Scanner _scanner
    cdef Continuations _ahead
    cdef unsigned int[::1] _borders     # by token: the bytes that have a border with it; None if cuts are common enough
    cdef PairTable _numbers
    cdef unsigned int[::1] _cutting     # by number: the bytes that lead on and cut; a flag if there are no borders
    cdef InnerWays _inner
    cdef const unsigned char[::1] _text
    cdef int[::1] _starts
    cdef unsigned int[::1] _usual
    cdef int[::1] _scanner_states
    cdef int[::1] _partials
    cdef int[::1] _item_states

    @cython.locals(steps=TokenSteps, item=int)
    cpdef int decide(self, UndecidedTokens undecided, CheckedPosition position) except -1
    @cython.locals(text="const unsigned char[::1]", starts="int[::1]", usual="unsigned int[::1]", steps=TokenSteps, one="unsigned int", states="int[::1]", partials="int[::1]", item_states="int[::1]", tokens="int[::1]", verdicts="int[::1]", kind=int, is_free=bint, found="int[::1]", count=int, before=int, known=int, index="Py_ssize_t", token=int, begin=int, length=int, depth=int, byte=int, at=int)
    cdef int _walk(self, UndecidedTokens undecided, CheckedPosition position, int item) except -1
    @cython.locals(first=int, borders="Py_ssize_t", found="unsigned int", word=int)
    cdef bint _is_cut(self, int at, bint is_free, int scanner_state, int token) except -1
    @cython.locals(number=int, leading=object, word=int)
    cdef int _number_of(self, int at, bint is_free, int scanner_state) except -1
    @cython.locals(after=int)
    cdef int _next(self, int state, int byte) except -1
