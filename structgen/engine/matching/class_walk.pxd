cimport cython

from structgen.engine.arrays cimport zeros
from structgen.engine.deadlines cimport spend
from structgen.engine.earley.item_sets cimport ItemSetStore
from structgen.engine.vocabulary.token_trie cimport TokenTrie


cdef int LETTER


@cython.final
cdef class ClassWalk:
    cdef ItemSetStore _sets
    cdef TokenTrie _trie
    cdef object _class_of
    cdef int _words
    cdef int[::1] _set_at
    cdef int[::1] _after_loop

    @cython.locals(
        trie=TokenTrie, sets=ItemSetStore, set_at="int[::1]", rows="unsigned int[:, ::1]", one="unsigned int",
        last_set=int, row=int, node=int, visited=int, depth=int, reached=int, index=int, token=int, loop=int,
        after=int, leaving="int[::1]", after_loop="int[::1]", before=int,
    )
    cpdef find(self, int set_id, int max_classes)

    @cython.locals(reached=int)
    cdef int _loop_from(self, int set_id) except -1

    @cython.locals(trie=TokenTrie, count=int, leaves="int[::1]", byte=int, found="int[::1]", node=int)
    cdef int[::1] _leaving_nodes(self, int loop)
