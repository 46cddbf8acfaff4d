cimport cython

from structgen.engine.arrays cimport grown_pool, zeros

cdef int EMPTY_TEXT, FREE


cdef class CapturedTexts:
    cdef readonly int count
    cdef int[::1] _parent
    cdef int[::1] _byte
    cdef int[::1] _table        # open addressing: texts, -1 free

    cdef long long _hash(self, long long text, long long byte) noexcept
    @cython.locals(mask=int, slot="long long", found=int)
    cdef int append(self, int text, int byte) except -1
    cpdef bytes between(self, int start, int end)
    @cython.locals(table="int[::1]", mask=int, slot="long long", text=int)
    cdef int _rehash(self) except -1
