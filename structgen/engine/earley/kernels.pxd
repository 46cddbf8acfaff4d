cimport cython

from structgen.engine.arrays cimport grown_pool, zeros
from structgen.engine.earley.predictor cimport Predictor


cdef int AFTER, DEAD_SET, FRESH, NO_TEXT, NEEDS_CHECK, UNKNOWN


cdef class Kernels(Predictor):
    cdef int _max_sets
    cdef int[::1] _work
    cdef int _work_size
    cdef int _work_accepting
    cdef int _work_text                 # text after the byte of this step
    cdef int _work_kind                 # AFTER or NEEDS_CHECK once that is known of the set in the making
    cdef bint _skips                    # the step is over bytes that are not known

    cdef void _begin(self, int text) noexcept
    @cython.locals(item=int)
    cdef int _add_item(self, int position, int state, int group) except -1
    @cython.locals(mask=int, h="long long", slot=int, item=int)
    cdef int _intern_item(self, int position, int state, int group) except -1
    @cython.locals(mask=int, h="long long", slot=int, item=int, table="int[::1]")
    cdef int _rehash_items(self) except -1
    @cython.locals(h="long long", mask=int, slot=int, item=int, index=int, set_id=int)
    cdef int _finish_set(self) except -1
    @cython.locals(text=int, kind=int, captures=int, index=int)
    cdef int _settle_text(self) except -1
    @cython.locals(index=int, item=int, endless=bint)
    cdef bint _goes_on_endless(self) except -1
    @cython.locals(first=int, last=int, index=int)
    cdef bint _is_work(self, int set_id) noexcept
    @cython.locals(mask=int, h=int, slot=int, set_id=int, table="int[::1]")
    cdef int _rehash_sets(self) except -1
    @cython.locals(set_id=int, index=int)
    cdef int _new_set_from_work(self) except -1
