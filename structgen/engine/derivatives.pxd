cimport cython
from structgen.engine.arrays cimport grown, room, zeros
from structgen.engine.terms cimport Terms

# The numbers of structgen/engine/term_kinds.py.
cdef int EMPTY, NOTHING
cdef int K_UNION, K_LITERAL, K_BYTES, K_CHARS, K_REPEAT, K_INTERSECTION, K_COMPLEMENT, K_EARLY, K_TABLE, K_MULTIPLE, K_COUNTING, K_BOUNDED

cdef dict _map_of_mask, _products
cdef list _SPREAD
cdef bytes NO_BYTES
cdef int NO_MAP


cdef class DerivativeTable(Terms):
    cdef list _maps                      # by class map: the class of each byte, as bytes of length 256,
    cdef list _widths                    # how many classes it has
    cdef dict _number_of_map             # class map -> its number
    cdef public int[::1] map_at          # by term: the class map of its derivatives; 0 they are not made yet
    cdef public int[::1] targets_at      # by term: where its targets begin in target_pool, one for each class
    cdef public int[::1] target_pool
    cdef public int pools                # how often these were replaced
    cdef public int[::1] class_of        # the class of byte b in map m is at m * 256 + b
    cdef int _target_count
    cdef int[::1] _map_of_byte
    cdef int[::1] _later_term            # what is not made yet: a term,
    cdef int[::1] _later_tail            # and what follows it
    cdef int _later_count
    cdef dict _class_partitions          # class of byte sequences -> partition
    cdef public list _suffix_automata    # by suffix automaton, by its state: [(unit, state)]
    cdef dict _suffix_automaton_of

    @cython.locals(number=int, count=int)
    cdef void _keep_only(self, int term, int byte, int target) except *
    @cython.locals(first=int, number=int, byte=int)
    cdef int _add_map(self, bytes classes, int width) except -1
    @cython.locals(number=int, count=int, target=int)
    cpdef void _keep(self, int term, bytes classes, list targets) except *
    @cython.locals(number=int, start=int, width=int, at=int)
    cpdef tuple _kept(self, int term)
    @cython.locals(target=int)
    cpdef int forced(self, int at) except -1
    @cython.locals(number=int)
    cpdef int _later(self, int term, int tail) except? -1
    cpdef int _made(self, int later) except -1
    @cython.locals(left=int, right=int)
    cpdef int _united(self, list targets) except? -1
    cpdef list targets(self, int term)
    @cython.locals(first=int, last=int, at=int)
    cpdef bint reaches(self, int term, int other) except -1
    @cython.locals(stack=list, top=int, heads=list, missing=list, classes=bytes, targets=list)
    cpdef void _derive_within(self, int term) except *
    @cython.locals(kind=int, seen=set, stack=list, heads=list, top=int, inner=int)
    cpdef list _active(self, int term)
    @cython.locals(kind=int)
    cpdef bint _head_accepts(self, int term) except -1
    @cython.locals(missing=list, head=int, kind=int)
    cpdef list _missing(self, list heads)
    @cython.locals(first_bytes=dict, classes=bytes, members=list, head=int, data=bytes, target=int, other=bytes, targets=list, table=bytearray)
    cpdef tuple _combine(self, list heads)
    @cython.locals(product=bytes, left=bytes, right=bytes, i="Py_ssize_t")
    cpdef tuple _joined(self, bytes classes, list members, bytes other, list more)
    @cython.locals(numbers="int[::1]", product=bytearray, left=bytearray, right=bytearray, byte=int, a=int, b=int, number=int, width=int, key=tuple)
    cpdef tuple _product(self, bytes first, bytes second)
    @cython.locals(numbers=dict, table=bytearray)
    cpdef tuple _reduced(self, bytes classes, list targets)
    @cython.locals(kind=int, tail=int, body=int, rest=int, low="long long", high="long long", classes=bytes, targets=list)
    cpdef tuple _of_head(self, int term)
    cpdef tuple _counted_parts(self, int term)
    @cython.locals(star=int, parts=tuple, classes=bytes, phases=list, rests=list, other=bytes, more=list, left=bytes, right=bytes, inner=list, targets=list, phase=int, i="Py_ssize_t")
    cpdef tuple _of_counting(self, int term)
    @cython.locals(classes=bytes, inner=list, targets=list, target=int)
    cpdef tuple _of_bounded(self, int counting, long long most, int tail)
    cpdef bint is_between(self, int term) except -1
    cpdef int begun(self, int before, int after) except -1
    cpdef bytes _map_of(self, object mask)
    @cython.locals(classes=bytes, targets=list, members=list, other=bytes, more=list, left=bytes, right=bytes, i="Py_ssize_t")
    cpdef tuple _of_intersection(self, tuple parts, int tail)
