cimport cython

from structgen.engine.automata.store cimport AutomatonStore
from structgen.engine.deadlines cimport spend
from structgen.engine.earley.item_sets cimport ItemSetStore
from structgen.engine.masks.tables cimport Marks, MaskScratch, RemainderNodes, Trie
from structgen.engine.masks.terminal_masks cimport TerminalMasks
from structgen.engine.masks.token_lists cimport TokenList

cdef int AFTER, FRESH, NEEDS_CHECK, NO_BYTE, REFUSING, ROOT_NODE


@cython.final
cdef class RefusedTexts:
    cdef ItemSetStore _sets
    cdef TerminalMasks _terminals
    cdef TokenList _found
    cdef TokenList _ranges
    cdef dict _nodes
    cdef dict _spellings
    cdef TokenList _next_nodes
    cdef set _some
    cdef set _every

    @cython.locals(sets=ItemSetStore, scan=int, last=int)
    cdef int first_refusing(self, int set_id) except -1
    @cython.locals(found=TokenList, ranges=TokenList, nodes=set, common=set, trie=Trie, text=int, refused=Marks, node=int, sure=bint, kept=int, index=int, token=int)
    cdef void remove(self, RemainderNodes remainders, int set_id, int state, int first_refusing, int first_found, int first_range, bint is_dense) except *
    @cython.locals(sets=ItemSetStore, scan=int)
    cdef bint _may_refuse(self, int set_id, int state, int first_refusing) except -1
    @cython.locals(sets=ItemSetStore, some=set, every=set, nodes=set, groups=tuple, others=object, is_first=bint, scan=int, group=int)
    cdef bint _find_refused(self, RemainderNodes remainders, int set_id, int state) except -1
    @cython.locals(sets=ItemSetStore, captures=int, other=int)
    cdef bint _may_end_too_soon(self, int set_id, int scan, int state) except -1
    @cython.locals(scratch=MaskScratch, refused=Marks, index=int, token=int)
    cdef int _remove_between(self, Trie trie, int first, int last, bint is_sure) except -1
    @cython.locals(found=set, known=tuple)
    cdef tuple _nodes_of(self, RemainderNodes remainders, spellings)
    @cython.locals(nodes=TokenList, last_byte=int, spelling=tuple, form=bytes, index=int)
    cdef int _find_spellings(self, RemainderNodes remainders, spellings, set found) except -1
    @cython.locals(following=bytes, child=int)
    cdef int _find_rest(self, Trie trie, int node, tuple spelling, int at, bytes form, Py_ssize_t read, set found) except -1
    @cython.locals(automata=AutomatonStore, trie=Trie, at=int, node=int, stack=list, state=int, child=int, stop=int, after=int)
    cdef int _find_ends(self, RemainderNodes remainders, int start, set found) except -1
