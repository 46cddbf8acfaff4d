cimport cython

from structgen.engine.arrays cimport block, column, grown_pool, zeros


cdef int MIN_ROWS, UNSET


@cython.final
cdef class SetTable:
    cdef readonly int count
    cdef public int[::1] accepting
    cdef public int[::1] text
    cdef public int[::1] first_kernel
    cdef public int[::1] last_kernel
    cdef public int[::1] kernel_hash
    cdef public int[::1] first_scan
    cdef public int[::1] last_scan
    cdef public int[::1] only_byte
    cdef public int[::1] captures
    cdef public int[::1] first_byte
    cdef public int[::1] first_target
    cdef public int[::1] run_length
    cdef public int[::1] run_target
    cdef public int[::1] run_byte
    cdef public int[::1] kernel
    cdef int _kernel_size

    @cython.locals(set_id=int, index=int)
    cdef int add(self, int[::1] items, int size, int accepting, int text) except -1
    @cython.locals(used=int, size=int, before="int[::1]", columns="int[::1]")
    cdef int _grow(self, int needed) except -1


@cython.final
cdef class ItemTable:
    cdef int _count
    cdef public int[::1] position
    cdef public int[::1] state
    cdef public int[::1] group
    cdef public int[::1] mark
    cdef int[::1] _slots            # open addressing: items, -1 free

    @cython.locals(mask=int, h="long long", slot=int, item=int)
    cdef int number(self, int position, int state, int group) except -1
    @cython.locals(mask=int, h="long long", slot=int, item=int, slots="int[::1]")
    cdef int _rehash(self) except -1
    @cython.locals(used=int, size=int, columns="int[::1]")
    cdef int _grow(self, int needed) except -1


@cython.final
cdef class ScanTable:
    cdef public int size
    cdef public int[::1] position
    cdef public int[::1] state
    cdef public int[::1] group

    @cython.locals(size=int)
    cdef int add(self, int position, int state, int group) except -1
    @cython.locals(used=int, size=int, before="int[::1]", columns="int[::1]")
    cdef int _grow(self, int needed) except -1


@cython.locals(size=int)
cpdef int rows_for(int needed) noexcept
