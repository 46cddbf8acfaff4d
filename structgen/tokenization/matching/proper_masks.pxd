import cython

from structgen.engine.arrays cimport zeros
from structgen.engine.automata.store cimport AutomatonStore
from structgen.engine.matching.compiled cimport CompiledGrammar
from structgen.engine.earley.item_sets cimport ItemSetStore
from structgen.engine.pair_table cimport PairTable
from structgen.tokenization.matching.checked_position cimport CheckedPosition, Place
from structgen.tokenization.matching.conflicts cimport ConflictTable
from structgen.tokenization.matching.continuations cimport Continuations
from structgen.tokenization.matching.inner_walk cimport InnerWalk
from structgen.tokenization.matching.next_tokens cimport NextTokens
from structgen.tokenization.matching.token_sets cimport UndecidedTokens, drop, has, intersect, intersect_either, intersection, ints, undecided_tokens, unite, without
from structgen.tokenization.matching.token_steps cimport TokenSteps
from structgen.tokenization.matching.undecided_finder cimport UndecidedFinder
from structgen.tokenization.matching.verdicts cimport Verdicts
from structgen.tokenization.pre_tokens.scanner cimport Scanner, TokenRows
from structgen.tokenization.matching.whole_words cimport WholeWords

cdef unsigned int ALL_BITS
cdef int BAD, GOOD, MAX_KEPT, MAX_ROWS, MAX_VERDICTS, MIN_WALKED, NOWHERE, UNKNOWN


cdef class ProperMasks:
    cdef readonly int epoch
    cdef readonly object tokenization
    cdef Scanner _scanner
    cdef ConflictTable _conflicts
    cdef WholeWords _words
    cdef NextTokens _next_tokens
    cdef CompiledGrammar _compiled
    cdef ItemSetStore _sets
    cdef tuple _spellings
    cdef dict _undecided        # by set and branch: see `_undecided_of`
    cdef list _begun            # by token: see `ProperTokenization.begun`
    cdef unsigned int[::1] _usual       # see `TokenTexts`: nothing is begun by these
    cdef dict _continuing       # by set, branch, begun added tokens and whether they join: see `_continuing_of`
    cdef Continuations _ahead
    cdef Verdicts _verdicts
    cdef InnerWalk _walk
    cdef UndecidedFinder _finder
    cdef CheckedPosition _position
    cdef dict _good_added       # by set and begun added tokens: the added tokens that lead on, checked one by one
    cdef PairTable _positions   # by set and state of the scanner: a number
    cdef PairTable _verdict_at  # by this number and token: GOOD or BAD
    cdef bint _depends_on_tail
    cdef dict _surely_first     # by set and state of the scanner: see `_has_sure_way`
    cdef object _last_way
    cdef dict _found
    cdef unsigned int[::1] _allowed
    cdef unsigned int[::1] _way
    cdef unsigned int[::1] _rest
    cdef unsigned int[::1] _none # stays empty

    @cython.locals(adds=bint, one="unsigned int", token=int)
    cpdef narrow(self, unsigned int[::1] words, int set_id, state, dict checked)
    @cython.locals(scanner=Scanner, allowed="unsigned int[::1]", word=int, rows=TokenRows, joins=UndecidedTokens, begins=UndecidedTokens, is_first=bint)
    cdef int _narrow_to_branch(self, unsigned int[::1] words, int set_id, branch, state, bint adds) except -1
    @cython.locals(token=int, one="unsigned int", others=list, good=list, known=list, blanks=dict, room=int)
    cdef int _allow_added(self, unsigned int[::1] words, int set_id, state) except -1
    @cython.locals(rows=TokenRows, undecided=UndecidedTokens)
    cdef int _allow(self, int set_id, state, unsigned int[::1] words, unsigned int[::1] out, unsigned int[::1] way, bint is_final) except -1
    cdef object _join(self, unsigned int[::1] way, unsigned int[::1] words, TokenRows rows, int last)
    @cython.locals(continuing=UndecidedTokens, some=list, plain=Place, token=int, one="unsigned int")
    cdef object _remove_dead_ends(self, unsigned int[::1] row, unsigned int[::1] kept, UndecidedTokens undecided, Place place)
    cdef UndecidedTokens _continuing_of(self, Place place)
    @cython.locals(token=int, one="unsigned int")
    cdef int _remove_plain(self, unsigned int[::1] row, unsigned int[::1] kept, UndecidedTokens undecided, Place place) except -1
    @cython.locals(verdict=int, is_begun=bint, index="Py_ssize_t", token=int, one="unsigned int")
    cdef int _check(self, unsigned int[::1] row, unsigned int[::1] kept, UndecidedTokens undecided, Place place) except -1
    @cython.locals(position=CheckedPosition)
    cdef int _begin(self, UndecidedTokens undecided, Place place) except -1
    cdef tuple _undecided_of(self, int set_id, branch, state, unsigned int[::1] words)
    @cython.locals(text=bytes, position=CheckedPosition, word=int, steps=TokenSteps, next_set=int, next_state=int, partial=int, verdict=int, is_whole=bint, is_good=bint, is_kept=bint, number=int)
    cdef bint _leads_on(self, Place place, int token) except -1
    cdef object _begun_by(self, int token)
    cdef bint _leads_on_within(self, TokenSteps steps, state) except -1
    @cython.locals(number=int)
    cdef int _number_of(self, int set_id, int scanner_state) except -1
    cdef bint _has_sure_way(self, int set_id, int scanner_state, int word, int token) except -1
    @cython.locals(undecided=UndecidedTokens)
    cdef object _find_surely_first(self, int set_id, int scanner_state)
    @cython.locals(next_set=int)
    cdef bint _leads_on_after(self, int set_id, state, int token) except -1
    cdef bint _is_good(self, int set_id, state) except -1
