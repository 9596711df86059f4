/*!
Tables of duplicates that were observed and that no rule explains.

That `?p=512` redirects to `/2019/05/a-title`, or that `?oldid=1255` shows what the page shows without it, follows from no rule:
only the site's database knows. But it was seen, and of the URLs that were seen nothing else has to be proven. Takes the forms that
URLs have when no further rule is believed; gives closed rules that look up one part of a URL, the *selector*, in a table
of the values that were seen. What is not in the table stays as it is.

A URL that nobody has seen may have a value of the table and differ in another part. So a part is a selector only where its values
name pages: of all forms of URLs that are built alike, those that share its value with a form of another page are counted as
failures, and the chance that their share is more than what a rule may lose must be at most 5 %.

Believed are equal texts and redirects that end at one URL, not looks or claims. A text that many forms show may be that of
an empty page, and pages that change from visit to visit may be equal by chance: neither is entered. Tables lead to no other host
and no other scheme.
*/

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use dedust::rules::{
    Change, PathPart, SiteRules, SiteSummary, Source, Spot, Test, Trust, UrlPart, Value, ValueClass,
};
use foldhash::{HashMap, HashSet};

use super::differ::Differ;
use super::draft::Draft;
use super::families::{Exposure, Family};
use super::search::{Candidate, Judged, Search};
use super::vote::{Votes, joined};
use super::write::write_rule;
use crate::label::{Content, Relation};
use crate::proof::Mode;
use crate::thresholds;

/// A form that URLs have by now, known by one of them.
struct CurrentForm {
    row: u32,
    /// The page of all these URLs; `None` where it is not known, or where they do not agree.
    label: Option<u32>,
    /// Whether none of its URLs shows the page: all lead to another URL.
    leads_on: bool,
    /// Whether a canonical link names one of them.
    is_named: bool,
}

/// What URLs that are built alike have in common under a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Part {
    /// A pair that is part of how the site is built.
    Fixed(u32),
    Number,
    Text,
}

/// How a URL is built: its keys without the scheme, in order.
type Template = Vec<(u32, Part)>;

/// How often the values of a key name pages: forms, and those of them whose value stands for another page too.
#[derive(Clone, Copy, Debug, Default)]
struct Naming {
    forms: u64,
    failing: u64,
}

/// What forms with one value of a key show.
struct PageOfValue {
    /// `None` for more than one page, and where it is not known.
    page: Option<u32>,
    forms: u64,
}

impl PageOfValue {
    /// Whether the value stands for one page only.
    fn is_clear(&self) -> bool {
        self.page.is_some() || self.forms == 1
    }
}

/// A part of URLs of one template whose values name pages.
struct Selector {
    key: u32,
    /// In all templates with the same keys.
    naming: Naming,
    /// Values that stand for one page only.
    clear: HashSet<u32>,
}

/// Forms of one template that are written in another template: indices of the form and of the one it stands for.
type Entries = Vec<(usize, usize)>;

impl Search<'_> {
    /// Makes tables of duplicates that were observed and are still apart, the largest first.
    pub(super) fn take_observed(&mut self) {
        if self.table.corpus().has_clusters() || self.mode() == Mode::Paper {
            return;
        }
        // The search may have used up what it may; what is looked up costs little more than the rows that are.
        let max_work = self.table.work() + self.max_work / thresholds::work::OBSERVED_ONE_IN;
        let forms = self.forms();
        let templates: Vec<Template> = forms.iter().map(|form| self.template(form.row)).collect();
        let pairs: u64 = templates.iter().map(|template| template.len() as u64).sum();
        self.table.add_work(thresholds::work::PER_PAIR_OF_FORM * pairs);
        let selectors = self.selectors(&forms, &templates);
        let mut tables: BTreeMap<(&Template, &Template), Entries> = BTreeMap::new();
        for (form, target) in self.duplicates(&forms, &templates) {
            let (from, to) = (&templates[form], &templates[target]);
            let Some(selector) = selectors.get(from) else { continue };
            let is_clear = self
                .pair_at(forms[form].row, selector.key)
                .is_some_and(|pair| selector.clear.contains(&pair));
            if is_clear && self.can_be_written(forms[form].row, forms[target].row) {
                tables.entry((from, to)).or_default().push((form, target));
            }
        }
        let mut tables: Vec<((&Template, &Template), Entries)> = tables.into_iter().collect();
        tables.retain(|(_, entries)| entries.len() >= thresholds::suggest::MIN_SUPPORT);
        tables.sort_by_key(|(templates, entries)| (Reverse(entries.len()), *templates));
        tables.truncate(thresholds::observed::MAX_TABLES);
        for ((from, _), entries) in tables {
            let Some(selector) = selectors.get(from) else { continue };
            for entries in entries.chunks(thresholds::observed::MAX_ENTRIES) {
                if self.table.work() >= max_work {
                    return;
                }
                self.take_table(&forms, from, selector, entries);
            }
        }
    }

    /// The forms that URLs have by now, each known by the shortest of them, in the order of these.
    fn forms(&self) -> Vec<CurrentForm> {
        let corpus = self.table.corpus();
        let mut rows: Vec<(u64, usize, u32)> = (0..corpus.len() as u32)
            .map(|row| (self.table.form_id(row), corpus.url(row).len(), row))
            .collect();
        rows.sort_unstable();
        let mut forms: Vec<CurrentForm> = rows
            .chunk_by(|a, b| a.0 == b.0)
            .map(|rows| {
                let mut labels = rows.iter().filter_map(|&(_, _, row)| corpus.label(row));
                let label = labels.next().filter(|first| labels.all(|label| label == *first));
                let has_error = rows.iter().any(|&(_, _, row)| corpus.content(row).is_error());
                let labelled = rows.iter().find(|row| corpus.label(row.2).is_some()).unwrap_or(&rows[0]);
                let mut contents = rows.iter().map(|&(_, _, row)| corpus.content(row));
                CurrentForm {
                    row: labelled.2,
                    label: label.filter(|_| !has_error),
                    leads_on: contents.clone().all(Content::leads_on),
                    is_named: contents.any(Content::is_named),
                }
            })
            .collect();
        forms.sort_unstable_by_key(|form| form.row);
        forms
    }

    fn template(&self, row: u32) -> Template {
        let differ = Differ { table: &self.table };
        let part = |pair: u32| match (self.table.key_of(pair), self.table.value_of(pair).as_text()) {
            (UrlPart::PathSegment(_) | UrlPart::QueryParam(_), Some(text)) => {
                match text.bytes().all(|byte| byte.is_ascii_digit()) {
                    true if !text.is_empty() => Part::Number,
                    _ if differ.is_constant(pair) => Part::Fixed(pair),
                    _ => Part::Text,
                }
            }
            _ => Part::Fixed(pair),
        };
        let pairs = self.table.row(row).iter().filter(|&&pair| *self.table.key_of(pair) != UrlPart::Scheme);
        let mut template: Template = pairs.map(|&pair| (self.table.key_number(pair), part(pair))).collect();
        template.sort_unstable();
        template
    }

    /// For each template, the part whose values name pages best, if they do. How well they do is measured on all templates with the same
    /// keys: few URLs may be built like each of them.
    fn selectors<'f>(
        &self,
        forms: &[CurrentForm],
        templates: &'f [Template],
    ) -> HashMap<&'f Template, Selector> {
        let mut by_template: HashMap<&Template, Vec<usize>> = HashMap::default();
        for (form, template) in templates.iter().enumerate() {
            by_template.entry(template).or_default().push(form);
        }
        let mut by_keys: HashMap<Vec<u32>, Vec<&'f Template>> = HashMap::default();
        for &template in by_template.keys() {
            let keys = template.iter().map(|&(key, _)| key).collect();
            by_keys.entry(keys).or_default().push(template);
        }
        let doubt =
            |Naming { forms, failing }| Family::Other.prior().doubt(failing, forms, thresholds::proof::LIMIT);
        let is_known = |naming: Naming| doubt(naming) <= thresholds::proof::MAX_DOUBT;
        let share = |naming: Naming| naming.failing as f64 / naming.forms.max(1) as f64;
        let free = |template: &'f Template| {
            template.iter().copied().filter(|(_, part)| !matches!(part, Part::Fixed(_)))
        };
        let mut selectors = HashMap::default();
        for templates in by_keys.into_values() {
            let members = |template: &Template| by_template[template].as_slice();
            let forms_of_all = templates.iter().map(|template| members(template).len() as u64).sum();
            // Too few tell nothing, however well they do.
            if !is_known(Naming { forms: forms_of_all, failing: 0 }) {
                continue;
            }
            let mut pooled: HashMap<(u32, Part), Naming> = HashMap::default();
            for &template in &templates {
                for (key, part) in free(template) {
                    let found = self.naming(key, forms, members(template));
                    let sum = pooled.entry((key, part)).or_default();
                    sum.forms += found.forms;
                    sum.failing += found.failing;
                }
            }
            for template in templates {
                let named = free(template).map(|part| (part.0, pooled[&part]));
                let best = named.min_by(|a, b| share(a.1).total_cmp(&share(b.1)).then(a.0.cmp(&b.0)));
                let Some((key, naming)) = best.filter(|(_, naming)| is_known(*naming)) else { continue };
                let seen = self.pages_of_values(key, forms, members(template));
                let clear = seen.into_iter().filter(|(_, seen)| seen.is_clear()).map(|(pair, _)| pair);
                selectors.insert(template, Selector { key, naming, clear: clear.collect() });
            }
        }
        selectors
    }

    /// How often the values of a key name pages.
    fn naming(&self, key: u32, forms: &[CurrentForm], members: &[usize]) -> Naming {
        let seen = self.pages_of_values(key, forms, members);
        let failing = seen.values().filter(|seen| !seen.is_clear()).map(|seen| seen.forms).sum();
        Naming { forms: members.len() as u64, failing }
    }

    /// What forms with each value of a key show.
    fn pages_of_values(
        &self,
        key: u32,
        forms: &[CurrentForm],
        members: &[usize],
    ) -> HashMap<u32, PageOfValue> {
        let mut pages: HashMap<u32, PageOfValue> = HashMap::default();
        for form in members.iter().map(|&form| &forms[form]) {
            let Some(pair) = self.pair_at(form.row, key) else { continue };
            let seen = pages.entry(pair).or_insert(PageOfValue { page: form.label, forms: 0 });
            seen.forms += 1;
            if seen.forms > 1 && seen.page != form.label {
                seen.page = None;
            }
        }
        pages
    }

    fn pair_at(&self, row: u32, key: u32) -> Option<u32> {
        self.table.row(row).iter().copied().find(|&pair| self.table.key_number(pair) == key)
    }

    /// Forms that were observed to show the page of another, each with that one: of those with the page one that shows it
    /// itself, and of these one that a canonical link names, and the simplest.
    fn duplicates(&self, forms: &[CurrentForm], templates: &[Template]) -> Vec<(usize, usize)> {
        let corpus = self.table.corpus();
        let rank = |form: &CurrentForm| {
            let length = (self.table.row(form.row).len(), corpus.url(form.row).len());
            (form.leads_on, !form.is_named, length)
        };
        let mut by_label: Vec<_> =
            forms.iter().enumerate().filter_map(|(at, form)| Some((form.label?, rank(form), at))).collect();
        by_label.sort_unstable();
        let mut duplicates = Vec::new();
        for same in by_label.chunk_by(|a, b| a.0 == b.0).filter(|same| same.len() > 1) {
            // An empty page or an error is shown for every value of a key that would matter if there were anything to show, so
            // many forms show it, and several that are built alike.
            let showing: Vec<&Template> =
                same.iter().filter(|form| !forms[form.2].leads_on).map(|form| &templates[form.2]).collect();
            let kinds: HashSet<&Template> = showing.iter().copied().collect();
            if showing.len() as u64 > thresholds::proof::MAX_GROUPS_PER_PAGE && kinds.len() < showing.len() {
                continue;
            }
            let target = same[0].2;
            let shows_it = |at: &usize| corpus.relation(forms[*at].row, forms[target].row) == Relation::Same;
            duplicates.extend(same[1..].iter().map(|form| form.2).filter(shows_it).map(|at| (at, target)));
        }
        duplicates
    }

    /// Whether a table can write one URL as the other: all that is not path or query is the same, nothing is forgotten in
    /// either, and both show the same at every visit.
    fn can_be_written(&self, from: u32, to: u32) -> bool {
        let is_plain = |row: u32| {
            self.table.row(row).iter().all(|&pair| {
                let text = self.table.value_of(pair).as_text();
                let is_second =
                    matches!(self.table.key_of(pair), UrlPart::QueryParam(name) if name.occurrence > 1);
                text != Some("*") && !is_second && !self.volatile.contains(&pair)
            })
        };
        let others = |row: u32| {
            let is_other = |key: &UrlPart| {
                !matches!(key, UrlPart::PathSegment(_) | UrlPart::QueryParam(_) | UrlPart::TrailingSlash)
            };
            let mut pairs: Vec<u32> = self
                .table
                .row(row)
                .iter()
                .copied()
                .filter(|&pair| is_other(self.table.key_of(pair)))
                .collect();
            pairs.sort_unstable();
            pairs
        };
        let has_slash = |row: u32| {
            self.table.row(row).iter().any(|&pair| *self.table.key_of(pair) == UrlPart::TrailingSlash)
        };
        let is_bare = |pair: &&u32| self.table.value_of(**pair).as_text().is_none();
        let mut bare = self.table.row(to).iter().filter(is_bare);
        is_plain(from)
            && is_plain(to)
            && others(from) == others(to)
            && (has_slash(from) || !has_slash(to))
            && bare.all(|pair| self.table.row(from).contains(pair))
            && self.segments(to).iter().all(|(_, text)| !text.is_empty() && !text.contains(';'))
    }

    /// The path of a row: its pairs and their texts, in order.
    fn segments(&self, row: u32) -> Vec<(u32, &str)> {
        let mut segments: Vec<(u16, u32)> = self
            .table
            .row(row)
            .iter()
            .filter_map(|&pair| match self.table.key_of(pair) {
                UrlPart::PathSegment(index) => Some((*index, pair)),
                _ => None,
            })
            .collect();
        segments.sort_unstable();
        let text = |(_, pair)| (pair, self.table.value_of(pair).as_text().unwrap_or_default());
        segments.into_iter().map(text).collect()
    }

    /// Makes one table, if it does what it was made for.
    fn take_table(
        &mut self,
        forms: &[CurrentForm],
        template: &Template,
        selector: &Selector,
        entries: &[(usize, usize)],
    ) {
        let rows: Vec<(u32, u32)> =
            entries.iter().map(|&(form, target)| (forms[form].row, forms[target].row)).collect();
        let draft = self.lookup(template, selector.key, &rows);
        let moves = self.table.moves(&draft);
        let targets: HashMap<u64, u64> =
            rows.iter().map(|&(row, target)| (self.table.form_id(row), self.table.form_id(target))).collect();
        let is_planned = |&(row, form): &(u32, u64)| targets.get(&self.table.form_id(row)) == Some(&form);
        let is_valid = |draft: &Draft| SiteRules::new(SiteSummary::default(), vec![draft.to_rule()]).is_ok();
        if moves.is_empty() || !moves.iter().all(is_planned) || !is_valid(&draft) {
            return;
        }
        let candidate = Candidate {
            draft,
            family: Family::Other,
            is_suspect: false,
            is_narrowed: false,
            limited: BTreeSet::new(),
        };
        let votes = self.count(&moves, &joined(&self.table, &moves), &candidate);
        let Naming { forms: forms_seen, failing } = selector.naming;
        // What is stated is how well the selector names pages: that its entries agree is why they are there.
        let votes = Votes { held_out: forms_seen, held_out_failures: failing, ..votes };
        let judged = Judged { candidate, votes, refusal: None };
        self.exposures.push(Exposure { against: failing, all: forms_seen, merged: votes.merged });
        let bound = Family::Other.prior().bound(failing, forms_seen);
        self.rules.push(write_rule(&self.table, &judged, &moves, &self.noise, (Trust::Proven, bound)));
        self.table.apply(&judged.candidate.draft, &moves);
        self.accepted.push(judged);
    }

    /// The rule that looks up the selector and writes what it stands for.
    fn lookup(&self, template: &Template, selector: u32, rows: &[(u32, u32)]) -> Draft {
        let key_of = |number: u32| self.table.keys()[number as usize].clone();
        let selector_key = key_of(selector);
        let text_at = |row: u32, key: u32| {
            self.pair_at(row, key).and_then(|pair| self.table.value_of(pair).as_text()).unwrap_or_default()
        };
        // The value of each entry, with what is read of the URL that it stands for.
        let source = |read: &dyn Fn(u32) -> String| {
            let mut table: Vec<(Box<str>, Box<str>)> = rows
                .iter()
                .map(|&(row, target)| (text_at(row, selector).into(), read(target).into()))
                .collect();
            table.sort_unstable();
            table.dedup();
            match table.first() {
                Some((_, first)) if table.iter().all(|(_, text)| text == first) => Source::text(first),
                _ => Source { table, ..Source::of(selector_key.clone().into()) },
            }
        };
        let values = |key: u32| -> Vec<Value> {
            let mut values: Vec<Value> =
                rows.iter().map(|&(row, _)| Value::from(text_at(row, key))).collect();
            values.sort();
            values.dedup();
            values
        };
        let is_kept =
            |key: u32| rows.iter().all(|&(row, target)| self.pair_at(row, key) == self.pair_at(target, key));
        // What is forgotten beside the selector may matter at other values: `/wiki/X?oldid=N` is `/wiki/X` for the last `N` only.
        let test = |&(key, part): &(u32, Part)| {
            let test = match part {
                Part::Fixed(pair) => Test::Is(self.table.value_of(pair).clone()),
                _ if key == selector || !is_kept(key) => Test::OneOf(values(key)),
                Part::Number => Test::Any(ValueClass::Digits.into()),
                Part::Text => Test::Any(ValueClass::Text.into()),
            };
            (Spot::Key(key_of(key)), test)
        };
        let when = template.iter().map(test).collect();

        let params = |row: u32| {
            let is_param = |pair: &&u32| matches!(self.table.key_of(**pair), UrlPart::QueryParam(_));
            self.table.row(row).iter().filter(is_param).map(|&pair| self.table.key_number(pair))
        };
        let (first, target) = rows[0];
        let mut change = Vec::new();
        // What is looked up is read before it is changed itself.
        let mut set: Vec<u32> = params(target).filter(|&key| !is_kept(key)).collect();
        set.sort_unstable_by_key(|&key| (key == selector, key));
        let written =
            |&key: &u32| Change::Set { key: key_of(key), to: vec![source(&|row| text_at(row, key).into())] };
        let sets_selector = set.last() == Some(&selector);
        let last = if sets_selector { set.pop() } else { None };
        change.extend(set.iter().map(written));
        let path_of =
            |row: u32| -> Vec<u32> { self.segments(row).into_iter().map(|(pair, _)| pair).collect() };
        if rows.iter().any(|&(row, target)| path_of(row) != path_of(target)) {
            let depth = self.segments(target).len();
            let part = |index: usize| {
                let from = source(&|row| self.segments(row)[index].1.into());
                if from.of.is_none() {
                    PathPart::Text(from.prefix)
                } else {
                    PathPart::Value { from, split: None }
                }
            };
            change.push(Change::Path((0..depth).map(part).collect()));
        }
        let has_slash = |row: u32| {
            self.table.row(row).iter().any(|&pair| *self.table.key_of(pair) == UrlPart::TrailingSlash)
        };
        if has_slash(first) && !has_slash(target) {
            change.push(Change::Drop(UrlPart::TrailingSlash.into()));
        }
        let mut dropped: Vec<u32> =
            params(first).filter(|&key| self.pair_at(target, key).is_none()).collect();
        dropped.sort_unstable();
        change.extend(dropped.iter().map(|&key| Change::Drop(key_of(key).into())));
        change.extend(last.iter().map(written));
        Draft { when, is_closed: true, change }
    }
}
