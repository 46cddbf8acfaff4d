cimport cython

from structgen.engine.deadlines cimport spend


@cython.locals(count="long long", length="long long", found=list, level=list, deeper=list, members=dict)
cpdef small_key(list content)
cdef bint _add(value, list found, list deeper) except -1
@cython.locals(count="long long", waiting=list)
cdef long long _count_few(content) except -1
@cython.locals(ids=set, found=int, count="long long", waiting=list)
cdef long long _count_unshared(content) except -1
