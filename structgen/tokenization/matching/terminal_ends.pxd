import cython

from structgen.engine.automata.store cimport AutomatonStore
from structgen.engine.earley.item_sets cimport ItemSetStore
from structgen.engine.matching.compiled cimport CompiledGrammar
from structgen.tokenization.matching.blank_tokens cimport BlankClass, BlankTokens
from structgen.tokenization.matching.continuations cimport Continuations
from structgen.tokenization.matching.last_texts cimport LastText, LastTexts
from structgen.tokenization.matching.next_tokens cimport NextTokens
from structgen.tokenization.matching.sure_cuts cimport SureCuts
from structgen.tokenization.matching.token_steps cimport TokenSteps
from structgen.tokenization.merges.merge_table cimport MergeTable

cdef unsigned int ALL_BITS
cdef int MAX_BLANKS, MAX_KEPT


cdef class TerminalEnds:
    cdef Continuations _ahead
    cdef SureCuts _cuts
    cdef AutomatonStore _automata
    cdef object _borders        # None if cuts are common enough
    cdef MergeTable _merges
    cdef BlankTokens _blanks
    cdef ItemSetStore _sets
    cdef LastTexts _last_texts
    cdef CompiledGrammar _compiled
    cdef NextTokens _next_tokens
    cdef dict _takes_blanks     # by state of an automaton: see `_holds_blanks`
    cdef int _items_of
    cdef list _items
    cdef dict _good_blanks      # see `_surely_good`

    @cython.locals(at=int, after=int, end=int, last=LastText)
    cdef bint lead_on(self, TokenSteps steps, int item, int word, int token) except -1
    cdef bint _leads_on_from(self, int at, int after, int scanner_state, int token) except -1
    @cython.locals(following=object)
    cdef bint _leads_on_after(self, int at, int after, LastText last) except -1
    @cython.locals(text=bytes, item=int, at=int, length=int, after=int)
    cdef bint bar(self, TokenSteps steps, some) except -1
    @cython.locals(scan=int, most="long long", rest=int, after=int, left=int, blanks=BlankClass, most_after=int)
    cpdef int remove_blanks(self, unsigned int[::1] row, int set_id, int scanner_state, list dead) except -1
    @cython.locals(room=int, most="long long")
    cpdef int room_for_blanks(self, int set_id) except -1
    @cython.locals(sets=ItemSetStore, scan=int, state=int, parts=tuple, after=int, found=list, states=list)
    cdef list _blank_items(self, int set_id)
    @cython.locals(sets=ItemSetStore, following=object, taken=object, may_stop=bint, after=int, other=int, blanks=BlankClass, longest=list, token=int, one="unsigned int")
    cdef object _move_longest(self, unsigned int[::1] row, int set_id, int scanner_state, int scan, int most, int rest, list dead)
    @cython.locals(known=list, blanks=BlankClass, last=LastText, fitting=BlankClass)
    cdef list _surely_good(self, int scanner_state, int rest, int after)
    @cython.locals(automata=AutomatonStore)
    cdef bint _holds_blanks(self, int state) except -1
