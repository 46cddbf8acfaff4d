cimport cython


cdef class SuffixAutomaton:
    cdef list _units
    cdef int _states
    cdef int _edges
    cdef int[::1] _first                # by state: where its edges begin; one more at the end. While it is built, its last edge
    cdef int[::1] _labels               # by edge: the number of its unit,
    cdef int[::1] _targets              # the state it leads to,
    cdef int[::1] _next                 # and, while it is built, another of its state's edges
    cdef int[::1] _link                 # while it is built, by state: that of the longest suffix that is another state's,
    cdef int[::1] _length               # and how many units its longest run has
    cdef int[::1] _from_start
    cdef readonly long long bytes_used

    @cython.locals(at=int)
    cpdef list edges(self, int state)
    @cython.locals(last=int, unit=int, state=int, at=int, edge=int, target=int)
    cdef int _build(self, list text) except -1
    @cython.locals(clone=int, edge=int)
    cdef int _cloned(self, int at, int unit, int target) except -1
    @cython.locals(state=int)
    cdef int _new_state(self, int length) except -1
    @cython.locals(edge=int)
    cdef int _add_edge(self, int state, int unit, int target) except -1
    @cython.locals(edge=int)
    cdef int _edge(self, int state, int unit) noexcept
    @cython.locals(first="int[::1]", labels="int[::1]", targets="int[::1]", count=int, state=int, edge=int)
    cdef int _pack(self) except -1
