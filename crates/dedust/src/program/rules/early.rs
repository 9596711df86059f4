/*!
Rules that are made as soon as a URL is read: most of those that are learned are of this kind.

"This parameter is left out" asks for nothing, and rules before it mostly do not speak of the parameter. Then it may as well be made
first, so it needs no test and no place in their order: the table of names says what becomes of a
parameter. So it is with a slash at the end, for `https`, and for a host label such as `www`. That `;` separates the parameters of all URLs
of a site is not even a change, but a way of reading.
*/

use super::edited_url::{EditedUrl, Param, Piece};
use super::read::{labels, may_have_label};
use super::run::Scope;
use super::{EARLY_AT, Feature, LABEL_AT, LABEL_INDEX_AT, NO_TEXT, RuleProgram, early_bits};
use crate::encoding::u32_at;
use crate::rule::{Change, Closed, Mapped, Rule, Spot, Taken};
use crate::url::{ParamName, ParsedUrl, UrlPart, Value};

/// A change that can be made early.
#[derive(Clone, Copy, Debug)]
pub(super) enum Early<'e> {
    DropParam(&'e str),
    ForgetParam(&'e str),
    DropPathParam(&'e str),
    NoSlash,
    Http,
    /// The position of a label, and its text of up to eight bytes.
    NoLabel(u8, &'e str),
    /// The position of a label.
    ForgetLabel(u8),
}

impl<'e> Early<'e> {
    /// The changes of a rule, if all of them can be made early. It must be [alone](super::independence::alone).
    pub(super) fn of(rule: &'e Rule) -> Option<Vec<Self>> {
        if !rule.when.is_empty() {
            return None;
        }
        let changes = rule.change.iter().filter(|change| !is_dropped_with_first(rule, change));
        let made: Vec<Self> =
            changes.map(|change| Self::change(change, rule.fetchable)).collect::<Option<_>>()?;
        let are_apart =
            made.iter().enumerate().all(|(at, one)| !made[..at].iter().any(|other| one.meets(other)));
        are_apart.then_some(made)
    }

    /// Whether two changes may be about the same thing.
    fn meets(&self, other: &Self) -> bool {
        use Early::{DropParam, DropPathParam, ForgetLabel, ForgetParam, Http, NoLabel, NoSlash};
        match (self, other) {
            (DropParam(name) | ForgetParam(name), DropParam(other) | ForgetParam(other)) => name == other,
            (DropPathParam(name), DropPathParam(other)) => name == other,
            (NoLabel(..) | ForgetLabel(_), NoLabel(..) | ForgetLabel(_)) => true,
            (NoSlash, NoSlash) | (Http, Http) => true,
            _ => false,
        }
    }

    fn change(change: &'e Change, is_fetchable: bool) -> Option<Self> {
        let first = |name: &'e ParamName| (name.occurrence == 1).then_some(&*name.name);
        match change.facts().takes {
            Taken::Part(Spot::Key(UrlPart::QueryParam(name))) => first(name).map(Self::DropParam),
            Taken::Part(Spot::Key(UrlPart::PathParam(name))) => first(name).map(Self::DropPathParam),
            Taken::Part(Spot::Key(UrlPart::TrailingSlash)) => Some(Self::NoSlash),
            // A URL whose values are not all known cannot be written.
            Taken::Value(Spot::Key(UrlPart::QueryParam(name))) if !is_fetchable => {
                first(name).map(Self::ForgetParam)
            }
            Taken::Value(Spot::Key(UrlPart::Subdomain(index))) if !is_fetchable => {
                u8::try_from(*index).ok().map(Self::ForgetLabel)
            }
            Taken::Values(of, values) => {
                let [Mapped { is: Value::Text(is), becomes }] = values else { return None };
                match (of, becomes.as_deref()) {
                    (UrlPart::Scheme, Some("http")) if **is == *"https" => Some(Self::Http),
                    (UrlPart::Subdomain(index), None) if (1..=8).contains(&is.len()) => {
                        Some(Self::NoLabel(u8::try_from(*index).ok()?, is))
                    }
                    _ => None,
                }
            }
            Taken::Nothing | Taken::Part(_) | Taken::Value(_) | Taken::Path => None,
        }
    }
}

/// Whether a change leaves out a later parameter of a name, in a rule without tests that leaves out the first: that takes all of
/// them.
fn is_dropped_with_first(rule: &Rule, change: &Change) -> bool {
    let Taken::Part(Spot::Key(UrlPart::QueryParam(name))) = change.facts().takes else { return false };
    let first = ParamName { name: name.name.clone(), occurrence: 1 };
    name.occurrence > 1 && rule.change.contains(&Change::Drop(Spot::Key(UrlPart::QueryParam(first))))
}

/// Whether a rule only says that `;` separates the query parameters of all URLs, of those that are fetched too.
pub(super) fn splits_all_params(rule: &Rule) -> bool {
    let is_for_all = rule.when.is_empty() && rule.closed == Closed::No && !rule.last && rule.fetchable;
    is_for_all && rule.change == [Change::SplitParams]
}

/// Of two bits, the one for keys or the one for URLs.
fn bit_of([in_keys, in_urls]: [u8; 2], scope: Scope) -> u8 {
    if scope == Scope::All { in_keys } else { in_urls }
}

impl EditedUrl {
    /// Makes those rules of a scope to a URL that was read which can be made early.
    #[inline]
    pub(super) fn make_early(&mut self, url: &ParsedUrl, program: &RuleProgram<'_>, scope: Scope) {
        use early_bits::{DROP_IN_KEYS, DROP_IN_URLS, FORGET_IN_KEYS, HTTP, NO_LABEL, NO_SLASH};
        let (drop, forget) =
            if scope == Scope::All { (DROP_IN_KEYS, FORGET_IN_KEYS) } else { (DROP_IN_URLS, 0) };
        let parts = &mut self.parts;
        if self.early & (drop | forget) != 0 {
            parts.touched.query |= make(&mut parts.params, drop, self.early & forget);
            if !parts.path_params.is_empty() {
                parts.touched.path |= make(&mut parts.path_params, drop, self.early & forget);
            }
        }
        let early = program.head[EARLY_AT];
        if parts.has_slash && early & bit_of(NO_SLASH, scope) != 0 {
            parts.has_slash = false;
            parts.touched.path = true;
        }
        if parts.scheme == Piece::new(0, b"https".len())
            && early & bit_of(HTTP, scope) != 0
            && url.scheme() == b"https"
        {
            parts.scheme.end -= 1;
            parts.touched.scheme = true;
            self.triggered |= program.triggered_by(Feature::Http);
        }
        if early & bit_of(NO_LABEL, scope) != 0
            && parts.early_label.is_none()
            && may_have_label(url, program.domain_len, program.head[LABEL_INDEX_AT])
        {
            self.make_early_label(url, program);
        }
    }

    /// Leaves a label out, or forgets it. If labels were not read, that is only noted.
    #[inline]
    fn make_early_label(&mut self, url: &ParsedUrl, program: &RuleProgram<'_>) {
        let (index, text) = (program.head[LABEL_INDEX_AT], u32_at(program.head, LABEL_AT));
        let mut labels = labels(url, program.domain_len).skip(usize::from(index));
        let is_it = |label: &Piece| {
            text == NO_TEXT || program.is_text(text, (url.padded(), label.start as usize, label.len()))
        };
        if let Some(label) = labels.next().filter(is_it) {
            self.parts.early_label = Some(label);
            self.parts.touched.host = true;
            self.repeats |= text != NO_TEXT && labels.next().is_some_and(|next| is_it(&next));
            if self.parts.has_labels {
                self.apply_early_label(program);
            }
        }
    }

    /// Does to the labels what was done early.
    pub(super) fn apply_early_label(&mut self, program: &RuleProgram<'_>) {
        let index = usize::from(program.head[LABEL_INDEX_AT]);
        if self.parts.early_label.is_none() || index >= self.parts.labels.len() {
            return;
        }
        if u32_at(program.head, LABEL_AT) == NO_TEXT {
            self.parts.labels[index] = Piece::STAR;
        } else {
            self.parts.labels.remove(index);
        }
    }
}

/// Leaves out the parameters that have one bit, and forgets the first of each name with the other; whether there were any.
fn make(params: &mut Vec<Param>, drop: u8, forget: u8) -> bool {
    let before = params.len();
    params.retain(|param| param.early & drop == 0);
    let mut is_changed = params.len() < before;
    if forget == 0 {
        return is_changed;
    }
    for at in 0..params.len() {
        let Param { early, id, value, .. } = params[at];
        if early & forget != 0 && params[..at].iter().all(|before| before.id != id) {
            is_changed |= value != Piece::STAR;
            params[at].value = Piece::STAR;
        }
    }
    is_changed
}
