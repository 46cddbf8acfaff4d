cimport cython

from structgen.engine.deadlines cimport spend


cpdef small_key(list content)
@cython.locals(count="long long", level=list, deeper=list, members=dict)
cdef bint _is_small(list content) except -1
cdef bint _is_plain(value, list deeper) except -1
@cython.locals(count="long long", waiting=list, members=dict)
cdef long long _count_few(content) except -1
@cython.locals(ids=set, found=int, count="long long", waiting=list)
cdef long long _count_unshared(content) except -1
