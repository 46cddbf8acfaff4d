cimport cython

from structgen.engine.arrays cimport grown, zeros
from structgen.engine.automata.byte_partitions cimport BytePartitions
from structgen.engine.automata.store cimport AutomatonStore
from structgen.engine.vocabulary.token_trie cimport TokenTrie

cdef int BROKEN, DEAD, FIRST_BEYOND, FIRST_LEAD, START_COUNT, UNKNOWN, BOUNDARY, NO_TEXT
cdef unsigned long long ALL_CHARACTERS, ALL_64_BITS, BACKSLASH
cdef int[::1] KIND_OF, STARTS_OF_LEAD, STARTS
cdef bytes SAMPLES, SAMPLE_BEYOND_ASCII


@cython.locals(one="unsigned long long")
cpdef unsigned long long kind_of(int byte) noexcept


@cython.locals(found="unsigned long long", one="unsigned long long", index=int)
cdef unsigned long long kinds_of_starts(int starts) noexcept


@cython.locals(one="unsigned long long", index=int)
cdef unsigned long long kind_of_pair(int lead, int second) noexcept


@cython.locals(found="unsigned long long", index="Py_ssize_t", byte="unsigned char")
cpdef unsigned long long kinds_in(bytes text) noexcept


@cython.locals(found="unsigned long long", one="unsigned long long", half=int, bits="unsigned long long", byte=int)
cpdef unsigned long long kinds_outside(object alphabet) except? 1


@cython.locals(found=object, one=object, byte=int)
cpdef object alphabet_of(unsigned long long kinds)


@cython.final
cdef class TrieCharacters:
    cdef readonly unsigned long long[::1] kinds_below
    cdef readonly unsigned long long[::1] kinds_with
    cdef readonly int[::1] characters
    cdef readonly int[::1] height
    cdef readonly int[::1] most_below
    cdef readonly int[::1] inner
    cdef readonly int[::1] first_inner

    @cython.locals(inner="int[::1]", first_inner="int[::1]", node=int, size=int)
    cdef int _find_inner(self, TokenTrie trie, int[::1] expected) except -1
    @cython.locals(path="int[::1]", node_byte="int[::1]", node_depth="int[::1]", characters="int[::1]", one="unsigned long long", node=int, depth=int, byte=int, before=int, state=int, begun=int, following=int)
    cdef int _read(self, TokenTrie trie, int[::1] parent, unsigned long long[::1] bits, int[::1] expected) except -1
    @cython.locals(kinds_below="unsigned long long[::1]", kinds_with="unsigned long long[::1]", height="int[::1]", most_below="int[::1]", token_start="int[::1]", characters="int[::1]", one="unsigned long long", node=int, above=int, most=int)
    cdef void _gather(self, TokenTrie trie, int[::1] parent, unsigned long long[::1] bits, int[::1] expected) noexcept


@cython.locals(low=int, high=int)
cdef int _after(int state, int byte) noexcept


@cython.final
cdef class CharacterKinds:
    cdef readonly AutomatonStore automata
    cdef int[::1] _loop_of
    cdef unsigned long long[::1] _loops
    cdef int _loop_count
    cdef int[::1] _first_class
    cdef unsigned long long[::1] _ascii_of_class
    cdef int[::1] _starts_of_class
    cdef int _class_count

    @cython.locals(at=int)
    cpdef unsigned long long loops(self, int state) except? 1
    @cython.locals(index="Py_ssize_t")
    cpdef unsigned long long returns(self, int state) except? 1
    cpdef unsigned long long between(self, int start, int goal) except? 1
    @cython.locals(one="unsigned long long", ascii_kinds="unsigned long long")
    cpdef unsigned long long between_beyond_ascii(self, int start, int goal) except? 1
    @cython.locals(automata=AutomatonStore, number=int, targets=int, first=int, one="unsigned long long", own="unsigned long long", kind="unsigned long long", starts=int, at=int, target=int, index=int, known=int, same=int, more=int)
    cdef unsigned long long _between(self, int start, int goal, unsigned long long found) except? 1
    @cython.locals(partitions=BytePartitions, first=int, at=int, target=int)
    cdef unsigned long long _promising(self, int number, int targets, unsigned long long found) except? 1
    @cython.locals(partitions=BytePartitions, classes=int, targets=int, byte=int)
    cdef bint _has_dead(self, int state, int low, int high) except -1
    @cython.locals(partitions=BytePartitions, first=int, one="unsigned long long", byte=int, lead=int)
    cdef int _classes_of(self, int number) except -1
    @cython.locals(index="Py_ssize_t")
    cdef int after_sample(self, int state) except -1
    @cython.locals(automata=AutomatonStore, classes=int, targets=int, place=int, previous=int, byte=int, target=int)
    cdef bint _all_lead_to(self, int state, int goal, int low, int high, int more) except -1
    @cython.locals(automata=AutomatonStore, number=int, place=int, first=int, found="unsigned long long", one="unsigned long long", own="unsigned long long", kind="unsigned long long", starts=int, at=int, index=int)
    cpdef unsigned long long refused(self, int state) except? 1
    @cython.locals(state=int, byte=int)
    cdef bint _begins(self, int place, int start) except -1
    @cython.locals(automata=AutomatonStore, number=int, place=int, first=int, found="unsigned long long", one="unsigned long long", own="unsigned long long", kind="unsigned long long", starts=int, at=int, target=int, index=int)
    cpdef unsigned long long leading_on(self, int state, dict targets) except? 1
    @cython.locals(automata=AutomatonStore, classes=int, first=int, place=int, previous=int, byte=int, target=int)
    cdef bint _all_lead_on(self, int state, int low, int high, int more, unsigned long long kind, dict targets) except -1
