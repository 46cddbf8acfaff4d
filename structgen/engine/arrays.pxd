cimport cython

cdef int SMALL, SLAB
cdef int[::1] _slab     # small arrays are slices of it,
cdef Py_ssize_t _used   # up to here


@cython.locals(made="int[::1]", index="Py_ssize_t")
cpdef int[::1] zeros(Py_ssize_t count, int value=*)
cpdef int[::1] room(Py_ssize_t count)
@cython.locals(new="int[::1]")
cpdef int[::1] grown(int[::1] old, Py_ssize_t used, int value=*)
@cython.locals(new="int[::1]")
cpdef int[::1] head(int[::1] old, Py_ssize_t used)
