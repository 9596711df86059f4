/*!
Which rules write canonical URLs for sure, so that nothing has to be checked when they are applied.

A written URL is handed out only if it has the same key as the URL it was made from and is its own canonical URL. To
see that for one URL, it has to be read and normalized again. Here it is shown for all URLs that a rule covers, in two
steps:

1. *What is read is what was written*: the pairs of the written URL are those of the target. Every text stays within its
   place and is in safe form there, because it comes from the same part of a URL, was tried now, or consists of letters, digits,
   `-`, `_` and `.` only. Where that depends on a value, the key is a *guard*, looked at for each URL.
2. *No other rule speaks of it*: of rules that may cover the written URL only the rule itself is left, and it changes
   nothing more. Then the key of the written URL has the same pairs.

What cannot be shown in this way is no error: such a URL is checked when it is written. The same is done for URLs
with repeated parameters or `;` in the query, which could be read otherwise once something is dropped.
*/

use crate::rule::{AnyValue, Op, Readers, Rule, Source, Spot, ValueClass, ValuePattern, feeds, is_slug};
use crate::url::{ParsedUrl, TokenKey, Value};

/// The keys whose values must be plain for the rule at `at` to write a canonical URL; `None` when that is not shown.
pub(super) fn guards(rules: &[&Rule], readers: &Readers<'_>, at: usize) -> Option<Vec<TokenKey>> {
    let rule = rules[at];
    let stands_alone = readers.of(rule).into_iter().all(|other| {
        let reader = rules[other];
        !feeds(rule, reader)
            || match other.cmp(&at) {
                std::cmp::Ordering::Less => does_not_concern(rule, reader),
                std::cmp::Ordering::Equal => copies_in_place(rule),
                std::cmp::Ordering::Greater => covers_what_it_writes(rule),
            }
    });
    if !stands_alone {
        return None;
    }
    let mut proof = Proof { rule, guards: Vec::new() };
    proof.reads_what_it_writes()?;
    proof.guards.sort_unstable();
    proof.guards.dedup();
    Some(proof.guards)
}

/// Whether `key` has the same value in a URL and in what the rule makes of it, or is absent from both.
fn is_unchanged(rule: &Rule, key: &TokenKey) -> bool {
    match rule.rewrite.get(key) {
        Some(Op::Copy(from)) => from == key,
        Some(Op::Keep(value)) => rule.pattern.get(key) == Some(&ValuePattern::Is(value.clone())),
        Some(_) => false,
        None => rule.pattern.get(key).is_none(),
    }
}

/// Whether applying the rule to what it wrote, if it covers that, changes nothing.
fn copies_in_place(rule: &Rule) -> bool {
    rule.rewrite.ops().all(|(key, op)| match op {
        Op::Copy(from) => from == key,
        Op::Keep(_) => true,
        _ => false,
    })
}

/// Whether the rule covers every URL that it writes.
fn covers_what_it_writes(rule: &Rule) -> bool {
    rule.rewrite.ops().all(|(key, _)| rule.pattern.get(key).is_some())
        && rule.pattern.keys().all(|(key, pattern)| match rule.rewrite.get(key) {
            Some(Op::Copy(from)) => from == key,
            Some(Op::Keep(value)) => pattern.matches(Some(value)),
            Some(_) => false,
            None => pattern.is_optional(),
        })
}

/// Whether `reader`, which did not cover a URL, does not cover what `writer` makes of it either: all that changes is of
/// no importance to it.
fn does_not_concern(writer: &Rule, reader: &Rule) -> bool {
    let keys = writer.pattern.keys().map(|(key, _)| key);
    keys.chain(writer.rewrite.ops().map(|(key, _)| key)).all(|key| {
        is_unchanged(writer, key)
            || matches!(
                reader.pattern.get(key),
                Some(ValuePattern::Any(AnyValue { class: ValueClass::Text, except, optional: true }))
                    if except.is_empty()
            )
    })
}

/// How much is known of the values of a key.
enum Known {
    /// Letters, digits and `-`, at least one.
    Plain,
    /// Nothing of use.
    Nothing,
}

struct Proof<'a> {
    rule: &'a Rule,
    guards: Vec<TokenKey>,
}

impl Proof<'_> {
    fn reads_what_it_writes(&mut self) -> Option<()> {
        let rule = self.rule;
        self.check_path()?;
        let keys = rule.pattern.keys().map(|(key, _)| key);
        let repeats = keys.chain(rule.rewrite.ops().map(|(key, _)| key)).any(|key| match key {
            TokenKey::PathParam(name) | TokenKey::QueryParam(name) => name.occurrence > 1,
            _ => false,
        });
        if repeats {
            return None;
        }
        for (key, op) in rule.rewrite.ops() {
            let holds = match key {
                TokenKey::Scheme => match op {
                    Op::Keep(Value::Text(text)) => matches!(&**text, "http" | "https"),
                    _ => is_unchanged(rule, key),
                },
                // Another scheme may have it as its default.
                TokenKey::Port => is_unchanged(rule, key) && is_unchanged(rule, &TokenKey::Scheme),
                TokenKey::Subdomain(_) => match op {
                    Op::Keep(Value::Text(text)) => {
                        is_safe(&format!("http://{text}.example.org/"), text, b".")
                    }
                    _ => is_unchanged(rule, key),
                },
                TokenKey::PathSegment(_) => true,
                TokenKey::TrailingSlash => matches!(op, Op::Keep(_)) || is_unchanged(rule, key),
                TokenKey::PathParam(name) => {
                    let is_name = is_safe(&format!("http://a.example/x;{}=1", name.name), &name.name, b"");
                    is_name
                        && match op {
                            Op::Keep(Value::Text(text)) => {
                                is_safe(&format!("http://a.example/x;a={text}"), text, b";")
                            }
                            _ => is_unchanged(rule, key) || self.is_plain(op),
                        }
                }
                // Without `;` there is none.
                TokenKey::QuerySeparator => matches!(op, Op::Copy(from) if from == key),
                TokenKey::QueryParam(name) => {
                    let is_name = name.name.is_empty()
                        || is_safe(&format!("http://a.example/?{}=1", name.name), &name.name, b";");
                    is_name
                        && match op {
                            Op::Keep(Value::Text(text)) => {
                                text.is_empty() || is_safe(&format!("http://a.example/?a={text}"), text, b";")
                            }
                            Op::Keep(Value::Bare) | Op::Copy(TokenKey::QueryParam(_)) => true,
                            _ => self.is_plain(op),
                        }
                }
                TokenKey::Hashbang => is_unchanged(rule, key),
            };
            if !holds {
                return None;
            }
        }
        Some(())
    }

    /// The segments of the target are those of the path that is written.
    fn check_path(&mut self) -> Option<()> {
        let rule = self.rule;
        let segments: Vec<(u16, &Op)> = rule
            .rewrite
            .ops()
            .filter_map(|(key, op)| match key {
                TokenKey::PathSegment(index) => Some((*index, op)),
                _ => None,
            })
            .collect();
        let slash = TokenKey::TrailingSlash;
        if segments.is_empty() {
            // A path without segments is a slash.
            let has_slash = match rule.rewrite.get(&slash) {
                Some(Op::Keep(_)) => true,
                Some(Op::Copy(from)) => *from == slash && !self.may_be_absent(from),
                _ => false,
            };
            return has_slash.then_some(());
        }
        let absent = |op: &Op| match op {
            Op::Copy(from) => self.may_be_absent(from),
            _ => false,
        };
        if absent(segments[0].1) {
            return None;
        }
        let has_params = rule.rewrite.ops().any(|(key, _)| matches!(key, TokenKey::PathParam(_)));
        // Only the last segment is searched for parameters, and only it can be taken for a trailing slash.
        let first_last = segments.iter().rposition(|(_, op)| !absent(op)).unwrap_or(0);
        for (rank, (index, op)) in segments.iter().enumerate() {
            let may_be_last = rank >= first_last;
            let key = TokenKey::PathSegment(*index);
            let ends_as_before = first_last + 1 == segments.len()
                && is_unchanged(rule, &key)
                && rule.pattern.get(&TokenKey::PathSegment(index + 1)).is_none()
                && is_unchanged(rule, &slash)
                && !has_params;
            let holds = match op {
                Op::Keep(Value::Text(text)) => is_safe(&format!("http://a.example/{text}/x"), text, b";"),
                Op::Copy(TokenKey::PathSegment(_)) if !may_be_last || ends_as_before => true,
                _ => self.is_plain(op),
            };
            if !holds {
                return None;
            }
        }
        Some(())
    }

    fn may_be_absent(&self, key: &TokenKey) -> bool {
        self.rule.pattern.get(key).is_none_or(ValuePattern::is_optional)
    }

    /// Whether the value is made of plain characters wherever it is written, given the guards that this adds.
    fn is_plain(&mut self, op: &Op) -> bool {
        match op {
            Op::Copy(from) => {
                self.guard(from);
                true
            }
            Op::Join(parts) => {
                let mut has_letter = false;
                for Source { prefix, of, suffix, .. } in parts {
                    for text in [prefix, suffix] {
                        if !text.is_empty() && !is_slug(text.as_bytes()) {
                            return false;
                        }
                        has_letter |= text.bytes().any(|byte| byte.is_ascii_alphanumeric());
                    }
                    if let Some(Spot::Key(from)) = of {
                        self.guard(from);
                    }
                }
                has_letter
            }
            _ => false,
        }
    }

    fn guard(&mut self, key: &TokenKey) {
        match known(self.rule.pattern.get(key)) {
            Known::Plain if !self.may_be_absent(key) => {}
            _ => self.guards.push(key.clone()),
        }
    }
}

fn known(pattern: Option<&ValuePattern>) -> Known {
    match pattern {
        Some(ValuePattern::Any(AnyValue {
            class: ValueClass::Digits | ValueClass::Hex | ValueClass::Word | ValueClass::Date,
            ..
        })) => Known::Plain,
        _ => Known::Nothing,
    }
}

/// Whether `text`, which is not empty, stands in `url` as it would after safe normalization, and has none of `without`.
fn is_safe(url: &str, text: &str, without: &[u8]) -> bool {
    !text.is_empty()
        && !text.bytes().any(|byte| without.contains(&byte))
        && ParsedUrl::parse(url).is_ok_and(|parsed| parsed.as_bytes() == url.as_bytes())
}
