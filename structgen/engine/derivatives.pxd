cimport cython
from structgen.engine.partitions cimport PartitionTable

# The numbers of structgen/engine/term_kinds.py.
cdef int EMPTY, NOTHING
cdef int K_UNION, K_LITERAL, K_BYTES, K_CHARS, K_REPEAT, K_INTERSECTION, K_COMPLEMENT, K_EARLY, K_TABLE, K_MULTIPLE, K_COUNTING, K_BOUNDED

cdef int NO_MAP, ONE_CLASS


cdef class DerivativeTable(PartitionTable):
    cdef dict _class_partitions          # class of byte sequences -> partition
    cdef public list _suffix_automata    # by suffix automaton, by its state: [(unit, state)]
    cdef dict _suffix_automaton_of

    @cython.locals(first=int, last=int, at=int)
    cpdef list targets(self, int term)
    @cython.locals(first=int, last=int, at=int)
    cpdef bint reaches(self, int term, int other) except -1
    cpdef int _derive_within(self, int term) except -1
    @cython.locals(stack=list, top=int, heads=list, missing=list)
    cdef int _derive(self, int term) except -1
    @cython.locals(kind=int, seen=set, stack=list, heads=list, top=int, inner=int)
    cpdef list _active(self, int term)
    @cython.locals(kind=int)
    cpdef bint _head_accepts(self, int term) except -1
    @cython.locals(missing=list, head=int, kind=int)
    cpdef list _missing(self, list heads)
    @cython.locals(base=int, number=int, first_bytes=bytearray, literals=int, head=int, place=int, part=int, literals_base=int, classes=int, data=bytes, end=int, byte=int)
    cdef int _combine(self, list heads) except -1
    @cython.locals(work="int[::1]", members=list, at=int, number=int, target=int)
    cdef list _members(self, int base, int literals_base, int end, int byte)
    @cython.locals(size=int, place=int)
    cdef int _moved_down(self, int base, int top) except -1
    cdef int _united(self, list targets) except? -1
    @cython.locals(kind=int, tail=int, number=int, targets=list, target=int, first=int, at=int)
    cdef int _of_head(self, int term) except -1
    @cython.locals(body=int, rest=int, low="long long", high="long long", first=int, at=int, target=int)
    cdef int _of_repeat(self, tuple payload, int tail) except -1
    cpdef tuple _counted_parts(self, int term)
    @cython.locals(star=int, parts=tuple, number=int, part=int, place=int, byte=int, phase=int, inner=int)
    cdef int _of_counting(self, int term) except -1
    @cython.locals(first=int, at=int, target=int)
    cdef int _of_bounded(self, int counting, long long most, int tail) except -1
    @cython.locals(parts=tuple, phase=int)
    cpdef bint is_between(self, int term) except -1
    cpdef int begun(self, int before, int after) except -1
    @cython.locals(number=int, part=int, place=int, byte=int, target=int)
    cdef int _of_intersection(self, tuple parts, int tail) except -1
