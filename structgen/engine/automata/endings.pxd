cimport cython

from structgen.engine.deadlines cimport spend
from structgen.engine.automata.alphabets cimport Alphabets
from structgen.engine.automata.emptiness cimport Emptiness
from structgen.engine.automata.inclusion cimport is_spelled
from structgen.engine.automata.regular_terms cimport is_star
from structgen.engine.automata.term_table cimport TermTable
from structgen.engine.automata.terms cimport Terms

# Typed copies of the constants of structgen/engine/constants.py.
cdef int EMPTY, NOTHING
cdef int BOTH, ENDLESS, MAX_NESTED, NOTHING_MORE, OPEN
cdef int K_BOUNDED, K_BYTES, K_CHARS, K_COMPLEMENT, K_EMPTY, K_INTERSECTION, K_LITERAL, K_REPEAT, K_TABLE, K_UNION


@cython.final
cdef class Endings:
    cdef readonly Emptiness emptiness
    cdef readonly TermTable table
    cdef readonly Terms terms
    cdef readonly Alphabets alphabets
    cdef dict _ever_endless              # state -> result of is_ever_endless
    cdef dict _repeats_until                    # (C, R) -> term -> whether all its texts are C*·R; see repeats_until
    cdef dict _known_endings             # C or NOTHING -> term -> result of _ends_repeating
    cdef dict _known_facts               # (term, following) -> result of _facts
    cdef int _nested                     # calls of _facts under way
    cdef dict _few                       # term -> result of _holds_few

    cpdef bint is_ever_endless(self, int state) except -1
    @cython.locals(top=int, kind=int, known=dict, is_star=bint, is_other=bint)
    cpdef bint _ends_repeating(self, int state, int repeated=*) except -1
    @cython.locals(found=object)
    cdef int _facts(self, int term, int following) except -1
    @cython.locals(kind=int, found=int, rest=int)
    cdef int _made_facts(self, int term, int following) except -1
    @cython.locals(body=int, low=int, high=int, found=int)
    cdef int _facts_of_repeat(self, payload, int rest) except -1
    cdef bint _is_byte(self, int term) except -1
    @cython.locals(known=dict, before="Py_ssize_t")
    cpdef bint repeats_until(self, int state, int body, int last) except -1
    cpdef int last_of(self, int state) except -1
    cpdef bint is_endless_by_form(self, int state) except -1
    @cython.locals(star=int, body=int, low=int, last=int, is_plain=bint)
    cdef bint _has_harmless_character(self, int kept, list others) except -1
    @cython.locals(high=int)
    cdef bint _begins_repeating(self, int state) except -1
    cpdef bint has_last_character(self, int star, list refused) except -1
    cpdef bint goes_on(self, int star, int term) except -1
    @cython.locals(end=int, top=int, kind=int, body=int, known=set, goals=set)
    cdef _alphabet_before_end(self, int term, int star, int most)
    @cython.locals(top=int, kind=int, may=bint)
    cpdef bint _holds_few(self, int term) except -1


cdef int _either(int one, int other) noexcept
