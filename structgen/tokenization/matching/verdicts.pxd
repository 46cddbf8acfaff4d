import cython

from structgen.engine.automata.store cimport AutomatonStore
from structgen.engine.earley.item_sets cimport ItemSetStore
from structgen.engine.matching.compiled cimport CompiledGrammar
from structgen.engine.pair_table cimport PairTable
from structgen.tokenization.matching.bridges cimport Bridges
from structgen.tokenization.matching.continuations cimport Continuations
from structgen.tokenization.matching.endings cimport Endings
from structgen.tokenization.matching.inner_ways cimport InnerWays, LeadingTokens
from structgen.tokenization.matching.next_tokens cimport NextTokens
from structgen.tokenization.matching.sure_cuts cimport SureCuts
from structgen.tokenization.matching.terminal_ends cimport TerminalEnds
from structgen.tokenization.matching.terminal_texts cimport TerminalTexts
from structgen.tokenization.matching.token_steps cimport TokenSteps
from structgen.tokenization.matching.whole_words cimport WholeWords
from structgen.tokenization.merges.merge_table cimport MergeTable
from structgen.tokenization.pre_tokens.scanner cimport Scanner

cdef int BAD, CAPTURED, FREE, GOOD, MAX_COMPLETED, MAX_FOLLOWED, MAX_KEPT, UNKNOWN


cdef class Verdicts:
    cdef CompiledGrammar _compiled
    cdef object _tokenization
    cdef Continuations _ahead
    cdef ItemSetStore _sets
    cdef Scanner _scanner
    cdef MergeTable _merges
    cdef WholeWords _words
    cdef object _borders        # None if cuts are common enough
    cdef NextTokens _next_tokens
    cdef tuple _spellings
    cdef TerminalTexts _texts
    cdef InnerWays _inner
    cdef SureCuts _cuts
    cdef readonly TerminalEnds ends
    cdef TokenSteps _steps      # of the last bytes of a token, see `in_terminals`
    cdef PairTable _after_all   # by set and state of the scanner: whether a way leads on, whatever the token before
    cdef dict _bridges          # by set and state of the scanner
    cdef dict _last_bridges     # see `KnownWays.last_bridges`

    @cython.locals(verdict=int)
    cpdef int on(self, int set_id, int next_set, int next_state, int partial, int word, int token, added) except -1
    @cython.locals(cutting=object, known=int)
    cdef bint _is_cut_within(self, int at, int scanner_state, int word, int token, added) except -1
    @cython.locals(kind=int, item=int, at=int)
    cpdef bint is_good_within(self, TokenSteps steps, int word, int token, added, bint is_kept) except -1
    @cython.locals(left=int, first_bytes=object)
    cpdef int in_terminals(self, TokenSteps steps, int word, int token) except -1
    @cython.locals(kind=int, verdict=int, judged=int, item=int, at=int)
    cpdef int within(self, TokenSteps steps, int word, int token, bint is_kept) except -1
    @cython.locals(following=object, last=int, other=int)
    cdef int _judge_in(self, int at, int kind, TokenSteps steps, int word, int token) except -1
    @cython.locals(scanner=Scanner, text=bytes, end=int, is_cut=bint, begun=int, word=int, next_state=int, partial=int, after=object)
    cdef bint _is_bridged_in(self, int at, following, int kind, int scanner_state, int token, int other) except -1
    cdef bint _leads_on_within(self, int at, bint is_free, TokenSteps steps, int word, int token, added) except -1
    @cython.locals(sets=ItemSetStore, automata=AutomatonStore, text=bytes, kind=int, verdict=int, judged=int, scan=int, at=int, index="Py_ssize_t")
    cdef int _judge_within(self, int set_id, int scanner_state, int word, int token) except -1
    @cython.locals(completed=dict)
    cdef bint _completed_within(self, int at, int scanner_state, int partial, int token) except -1
    @cython.locals(completion=bytes, last=int)
    cdef bint _is_completed_within(self, int at, int scanner_state, int partial, int token) except -1
    @cython.locals(next_at=int, next_state=int, still=int)
    cdef bint _completes_within(self, int at, int scanner_state, int partial, bytes completion, int last) except -1
    @cython.locals(completion=bytes, last=int)
    cdef bint _is_completed(self, int set_id, int scanner_state, int partial, int token) except -1
    @cython.locals(next_set=int, next_state=int, still=int)
    cdef bint _completes(self, int set_id, int scanner_state, int partial, bytes completion, int last) except -1
    @cython.locals(tokens=tuple, following=int, each=int, is_decided=bint, index="Py_ssize_t")
    cdef int _judge(self, Endings endings, int word, int token) except -1
    @cython.locals(bridges=Bridges, other=int)
    cdef bint _is_good_after_bridge(self, int set_id, int scanner_state, int token) except -1
    cdef int _keep_after_all(self, int set_id, int scanner_state) except -1
    @cython.locals(scanner=Scanner, text=bytes, next_set=int, is_cut=bint, begun=int, word=int, next_state=int, partial=int)
    cdef object _try_bridge(self, Bridges bridges, int set_id, int scanner_state, int other)
    @cython.locals(item=int, at=int, kind=int, following=object)
    cpdef bint ends_within(self, TokenSteps steps, int token, bytes text, state) except -1
    @cython.locals(cutting=object, is_good=bint)
    cpdef bint ends_soon(self, int set_id, state) except -1
