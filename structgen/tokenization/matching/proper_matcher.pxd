import cython

from structgen.engine.matching.compiled cimport CompiledGrammar
from structgen.engine.matching.matcher cimport Matcher
from structgen.tokenization.matching.proper_masks cimport ProperMasks


cdef unsigned int ALL_BITS
cdef int NOWHERE, TEXTS_SHOWN


cdef bint _has_bit(unsigned int[::1] words, int size, int token) noexcept


cdef class ProperMatcher(Matcher):
    cdef object _tokenization
    cdef object _tokenizer_state  # after the tokens so far
    cdef list _earlier_states     # by accepted token: the state before it
    cdef unsigned int[::1] _mask
    cdef int _mask_at

    @cython.locals(compiled=CompiledGrammar, checked=dict, decided=int, before=int, is_filled=bint)
    cdef int _fill(self, unsigned int[::1] words) except -1
    cdef bint _leads_on(self, state) except -1
    @cython.locals(compiled=CompiledGrammar, one="unsigned int", token=int, masks=ProperMasks)
    cdef int _fill_proper(self, unsigned int[::1] words, dict checked) except -1
