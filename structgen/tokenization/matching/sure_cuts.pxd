import cython

from structgen.engine.earley.item_sets cimport ItemSetStore
from structgen.engine.matching.compiled cimport CompiledGrammar
from structgen.engine.pair_table cimport PairTable
from structgen.tokenization.matching.continuations cimport Continuations
from structgen.tokenization.matching.terminal_texts cimport TerminalTexts
from structgen.tokenization.matching.whole_words cimport WholeWords
from structgen.tokenization.pre_tokens.scanner cimport Scanner

cdef int MAX_KEPT


cdef class SureCuts:
    cdef CompiledGrammar _compiled
    cdef object _tokenization
    cdef Continuations _ahead
    cdef ItemSetStore _sets
    cdef Scanner _scanner
    cdef WholeWords _words
    cdef object _borders        # None if cuts are common enough
    cdef PairTable _known       # by set and state of the scanner: see `leads_on`
    cdef TerminalTexts _texts

    @cython.locals(known=int)
    cdef bint leads_on(self, int set_id, int scanner_state, int word, int token) except -1
    @cython.locals(known=int)
    cdef bint may_come_within(self, int at, int scanner_state, int token) except -1
    cdef object cutting(self, int scanner_state, int word, int token)
    cdef bint may_stop(self, int set_id, int scanner_state) except -1
    cdef bint may_come(self, int set_id, cutting) except -1
    @cython.locals(following=object, texts=list, text=bytes)
    cdef bint _may_cut(self, int set_id, int scanner_state) except -1
    cdef list _longer_cuts(self, int scanner_state)
