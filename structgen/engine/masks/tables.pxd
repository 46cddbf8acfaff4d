cimport cython

from structgen.engine.arrays cimport grown, zeros
from structgen.engine.masks.character_kinds cimport kind_of
from structgen.engine.masks.token_lists cimport TokenList
from structgen.engine.pair_table cimport PairTable

cdef int MAX_NODES, MAX_ROUNDS, MAX_SEARCHED, MAX_TOKEN_BYTES


@cython.final
cdef class Marks:
    cdef public int[::1] round_of
    cdef public int round

    cdef int begin(self) except -1
    cdef bint meet(self, int number, int of_round) except -1
    cdef bint has(self, int number) noexcept


@cython.final
cdef class MaskScratch:
    cdef readonly TokenList found
    cdef readonly TokenList ranges
    cdef readonly int[::1] sets_on_path
    cdef readonly Marks seen_states
    cdef readonly Marks states_after
    cdef readonly Marks refused_tokens
    cdef readonly set suspects
    cdef readonly list removed


@cython.final
cdef class ByteSet:
    cdef readonly unsigned long long first
    cdef readonly unsigned long long second
    cdef readonly unsigned long long third
    cdef readonly unsigned long long fourth

    @cython.locals(common="unsigned long long")
    cdef bint meets(self, ByteSet other) noexcept
    cdef void add(self, ByteSet other) noexcept


@cython.final
cdef class Trie:
    cdef public int[::1] byte
    cdef public int[::1] end
    cdef public int[::1] depth
    cdef public int[::1] token_start
    cdef public int[::1] tokens
    cdef public int[::1] token_count
    cdef public int[::1] first_node
    cdef public int[::1] node_mark
    cdef public unsigned long long[::1] kinds_below
    cdef public unsigned long long[::1] kinds_with
    cdef public int[::1] characters
    cdef public int[::1] height
    cdef public int[::1] most_below
    cdef public int[::1] inner
    cdef public int[::1] first_inner
    cdef public int[::1] children
    cdef public int[::1] first_child
    cdef public unsigned long long[::1] child_records
    cdef public unsigned long long[::1] kinds_of_byte
    cdef public unsigned long long[::1] kinds_within
    cdef public int[::1] by_byte
    cdef public int[::1] parent_of
    cdef public unsigned long long[::1] kinds_by_byte
    cdef public int[::1] first_of_byte
    cdef public int[::1] records
    cdef public int size
    cdef public int max_depth
    cdef public bint has_counts
    cdef object _has_duplicates

    @cython.locals(records="int[::1]", node=int)
    cdef int _write_records(self) except -1
    @cython.locals(node=int, index=int)
    cdef int _count_characters(self) except -1
    @cython.locals(path="int[::1]", first_child="int[::1]", children="int[::1]", node=int, depth=int, parent=int, at=int, byte=int)
    cdef int _index_children(self) except -1
    @cython.locals(records="unsigned long long[::1]", at=int, node=int, entry="unsigned long long", most=int, is_lead=bint)
    cdef int _write_child_records(self) except -1
    @cython.locals(first_of_byte="int[::1]", by_byte="int[::1]", parent_of="int[::1]", kinds_by_byte="unsigned long long[::1]", path="int[::1]", node=int, depth=int, byte=int, at=int, is_lead=bint)
    cdef int _sort_by_byte(self) except -1
    cpdef bint has_duplicates(self) except -1
    @cython.locals(node=int, index=int)
    cdef bint has_token(self, bytes data, int token) except -1
    @cython.locals(child=int, index=int, entry=int, low=int, high=int, middle=int)
    cdef int child(self, int node, int byte) noexcept


cdef class TerminalMask


@cython.final
cdef class RemainderNodes:
    cdef public Trie trie
    cdef public int first
    cdef public int last
    cdef public int min_count
    cdef public int max_count
    cdef public object removed
    cdef public int first_entry
    cdef public int last_entry
    cdef public unsigned long long[::1] is_node
    cdef public int number
    cdef public PairTable tables
    cdef public ByteSet bytes
    cdef public TerminalMask ended

    cdef bint has_token(self, int index) except -1


@cython.final
cdef class DenseMask:
    cdef public unsigned int[::1] words


@cython.final
cdef class TerminalMask:
    cdef public int round
    cdef public int dense
    cdef public int first_removed
    cdef public int last_removed
    cdef public int first_token
    cdef public int last_token
    cdef public int first_remainders
    cdef public int last_remainders

    @cython.locals(removed=int)
    cdef bint shares_dense(self, TerminalMask other) noexcept


@cython.final
cdef class ByCount:
    cdef public int first
    cdef public int size
    cdef public int starts
    cdef public int width


@cython.final
cdef class CountedTerminal:
    cdef public int state
    cdef public int rest_state
    cdef public int largest
    cdef public int inside_mask
    cdef public bint absorbs
    cdef public int largest_exit
    cdef public ByCount inside
    cdef public ByCount others
    cdef public int mask_in_order
    cdef public ByCount rest
    cdef public int exit_nodes
    cdef public int exit_counts
    cdef public int exit_count
    cdef public Trie remainder_trie
    cdef public dict masks
    cdef public dict remainders
