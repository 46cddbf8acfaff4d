import cython

from structgen.engine.arrays cimport zeros
from structgen.engine.automata.store cimport AutomatonStore
from structgen.engine.earley.item_sets cimport ItemSetStore
from structgen.engine.masks.set_masks cimport SetMasks
from structgen.engine.matching.compiled cimport CompiledGrammar
from structgen.tokenization.matching.continuations cimport Continuations
from structgen.tokenization.matching.inner_ways cimport InnerWays, LeadingTokens
from structgen.tokenization.matching.next_tokens cimport NextTokens
from structgen.tokenization.matching.terminal_ends cimport TerminalEnds
from structgen.tokenization.matching.token_sets cimport UndecidedTokens, are_many, count_to, drop_both, has, intersection, list_tokens, remove, remove_both, select, tokens_in, undecided_tokens
from structgen.tokenization.matching.whole_words cimport WholeWords
from structgen.tokenization.pre_tokens.scanner cimport Scanner, TokenRows

cdef unsigned int ALL_BITS
cdef int CAPTURED, FREE
cdef int MAX_CUT_MASK_TOKENS, MAX_ITEMS, MAX_LISTED, MIN_FOUND, MIN_SORTED, QUOTE


cdef class UndecidedFinder:
    cdef CompiledGrammar _compiled
    cdef object _tokenization
    cdef Continuations _ahead
    cdef TerminalEnds _ends
    cdef ItemSetStore _sets
    cdef Scanner _scanner
    cdef WholeWords _words
    cdef NextTokens _next_tokens
    cdef InnerWays _inner
    cdef list _cut_masks
    cdef dict _best_cutters
    cdef list _dead_joins
    cdef list _dead_begins
    cdef int[::1] _joined
    cdef int[::1] _begun
    cdef dict _quotes           # by state of an automaton: see `_is_quote`
    cdef unsigned int[::1] _none        # stays empty
    cdef unsigned int[::1] _joins
    cdef unsigned int[::1] _begins
    cdef unsigned int[::1] _cut
    cdef list _known            # see `_known_at`
    cdef unsigned int[::1] _known_row

    @cython.locals(rows=TokenRows, joins="unsigned int[::1]", begins="unsigned int[::1]", one="unsigned int", token=int, following=list, joined=int, begun=int)
    cpdef tuple find(self, int set_id, branch, int partial, unsigned int[::1] base)
    @cython.locals(tokens="int[::1]", count=int)
    cdef int[::1] _all_of(self, unsigned int[::1] row, int[::1] listed)
    @cython.locals(first=int, bound=int, cutters=int, cut="unsigned int[::1]")
    cdef tuple _few(self, int joined, int begun, int set_id, int scanner_state, TokenRows rows)
    @cython.locals(some="int[::1]", index=int)
    cdef int[::1] _in_order(self, int[::1] tokens, int count)
    @cython.locals(before=int, joins="unsigned int[::1]", begins="unsigned int[::1]", none="unsigned int[::1]", is_large=bint)
    cdef object _select(self, unsigned int[::1] base, int set_id, branch, int partial, TokenRows rows)
    @cython.locals(sets=ItemSetStore, kind=int, first=int, last=int, scan=int, known=LeadingTokens, has_row=bint)
    cdef object _known_at(self, int set_id, int before, int partial)
    @cython.locals(one="unsigned int", has_one=bint, known=LeadingTokens, token=int)
    cdef object _drop(self, unsigned int[::1] row, int set_id, int before, int partial, list sure, list dead, bint is_large)
    @cython.locals(sets=ItemSetStore, best=int, cutters=int, scan=int, at=int, kind=int, certain="unsigned int[::1]", known=LeadingTokens)
    cdef object _find_inner(self, unsigned int[::1] row, int set_id, int before, list sure)
    @cython.locals(parts=tuple)
    cdef bint _ends_with_quote(self, int state) except -1
    @cython.locals(automata=AutomatonStore, end=int)
    cdef bint _is_quote(self, int state) except -1
    cdef int _first_cutters(self, int set_id, int scanner_state) except -1
    @cython.locals(sets=ItemSetStore, scan=int)
    cdef bint _is_bounded(self, int set_id) except -1
    @cython.locals(masks=SetMasks, row="unsigned int[::1]")
    cdef unsigned int[::1] _cuttable(self, int cutters, int set_id)
    @cython.locals(first=int, most=int, bound=int, cutters=int, cut="unsigned int[::1]")
    cdef object _drop_cut_off(self, unsigned int[::1] joins, unsigned int[::1] begins, int set_id, int scanner_state, TokenRows rows)
