cimport cython
from structgen.engine.terms cimport Terms

# The numbers of structgen/engine/term_kinds.py.
cdef int EMPTY, NOTHING
cdef int K_UNION, K_LITERAL, K_BYTES, K_CHARS, K_REPEAT, K_INTERSECTION, K_COMPLEMENT, K_EARLY, K_TABLE, K_MULTIPLE, K_COUNTING, K_BOUNDED

cdef dict _map_of_mask, _products
cdef list _SPREAD
cdef bytes NO_BYTES


cdef class DerivativeTable(Terms):
    cdef dict _partitions                # term -> (class map, targets), for terms inside of others
    cdef dict _class_partitions          # class of byte sequences -> partition
    cdef public list _suffix_automata    # by suffix automaton, by its state: [(unit, state)]
    cdef dict _suffix_automaton_of

    @cython.locals(stack=list, top=int, heads=list, missing=list)
    cpdef tuple partition(self, int term)
    @cython.locals(heads=list)
    cpdef tuple derive(self, int term)
    @cython.locals(kind=int, seen=set, stack=list, heads=list, top=int, inner=int)
    cpdef list _active(self, int term)
    @cython.locals(kind=int)
    cpdef bint _head_accepts(self, int term) except -1
    @cython.locals(missing=list, head=int, kind=int)
    cpdef list _missing(self, list heads)
    @cython.locals(first_bytes=dict, classes=bytes, members=list, head=int, data=bytes, target=int, other=bytes, targets=list, table=bytearray)
    cpdef tuple _combine(self, list heads)
    @cython.locals(product=bytes, left=list, right=list, i="Py_ssize_t")
    cpdef tuple _joined(self, bytes classes, list members, bytes other, list more)
    @cython.locals(numbers="int[::1]", product=bytearray, left=list, right=list, byte=int, a=int, b=int, number=int, width=int, key=tuple)
    cpdef tuple _product(self, bytes first, bytes second)
    @cython.locals(numbers=dict, table=bytearray)
    cpdef tuple _reduced(self, bytes classes, list targets)
    @cython.locals(kind=int, tail=int, body=int, rest=int, low="long long", high="long long", classes=bytes, targets=list)
    cpdef tuple _of_head(self, int term)
    cpdef tuple _counted_parts(self, int term)
    @cython.locals(star=int, parts=tuple, classes=bytes, phases=list, rests=list, other=bytes, more=list, left=list, right=list, inner=list, targets=list, phase=int, i="Py_ssize_t")
    cpdef tuple _of_counting(self, int term)
    @cython.locals(classes=bytes, inner=list, targets=list, target=int)
    cpdef tuple _of_bounded(self, int counting, long long most, int tail)
    cpdef int begun(self, int before, int after) except -1
    cpdef bytes _map_of(self, object mask)
    @cython.locals(classes=bytes, targets=list, members=list, other=bytes, more=list, left=list, right=list, i="Py_ssize_t")
    cpdef tuple _of_intersection(self, tuple parts, int tail)
