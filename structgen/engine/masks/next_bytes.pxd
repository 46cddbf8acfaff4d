cimport cython

from structgen.engine.arrays cimport zeros
from structgen.engine.masks.table_store cimport TableStore
from structgen.engine.masks.tables cimport RemainderNodes, Trie
from structgen.engine.masks.token_lists cimport TokenList

cdef int BYTES, MANY_NODES, ROOT_NODE, VERY_MANY_NODES


@cython.final
cdef class NextBytes:
    cdef TableStore _store
    cdef int[::1] _starts           # by byte: how many of the nodes have a smaller one
    cdef TokenList _nodes
    cdef int[::1] _sorted
    cdef int[::1] _entries

    @cython.locals(starts="int[::1]", pool="int[::1]", byte=int, entry=int)
    cdef object bits(self, RemainderNodes remainders)
    @cython.locals(store=TableStore, starts="int[::1]", entries="int[::1]", size=int, first=int, count=int, byte=int)
    cdef void make_table(self, RemainderNodes remainders) except *
    @cython.locals(trie=Trie, store=TableStore, entries="int[::1]", words="unsigned long long[::1]", one="unsigned long long", count=int, byte=int, at=int, node=int)
    cdef int _make_bits(self, RemainderNodes remainders) except -1
    @cython.locals(trie=Trie, pool="int[::1]", bits="unsigned long long[::1]", at=int, node=int, entry=int)
    cdef void find(self, RemainderNodes remainders, int byte, TokenList found) except *
    @cython.locals(trie=Trie, nodes=TokenList, starts="int[::1]", pool="int[::1]", byte=int, at=int, node=int, stop=int)
    cdef int _find_nodes(self, RemainderNodes remainders) except -1
    @cython.locals(starts="int[::1]", nodes=TokenList, in_order="int[::1]", node_byte="int[::1]", index=int, byte=int)
    cdef int _sort(self, RemainderNodes remainders) except -1
