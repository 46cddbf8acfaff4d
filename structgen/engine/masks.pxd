cimport cython

from structgen.engine.arrays cimport grown, head, zeros
from structgen.engine.earley cimport ItemSetStore
from structgen.engine.mask_tables cimport Exits, TerminalMask, Trie
from structgen.engine.terminal_masks cimport TerminalMasks

cdef int AFTER, FOLLOWED, FRESH, LOOKED_UP, ROOT_NODE, SUSPECT
cdef unsigned int ALL_BITS


cdef class SetMask:
    cdef public list parts
    cdef public int[::1] tokens


cdef class SetMasks:
    cdef public ItemSetStore sets
    cdef public TerminalMasks terminals
    cdef public long long nodes_visited
    cdef list _masks
    cdef public unsigned int[::1] empty
    cdef int[::1] _set_at       # by depth, while walking: the set reached
    cdef int[::1] _found
    cdef int _found_size
    cdef set _suspects          # tokens that have to be looked at one by one for the mask in the making
    cdef int[::1] _seen         # by automaton state: the mask in whose making it was last looked at
    cdef int _serial
    cdef int _followed          # exits followed for the mask in the making

    cpdef SetMask get(self, int set_id)
    @cython.locals(mask=SetMask, tokens="int[::1]", parts=int, part=TerminalMask, index=int, token=int, one="unsigned int")
    cpdef int fill(self, int set_id, unsigned int[::1] words) except -1
    @cython.locals(removed="int[::1]", one="unsigned int", index=int, token=int)
    cdef void _copy(self, TerminalMask part, unsigned int[::1] words) except *
    cdef void _unite(self, SetMask mask, unsigned int[::1] words) except *
    @cython.locals(sets=ItemSetStore, mask=SetMask, scan=int, state=int, terminal=TerminalMask, index=int)
    cdef SetMask _make(self, int set_id)
    cdef int _add(self, int token) except -1
    @cython.locals(index="Py_ssize_t")
    cdef void _add_all(self, int[::1] tokens) except *
    @cython.locals(sets=ItemSetStore, first=int, last=int, scan=int, state=int, before=int, is_new=bint, terminal=TerminalMask)
    cdef void _follow(self, SetMask mask, Exits exits, int set_id) except *
    @cython.locals(sets=ItemSetStore, trie=Trie, places="int[::1]", at="Py_ssize_t", node=int, stop=int, depth=int, target=int, index=int)
    cdef void _walk(self, Exits exits, int set_id) except *
    @cython.locals(trie=Trie)
    cdef void _add_meant(self, Exits exits, int index, bint is_suspect) except *
    @cython.locals(sets=ItemSetStore, target=int, token=int, byte=int)
    cdef void _add_suspects(self, int set_id) except *
    cdef void _suspect_all(self, TerminalMask terminal) except *
    @cython.locals(text=int)
    cdef bint _is_suspect(self, int set_id, int scan) except -1
