cimport cython

from structgen.engine.deadlines cimport count_bytes

cdef int COUNTED, LARGE, SMALL, SLAB
cdef int[::1] _slab     # small arrays are slices of it,
cdef Py_ssize_t _used   # up to here


@cython.locals(made="int[::1]", index="Py_ssize_t")
cpdef int[::1] zeros(Py_ssize_t count, int value=*)
@cython.locals(made="int[::1]")
cdef int[::1] _unset(Py_ssize_t count)
cpdef int[::1] room(Py_ssize_t count)
@cython.locals(new="int[::1]")
cpdef int[::1] grown(int[::1] old, Py_ssize_t used, int value=*)
@cython.locals(new="int[::1]")
cpdef int[::1] grown_pool(int[::1] old, Py_ssize_t used)
cdef void _count_growth(Py_ssize_t values) noexcept
cpdef int[::1] block(Py_ssize_t columns, Py_ssize_t length)
@cython.locals(new="int[::1]")
cpdef int[::1] column(int[::1] block, Py_ssize_t number, Py_ssize_t length, int[::1] old, Py_ssize_t used)
@cython.locals(new="int[::1]")
cpdef int[::1] head(int[::1] old, Py_ssize_t used)
