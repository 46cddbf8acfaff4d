cimport cython
from structgen.engine.deadlines cimport spend
from structgen.engine.automata.alphabets cimport Alphabets
from structgen.engine.automata.byte_partitions cimport BytePartitions
from structgen.engine.automata.derivatives cimport Derivatives
from structgen.engine.automata.inclusion cimport is_all_refused
from structgen.engine.automata.known_texts cimport KnownTexts
from structgen.engine.automata.term_table cimport TermColumn, TermTable
from structgen.engine.automata.terms cimport Terms

# Typed copies of the constants of structgen/engine/constants.py.
cdef int ALIVE, DEAD, EMPTY, LIFELESS, NEVER, NOTHING
cdef int K_BOUNDED, K_COMPLEMENT, K_COUNTING, K_INTERSECTION, K_MULTIPLE, K_REPEAT, K_UNION

cdef int FEW, MAX_TRIED, MULTIPLES_TRIED, PROVED_AFTER


@cython.final
cdef class Emptiness:
    cdef readonly Derivatives derivatives
    cdef readonly TermTable table
    cdef readonly Terms terms
    cdef readonly BytePartitions partitions
    cdef readonly KnownTexts known_texts
    cdef public long long terms_searched # number of terms that searches have visited so far
    cdef TermColumn _life                # by term: ALIVE, LIFELESS, or 0: not known
    cdef TermColumn _least_begun         # by counting term: 1 + the result of `least_begun`; 0 if not computed yet
    cdef TermColumn _begun_at_least      # by counting term: a lower bound of `least_begun`; 0 at first
    cdef TermColumn _begun_at_most       # by counting term: 1 + an upper bound of `least_begun`; 0 if none is known
    cdef dict _refused                   # C*·R -> term -> whether all its texts are texts of C*·R; see `is_all_refused`

    cpdef int pruned(self, int term) except -1
    @cython.locals(known=int, at_least=int, at_most=int, begun=int)
    cpdef bint keeps_within(self, int term, int most) except -1
    @cython.locals(came_from=dict, cost=dict, queue=list, path=list, order=int, top=int, total=int, index=int, target=int,
                   reached=int, rest=int, looked_at=int)
    cdef bint _ends_within(self, int term, int most) except -1
    @cython.locals(alphabets=Alphabets, part=int)
    cdef bint _is_hopeless(self, int term) except -1
    cdef bint _is_proved_empty(self, int term) except -1
    @cython.locals(least=int)
    cdef int _known_count(self, int term) except -2
    @cython.locals(came_from=dict, cost=dict, floor=dict, settled=set, queue=list, best=int, total=int, known=int,
                   reached=int, lowest=int, index=int, last=int, top=int, target=int, seen=int)
    cpdef int least_begun(self, int term, int most=*) except -1
    @cython.locals(top=int, target=int, index=int, order=int, looked_at=int, came_from=dict, queue=list, path=list, seen=int,
                   refuses=bint)
    cpdef bint is_alive(self, int term) except -1
    cpdef bint _is_known_alive(self, int term) except -1
    @cython.locals(part=int, plain=int, text=bytes)
    cdef bint _has_short_text(self, int term) except -1
    cpdef bytes short_text(self, int term)
    @cython.locals(part=int)
    cdef bint _has_complement(self, int term) except -1
    @cython.locals(kind=int)
    cdef bint _has_free_text(self, int term) except -1
    cdef bint _has_multiple(self, int term) except -1
    @cython.locals(number=int, length=object, step=object, begun=int)
    cdef int _begun_by_multiple(self, int term) except -2
    @cython.locals(part=int, inner=int)
    cdef int _multiple_in(self, int term) except -1
    @cython.locals(begun=int, after=int, byte=int)
    cdef int _begun_by(self, int term, bytes digits) except -2
    @cython.locals(index="Py_ssize_t")
    cdef int _after(self, int term, bytes text) except -1
    cdef bint is_matched(self, int term, bytes text) except -1
    @cython.locals(before=dict, living=list, term=int, index=int, target=int)
    cpdef _conclude(self, dict seen, set waiting)
    cdef int _successor_count(self, int term) except -1
    @cython.locals(counting=int)
    cdef int _successor(self, int term, int index) except -1
    @cython.locals(part=int, least=int, low=int, body=int, star=int)
    cdef int _least_by_form(self, int term) except -1
    cdef object _spread(self, int term)
    @cython.locals(target=int)
    cpdef int live_target(self, int at) except -1
    @cython.locals(classes=list, number=int, target=int, found=dict)
    cpdef dict successors(self, int state)
