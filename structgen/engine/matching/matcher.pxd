cimport cython
from cython cimport view

from structgen.engine.matching.compiled cimport CompiledGrammar
from structgen.engine.earley.item_sets cimport ItemSetStore


cdef int NO_BYTE, NOT_ENDED, STALE
cdef bint IS_COMPILED


cdef class Matcher:
    cdef CompiledGrammar _compiled
    cdef bytes _prefix
    cdef int _epoch
    cdef int _set
    cdef list _sets_before
    cdef list _texts
    cdef int _ended_by
    cdef object _mask_object
    cdef unsigned int[::view.strided, ::view.contiguous] _mask_words
    cdef int _mask_rows
    cdef int _reached
    cdef public object reasons_of
    cdef object __weakref__

    @cython.locals(at=int)
    cpdef fill_next_token_bitmask(self, mask, row=*)
    @cython.locals(compiled=CompiledGrammar, is_of_epoch=bint)
    cdef int _fill(self, unsigned int[::1] words) except -1
    @cython.locals(compiled=CompiledGrammar, one="unsigned int", token=int)
    cdef int _write(self, unsigned int[::1] words) except -1
    @cython.locals(compiled=CompiledGrammar)
    cdef int _begin(self) except -1
    cdef bint _may_end(self) except -1
    cdef bint _has_ended(self) noexcept
    @cython.locals(spellings=tuple, text=bytes, at="Py_ssize_t")
    cpdef accept_token(self, token_id)
    @cython.locals(compiled=CompiledGrammar, accepted=int, is_of_epoch=bint)
    cdef int _move(self, bytes text) except -1
    @cython.locals(ends=bint)
    cdef int _advance(self, bytes text) except -1
    @cython.locals(reached=int)
    cdef bint _follow_known(self, bytes text) noexcept
    @cython.locals(sets=ItemSetStore, reached=int)
    cdef int _follow(self, bytes text) except -1
    cdef int _copy_to(self, Matcher twin) except -1
    @cython.locals(compiled=CompiledGrammar)
    cdef int _renew_after(self, error) except -1
    @cython.locals(compiled=CompiledGrammar)
    cdef void _refresh(self) except *
    cdef int _continue_at(self, int set_id) except -1
    @cython.locals(compiled=CompiledGrammar, set_id=int, index=int, text=bytes, has_mark=bint)
    cdef int _read_again(self) except -1
