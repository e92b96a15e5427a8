"""Each rule is shown a sample that breaks it and one that keeps it: a rule that sees nothing is no rule."""

from __future__ import annotations

from tests.tidy import rules
from tests.tidy.sources import source_of

SWALLOWING = """
from contextlib import suppress
try:
    pass
except ValueError:
    pass
for _ in ():
    try:
        pass
    except OSError:
        continue

with suppress(OSError):
    print()
def f():
    try:
        pass
    except KeyError:
        return
"""
EXPLAINED = """
from contextlib import suppress
def find():
    try:
        return 1
    except KeyError:
        return None
try:
    pass
except ValueError:
    pass  # Nobody else reads it.
try:
    pass
except OSError as error:
    raise RuntimeError from error
# The file may be gone by now.
with suppress(OSError):
    print()
"""


def test_lengths() -> None:
    body = "\n".join("    print()" for _ in range(rules.FUNCTION_LINES))
    assert rules.long_functions(source_of(f"def f():\n{body}")) == ["engine/sample.py:1 f: 61 lines"]
    assert rules.long_functions(source_of(f"@print\n@print\ndef f():\n{body[:-12]}")) == []
    assert rules.too_long(source_of("\n" * 401))
    assert not rules.too_long(source_of("\n" * 401, "tests/sample.py"))


def test_vague_names() -> None:
    assert rules.vague_names(source_of("", "engine/utils.py"))
    assert rules.vague_names(source_of("", "engine/common/text.py"))
    assert not rules.vague_names(source_of("", "engine/paging.py"))


def test_swallowed_exceptions() -> None:
    found = {int(place.rpartition(":")[2]) for place in rules.swallowed(source_of(SWALLOWING))}
    assert found == {5, 10, 13, 18}
    assert rules.swallowed(source_of(EXPLAINED)) == []


def test_dialect_tests() -> None:
    assert (
        rules.dialect_tests(source_of("if connection.dialect.name == 'sqlite': pass"))
        == ["engine/sample.py:1"] * 2
    )
    assert not rules.dialect_tests(source_of("if capabilities.one_statement_commit: pass"))


def test_parameters_in_a_sets_order() -> None:
    text = '@parametrize("a", {})\ndef test(a): ...'
    for made in ("{1, 2}", "set(A) - {A.B}", "frozenset(A)", "{b for b in A}"):
        assert rules.shuffled_parameters(source_of(text.format(made)))
    for made in ("sorted({1, 2})", "[1, 2]", "{1: 2}"):
        assert not rules.shuffled_parameters(source_of(text.format(made)))


def test_machine_paths() -> None:
    assert rules.PLACE.search(f"see {'/'}root/x")
    assert not rules.PLACE.search("https://example.org/work-in-progress and ./work/x and /usr/bin/env")


def test_imports_for_types_only_are_not_imports() -> None:
    text = "import a\nif TYPE_CHECKING:\n    import b\ndef f():\n    from c.d import e"
    assert [name for name, _ in rules.imports(source_of(text))] == ["a", "c.d"]


def test_missing_docstrings() -> None:
    text = '"""It."""\nclass A:\n    """A."""\n    def f(self): ...\n    def _g(self): ...\ndef h(): ...'
    assert [name for _, name in rules.undocumented(source_of(text))] == ["A.f", "h"]
    assert [name for _, name in rules.undocumented(source_of("def _h(): ..."))] == [""]
