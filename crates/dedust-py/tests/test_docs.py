"""What docstrings show is true."""

import doctest
import inspect

import pytest

import dedust

DOCUMENTED = [dedust, *(getattr(dedust, name) for name in dedust.__all__ if not name.startswith("__"))]


@pytest.mark.parametrize("thing", DOCUMENTED, ids=lambda thing: thing.__name__)
def test_examples_give_what_they_show(thing: object) -> None:
    text = inspect.getdoc(thing)
    assert text, "every name has a docstring"
    name = getattr(thing, "__name__", "")
    test = doctest.DocTestParser().get_doctest(text, {}, name, None, None)
    assert doctest.DocTestRunner().run(test).failed == 0


def test_members_have_docstrings() -> None:
    for thing in DOCUMENTED[1:]:
        if not inspect.isclass(thing):
            continue
        for name, member in vars(thing).items():
            if not name.startswith("_"):
                assert inspect.getdoc(member), f"{thing.__name__}.{name}"
