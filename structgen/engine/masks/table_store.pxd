cimport cython

from structgen.engine.arrays cimport grown, room
from structgen.engine.masks.tables cimport DenseMask, RemainderNodes, TerminalMask, Trie
from structgen.engine.masks.token_lists cimport CountedTokens, FoundTokens

cdef int ENTRY_BYTES, MARK_BYTE, MAX_LISTED_TOKENS, MAX_ROUNDS, POOL, RECORD_BYTES, ROOT_NODE
cdef unsigned int ALL_BITS
cdef unsigned long long ALL_64_BITS, FACTOR


@cython.final
cdef class TableStore:
    cdef readonly Trie trie
    cdef readonly int words
    cdef public unsigned int[::1] empty
    cdef readonly int[::1] pool
    cdef int _pool_size
    cdef readonly list dense
    cdef readonly list remainders
    cdef readonly RemainderNodes whole
    cdef public long long bytes_used
    cdef int _numbered
    cdef int _rounds
    cdef int _all
    cdef int _first_mark
    cdef dict _remainders_by_hash
    cdef dict _remainders_of_trie
    cdef dict _united
    cdef dict _inside_both

    @cython.locals(before="int[::1]", wider="int[::1]", first=int, index=int)
    cdef int keep(self, int[::1] values, int count) except -1
    cdef int keep_tokens(self, TerminalMask table, CountedTokens tokens) except -1
    cpdef int keep_dense(self, mask) except -1
    cdef int drop_last_dense(self) except -1
    @cython.locals(number=int, dense=DenseMask, words="unsigned int[::1]", one="unsigned int", index=int, token=int)
    cdef int dense_of(self, int[::1] tokens, int first, int last) except -1
    @cython.locals(number=int, dense=DenseMask, words="unsigned int[::1]", tokens="int[::1]", below="int[::1]", many=int, one="unsigned int", at=int, index=int, token=int)
    cdef int dense_of_found(self, FoundTokens found) except -1
    @cython.locals(tokens="int[::1]", count=int, everything=DenseMask, number=int, dense=DenseMask, words="unsigned int[::1]", below="int[::1]", inside="int[::1]", one="unsigned int", at=int, index=int, last=int, token=int)
    cdef int _dense_without_gaps(self, FoundTokens found) except -1
    @cython.locals(words="unsigned int[::1]", one="unsigned int", index=int, token=int)
    cdef unsigned int[::1] words_of(self, TerminalMask table)
    @cython.locals(kept=tuple)
    cpdef TerminalMask united(self, list tables)
    @cython.locals(made=TerminalMask, table=TerminalMask, words="unsigned int[::1]")
    cdef TerminalMask _union_of(self, list tables)
    @cython.locals(kept=tuple, made=TerminalMask)
    cdef TerminalMask inside_both(self, TerminalMask left, TerminalMask right)
    @cython.locals(words="unsigned int[::1]", one="unsigned int", index=int, token=int)
    cdef object _inside(self, TerminalMask table)
    @cython.locals(index=int)
    cdef int _add_words(self, unsigned int[::1] words, unsigned int[::1] others) except -1
    @cython.locals(index=int)
    cdef bint are_equal(self, unsigned int[::1] words, unsigned int[::1] others) noexcept
    @cython.locals(made=TerminalMask)
    cdef TerminalMask table_of(self, FoundTokens found)
    cdef int add_remainders(self, TerminalMask table, RemainderNodes remainders) except -1
    @cython.locals(first=int, index=int, hashed="unsigned long long", known=RemainderNodes, made=RemainderNodes)
    cdef RemainderNodes remainders_at(self, Trie trie, CountedTokens exits, int min_count, int max_count, removed)
    @cython.locals(values="int[::1]", index=int, kept=int)
    cdef void _sort(self, CountedTokens nodes) except *
    @cython.locals(low=int, high=int, middle=int)
    cdef bint has_node_in(self, RemainderNodes remainders, int first, int last) noexcept
    @cython.locals(trie=Trie, most=int, at=int, node=int)
    cdef int most_left(self, RemainderNodes remainders) except -1
    @cython.locals(known=RemainderNodes)
    cdef RemainderNodes remainders_of(self, Trie trie, int min_count, int max_count)
    @cython.locals(index=int)
    cdef bint _is_same(self, RemainderNodes known, Trie trie, CountedTokens exits, int min_count, int max_count, removed) except -1
    cdef void give_number(self, RemainderNodes remainders) noexcept
    cdef int new_round(self) noexcept
