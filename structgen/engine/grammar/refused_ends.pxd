cimport cython

from structgen.engine.automata.ample_bounds cimport AmpleBounds
from structgen.engine.automata.store cimport AutomatonStore
from structgen.engine.automata.term_table cimport TermTable
from structgen.engine.grammar.tables cimport Capture

# Typed copies of the constants of structgen/engine/constants.py.
cdef int DEAD, NEVER, NO_BYTE, MAX_KNOWN, ROOM_FOR_UNKNOWN


@cython.final
cdef class RefusedEnds:
    cdef AutomatonStore _automata
    cdef object _source
    cdef dict _refusals
    cdef set _without_room
    cdef dict _are_one
    cdef dict _longest

    @cython.locals(state=int, refusals=tuple, room=int, least=int)
    cdef tuple refusing(self, Capture capture)
    @cython.locals(key=tuple, found=tuple)
    cdef tuple refusals(self, int number, Capture capture, bytes begun)
    cdef int keep_room(self, int position, int room) except -1
    cdef bint has_room(self, int position, int state, int most) except -1
    @cython.locals(ample_bounds=AmpleBounds, opened=int, room=int, longest=int, key=tuple)
    cdef int _room_left(self, int state, tuple refusals, int below) except -1
    cdef int _room_within(self, int state) except -1
    @cython.locals(automata=AutomatonStore)
    cdef int _opened(self, int state) except -1
    @cython.locals(known=tuple)
    cdef int _longest_of_group(self, tuple key, group) except -1
    @cython.locals(table=TermTable, counted=int, below=int, body=int, rest=int, longest=int, spelling=tuple, last="Py_ssize_t", at="Py_ssize_t")
    cdef int _longest_of(self, tuple key, spellings) except -1
    cdef bint _is_one(self, int body, tuple forms) except -1
    @cython.locals(automata=AutomatonStore, state=int, last="Py_ssize_t", at="Py_ssize_t")
    cdef bint _is_one_form(self, int body, bytes form) except -1
