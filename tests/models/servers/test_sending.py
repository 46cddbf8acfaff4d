"""Forms that a server refused: which are sent, and for how long the refusal is remembered."""

import pytest

from structgen.models.asked import Form
from structgen.models.servers.sending import FORGET_SECONDS, MAX_FORMS, RefusedForms, send


class RefusedError(Exception):
    pass


class Server:
    """Takes some forms, by their names."""

    def __init__(self, *taken):
        self.taken = set(taken)
        self.sent = []

    def create(self, form):
        self.sent.append(form)
        if form not in self.taken:
            raise RefusedError(form)
        return form.upper()

    def ask(self, form, refused):
        self.sent.clear()
        found, answer = send(self.create, lambda form: form.fields, form, RefusedError, refused)
        assert answer == found.fields["form"].upper()
        return self.sent


def chain(*names):
    following = chain(*names[1:]) if len(names) > 1 else None
    return Form({"form": names[0]}, otherwise=None if following is None else lambda: following)


FORMS = chain("a", "b", "c")


def test_forms_that_were_refused_are_left_out_until_they_are_forgotten():
    now = [0.0]
    refused, server = RefusedForms(lambda: now[0]), Server("c")
    assert server.ask(FORMS, refused) == ["a", "b", "c"]
    assert server.ask(FORMS, refused) == ["c"]
    now[0] = FORGET_SECONDS
    assert server.ask(FORMS, refused) == ["a", "b", "c"]


def test_another_constraint_begins_with_its_own_form():
    refused, server = RefusedForms(), Server("b", "d")
    assert server.ask(FORMS, refused) == ["a", "b"]
    assert server.ask(chain("d", "b"), refused) == ["d"]


def test_a_refusal_of_all_forms_is_not_that_of_the_form():
    """The prompt may be too long."""
    refused, server = RefusedForms(), Server()
    with pytest.raises(RefusedError, match="c"):
        server.ask(FORMS, refused)
    server.taken = {"a"}
    assert server.ask(FORMS, refused) == ["a"]


def test_what_was_taken_and_is_refused_makes_all_forms_be_tried():
    refused, server = RefusedForms(), Server("b")
    assert server.ask(FORMS, refused) == ["a", "b"]
    server.taken = {"a"}
    assert server.ask(FORMS, refused) == ["b", "c", "a"]
    assert server.ask(FORMS, refused) == ["a"]
    server.taken = set()
    with pytest.raises(RefusedError, match="c"):
        server.ask(FORMS, refused)
    assert server.sent == ["a", "b", "c"]


def test_the_memory_is_bounded():
    refused = RefusedForms()
    for index in range(MAX_FORMS + 1):
        refused.add(chain(str(index)))
    assert chain("0") not in refused and chain("1") in refused and chain(str(MAX_FORMS)) in refused
