cimport cython

from structgen.engine.arrays cimport grown_pool, zeros
from structgen.engine.earley.groups cimport GroupTable
from structgen.engine.earley.item_columns cimport ItemTable, SetTable
from structgen.engine.grammar.rules cimport Rules


cdef int AFTER, DEAD_SET, FRESH, NEEDS_CHECK, NO_TEXT, UNSET


@cython.final
cdef class Kernels:
    cdef SetTable _table
    cdef ItemTable _items
    cdef GroupTable _groups
    cdef Rules _rules
    cdef int _max_items
    cdef int _max_sets
    cdef int[::1] _slots            # open addressing: sets, -1 free
    cdef int[::1] _found            # the items of the kernel in the making
    cdef int serial
    cdef int size
    cdef int accepting
    cdef int text
    cdef int kind

    cdef void begin(self, int text) noexcept
    @cython.locals(item=int, items=ItemTable)
    cdef int add(self, int position, int state, int group) except -1
    @cython.locals(h="long long", mask=int, slot=int, item=int, index=int, set_id=int)
    cdef int finish(self) except -1
    cdef int add_set(self) except -1
    @cython.locals(text=int, kind=int, captures=int, index=int)
    cdef int _settle_text(self) except -1
    @cython.locals(index=int, item=int, position=int)
    cdef bint _goes_on_endless(self) except -1
    @cython.locals(first=int, last=int, index=int, table=SetTable)
    cdef bint _is_made(self, int set_id) noexcept
    @cython.locals(mask=int, h=int, slot=int, set_id=int, slots="int[::1]")
    cdef int _rehash(self) except -1
