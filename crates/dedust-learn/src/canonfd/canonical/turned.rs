/*!
Turns a rule round: the same URLs are joined, and the other form is written.
*/

use dedust::rules::{AnyValue, Change, Mapped, Rule, Source, Spot, Test, UrlPart, Value, ValueClass};
use dedust::support::Taken;

use super::writes_all;
use crate::preference::Form;

/// A rule that may write canonical URLs, and the form that it writes, if that has a name.
type Written = (Rule, Option<Form>);

/// The rule as it is and turned round, where these write URLs. `files` are names of files at the root of the site.
pub(super) fn writers(rule: &Rule, files: &[Value]) -> [Option<Written>; 2] {
    if !writes_all(rule) {
        return [None, None];
    }
    let Some((turned, forms)) = turned(rule, files) else { return [Some((rule.clone(), None)), None] };
    let [as_it_is, other] = forms.map_or([None, None], |forms| forms.map(Some));
    [Some((rule.clone(), as_it_is)), Some((turned, other))]
}

/// The rule that writes the other form, with the two forms, if these have names: the one that is written and the one that would be.
fn turned(rule: &Rule, files: &[Value]) -> Option<(Rule, Option<[Form; 2]>)> {
    turned_scheme(rule).or_else(|| turned_www(rule)).or_else(|| turned_slash(rule, files))
}

fn turned_scheme(rule: &Rule) -> Option<(Rule, Option<[Form; 2]>)> {
    if rule.when.contains_key(&Spot::Key(UrlPart::Scheme)) {
        return None;
    }
    let mut turned = rule.clone();
    let joins = |change: &&mut Change| matches!(change, Change::Map { of: UrlPart::Scheme, .. });
    let Some(Change::Map { values, .. }) = turned.change.iter_mut().find(joins) else { return None };
    let [Mapped { is, becomes: Some(becomes) }] = values.as_mut_slice() else { return None };
    let form = |name: &str| Form::ALL.into_iter().find(|form| form.name() == name);
    let other = form(is.as_text()?)?;
    let forms = [form(becomes)?, other];
    (*is, *becomes) = (becomes.as_ref().into(), other.name().into());
    Some((turned, Some(forms)))
}

/// `www` for none, where none stands for `www`.
fn turned_www(rule: &Rule) -> Option<(Rule, Option<[Form; 2]>)> {
    let [Change::Map { of: of @ UrlPart::Subdomain(index), values }] = rule.change.as_slice() else {
        return None;
    };
    let is_www = matches!(values.as_slice(), [Mapped { is, becomes: None }] if is.as_text() == Some("www"));
    if !is_www || rule.when.contains_key(&Spot::Key(of.clone())) {
        return None;
    }
    let mut when = rule.when.clone();
    when.insert(Spot::Key(of.clone()), Test::Absent);
    // `www.blog.example.org` is `blog.example.org`, and says nothing of `example.org`.
    if let Some(below) = index.checked_sub(1) {
        when.entry(Spot::Key(UrlPart::Subdomain(below))).or_insert_with(|| any_text(&[]));
    }
    let change = vec![Change::Set { key: of.clone(), to: vec![Source::text("www")] }];
    Some((Rule { when, change, ..rule.clone() }, Some([Form::Bare, Form::Www])))
}

/// A slash at the end, where it was left out.
fn turned_slash(rule: &Rule, files: &[Value]) -> Option<(Rule, Option<[Form; 2]>)> {
    let slash = Spot::Key(UrlPart::TrailingSlash);
    let drops_slash = |change: &Change| match change.facts().takes {
        Taken::Part(spot) => *spot == slash,
        Taken::Values(UrlPart::TrailingSlash, values) => matches!(values, [Mapped { becomes: None, .. }]),
        Taken::Values(..) | Taken::Nothing | Taken::Value(_) | Taken::Path => false,
    };
    let [change] = rule.change.as_slice() else { return None };
    if !drops_slash(change) || rule.when.contains_key(&slash) {
        return None;
    }
    let mut when = rule.when.clone();
    when.insert(slash, Test::Absent);
    // There is no slash behind a file.
    when.entry(Spot::Key(UrlPart::PathSegment(0))).or_insert_with(|| any_text(files));
    let change = vec![Change::Set { key: UrlPart::TrailingSlash, to: vec![Source::text("/")] }];
    Some((Rule { when, change, ..rule.clone() }, None))
}

/// Asks that there is a value, and none of some.
fn any_text(except: &[Value]) -> Test {
    Test::Any(AnyValue { class: ValueClass::Text, except: except.to_vec(), optional: false })
}
