cpdef int[::1] zeros(Py_ssize_t count, int value=*)
cpdef int[::1] grown(int[::1] old, Py_ssize_t used, int value=*)
cpdef int[::1] head(int[::1] old, Py_ssize_t used)
