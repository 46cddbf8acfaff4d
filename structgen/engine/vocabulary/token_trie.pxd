# See token_trie.py for what each array holds.
import cython
from structgen.engine.arrays cimport head, zeros


cdef class TokenTrie:
    cdef readonly int node_count
    cdef readonly int max_depth
    cdef readonly int[::1] node_byte
    cdef readonly int[::1] node_end
    cdef readonly int[::1] node_depth
    cdef readonly int[::1] token_start
    cdef readonly int[::1] tokens
    cdef readonly int[::1] first_node
    cdef object _ranks          # by token: the index of its entry; None until it is asked for

    @cython.locals(spelling=bytes, max_nodes=cython.Py_ssize_t, longest=int, length=int)
    cdef _allocate(self, list spellings)

    @cython.locals(
        node_byte=cython.int[::1], node_end=cython.int[::1], node_depth=cython.int[::1],
        token_start=cython.int[::1], tokens=cython.int[::1], first_node=cython.int[::1], path=cython.int[::1],
        spelling=bytes, previous=bytes,
        token_id=int, node=int, position=int, open_depth=int, length=int, shared=int, max_shared=int, depth=int,
    )
    cdef _fill(self, list spellings, list token_ids)

    @cython.locals(
        node_byte=cython.int[::1], node_end=cython.int[::1], token_start=cython.int[::1],
        counts=cython.int[::1], lengths=cython.int[::1], nodes=cython.int[::1],
        size=int, begin=int, at=int, node=int, child=int, end=int, found=list,
    )
    cpdef fewest_tokens(self, bytes data)

    @cython.locals(node=int, end=int, index=int, found=list)
    cpdef list tokens_with(self, int byte)

    cdef _trim(self, int node_count)

    @cython.locals(nodes=int, first=int, tokens=int, made=TokenTrie)
    cpdef TokenTrie followed_by(self, TokenTrie last, int byte)


@cython.locals(count=int, index=int, made=cython.int[::1])
cdef int[::1] _joined(int[::1] first, int used, int[::1] second, int offset)
