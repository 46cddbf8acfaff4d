cimport cython

from structgen.engine.arrays cimport zeros

cdef int FREE, MOVED, NEIGHBOURS, NEIGHBOUR_BITS, WIDTH
cdef int[::1] _free_slot


# No cycle leads through a table, and a process has thousands.
@cython.no_gc
@cython.final
cdef class PairTable:
    cdef int _count
    cdef long long _first_mask
    cdef long long _mask
    cdef int[::1] _places
    cdef PairTable _older
    cdef long long _moved

    @cython.locals(number=int)
    cpdef int get(self, int first, int second) noexcept
    @cython.locals(at="Py_ssize_t")
    cpdef int put(self, int first, int second, int number) except -1
    @cython.locals(mixed="long long", place="long long", at="Py_ssize_t")
    cdef Py_ssize_t _find(self, long long first, long long second) noexcept
    @cython.locals(places="int[::1]")
    cdef int _take(self, long long mask) except -1
    @cython.locals(older=PairTable)
    cdef int _grow(self) except -1
    @cython.locals(older=PairTable, last="long long", place="long long", at="Py_ssize_t", new="Py_ssize_t")
    cdef int _move_some(self) except -1
