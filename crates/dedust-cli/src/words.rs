/*!
Rules in words: what a rewrite does to each part of a URL, and why it is trusted.
*/

use dedust::rules::{
    Evidence, Op, OtherParams, Outcome, ParamName, RefusedEdit, Rule, Substitution, TokenKey, Trust,
    ValuePattern, Verdict,
};

use crate::number::{count, counted, percent};

/// A key as one would speak of it.
pub(crate) fn key(key: &TokenKey) -> String {
    let named = |kind: &str, name: &ParamName| match name.occurrence {
        1 => format!("{kind} `{}`", name.name),
        occurrence => format!("{kind} `{}` (number {occurrence})", name.name),
    };
    match key {
        TokenKey::Scheme => "the scheme".into(),
        TokenKey::Subdomain(0) => "the subdomain".into(),
        TokenKey::Subdomain(level) => format!("the subdomain of level {}", level + 1),
        TokenKey::Port => "the port".into(),
        TokenKey::PathSegment(index) => format!("path segment {}", index + 1),
        TokenKey::TrailingSlash => "the slash at the end of the path".into(),
        TokenKey::PathParam(name) => named("path parameter", name),
        TokenKey::QuerySeparator => "the separator of parameters".into(),
        TokenKey::QueryParam(name) => named("parameter", name),
        TokenKey::Hashbang => "the part after #!".into(),
    }
}

/// What a rule does to the parts that do not stay as they are, one step per kind of change.
pub(crate) fn steps(rule: &Rule) -> Vec<String> {
    let mut steps: Vec<String> = rule
        .rewrite
        .ops()
        .filter_map(|(to, op)| match op {
            Op::Keep(value) => match rule.pattern.get(to) {
                Some(ValuePattern::Is(is)) if is == value => None,
                _ => Some(format!("sets {} to `{value}`", key(to))),
            },
            Op::Copy(from) if from == to => None,
            Op::Copy(from) => Some(format!("takes {} from {}", key(to), key(from))),
            Op::Map { .. } => Some(format!("reads {} as `{op}`", key(to))),
            Op::Join(_) => Some(format!("makes {} of `{op}`", key(to))),
            Op::Ignore => None,
        })
        .collect();
    for (verb, keys) in [("ignores", ignored(rule)), ("drops", dropped(rule))] {
        if !keys.is_empty() {
            steps.push(format!("{verb} {}", list(&keys)));
        }
    }
    if rule.other_params == OtherParams::Keep {
        steps.push("passes other parameters through".into());
    }
    steps
}

/// What a substitution does: `` replaces `/index.html` by `/` at the end ``.
pub(crate) fn substitution(substitution: &Substitution) -> String {
    let Substitution { from, to, at_start, at_end, .. } = substitution;
    let place = match (at_start, at_end) {
        (true, true) => " where it is all there is",
        (true, false) => " at the start",
        (false, true) => " at the end",
        (false, false) => "",
    };
    format!("replaces `{from}` by `{to}`{place}")
}

fn ignored(rule: &Rule) -> Vec<String> {
    let ignored = rule.rewrite.ops().filter(|(_, op)| **op == Op::Ignore);
    ignored.map(|(to, _)| key(to)).collect()
}

fn dropped(rule: &Rule) -> Vec<String> {
    let is_read = |source: &TokenKey| {
        let mut ops = rule.rewrite.ops();
        ops.any(|(_, op)| match op {
            Op::Copy(from) | Op::Map { of: from, .. } => from == source,
            Op::Join(parts) => parts.iter().any(|part| part.source() == Some(source)),
            Op::Keep(_) | Op::Ignore => false,
        })
    };
    let sources = rule.pattern.keys().map(|(source, _)| source);
    sources.filter(|source| rule.rewrite.get(source).is_none() && !is_read(source)).map(key).collect()
}

/// Why no URL can be written from the form that a rule brings URLs to; `None` if one can.
pub(crate) fn why_unwritable(rule: &Rule) -> Option<String> {
    let ignored = ignored(rule);
    if ignored.is_empty() {
        return None;
    }
    Some(if rule.is_in_place() {
        let it = if ignored.len() == 1 { "it" } else { "them" };
        format!(
            "the key forgets {}; the URL itself is kept because no form without {it} was seen",
            list(&ignored)
        )
    } else {
        "the URL itself is kept because the values written * are not known".into()
    })
}

/// What training saw of a rule: `1,682 URLs covered, 2 of 442 groups failed: at most 1.4 % wrong`.
pub(crate) fn record(evidence: &Evidence) -> String {
    format!(
        "{} covered, {} of {} failed: at most {} wrong",
        counted(evidence.urls, "URL", "URLs"),
        count(evidence.failed_groups),
        counted(evidence.groups, "group", "groups"),
        percent(evidence.failure_bound),
    )
}

/// What training saw of an edit: `1,682 URLs changed, 2 of 442 held-out groups failed: at most 1.4 % wrong with 95 %
/// confidence`; or what was fetched for it, if that proved it.
pub(crate) fn held_out(evidence: &Evidence) -> String {
    let (list, group, groups) = match evidence.trust {
        Some(Trust::Fetched) => ("a list of URLs", "group that was fetched", "groups that were fetched"),
        _ => ("training", "held-out group", "held-out groups"),
    };
    format!(
        "{} changed in {list}; {} of {} failed: at most {} wrong with 95 % confidence",
        counted(evidence.urls, "URL", "URLs"),
        count(evidence.failed_groups),
        counted(evidence.groups, group, groups),
        percent(evidence.failure_bound),
    )
}

/// What fetching pages said: `confirmed by fetching on 2024-05-01: 95 pairs showed the same page, 0 different ones`.
pub(crate) fn verdict(verdict: &Verdict) -> String {
    let date = verdict.date.as_ref().map_or(String::new(), |date| format!(" on {date}"));
    format!(
        "{} by fetching{date}: {} showed the same page, {} different ones",
        verdict.outcome.name(),
        counted(verdict.same, "pair", "pairs"),
        count(verdict.different),
    )
}

/// Why an edit is not applied, one sentence per line.
pub(crate) fn refused(refused: &RefusedEdit) -> Vec<String> {
    let RefusedEdit { reason, votes, against, fetched, .. } = refused;
    let is_refuted = fetched.as_ref().is_some_and(|fetched| fetched.verdict.outcome == Outcome::Refuted);
    let missing = match refused.missing {
        Some(missing) if !is_refuted => format!(", {} more would prove it", count(missing)),
        _ => String::new(),
    };
    let votes = format!("{} of {} against", count(*against), counted(*votes, "vote", "votes"));
    let mut sentences = vec![format!("{reason}: {votes}{missing}")];
    if let Some(fetched) = fetched {
        let missing = match fetched.missing {
            Some(missing) => format!("; {} would prove it", counted(missing, "more pair", "more pairs")),
            None => String::new(),
        };
        sentences.push(verdict(&fetched.verdict) + &missing);
    }
    sentences
}

/// What training saw of a mirror: `412 paths that both sites have, 3 with different pages: at most 1.9 % wrong with 95 %
/// confidence`.
pub(crate) fn shared_paths(evidence: &Evidence) -> String {
    format!(
        "{} that both sites have, {} with different pages: at most {} wrong with 95 % confidence",
        counted(evidence.groups, "path", "paths"),
        count(evidence.failed_groups),
        percent(evidence.failure_bound),
    )
}

/// `a`, `a and b`, `a, b and c`.
pub(crate) fn list(items: &[String]) -> String {
    match items {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dedust::rules::{AnyValue, Pattern, Rewrite, ValueClass};

    #[test]
    fn steps_tell_what_changes_and_nothing_else() {
        let any = |optional| {
            ValuePattern::Any(AnyValue { class: ValueClass::Digits, except: Vec::new(), optional })
        };
        let rule = Rule {
            pattern: Pattern::new([
                (TokenKey::Scheme, ValuePattern::Is("http".into())),
                (TokenKey::query("id"), any(false)),
                (TokenKey::query("sid"), any(true)),
                (TokenKey::query("x"), any(true)),
                (TokenKey::query("lang"), any(true)),
            ]),
            other_params: OtherParams::Keep,
            rewrite: Rewrite::new(
                [
                    (TokenKey::Scheme, Op::Keep("https".into())),
                    (TokenKey::PathSegment(0), Op::Copy(TokenKey::query("id"))),
                    (TokenKey::query("lang"), Op::Ignore),
                ],
                Vec::new(),
            ),
            evidence: Evidence::default(),
        };
        let expected = [
            "sets the scheme to `https`",
            "takes path segment 1 from parameter `id`",
            "ignores parameter `lang`",
            "drops parameter `sid` and parameter `x`",
            "passes other parameters through",
        ];
        assert_eq!(steps(&rule), expected);
        assert!(why_unwritable(&rule).is_some());
    }

    #[test]
    fn lists_read_like_a_sentence() {
        let items = ["a", "b", "c"].map(String::from);
        assert_eq!(list(&items[..1]), "a");
        assert_eq!(list(&items[..2]), "a and b");
        assert_eq!(list(&items), "a, b and c");
    }
}
