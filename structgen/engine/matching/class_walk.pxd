cimport cython

from structgen.engine.arrays cimport zeros
from structgen.engine.deadlines cimport spend
from structgen.engine.earley.item_sets cimport ItemSetStore
from structgen.engine.vocabulary.token_trie cimport TokenTrie


@cython.final
cdef class ClassWalk:
    cdef ItemSetStore _sets
    cdef TokenTrie _trie
    cdef object _class_of
    cdef int _words
    cdef int[::1] _set_at

    @cython.locals(
        trie=TokenTrie, sets=ItemSetStore, set_at="int[::1]", rows="unsigned int[:, ::1]", one="unsigned int",
        last_set=int, row=int, node=int, visited=int, depth=int, reached=int, index=int, token=int,
    )
    cpdef find(self, int set_id, int max_classes)
