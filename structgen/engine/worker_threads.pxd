cimport cython
from cpython.pythread cimport (
    PyThread_acquire_lock, PyThread_allocate_lock, PyThread_free_lock, PyThread_release_lock, PyThread_type_lock, WAIT_LOCK
)

from structgen.engine.arrays cimport zeros

cdef Py_ssize_t MAX_THREADS, MIN_ROWS, NONE_YET, NO_MORE


@cython.final
cdef class _Lock:
    cdef PyThread_type_lock _lock

    cdef void take(self) noexcept nogil
    cdef void give(self) noexcept nogil


cdef class RowQueue:
    cdef _Lock _lock
    cdef _Lock _gate
    cdef Py_ssize_t _blocks, _rows, _size, _added
    cdef int[::1] _begun
    cdef bint _is_closed
    cdef bint _is_open
    cdef list _helpers

    cdef void do(self, Py_ssize_t row) noexcept nogil
    @cython.locals(wanted="Py_ssize_t", helper=Helper, called=Helper, index="Py_ssize_t")
    cdef void begin(self, int threads, Py_ssize_t rows) except *
    cdef void add(self, Py_ssize_t rows) noexcept nogil
    @cython.locals(helper=Helper)
    cdef void finish(self) except *
    @cython.locals(row="Py_ssize_t")
    cdef void work(self, Py_ssize_t block) noexcept nogil
    @cython.locals(row="Py_ssize_t")
    cdef Py_ssize_t _next(self, Py_ssize_t block) noexcept nogil
    @cython.locals(last="Py_ssize_t")
    cdef Py_ssize_t _left(self, Py_ssize_t block) noexcept nogil
    @cython.locals(found="Py_ssize_t", block="Py_ssize_t", left="Py_ssize_t", most="Py_ssize_t")
    cdef Py_ssize_t _fullest(self) noexcept nogil
    cdef void _open_gate(self) noexcept nogil


@cython.final
cdef class Helper:
    cdef _Lock _lock
    cdef _Lock _called
    cdef _Lock _done
    cdef void *_queue
    cdef Py_ssize_t _block
    cdef bint _is_called
    cdef bint _is_at_work

    @cython.locals(was_called=bint)
    cdef void call(self, RowQueue queue, Py_ssize_t block) noexcept
    @cython.locals(is_late=bint)
    cdef void leave(self) noexcept nogil
    @cython.locals(queue="void *", block="Py_ssize_t")
    cdef void _serve(self) noexcept nogil
