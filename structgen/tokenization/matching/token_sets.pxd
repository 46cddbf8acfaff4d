import cython

from structgen.engine.arrays cimport zeros
from structgen.engine.vocabulary.token_trie cimport TokenTrie

cdef unsigned int ALL_BITS
cdef int[::1] BIT_OF
cdef int BLOCK, MANY_WORDS, SMALL_BLOCK


cpdef bint has(unsigned int[::1] row, int token) except -1
cpdef int count(unsigned int[::1] row) except -1
@cython.locals(index="Py_ssize_t", word="unsigned int", found=int)
cdef int count_within(unsigned int[::1] row, Py_ssize_t begin, Py_ssize_t end) except -1
@cython.locals(index="Py_ssize_t", found="unsigned int")
cdef bint is_empty(unsigned int[::1] row, Py_ssize_t begin, Py_ssize_t end) noexcept
@cython.locals(index="Py_ssize_t", token=int, one="unsigned int")
cpdef int without(unsigned int[::1] out, unsigned int[::1] row, int[::1] some) except -1
@cython.locals(index="Py_ssize_t")
cpdef int unite(unsigned int[::1] out, unsigned int[::1] row) except -1
@cython.locals(index="Py_ssize_t")
cpdef int intersect(unsigned int[::1] out, unsigned int[::1] row) except -1
@cython.locals(index="Py_ssize_t")
cpdef int remove(unsigned int[::1] out, unsigned int[::1] row) except -1
@cython.locals(index="Py_ssize_t")
cpdef int intersection(unsigned int[::1] out, unsigned int[::1] row, unsigned int[::1] other) except -1
@cython.locals(index="Py_ssize_t", word="unsigned int", found=int)
cpdef bint select(unsigned int[::1] out, unsigned int[::1] row, unsigned int[::1] other, unsigned int[::1] removed) except -1
@cython.locals(index="Py_ssize_t")
cpdef int intersect_either(unsigned int[::1] out, unsigned int[::1] row, unsigned int[::1] other) except -1
@cython.locals(index="Py_ssize_t")
cpdef int unite_both(unsigned int[::1] out, unsigned int[::1] row, unsigned int[::1] other) except -1
@cython.locals(index="Py_ssize_t")
cpdef int remove_both(unsigned int[::1] out, unsigned int[::1] row, unsigned int[::1] other) except -1
@cython.locals(size="Py_ssize_t", begin="Py_ssize_t", end="Py_ssize_t", found=int)
cpdef int count_to(unsigned int[::1] row, int most) except -1
@cython.locals(index="Py_ssize_t", found=int)
cpdef bint are_many(unsigned int[::1] row) except -1
@cython.locals(index="Py_ssize_t", token=int, one="unsigned int")
cpdef int drop(unsigned int[::1] out, int[::1] some) except -1
@cython.locals(found=object, one=object, byte=int, node=int, index="Py_ssize_t", token=int)
cpdef object first_bytes(unsigned int[::1] row, TokenTrie trie)
cpdef list ids(unsigned int[::1] row)
@cython.locals(made="int[::1]")
cpdef object tokens_in(unsigned int[::1] row)
@cython.locals(index="Py_ssize_t", size="Py_ssize_t", begin="Py_ssize_t", end="Py_ssize_t", word="unsigned int", lowest="unsigned int", found=int)
cpdef int list_tokens(unsigned int[::1] row, int[::1] out, int most) except -1
@cython.locals(index=int, kept=int, token=int, one="unsigned int")
cpdef int drop_both(int[::1] some, int count, unsigned int[::1] row, unsigned int[::1] other) except -1
@cython.locals(at=int, token=int)
cpdef int next_of(unsigned int[::1] row, int[::1] some, int begin) except -2
@cython.locals(index=int, word="unsigned int", bit=int)
cpdef int next_token(unsigned int[::1] row, int begin) except -2
@cython.locals(index="Py_ssize_t", made="int[::1]")
cpdef int[::1] ints(list values)


cdef class UndecidedTokens:
    cdef readonly int[::1] tokens
    cdef readonly list dead
    cdef readonly int[::1] verdicts
    cdef public bint is_walked

    @cython.locals(known=dict, index="Py_ssize_t")
    cpdef int take_over(self, UndecidedTokens other) except -1
    @cython.locals(count="Py_ssize_t", index="Py_ssize_t")
    cpdef Py_ssize_t count_decided(self) except -1


cdef int[::1] _NOTHING


cpdef UndecidedTokens undecided_tokens(int[::1] tokens, list dead)
