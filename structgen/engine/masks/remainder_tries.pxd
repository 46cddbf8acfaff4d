cimport cython

from structgen.engine.arrays cimport head, zeros
from structgen.engine.masks.table_store cimport TableStore
from structgen.engine.masks.tables cimport Trie
from structgen.engine.vocabulary.token_trie cimport TokenTrie

cdef int MAX_MERGED_NODES


@cython.final
cdef class RemainderTries:
    cdef TableStore _store
    cdef dict _merged

    cdef Trie merge(self, Trie trie, int[::1] exits, int[::1] counts)
    @cython.locals(index="Py_ssize_t", nodes=int)
    cdef bint _are_too_many(self, Trie trie, int[::1] exits) except -1
    @cython.locals(index="Py_ssize_t", node=int, nodes=int, tokens=int, merging=Merging, merged=TokenTrie)
    cdef Trie _new_trie(self, Trie trie, int[::1] exits, int[::1] counts)


@cython.final
cdef class Merging:
    cdef Trie _trie
    cdef int[::1] _node_of
    cdef int[::1] _count_of
    cdef int[::1] _next_of
    cdef int _size
    cdef int[::1] _group_of_byte
    cdef int[::1] _waiting
    cdef int[::1] _depth_of
    cdef int _waiting_count
    cdef int _nodes
    cdef int _tokens
    cdef readonly int[::1] counts

    cdef int _add(self, int node, int count, int group) noexcept
    @cython.locals(trie=Trie, merged=TokenTrie, node_byte="int[::1]", node_end="int[::1]", node_depth="int[::1]", token_start="int[::1]", tokens="int[::1]", counts="int[::1]", path="int[::1]", node=int, position=int, open_depth=int, group=int, depth=int, above=int, byte=int, entry=int, at=int)
    cdef TokenTrie merge(self)
    @cython.locals(trie=Trie, group_of_byte="int[::1]", least=int, largest=int, entry=int, child=int, end=int, byte=int)
    cdef int _add_below(self, int group, int depth) except -1
