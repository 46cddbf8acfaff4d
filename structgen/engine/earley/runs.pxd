cimport cython

from structgen.engine.automata.store cimport AutomatonStore
from structgen.engine.automata.term_table cimport TermTable
from structgen.engine.deadlines cimport spend
from structgen.engine.earley.completer cimport Completer
from structgen.engine.earley.groups cimport GroupTable
from structgen.engine.earley.item_columns cimport ScanTable, SetTable
from structgen.engine.earley.kernels cimport Kernels
from structgen.engine.earley.predictor cimport Predictor


cdef int DEAD_SET, EMPTY_TEXT, K_LITERAL, MIN_EQUAL, NO_BYTE, SHORTEST_RUN, UNSET


@cython.final
cdef class Runs:
    cdef SetTable _table
    cdef ScanTable _scans
    cdef GroupTable _groups
    cdef Kernels _kernels
    cdef Predictor _predictor
    cdef Completer _completer
    cdef AutomatonStore _automata

    @cython.locals(table=SetTable, length=int, byte=int, literal=bytes, index=int)
    cdef int known(self, int set_id, bytes text, int at) noexcept
    @cython.locals(table=SetTable)
    cdef int read(self, int set_id, bytes text, int at) except -1
    @cython.locals(table=SetTable, terms=TermTable, first=int, last=int, scan=int, state=int, literal=bytes, most=int, length=int, after=int)
    cdef int _read_literal(self, int set_id, bytes text, int at) except -1
    @cython.locals(byte=int, index=int, scan=int, start=int, after=int, reached=int, length=int, position=int, group=int, automata=AutomatonStore, terms=TermTable)
    cdef int _read_equal(self, int set_id, bytes text, int at) except -1
    @cython.locals(found=int, first=int, last=int, scan=int)
    cdef int _only_moving(self, int set_id, int byte) except -2
    @cython.locals(table=SetTable, reached=int)
    cdef int _keep(self, int set_id, int byte, int length) except -1
