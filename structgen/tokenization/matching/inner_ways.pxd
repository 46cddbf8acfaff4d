import cython

from structgen.engine.masks.table_store cimport TableStore
from structgen.engine.masks.tables cimport TerminalMask
from structgen.engine.masks.terminal_masks cimport TerminalMasks
from structgen.engine.matching.compiled cimport CompiledGrammar, SharedTables
from structgen.engine.pair_table cimport PairTable
from structgen.tokenization.matching.token_sets cimport unite_both
from structgen.tokenization.matching.token_steps cimport TokenSteps

cdef int KINDS, MAX_KEPT, MAX_ROWS, MIN_ROW


cdef class LeadingTokens:
    cdef readonly set proven
    cdef readonly unsigned int[::1] row
    cdef int tried

    cdef int add(self, int token) except -1


cdef class InnerWays:
    cdef SharedTables _shared
    cdef readonly object tokenization
    cdef readonly tuple texts
    cdef PairTable _places
    cdef PairTable _positions
    cdef list _known
    cdef int _row_count

    cdef LeadingTokens at_item(self, TokenSteps steps, int item, int kind)
    @cython.locals(place=int, position=int)
    cdef LeadingTokens after(self, int at, int scanner_state, int partial, int kind)
    @cython.locals(known=LeadingTokens, one="unsigned int", row="unsigned int[::1]", index=int, token=int)
    cdef int keep(self, TokenSteps steps, int item, int kind, int[::1] tokens, int count, int words) except -1
    cdef unsigned int[::1] _row_of(self, LeadingTokens known, int words)
    @cython.locals(one=int, terminals=TerminalMasks, table=TerminalMask)
    cdef int find(self, LeadingTokens known, int at, int cutters, vocabulary, unsigned int[::1] sure) except -1
    @cython.locals(one="unsigned int", index="Py_ssize_t", token=int)
    cdef int _add(self, TableStore store, TerminalMask table, unsigned int[::1] row, unsigned int[::1] sure) except -1
