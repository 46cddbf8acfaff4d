# See scanner.py for what each table holds.
import cython

from structgen.engine.arrays cimport grown, zeros
from structgen.engine.vocabulary.token_trie cimport TokenTrie

cdef int UNKNOWN, MAX_KINDS, MAX_MANY_KINDS, MANY_CLASSES, NO_TEXT, NO_KIND, FIRST_KIND, FITS, SURE_FIRST, SURE_SECOND, MIN_SHARED, MAX_FLAGS, NOT_SURE, SURE, BLOCK, ROW, CUTTERS


cdef class TokenRows:
    cdef readonly unsigned int[::1] joins
    cdef readonly unsigned int[::1] begins
    cdef readonly list sure_joins
    cdef readonly list sure_begins


cdef class Cutters:
    cdef readonly int[::1] cut_of
    cdef readonly dict completions


cdef class Scanner:
    cdef object _levels
    cdef object _memberships
    cdef dict _kinds            # by memberships, or by step of two levels
    cdef list _members          # by kind: the memberships, or the step
    cdef list _sets             # by state: its guesses, each with whether a cut comes first
    cdef dict _numbers
    cdef dict _cuts
    cdef dict _unions
    cdef list _ends
    cdef int _row               # row length of the next two: more than there are kinds
    cdef int[::1] _steps        # by state and kind: the state after it
    cdef int[::1] _sure         # by state and number of a cut: whether there surely is a cut
    cdef list _prefixes         # by partial character: its bytes
    cdef list _inner            # by partial character: the kind of its last byte
    cdef dict _forms            # by partial character: see `_forms_of`
    cdef int[::1] _characters   # by partial character and byte: see `byte`
    cdef dict _blocks           # by number of a block: what `byte` returns for its characters
    cdef dict _block_kinds      # by number of a block: the same, each once
    cdef dict _cutting_bytes
    cdef dict _completed        # by state and partial character: see `can_complete`
    cdef dict _completing       # by partial character: see `_kinds_completing`
    cdef dict _flags            # by node and state: see `_flags_below`
    cdef bint _has_borders
    cdef object _leads
    cdef tuple _free_bytes      # see `cutting_bytes`: as bits of numbers
    cdef readonly bint cuts_characters
    cdef readonly tuple cuts
    cdef readonly int start
    cdef readonly tuple opened
    cdef int _last_start

    cdef int _number(self, guesses) except -1
    cpdef bint is_start(self, int state)
    cpdef int cut(self, int state) except -1
    cpdef int union(self, int state, int other) except -1
    cpdef bint may_end(self, int state)
    @cython.locals(after=int)
    cpdef int step(self, int state, int kind) except -1
    cdef int _make_step(self, int state, int kind) except -1
    cdef int _left(self, int state) except -1
    @cython.locals(known=object, left=int, byte=int, after=int, next_state=int)
    cpdef object cutting_bytes(self, int state)
    @cython.locals(sure=int)
    cpdef bint surely_cuts(self, int state, int cut) except -1
    @cython.locals(after=int)
    cdef int byte(self, int partial, int byte) except? -100
    cdef int _make_byte(self, int partial, int byte) except? -100
    @cython.locals(first=int, kinds=list, begin=int, place="Py_ssize_t", at=int)
    cdef int _note(self, int partial) except -1
    @cython.locals(index="Py_ssize_t", after=int)
    cpdef int kind_of(self, bytes text) except? -100
    cpdef bint can_complete(self, int state, int partial)
    @cython.locals(kind=int)
    cdef bint _find_completed(self, int state, int partial)
    @cython.locals(found=set)
    cdef list _kinds_completing(self, int partial)
    @cython.locals(index="Py_ssize_t", after=int)
    cpdef tuple follow(self, int state, int partial, bytes text)
    @cython.locals(first=Cutters, second=Cutters, sure_first="unsigned int[::1]", sure_second="unsigned int[::1]", states="int[::1]", partials="int[::1]", node=int, depth=int, first_token=int, end=int, below="unsigned char[::1]", index=int, token=int)
    cpdef int mark(self, int state, int partial, TokenTrie trie, cutters, unsigned int[::1] row, sure) except -1
    @cython.locals(flags=int)
    cdef int _flags_of(self, int token, int state, int partial, Cutters first, Cutters second) except -1
    cdef bytearray _flags_below(self, int node, int state, TokenTrie trie, cutters)
    @cython.locals(first=Cutters, second=Cutters, states="int[::1]", partials="int[::1]", node=int, depth=int, partial=int, index=int)
    cdef int _find_flags(self, int top, int state, TokenTrie trie, cutters, unsigned char[::1] found) except -1
    @cython.locals(found=list, states="int[::1]", partials="int[::1]", node=int, depth=int, index=int)
    cpdef list ends(self, TokenTrie trie, int size)
    @cython.locals(after=int)
    cpdef int descend(self, int[::1] states, int[::1] partials, int depth, int byte) except -1
    @cython.locals(completion=bytes, cut=int)
    cdef bint _is_cut_off(self, int state, int partial, int token, Cutters cutters) except -1


@cython.locals(one="unsigned int")
cdef int set_flags(int token, int flags, unsigned int[::1] row, unsigned int[::1] sure_first, unsigned int[::1] sure_second) except -1
