/*!
Which edits bring URLs of one key together?

An edit joins URLs if they would have several keys without it. Where any one of several edits is enough, none is missed when it
is left out; then all edits that changed one of the URLs are named. Compiled rules cannot be taken apart, so there it is always all
of them.
*/

use std::collections::BTreeSet;

use dedust::rules::{Edit, SiteRules, SiteSummary};
use dedust::{Explanation, Normalizer, RuleSet, Scratch};
use foldhash::HashMap;

/// Rule sets without one edit that are kept for the next URLs.
const KEPT: usize = 1024;

/// An edit of a rule file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EditRef {
    /// The site that it belongs to.
    pub site: Box<str>,
    /// Its index in the site's list, from 0.
    pub index: usize,
}

/// Finds the edits that join URLs.
#[derive(Debug)]
pub struct JoiningEdits<'r> {
    normalizer: &'r Normalizer,
    /// `None` if the rules are compiled.
    rules: Option<&'r RuleSet>,
    /// Rules of the site of an edit without that edit; `None` if the others cannot stand alone.
    without: HashMap<EditRef, Option<Normalizer>>,
    no_rules: Normalizer,
    scratch: Scratch,
}

impl<'r> JoiningEdits<'r> {
    /// For URLs that `normalizer`, made of `rules`, gives one key.
    pub fn new(normalizer: &'r Normalizer, rules: Option<&'r RuleSet>) -> Self {
        Self {
            normalizer,
            rules,
            without: HashMap::default(),
            no_rules: Normalizer::default(),
            scratch: Scratch::default(),
        }
    }

    /// What an edit does, in words; `None` if the rules are compiled.
    pub fn sentence(&self, edit_ref: &EditRef) -> Option<String> {
        Some(self.edit(edit_ref)?.to_string())
    }

    /// What `dedust rules` calls an edit; `None` if the rules are compiled.
    pub fn id(&self, edit_ref: &EditRef) -> Option<String> {
        Some(self.edit(edit_ref)?.id().to_string())
    }

    /// An edit by its site, index and id: `edit 3 of a.example, 1bcc19fb: what it does`.
    pub fn name(&self, edit_ref: &EditRef) -> String {
        let EditRef { site, index } = edit_ref;
        match self.edit(edit_ref) {
            Some(edit) => format!("edit {index} of {site}, {}: {edit}", edit.id()),
            None => format!("edit {index} of {site}"),
        }
    }

    fn edit(&self, edit_ref: &EditRef) -> Option<&'r Edit> {
        self.rules?.site(&edit_ref.site)?.edits().get(edit_ref.index)
    }

    /// The edits that join `urls`, by site and index. None if safe normalization is enough.
    pub fn of(&mut self, urls: &[&[u8]]) -> Vec<EditRef> {
        let explanations: Vec<Explanation> =
            self.distinct(urls).into_iter().filter_map(|url| self.normalizer.explain(url).ok()).collect();
        if explanations.len() < 2 {
            return Vec::new();
        }
        let moves: BTreeSet<Option<&str>> = explanations.iter().map(|one| one.mirror.as_deref()).collect();
        let mut joining: Vec<EditRef> = Vec::new();
        if moves.len() > 1 {
            joining.extend(moves.iter().flatten().map(|site| EditRef { site: (*site).into(), index: 0 }));
        }
        let made: BTreeSet<EditRef> = explanations.iter().flat_map(made_by).collect();
        if made.len() > 1 && self.rules.is_some() {
            joining.extend(made.iter().filter(|edit_ref| self.is_missed(edit_ref, &explanations)).cloned());
        }
        if joining.is_empty() {
            joining.extend(made);
        }
        joining.sort();
        joining
    }

    /// The last of the edits that join `urls`, in the order in which they are made. None if safe normalization is enough.
    pub fn last_of(&mut self, urls: &[&[u8]]) -> Option<EditRef> {
        let joining = self.of(urls);
        // URLs are moved to another site before anything else is done to them.
        let moves =
            |edit_ref: &EditRef| self.rules.and_then(|rules| rules.site(&edit_ref.site)?.mirror()).is_some();
        joining.into_iter().max_by_key(|edit_ref| (!moves(edit_ref), edit_ref.index))
    }

    /// Those of `urls` that differ after safe normalization.
    fn distinct<'u>(&mut self, urls: &[&'u [u8]]) -> Vec<&'u [u8]> {
        let mut keys: BTreeSet<Vec<u8>> = BTreeSet::new();
        let is_new = |url: &&[u8]| {
            let key = self.no_rules.key_with(url, &mut self.scratch);
            keys.insert(key.map_or_else(|_| url.to_vec(), <[u8]>::to_vec))
        };
        urls.iter().copied().filter(is_new).collect()
    }

    /// Whether the URLs have several keys without this edit.
    fn is_missed(&mut self, edit_ref: &EditRef, explanations: &[Explanation]) -> bool {
        if self.without.len() >= KEPT {
            self.without.clear();
        }
        let moved: BTreeSet<&str> = explanations.iter().filter_map(|one| one.mirror.as_deref()).collect();
        let with_mirrors;
        let normalizer = if moved.is_empty() {
            if !self.without.contains_key(edit_ref) {
                let normalizer = self.leave_out(edit_ref, &moved);
                self.without.insert(edit_ref.clone(), normalizer);
            }
            self.without.get(edit_ref).and_then(Option::as_ref)
        } else {
            with_mirrors = self.leave_out(edit_ref, &moved);
            with_mirrors.as_ref()
        };
        let Some(normalizer) = normalizer else { return false };
        let mut first: Option<Vec<u8>> = None;
        explanations.iter().any(|one| {
            let Ok(key) = normalizer.key_with(one.safe.as_bytes(), &mut self.scratch) else { return false };
            match &first {
                Some(first) => first != key,
                None => {
                    first = Some(key.to_vec());
                    false
                }
            }
        })
    }

    /// The rules of the edit's site without it, and with mirrors that lead there.
    fn leave_out(&self, edit_ref: &EditRef, mirrors: &BTreeSet<&str>) -> Option<Normalizer> {
        let rules = self.rules?;
        let site = rules.site(&edit_ref.site)?;
        let mut edits = site.edits().to_vec();
        edits.remove(edit_ref.index);
        let others = SiteRules::new(SiteSummary::default(), edits).ok()?.with_hosts(site.hosts().to_vec());
        let mut set = RuleSet::new("");
        set.insert(&edit_ref.site, others).ok()?;
        for name in mirrors {
            let mut next: Box<str> = (*name).into();
            while let Some(mirror) = rules.site(&next).filter(|_| set.site(&next).is_none()) {
                set.insert(&next, mirror.clone()).ok()?;
                match mirror.mirror() {
                    Some(mirror) => next = mirror.of,
                    None => break,
                }
            }
        }
        Some(Normalizer::compile(&set))
    }
}

/// The edits that changed a URL.
fn made_by(explanation: &Explanation) -> impl Iterator<Item = EditRef> + '_ {
    let site = explanation.site.as_deref();
    let edits = explanation.edits.iter();
    edits.filter_map(move |&index| Some(EditRef { site: site?.into(), index }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules() -> RuleSet {
        let drop = |name: &str| format!(r#"{{"change": [{{"drop": "q.{name}"}}], "fetchable": true}}"#);
        let scheme =
            r#"{"change": [{"map": {"of": "scheme", "values": [{"is": "http", "becomes": "https"}]}}]}"#;
        let edits = [drop("sid"), drop("ref"), scheme.to_owned()].join(",");
        let json = format!(
            r#"{{"version": 2, "sites": {{"a.example": {{"edits": [{edits}]}},
                "b.example": {{"edits": [{{"change": [{{"move": "a.example"}}], "fetchable": true}}]}}}}}}"#
        );
        RuleSet::load(json.as_bytes()).unwrap()
    }

    fn joining(urls: &[&str]) -> Vec<(String, usize)> {
        let rules = rules();
        let normalizer = Normalizer::compile(&rules);
        let keys: BTreeSet<String> =
            urls.iter().map(|url| normalizer.key(url).unwrap().to_string()).collect();
        assert_eq!(keys.len(), 1, "{keys:?}");
        let urls: Vec<&[u8]> = urls.iter().map(|url| url.as_bytes()).collect();
        let found = JoiningEdits::new(&normalizer, Some(&rules)).of(&urls);
        found.into_iter().map(|edit_ref| (edit_ref.site.into(), edit_ref.index)).collect()
    }

    #[test]
    fn an_edit_joins_what_would_differ_without_it() {
        let found = joining(&["http://a.example/p?sid=1", "http://a.example/p?sid=2"]);
        assert_eq!(found, [("a.example".to_owned(), 0)], "the scheme is changed in both alike");
        let found = joining(&["http://a.example/p?sid=1", "https://a.example/p?ref=2"]);
        assert_eq!(found.iter().map(|(_, index)| *index).collect::<Vec<_>>(), [0, 1, 2]);
    }

    #[test]
    fn what_safe_normalization_joins_no_edit_does() {
        assert_eq!(joining(&["http://a.example/p?sid=1", "HTTP://A.example:80/p?sid=1"]), []);
    }

    #[test]
    fn a_mirror_joins_urls_of_two_domains() {
        let found = joining(&["https://b.example/p?sid=1", "https://a.example/p?sid=1"]);
        assert_eq!(found, [("b.example".to_owned(), 0)]);
        let found = joining(&["https://b.example/p?sid=1", "https://b.example/p?sid=2"]);
        assert_eq!(found, [("a.example".to_owned(), 0)]);
    }
}
