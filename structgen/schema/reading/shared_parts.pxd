cimport cython

from structgen.engine.deadlines cimport spend


cdef int _FEW_LEVELS, _FEW_VALUES


@cython.locals(
    count="long long", length="long long", size=Py_ssize_t, text=str, found=list, level=list, deeper=list, members=dict
)
cpdef small_key(list content)
@cython.locals(length="long long")
cpdef long long text_length(key) except -1
cdef bint _add(value, list found, list deeper) except -1
@cython.locals(count="long long", waiting=list)
cpdef long long count_few(content, long long at_most) except -1
@cython.locals(ids=set, found=int, count="long long", waiting=list)
cdef long long _count_unshared(content) except -1
