cimport cython
from structgen.engine.deadlines cimport spend


@cython.final
cdef class RemainderSet:
    cdef readonly long long modulus
    cdef readonly long long bytes_used   # estimated memory, in bytes
    cdef int[::1] _distance              # by remainder: from it to the next of a member; modulo the modulus
    cdef bint _has_members

    @cython.locals(nearest=int, number=int)
    cdef bint _measure(self, bytes members) except -1
    cpdef bint holds(self, long long remainder) noexcept
    @cython.locals(count=int, window="long long")
    cpdef int digits_needed(self, long long remainder, int least) except -2
