"""What cannot be used is refused with an exception of a known type, which says what was given and what is expected."""

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import dedust
from conftest import RULES, SECRET

pa = pytest.importorskip("pyarrow")

SURROGATE = "http://example.org/\udcff"
NOT_UTF8 = b"http://example.org/\xff\xfe?sid=1"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: dedust.Normalizer(7), "expected a RuleSet or the path of a rule file, not int"),
        (lambda: dedust.Normalizer(b"rules.bin\xff"), "not bytes"),
        (lambda: dedust.RuleSet.load(None), "NoneType"),
        (lambda: dedust.RuleSet.from_json(7), "int"),
        (lambda: dedust.Normalizer().key(bytearray(b"http://example.org/")), "expected a URL as str or bytes, not bytearray"),
        (lambda: dedust.Normalizer().key_many(None), "not NoneType"),
        (lambda: dedust.Normalizer().key_many([["http://example.org/"]]), "row 0: expected a URL as str or bytes, not list"),
        (lambda: dedust.Normalizer().key("http://example.org/", 7), "positional"),
        (lambda: dedust.Normalizer().key128("http://example.org/", secret="0123456789abcdef"), "str"),
        (lambda: dedust.SeenSet().insert(7), "expected a URL as str or bytes, not int"),
        (lambda: dedust.SeenSet().insert_many([7]), "expected a URL as str or bytes, not int"),
        (lambda: dedust.SeenSet().insert_many(pa.array([7])), "not of type Int64"),
        (lambda: dedust.SeenSet().insert_many(7), "not iterable"),
        (lambda: dedust.learn(io.BytesIO(b"http://example.org/")), "expected the path of a file, or a table"),
        (lambda: dedust.learn([7]), "expected the path of a file, or a table"),
        (lambda: dedust.learn("crawl.jsonl", progress=7), "progress is of type int, expected a function, True or None"),
        (lambda: dedust.learn("crawl.jsonl", keep="rules.json"), "RuleSet"),
        (lambda: dedust.evaluate("rules.json", "crawl.jsonl"), "Normalizer"),
        (lambda: dedust.site_of(None), "expected a URL as str or bytes, not NoneType"),
    ],
)
def test_wrong_types_are_refused(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        call()


def test_a_lone_surrogate_is_no_text(tmp_path: Path) -> None:
    normalizer = dedust.Normalizer(dedust.RuleSet.from_json(RULES))
    writer = dedust.ObservationWriter(tmp_path / "crawl.jsonl")
    uses: list[Callable[[], Any]] = [
        lambda: normalizer.key(SURROGATE),
        lambda: normalizer.key_many(["http://example.org/", SURROGATE], errors="raise"),
        lambda: normalizer.key128(SURROGATE, secret=SECRET),
        lambda: normalizer.explain(SURROGATE),
        lambda: dedust.SeenSet().insert(SURROGATE),
        lambda: dedust.SeenSet().insert_many([SURROGATE]),
        lambda: dedust.site_of(SURROGATE),
        lambda: writer.write(SURROGATE),
        lambda: writer.write("http://example.org/", redirect=SURROGATE),
    ]
    for use in uses:
        with pytest.raises(dedust.ParseUrlError, match="lone surrogate"):
            use()
    with pytest.raises(dedust.LoadRulesError):
        dedust.RuleSet.from_json(RULES.replace("sid", "\\ud800"))


def test_bytes_that_are_not_utf8_are_urls_like_others(tmp_path: Path) -> None:
    normalizer = dedust.Normalizer(dedust.RuleSet.from_json(RULES))
    expected = b"http://example.org/\xff\xfe"
    assert normalizer.key(NOT_UTF8) == normalizer.key_many([NOT_UTF8])[0] == expected
    assert normalizer.key_many(pa.array([NOT_UTF8])).to_pylist() == [expected]
    assert dedust.site_of(NOT_UTF8) == "example.org"
    with dedust.SeenSet(tmp_path / "seen") as seen:
        assert seen.insert(NOT_UTF8) and not seen.insert(NOT_UTF8)
    explanation = normalizer.explain(NOT_UTF8)
    assert explanation.rules == [0]
    assert isinstance(explanation.key, str)
    for text in (RULES.encode().replace(b"sid", b"\xff"), b"\xff\xfe\x00"):
        with pytest.raises(dedust.LoadRulesError):
            dedust.RuleSet.from_json(text)


def test_a_column_that_lies_about_its_text_cannot_break_anything() -> None:
    """Arrow libraries do not check that a string column holds UTF-8."""
    lies = pa.Array.from_buffers(pa.string(), 1, pa.array([NOT_UTF8]).buffers())
    normalizer = dedust.Normalizer(dedust.RuleSet.from_json(RULES))
    with pytest.raises(TypeError, match="UTF-8|utf-8"):
        normalizer.key_many(lies)
    good = normalizer.key_many(pa.array(["http://example.org/?sid=1"])).to_pylist()
    assert good == ["http://example.org/"]


@pytest.mark.parametrize("version", ["0", "2", "99", "-1", '"2"', "2.5", "null"])
def test_a_rule_file_of_another_version_is_refused(tmp_path: Path, version: str) -> None:
    path = tmp_path / "rules.json"
    path.write_text(RULES.replace('"version": 1', f'"version": {version}'))
    for load in (dedust.Normalizer, dedust.RuleSet.load):
        with pytest.raises(dedust.LoadRulesError, match="rules.json: .*version"):
            load(path)


def test_compiled_rules_of_another_version_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "rules.bin"
    dedust.Normalizer(dedust.RuleSet.from_json(RULES)).save(path)
    compiled = path.read_bytes()
    version = next(number for number in range(16) if compiled[number] < 32)
    path.write_bytes(compiled[:version] + bytes([compiled[version] + 1]) + compiled[version + 1 :])
    with pytest.raises(dedust.LoadRulesError, match="rules.bin: .*version"):
        dedust.Normalizer(path)
    path.write_bytes(compiled[:20])
    with pytest.raises(dedust.LoadRulesError, match="rules.bin"):
        dedust.Normalizer(path)


def test_every_exception_is_a_dedust_error() -> None:
    errors = [getattr(dedust, name) for name in dedust.__all__ if name.endswith("Error")]
    assert len(errors) == 7
    assert all(issubclass(error, dedust.DedustError) for error in errors)
