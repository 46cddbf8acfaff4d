cimport cython

from structgen.engine.deadlines cimport spend


cdef frozenset _SCALARS


@cython.locals(count="long long", level=list, deeper=list, members=dict)
cpdef bint is_small(content) except -1
@cython.locals(count="long long", waiting=list, members=dict)
cdef long long _count_few(content) except -1
@cython.locals(ids=set, found=int, count="long long", waiting=list)
cdef long long _count_unshared(content) except -1
