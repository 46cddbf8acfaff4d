cimport cython

from structgen.engine.deadlines cimport spend

cdef int EDGES_PER_UNIT


cdef class SuffixAutomaton:
    cdef list _units                    # by number: the different units of the text
    cdef int _states                    # number of states
    cdef int _edges                     # number of edges
    # By state: the position of its first edge; one more value at the end. During construction, its newest edge.
    cdef int[::1] _first
    cdef int[::1] _labels               # by edge: the number of its unit
    cdef int[::1] _targets              # by edge: the state it leads to
    # Only during construction:
    cdef int[::1] _next                 # by edge: the next older edge of the same state; NONE at the end
    cdef int[::1] _link                 # by state: its suffix link, to the state of the longest suffix in another state
    cdef int[::1] _length               # by state: number of units of its longest run
    cdef int[::1] _from_start           # by unit: the edge of the start state; NONE if there is none yet
    cdef int _passed                    # edges that searches have passed since the clock was last looked at
    cdef readonly long long bytes_used  # estimated memory, in bytes

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
