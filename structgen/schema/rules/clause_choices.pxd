cimport cython

from structgen.engine.deadlines cimport spend


cdef int MAX_GUIDED


@cython.final
cdef class ChoiceSearch:
    cdef readonly int nodes, failed

    @cython.locals(start=int)
    cpdef object found(self, needed, left, dict choices, int most, dict near)


cdef list _least_choices(list choices, needed)
@cython.locals(able=dict, found=list)
cdef object _propagated(needed, dict choices, dict made)
@cython.locals(found=list, restricted=int)
cdef int _restrict(single, dict able, dict choices) except -2
cdef object _least_cost(needed, dict choices, dict made)
@cython.locals(found=list, counts=list, total=longlong, top=longlong, best=longlong, score=longlong)
cdef list _branches(clauses, dict choices, dict made, needed)
cdef object _completed(needed, dict choices, dict made, dict near)
@cython.locals(counts=list, number=int)
cdef object _tightest(needed, dict choices)
