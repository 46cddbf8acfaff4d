import cython

from structgen.engine.automata.store cimport AutomatonStore
from structgen.engine.matching.compiled cimport CompiledGrammar
from structgen.engine.earley.item_sets cimport ItemSetStore
from structgen.tokenization.matching.endings cimport Endings
from structgen.tokenization.matching.terminal_texts cimport TerminalTexts
from structgen.tokenization.pre_tokens.scanner cimport Scanner

cdef int CAPTURED, EAGER, FREE, NO_TEXT
cdef int MAX_BYTES, MAX_ENDINGS, MAX_ENDINGS_KEPT, MAX_ENDING_BYTES, MAX_KEPT


cdef class Continuations:
    cdef CompiledGrammar _compiled
    cdef ItemSetStore _sets
    cdef object _tokenization
    cdef Scanner _scanner
    cdef object _borders
    cdef dict _endings          # those of the kind IN_SET
    cdef readonly TerminalTexts texts
    cdef dict _next_bytes       # by set: see `next_bytes`

    @cython.locals(sets=ItemSetStore, index="Py_ssize_t")
    cdef int follow(self, int set_id, bytes text) except -1
    @cython.locals(automata=AutomatonStore, index="Py_ssize_t")
    cdef int follow_within(self, int at, bytes text) except -1
    cdef object next_bytes(self, int set_id)
    @cython.locals(sets=ItemSetStore, scan=int)
    cdef object _find_next_bytes(self, int set_id)
    @cython.locals(compiled=CompiledGrammar)
    cdef int after_token(self, int set_id, int token) except -1
    cdef bint may_stop(self, int set_id) except -1
    @cython.locals(within=dict)
    cdef object bytes_within(self, int at)
    @cython.locals(sets=ItemSetStore)
    cdef bint is_free(self, int set_id) except -1
    @cython.locals(sets=ItemSetStore, state=int, other=int)
    cdef bint is_item_free(self, int set_id, int scan) except -1
    cdef int kind_of(self, int set_id, int scan) except -1
    @cython.locals(sets=ItemSetStore)
    cdef bint may_follow(self, int set_id, int byte) except -1
    @cython.locals(endings=Endings, found=dict)
    cdef Endings endings(self, int at, int scanner_state, int kind)
    cdef bint find_more(self, Endings endings) except -1
    @cython.locals(scanner=Scanner, automata=AutomatonStore, waiting=list, kind=int, known="Py_ssize_t", at=int, scanner_state=int, partial=int, text=bytes, following=object, cutting=object, byte=int, next_state=int, still=int, unsettled=bint, next_at=int, one=object)
    cdef bint _find_more(self, Endings endings) except -1
    cdef object _cutting_bytes(self, int scanner_state, bytes text)
    @cython.locals(byte=int, one=object)
    cdef bint are_accepted(self, int at, some, int kind) except -1
    @cython.locals(leading=dict)
    cdef object leading_from(self, int at)
