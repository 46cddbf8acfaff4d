# Arrays by token, if nothing else is said; see merge_table.py.
import cython

from structgen.engine.arrays cimport grown, zeros

cdef int NEVER, PARTNERS_OF_ONE
cdef unsigned int ALL_BITS


cdef class MergeTable:
    cdef int[::1] partner_start  # by left part: index of its first merge in the next two
    cdef int[::1] partner        # the right part of a merge; ascending for each left part
    cdef int[::1] partner_rank   # the rank of that merge
    cdef int[::1] ranked_partner # the right part of a merge; in the order of the ranks for each left part
    cdef int[::1] ranked         # the rank of that merge
    cdef int[::1] ranked_block   # the block of that right part; NEVER if it is not proper
    cdef int[::1] range_first    # the range of positions of the tokens whose left spine leads to it; -1 if they are
    cdef int[::1] range_last     # several ones
    cdef int[::1] product        # by rank: the product of a merge
    cdef readonly int[::1] is_proper
    cdef int[::1] left_part      # the left part of a token's last merge; -1 for symbols
    cdef int[::1] right_part
    cdef int[::1] block          # the greatest rank in the token's run
    cdef int[::1] left_until     # by token: see `_take`
    cdef int[::1] right_until
    cdef int[::1] children       # of the left spines' forest, by parent
    cdef int[::1] child_start    # by parent: index of its first child
    cdef int[::1] subtree        # tokens in the subtree
    cdef int[::1] least_block    # the least block of a child; NEVER without children
    cdef readonly int[::1] position
    cdef readonly int[::1] by_position
    cdef int[::1] _ranges
    cdef int _range_count
    cdef unsigned int[::1] _crossed     # by position: see `remove_crossed`; empty between two calls

    cdef int _index(self, size, merges) except -1
    @cython.locals(first=int, last=int, middle=int)
    cpdef int rank(self, int left, int right) noexcept
    @cython.locals(tokens=list, ranks=list, best="Py_ssize_t", at="Py_ssize_t")
    cpdef list merged(self, symbols)
    @cython.locals(order="int[::1]", table="int[::1]", index=int, rank=int, left=int, right=int, product=int)
    cdef int _put_together(self, int size, merges, lengths) except -1
    @cython.locals(before=int, after=int, most=int)
    cdef int _take(self, int left, int right, int product, int rank) except -1
    cpdef bint crosses(self, int left, int right) noexcept
    @cython.locals(a=int, a_end=int, a_until=int, b=int, b_end=int, b_until=int, rank=int)
    cdef bint _crosses(self, int left, int right, bint early) noexcept
    @cython.locals(children="int[::1]", by_length="int[::1]", token=int, parent=int, position=int, index=int, at=int)
    cdef int _order(self, int size, lengths) except -1
    @cython.locals(count=int, left=int, right=int, at=int)
    cdef int _find_ranges(self, int size) except -1
    @cython.locals(count=int, at=int, index=int, found="int[::1]", size=int)
    cpdef conflicts(self, int token)
    cpdef int count_conflicts(self, int token) except -1
    @cython.locals(one="unsigned int", count=int, index=int, at=int, other=int)
    cpdef int mark_conflicts(self, int token, unsigned int[::1] row) except -1
    @cython.locals(one="unsigned int", index=int, at=int, other=int)
    cpdef int remove_conflicts(self, int token, unsigned int[::1] row, int most) except -1
    @cython.locals(one="unsigned int", crossed="unsigned int[::1]", are_ranges=bint, is_crossed=bint, index=int, other=int, position=int)
    cpdef int remove_crossed(self, int token, int[::1] some, int count, unsigned int[::1] row) except -1
    @cython.locals(count=int, a=int)
    cdef int _count_partners(self, int token) noexcept
    @cython.locals(all_bits="unsigned int", index=int, at=int, last=int, width=int)
    cdef int _cross_ranges(self, bint are_crossed) except -1
    @cython.locals(count=int, a=int, a_end=int, a_until=int, at=int, rank=int)
    cdef int _find_conflicts(self, int token) except -1
    @cython.locals(count=int, begin=int, first=int, last=int, end=int, middle=int, index=int, child=int)
    cdef int _add_subtree(self, int token, int rank, int block) except -1
    cdef int _add_range(self, int first, int last) except -1
    @cython.locals(one="unsigned int", token=int, a=int, a_end=int, a_until=int, at=int, b=int, byte=int)
    cpdef int mark_joining(self, int[::1] first_bytes, unsigned int[::1] out) except -1


@cython.locals(found="int[::1]", at="Py_ssize_t", pair=list, left=str, right=str)
cpdef ids_of_merges(list pieces, dict vocabulary)
