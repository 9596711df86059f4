/*!
Changes what people decided about some rules of a site: a rule set in, the same with other decisions out.

Rules are named by their ids, or the beginnings of these. A rule set whose rules could no longer stand together stays as it was.
Reads and writes no file.
*/

use serde::{Deserialize, Serialize};

use super::{Decision, InvalidSite, Rule, RuleSet, SiteRules, Standing};

/// What is decided about a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DecisionVerb {
    /// It is not applied, and stays in the file.
    Off,
    /// It is no longer off.
    On,
    /// It stays when rules are learned again, and is applied even if it was refuted.
    Pin,
    /// It is no longer pinned.
    Unpin,
}

/// Which rules of a site are meant.
#[derive(Clone, Copy, Debug)]
pub enum DecidedRules<'a> {
    /// All of them.
    All,
    /// Those whose ids start with one of these.
    Ids(&'a [String]),
}

/// A rule about which something was decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decided {
    /// Its index in the list of its site.
    pub index: usize,
    /// Whether it was otherwise before.
    pub is_changed: bool,
}

/// Why nothing was decided.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DecideError {
    /// No such site.
    #[error("the rule file has no site `{site}`")]
    UnknownSite {
        /// As it was named.
        site: Box<str>,
    },
    /// No such rule.
    #[error("no rule of `{site}` has an id that starts with `{id}`")]
    UnknownId {
        /// The site.
        site: Box<str>,
        /// As it was named.
        id: Box<str>,
    },
    /// More digits are needed.
    #[error("`{id}` is the beginning of several ids of `{site}`")]
    SeveralIds {
        /// The site.
        site: Box<str>,
        /// As it was named.
        id: Box<str>,
        /// The rules whose ids start so.
        indexes: Vec<usize>,
    },
    /// The rules could not stand together.
    #[error("the rules of `{site}` would be refused")]
    Refused {
        /// The site.
        site: Box<str>,
        /// The rules as they would have been.
        rules: Vec<Rule>,
        /// Why not.
        source: InvalidSite,
    },
}

impl DecisionVerb {
    /// Changes what was decided. `false`: it was so before, and the decision stays that it was.
    pub fn apply(self, Standing { off, pinned, .. }: Standing<'_>, decision: &Decision) -> bool {
        let (decided, is_decided) = match self {
            Self::Off => (off, true),
            Self::On => (off, false),
            Self::Pin => (pinned, true),
            Self::Unpin => (pinned, false),
        };
        let is_changed = decided.is_some() != is_decided;
        if is_changed {
            *decided = is_decided.then(|| Box::new(decision.clone()));
        }
        is_changed
    }
}

impl SiteRules {
    /// The indexes of the entry whose id starts with `id`: one, unless the site has the same rule twice. `name` is that of the site.
    pub fn rules_with_id(&self, name: &str, id: &str) -> Result<Vec<usize>, DecideError> {
        let id = id.to_ascii_lowercase();
        let ids: Vec<String> = self.entries().map(|entry| entry.id().to_string()).collect();
        let matching: Vec<usize> =
            (0..ids.len()).filter(|&at| !id.is_empty() && ids[at].starts_with(&id)).collect();
        let (site, id) = (name.into(), id.into());
        match &matching[..] {
            [first, others @ ..] if others.iter().all(|&other| ids[other] == ids[*first]) => Ok(matching),
            [] => Err(DecideError::UnknownId { site, id }),
            _ => Err(DecideError::SeveralIds { site, id, indexes: matching }),
        }
    }
}

impl RuleSet {
    /// Decides about some rules of a site; says which they are, in the order of the list. After an error nothing has changed.
    ///
    /// ```
    /// use dedust::RuleSet;
    /// use dedust::rules::{DecidedRules, Decision, DecisionVerb};
    ///
    /// let mut rules = RuleSet::load(&br#"{"version": 1, "sites": {"a.example": {"rules": [
    ///     {"change": [{"drop": "q.sid"}]}, {"change": [{"drop": "q.id"}]}
    /// ]}}}"#[..])?;
    /// let id = rules.site("a.example").ok_or("no site")?.rules()[1].id().to_string();
    /// let decision = Decision { by: Some("anna".into()), ..Decision::default() };
    /// let decided = rules.decide("a.example", DecidedRules::Ids(&[id]), DecisionVerb::Off, &decision)?;
    /// assert_eq!((decided.len(), decided[0].index, decided[0].is_changed), (1, 1, true));
    /// let rules = rules.site("a.example").ok_or("no site")?.rules();
    /// assert!(rules[0].is_applied() && !rules[1].is_applied());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn decide(
        &mut self,
        site: &str,
        which: DecidedRules<'_>,
        verb: DecisionVerb,
        decision: &Decision,
    ) -> Result<Vec<Decided>, DecideError> {
        let rules = self.site(site).ok_or_else(|| DecideError::UnknownSite { site: site.into() })?;
        let mut indexes = Vec::new();
        match which {
            DecidedRules::All => indexes.extend(0..rules.len()),
            DecidedRules::Ids(ids) => {
                for id in ids {
                    indexes.extend(rules.rules_with_id(site, id)?);
                }
            }
        }
        indexes.sort_unstable();
        indexes.dedup();
        let mut decided: Vec<Decided> = Vec::with_capacity(indexes.len());
        let after = rules.clone().with_standings(|index, standing| {
            if indexes.binary_search(&index).is_ok() {
                decided.push(Decided { index, is_changed: verb.apply(standing, decision) });
            }
        });
        let after = after.map_err(|source| {
            let mut refused = rules.rules().to_vec();
            for &index in &indexes {
                verb.apply((&mut refused[index]).into(), decision);
            }
            DecideError::Refused { site: site.into(), rules: refused, source }
        })?;
        if decided.iter().any(|decided| decided.is_changed) {
            self.sites.insert(site.into(), after);
        }
        Ok(decided)
    }

    /// Gives a site other rules, if these can stand together; a site that is not there yet is made.
    pub fn replace_rules(&mut self, site: &str, rules: Vec<Rule>) -> Result<(), DecideError> {
        let site_rules = self.site(site).cloned().unwrap_or_default();
        let refuse = |source| DecideError::Refused { site: site.into(), rules: rules.clone(), source };
        let site_rules = site_rules.with_rules(rules.clone()).map_err(refuse)?;
        self.insert(site, site_rules).map_err(refuse)
    }
}
