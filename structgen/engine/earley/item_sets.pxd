cimport cython

from structgen.engine.arrays cimport grown_pool, zeros
from structgen.engine.automata.store cimport AutomatonStore
from structgen.engine.earley.kernels cimport Kernels
from structgen.engine.earley.captured_texts cimport CapturedTexts


cdef int AFTER, CAPTURES, DEAD_SET, EMPTY_TEXT, END, NO_BYTE, NO_TEXT, ROOT, NEEDS_CHECK, TOLD_BITS, UNKNOWN, UNKNOWN_TEXT


cdef class ItemSetStore(Kernels):
    cdef readonly CapturedTexts texts
    cdef readonly int start_set
    cdef bint _accepts_empty
    cdef readonly long long steps

    cdef int[::1] _stack

    @cython.locals(target=int, only=int)
    cpdef int goto(self, int set_id, int byte) except -1
    cdef int known_step(self, int set_id, int byte) noexcept
    @cython.locals(scan=int, state=int, automata=AutomatonStore)
    cdef int _step(self, int set_id, int byte) except -1
    @cython.locals(text=int)
    cdef int _text_after(self, int set_id, int byte) except -1
    @cython.locals(scan=int, text=int)
    cpdef int after(self, int set_id, int state) except -1
    @cython.locals(scan=int, behind=int, ahead=int)
    cpdef bint is_stuck(self, int set_id, int state) except -1
    @cython.locals(index=int, item=int)
    cpdef int unknown(self, int set_id) except -1
    @cython.locals(text=int)
    cpdef bint begins_here(self, int set_id, int group) except -1
    @cython.locals(begun=bytes, capture=int)
    cpdef refusals(self, int set_id, int group)
    @cython.locals(ahead=int, size=int, first=int, last=int, waiting=int, symbol=int)
    cdef int _advance(self, int position, int group) except -1
    @cython.locals(state=int)
    cdef void _add_advanced(self, int position, int ahead, int group) except *
    @cython.locals(told=int)
    cdef bint _tell(self, int group, int ahead) noexcept
    @cython.locals(text=int, is_known=bint, position=int)
    cdef int _continue(self, int capture, int start) except -2
    @cython.locals(top=int, first=int, last=int)
    cdef int _top(self, int group) noexcept
    @cython.locals(index=int, item=int, number=dict)
    cpdef int adopt(self, ItemSetStore other, int set_id) except -1
    @cython.locals(number=dict, found=list, addresses=list, first_kernel=int, group=int, waiting=int, base=int, pending=int, index="Py_ssize_t", k=int, address=int)
    cdef dict _adopt_groups(self, ItemSetStore other, int set_id)
    @cython.locals(mine=int, byte=int)
    cdef int _adopt_text(self, ItemSetStore other, int text) except -1
