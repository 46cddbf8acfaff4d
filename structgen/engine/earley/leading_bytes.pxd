cimport cython

from structgen.engine.arrays cimport grown, zeros
from structgen.engine.automata.store cimport AutomatonStore
from structgen.engine.earley.item_columns cimport ScanTable, SetTable
from structgen.engine.pair_table cimport PairTable


cdef int MIN_ASKED, MIN_ITEMS, NUMBERS


@cython.final
cdef class LeadingBytes:
    cdef SetTable _table
    cdef ScanTable _scans
    cdef AutomatonStore _automata
    cdef PairTable _asked
    cdef PairTable _at
    cdef int[::1] _bits
    cdef int _size

    @cython.locals(at=int, asked=int)
    cdef bint may_have(self, int set_id, int byte) except -1
    @cython.locals(at=int, index=int, scan=int)
    cdef int _find(self, int set_id) except -1
