"""The stubs say what the module has, no more and no less."""

import ast
import inspect
from pathlib import Path
from typing import Any

import dedust._dedust as module

STUBS = Path(module.__file__).with_name("_dedust.pyi")
if not STUBS.exists():
    STUBS = Path(__file__).parents[1] / "python" / "dedust" / "_dedust.pyi"

# What every class has, or what Python makes of others.
IMPLIED = {"__new__", "__iter__", "__repr__", "__str__", "__reduce__", "__doc__", "__module__", "__hash__"}
IMPLIED |= {f"__{name}__" for name in ("eq", "ne", "lt", "le", "gt", "ge")}


def stubs() -> dict[str, Any]:
    tree = ast.parse(STUBS.read_text())
    names: dict[str, Any] = {}
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            members = {}
            for member in node.body:
                if isinstance(member, ast.FunctionDef):
                    members[member.name] = member
            names[node.name] = members
        elif isinstance(node, ast.FunctionDef):
            names[node.name] = node
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            names[node.target.id] = None
    return names


def parameters(function: ast.FunctionDef) -> list[str]:
    arguments = function.args
    names = [a.arg for a in arguments.posonlyargs + arguments.args + arguments.kwonlyargs]
    return [name for name in names if name not in ("self", "cls")]


def test_the_stubs_have_every_name_and_no_other() -> None:
    expected = {name for name in vars(module) if not name.startswith("__")}
    assert set(stubs()) == expected


def test_classes_have_the_members_that_the_stubs_say() -> None:
    for name, members in stubs().items():
        found = getattr(module, name)
        if not inspect.isclass(found) or issubclass(found, Exception):
            continue
        actual = {member for member in vars(found) if member not in IMPLIED}
        assert {member for member in members if member not in IMPLIED} == actual, name


def test_functions_have_the_parameters_that_the_stubs_say() -> None:
    for name, members in stubs().items():
        if isinstance(members, ast.FunctionDef):
            assert parameters(members) == list(inspect.signature(getattr(module, name)).parameters), name
            continue
        for member, function in (members or {}).items():
            if member.startswith("__") and member != "__new__":
                continue
            target = getattr(module, name) if member == "__new__" else getattr(getattr(module, name), member)
            if inspect.isgetsetdescriptor(target):
                continue
            actual = list(inspect.signature(target).parameters)
            assert parameters(function) == [p for p in actual if p != "self"], f"{name}.{member}"
