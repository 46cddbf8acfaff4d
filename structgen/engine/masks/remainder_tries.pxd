cimport cython

from structgen.engine.masks.table_store cimport TableStore
from structgen.engine.masks.tables cimport Trie

cdef int MAX_MERGED_NODES


@cython.final
cdef class RemainderTries:
    cdef TableStore _store
    cdef tuple _spellings
    cdef dict _merged

    cdef Trie merge(self, Trie trie, int[::1] exits, int[::1] counts)
    @cython.locals(index="Py_ssize_t", nodes=int, at=int, left=bytes, pairs_of=dict, pairs=list, texts=list, tokens=list, token_counts=list)
    cdef Trie _new_trie(self, Trie trie, int[::1] exits, int[::1] counts)
    @cython.locals(index="Py_ssize_t", exit_node=int, skipped=int, count=int, at=int, token=int, spellings=tuple, pairs_of=dict, spelling=bytes, left=bytes, pairs=list)
    cdef dict _tokens_by_remainder(self, Trie trie, int[::1] exits, int[::1] counts)
