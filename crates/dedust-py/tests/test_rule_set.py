"""Rules of many sites, loaded, saved and shown."""

import pickle
from pathlib import Path

import pytest

import dedust


def test_rules_are_saved_and_loaded_without_change(rules: dedust.RuleSet, tmp_path: Path) -> None:
    path = tmp_path / "rules.json"
    rules.save(path)
    assert dedust.RuleSet.load(path) == rules == pickle.loads(pickle.dumps(rules))
    assert path.read_text() == rules.to_json()
    assert dedust.RuleSet.from_json(rules.to_json().encode()) == rules


def test_sites_and_rules_can_be_looked_at(rules: dedust.RuleSet) -> None:
    assert (rules.sites, len(rules), rules.rule_count, rules.method) == (["example.org"], 1, 2, "by hand")
    assert "example.org" in rules
    assert rules.rules("example.org")[0] == "`sid` does not matter"
    with pytest.raises(KeyError, match="no rules of the site other.example"):
        rules.rules("other.example")


def test_joined_rules_have_the_sites_of_both(rules: dedust.RuleSet) -> None:
    other = dedust.RuleSet.from_json('{"version": 1, "sites": {"a.example": {"rules": [{"change": [{"drop": "q.s"}]}]}}}')
    assert rules.joined(other).sites == ["a.example", "example.org"]
    assert rules.sites == ["example.org"]


def test_texts_of_strangers_are_escaped_in_notebooks() -> None:
    rules = dedust.RuleSet.from_json(
        '{"version": 1, "sites": {"a.example": {"rules": [{"change": [{"drop": "q.<script>alert(1)</script>"}]}]}}}'
    )
    assert "<script>" not in rules._repr_html_()
    explanation = rules.compile().explain("http://a.example/?%3Cscript%3E=1")
    assert "<script>" not in explanation._repr_html_()


def test_a_file_that_cannot_be_written_is_named(rules: dedust.RuleSet, tmp_path: Path) -> None:
    with pytest.raises(dedust.WriteError, match="missing"):
        rules.save(tmp_path / "missing" / "rules.json")
    with pytest.raises(dedust.WriteError, match="is a directory"):
        rules.save(tmp_path)
