cimport cython
from structgen.engine.threads cimport this_thread

cdef bint IS_COMPILED
cdef long FREE


cdef class TableLock:
    cdef public object guest
    cdef long _owner
    cdef int _depth
    cdef bint _is_awaited
    cdef object _changed
    cdef object __weakref__

    @cython.locals(thread=long)
    cpdef int take(self) except -1
    @cython.locals(thread=long)
    cpdef bint acquire(self, double timeout) except -1
    cpdef int release(self) except -1
    cdef bint _wait(self, long thread, end) except -1
    cdef int _wake(self) except -1
    cpdef int _at_fork_reinit(self) except -1
