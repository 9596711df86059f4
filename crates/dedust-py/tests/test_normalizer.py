"""One URL in, its key or canonical form out."""

import pickle
from pathlib import Path

import pytest

import dedust
from conftest import SECRET


def test_a_canonical_url_can_be_fetched_and_a_key_forgets(normalizer: dedust.Normalizer) -> None:
    url = "HTTP://Example.org:80/view?sid=9&page=2&id=1#top"
    assert normalizer.normalize(url) == "http://example.org/view?page=2&id=1"
    assert normalizer.key(url) == "http://example.org/view?id=1&page=*"


def test_bytes_stay_bytes_whatever_they_are(normalizer: dedust.Normalizer) -> None:
    assert normalizer.normalize(b"http://example.org/\xff?sid=1") == b"http://example.org/\xff"
    assert normalizer.key(b"http://example.org/view?sid=1") == b"http://example.org/view"


def test_key128_is_the_same_for_equal_keys_only(normalizer: dedust.Normalizer) -> None:
    first, same, other = (
        normalizer.key128(f"http://example.org/view?{query}", secret=SECRET)
        for query in ("id=1&sid=1", "sid=2&id=1", "id=2")
    )
    assert first == same != other
    assert len(first) == 16
    assert normalizer.key128("http://example.org/view?id=1", secret=bytes(16)) != first
    with pytest.raises(ValueError, match="secret has 3 bytes, expected 16"):
        normalizer.key128("http://example.org/", secret=b"abc")


def test_without_rules_only_the_safe_part_is_done() -> None:
    assert dedust.Normalizer().normalize("http://EXAMPLE.org/view?sid=9") == "http://example.org/view?sid=9"


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("/view?id=1", "`/view?id=1` is no URL: no scheme, expected one such as `http:` at the start"),
        (b"http://?x", "`http://?x` is no URL: empty host"),
        ("http://a.example:99999/", "`http://a.example:99999/` is no URL: invalid port"),
        ("\ud800", "has a lone surrogate"),
        ("\x1b]0;title\x07", "`\\u{1b}]0;title\\u{7}` is no URL"),
    ],
)
def test_what_is_no_url_is_named(normalizer: dedust.Normalizer, url: str | bytes, message: str) -> None:
    def key128(url: str | bytes) -> bytes:
        return normalizer.key128(url, secret=SECRET)

    for method in (normalizer.normalize, normalizer.key, key128, normalizer.explain):
        with pytest.raises(dedust.ParseUrlError) as raised:
            method(url)  # type: ignore[operator]
        assert message in str(raised.value)


@pytest.mark.parametrize("url", [None, 7, ["http://example.org/"]])
def test_other_types_are_refused(normalizer: dedust.Normalizer, url: object) -> None:
    with pytest.raises(TypeError, match="expected a URL as str or bytes, not"):
        normalizer.normalize(url)  # type: ignore[call-overload]


def test_rules_are_explained_in_words(normalizer: dedust.Normalizer) -> None:
    explanation = normalizer.explain("http://example.org/view?sid=9&id=1")
    assert (explanation.site, explanation.rules) == ("example.org", [0])
    assert explanation.sentences == ["`sid` does not matter"]
    assert explanation.canonical == explanation.key == "http://example.org/view?id=1"


def test_compiled_rules_do_the_same_from_a_file_and_after_pickling(
    normalizer: dedust.Normalizer, tmp_path: Path
) -> None:
    path = tmp_path / "rules.bin"
    normalizer.save(path)
    url = "http://example.org/view?sid=9&page=2"
    for same in (dedust.Normalizer(path), dedust.Normalizer(str(path)), pickle.loads(pickle.dumps(normalizer))):
        assert (same.key(url), same.normalize(url)) == (normalizer.key(url), normalizer.normalize(url))
        assert same.explain(url).rules == normalizer.explain(url).rules
    with pytest.raises(dedust.WriteError, match="already exists"):
        normalizer.save(path)
    normalizer.save(path, force=True)


def test_a_process_keeps_pickled_rules_once(normalizer: dedust.Normalizer) -> None:
    pickled = pickle.dumps(normalizer)
    first, second = pickle.loads(pickled), pickle.loads(pickled)
    assert first is second is not normalizer
    other = pickle.loads(pickle.dumps(dedust.Normalizer()))
    assert other is not first
    assert other.key("http://example.org/?sid=1") == "http://example.org/?sid=1"


def test_mirrors_need_trust(caplog: pytest.LogCaptureFixture) -> None:
    rules = dedust.RuleSet.from_json(
        '{"version": 1, "sites": {"old.example": {"mirror": {"of": "new.example", "fetchable": true}}}}'
    )
    url = "http://old.example/a"
    assert dedust.Normalizer(rules).normalize(url) == url
    assert "1 mirror in the rules not applied" in caplog.text
    trusting = dedust.Normalizer(rules, trust_mirrors=True)
    assert trusting.normalize(url) == "http://new.example/a"
    assert pickle.loads(pickle.dumps(trusting)).normalize(url) == "http://new.example/a"


def test_rule_files_that_cannot_be_used_are_refused_with_the_reason(tmp_path: Path) -> None:
    path = tmp_path / "rules.json"
    for load in (dedust.Normalizer, dedust.RuleSet.load):
        with pytest.raises(dedust.LoadRulesError, match="there is no rule file .*rules.json; check the name"):
            load(path)
    for text, reason in [
        (b'{"version": 99, "sites": {}}', "format version 99, this build reads version 1"),
        (b"http://example.org/\n", "not a rule file"),
        (b'{"version": 1, "sites": {"example.org": {"rules": [{"change": []}]}}}', "example.org"),
    ]:
        path.write_bytes(text)
        for load in (dedust.Normalizer, dedust.RuleSet.load):
            with pytest.raises(dedust.LoadRulesError) as raised:
                load(path)
            assert str(path) in str(raised.value)
            assert reason in str(raised.value)


def test_damaged_compiled_rules_are_refused(normalizer: dedust.Normalizer, tmp_path: Path) -> None:
    path = tmp_path / "rules.bin"
    normalizer.save(path)
    compiled = bytearray(path.read_bytes())
    compiled[-40] ^= 1
    path.write_bytes(compiled)
    with pytest.raises(dedust.LoadRulesError, match="damaged|checksum"):
        dedust.Normalizer(path)
    with pytest.raises(dedust.LoadRulesError, match="damaged|checksum"):
        dedust.Normalizer._from_compiled(bytes(compiled), False)
