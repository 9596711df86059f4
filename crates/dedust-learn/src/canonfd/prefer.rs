/*!
Which way round is a rule written that joins two schemes, or `www` and none?

The search decides that `http` and `https` are the same page; which of them stands for both does not matter to it. A rule is
turned round when people want the other form, that form may be fetched, and the rules of the site still bring together the same
URLs. Where later rules depend on which way round it is, the rule stays, and the same turned round is made after all others.
*/

use dedust::rules::{AnyValue, Change, Mapped, Rule, SiteSummary, Source, Spot, Test, UrlPart, ValueClass};
use dedust::{Normalizer, RuleSet, Scratch};
use foldhash::HashMap;
use xxhash_rust::xxh3::xxh3_128;

use super::draft::Draft;
use crate::corpus::Corpus;
use crate::learner::Learned;
use crate::preference::{Form, PreferredForms, UnmetPreference, UnmetReason};

/// A rule that joins a form that is wanted and another that it would write, or that may not be fetched.
#[derive(Clone, Debug)]
pub(super) struct Turned {
    /// The index of the rule.
    pub(super) index: usize,
    /// The form that is wanted.
    pub(super) form: Form,
    /// The rule that writes it, if it was seen often enough to be fetched.
    pub(super) rule: Option<Rule>,
}

/// The form that is wanted, if the draft writes it as it is.
pub(super) fn written(draft: &Draft, wanted: PreferredForms) -> Option<Form> {
    let writes_scheme = |change: &Change| match change {
        Change::Map { of: UrlPart::Scheme, values } => {
            values.iter().any(|mapped| mapped.becomes.as_deref() == Some(wanted.scheme.name()))
        }
        _ => false,
    };
    let writes_bare = wanted.host == Some(Form::Bare) && turned_host(draft).is_some();
    let scheme = Some(wanted.scheme).filter(|_| draft.change.iter().any(writes_scheme));
    scheme.or(Some(Form::Bare).filter(|_| writes_bare))
}

/// The draft that joins the same URLs and writes the form that is wanted; `None` where there is nothing to turn.
pub(super) fn turned(draft: &Draft, wanted: PreferredForms) -> Option<(Form, Draft)> {
    turned_scheme(draft, wanted.scheme)
        .map(|turned| (wanted.scheme, turned))
        .or_else(|| Some((Form::Www, turned_host(draft).filter(|_| wanted.host == Some(Form::Www))?)))
}

fn turned_scheme(draft: &Draft, wanted: Form) -> Option<Draft> {
    if draft.when.contains_key(&Spot::Key(UrlPart::Scheme)) {
        return None;
    }
    let mut turned = draft.clone();
    let joins = |change: &&mut Change| matches!(change, Change::Map { of: UrlPart::Scheme, .. });
    let Some(Change::Map { values, .. }) = turned.change.iter_mut().find(joins) else { return None };
    let [Mapped { is, becomes: Some(becomes) }] = values.as_mut_slice() else { return None };
    let rare =
        is.as_text().filter(|rare| *rare == wanted.name() && **becomes == *wanted.opposite().name())?;
    (*is, *becomes) = (becomes.as_ref().into(), rare.into());
    Some(turned)
}

/// `www` for none, where none stands for `www`.
fn turned_host(draft: &Draft) -> Option<Draft> {
    let [Change::Map { of: of @ UrlPart::Subdomain(index), values }] = draft.change.as_slice() else {
        return None;
    };
    let is_www = matches!(values.as_slice(), [Mapped { is, becomes: None }] if is.as_text() == Some("www"));
    if !is_www || draft.when.contains_key(&Spot::Key(of.clone())) {
        return None;
    }
    let mut when = draft.when.clone();
    when.insert(Spot::Key(of.clone()), Test::Absent);
    // `www.blog.example.org` is `blog.example.org`, and says nothing of `example.org`.
    if let Some(below) = index.checked_sub(1) {
        let any = AnyValue { class: ValueClass::Text, except: Vec::new(), optional: false };
        when.entry(Spot::Key(UrlPart::Subdomain(below))).or_insert(Test::Any(any));
    }
    let to = vec![Source::text("www")];
    Some(Draft { when, change: vec![Change::Set { key: of.clone(), to }], ..Draft::default() })
}

/// Turns round the rules that may be, and notes which may not.
pub(super) fn prefer(mut learned: Learned, turned: Vec<Turned>, corpus: &Corpus) -> Learned {
    let mut groups = None;
    for Turned { index, form, rule } in turned {
        let Some(rule) = rule else {
            learned.unmet.push(UnmetPreference { form, reason: UnmetReason::SeenTooRarely });
            continue;
        };
        let before = groups.get_or_insert_with(|| groups_of(&learned, corpus));
        let mut in_place = learned.clone();
        in_place.rules[index] = rule.clone();
        let mut at_the_end = learned.clone();
        at_the_end.rules.push(rule);
        let keeps_groups = |other: &Learned| before.is_some() && groups_of(other, corpus) == *before;
        match [in_place, at_the_end].into_iter().find(keeps_groups) {
            Some(preferred) => learned = preferred,
            None => learned.unmet.push(UnmetPreference { form, reason: UnmetReason::OtherRules }),
        }
    }
    learned
}

/// For each URL the first one that has its key, so that equal lists are equal groups; `None` if the rules cannot stand together.
fn groups_of(learned: &Learned, corpus: &Corpus) -> Option<Vec<u32>> {
    let rules = learned.clone().into_rules(SiteSummary::default()).ok()?;
    // A rule that could never be made is left out, and is then missing.
    if rules.len() != learned.rules.len() {
        return None;
    }
    let mut alone = RuleSet::new("");
    alone.insert(corpus.site(), rules).ok()?;
    let normalizer = Normalizer::compile(&alone);
    let mut scratch = Scratch::default();
    let mut first_by_key: HashMap<u128, u32> = HashMap::default();
    let group_of = |row: u32| {
        let url = corpus.url(row);
        let key = xxh3_128(normalizer.key_with(url, &mut scratch).unwrap_or(url));
        *first_by_key.entry(key).or_insert(row)
    };
    Some((0..corpus.len() as u32).map(group_of).collect())
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use dedust::Normalizer;

    use crate::{Clues, Crawl, EvidenceKinds, LearnOptions, Trainer, Training};

    /// Pages under `http://a.example`, some of which were also met under these forms.
    fn learn(others: &[(&str, u32)], wishes: &[&str]) -> Training {
        let mut crawl = Crawl::new(EvidenceKinds::AUTO);
        for page in 0..60 {
            let digest = format!("{page:032x}");
            let clues = Clues { digest: Some(digest.as_bytes()), ..Clues::default() };
            let mut observe = |start: &str| {
                let mut url = String::from(start);
                write!(url, "/page/{page}").unwrap();
                crawl.observe(url.as_bytes(), &clues).unwrap();
            };
            observe("http://a.example");
            others.iter().filter(|(_, pages)| page < *pages).for_each(|(start, _)| observe(start));
        }
        let prefer = wishes.iter().map(|wish| wish.parse().unwrap()).collect();
        let options = LearnOptions { prefer, ..LearnOptions::default() };
        let trainer = Trainer::builder().options(options).build().unwrap();
        trainer.train(&crawl.into_corpora(), &()).unwrap()
    }

    fn canonical(training: &Training, url: &str) -> String {
        let normalizer = Normalizer::compile(&training.rules);
        let canonical = normalizer.normalize(url).unwrap();
        assert_eq!(normalizer.key(&canonical), normalizer.key(url));
        canonical.to_string()
    }

    #[test]
    fn https_is_written_where_it_was_seen_often_enough() {
        let training = learn(&[("https://a.example", 30)], &[]);
        for url in ["http://a.example/page/70", "https://a.example/page/70"] {
            assert_eq!(canonical(&training, url), "https://a.example/page/70");
        }
        let training = learn(&[("https://a.example", 30)], &["http"]);
        assert_eq!(canonical(&training, "https://a.example/page/70"), "http://a.example/page/70");
        let training = learn(&[("https://a.example", 30)], &["http", "a.example=https"]);
        assert_eq!(canonical(&training, "http://a.example/page/70"), "https://a.example/page/70");
    }

    #[test]
    fn a_form_that_was_seen_too_rarely_is_not_written() {
        let training = learn(&[("https://a.example", 5)], &[]);
        assert_eq!(canonical(&training, "https://a.example/page/70"), "http://a.example/page/70");
        let reasons: Vec<_> = training.sites[0].unmet.iter().map(|unmet| unmet.reason).collect();
        assert_eq!(reasons, [crate::preference::UnmetReason::SeenTooRarely]);
    }

    #[test]
    fn a_form_that_was_never_seen_is_not_written() {
        let training = learn(&[], &["www"]);
        assert_eq!(canonical(&training, "http://a.example/page/7"), "http://a.example/page/7");
    }
}
