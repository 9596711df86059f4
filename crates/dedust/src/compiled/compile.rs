/*!
Which program do the rules of a site become?

Rules that are off or refuted are left out. A site with more than compiled rules have room for is left out as a whole, and named in the
end: leaving URLs alone is always safe.
*/

use super::{ImageBuilder, LeftOutReason, SiteFacts};
use crate::encoding::TooLarge;
use crate::program::{CanonicalEntry, rules};
use crate::rule::{Rule, RuleSet, SiteRules};
use crate::url::has_subdomains;

/// Compiles the rules of all sites, each with the canonical URLs that `observed` takes from it.
pub(crate) fn compile(
    rules: &RuleSet,
    observed: impl for<'s> Fn(&str, &'s SiteRules) -> Vec<CanonicalEntry<'s>>,
) -> ImageBuilder {
    let mut builder = ImageBuilder::default();
    builder.set_method(rules.method());
    for (domain, site) in rules.sites() {
        add_site(&mut builder, domain, site, &observed(domain, site));
    }
    builder
}

/// Compiles the rules of a site, with these canonical URLs that were observed.
pub(crate) fn add_site(
    builder: &mut ImageBuilder,
    domain: &str,
    site: &SiteRules,
    observed: &[CanonicalEntry<'_>],
) {
    if let Some(mirror) = site.mirror() {
        let facts = SiteFacts { with_subdomains: true, weight: site.summary().urls, rules: 1 };
        builder.insert_mirror(domain.as_bytes(), facts, mirror);
        return;
    }
    let rules: Vec<(usize, &Rule)> = site.applied().collect();
    if rules.is_empty() {
        return;
    }
    match rules::encode(&rules).and_then(|program| program.with_observed(observed)) {
        Ok(program) => {
            let facts = SiteFacts {
                with_subdomains: has_subdomains(domain.as_bytes()),
                weight: site.summary().urls,
                rules: rules.len() as u64,
            };
            match site.hosts() {
                [] => builder.insert(domain.as_bytes(), facts, &program),
                hosts => builder.insert_hosts(domain.as_bytes(), hosts, facts, &program),
            }
        }
        Err(TooLarge) => builder.leave_out(domain.as_bytes(), LeftOutReason::TooLarge),
    }
}

#[cfg(test)]
mod tests {
    use crate::rules::{Change, Outcome, Replace, Rule, SiteRules, SiteSummary, Verdict};
    use crate::{Normalizer, RuleSet};

    fn rule(path: &str) -> Rule {
        serde_json::from_value(serde_json::json!({
            "when": {
                "scheme": {"is": "http"}, "path_0": {"is": path}, "q.sid": {"any": {"class": "text", "optional": true}}
            },
            "closed": true,
            "change": [{"drop": "q.sid"}],
            "last": true,
            "fetchable": true,
        }))
        .unwrap()
    }

    fn replace(from: &str) -> Rule {
        let replace = Replace { from: from.into(), to: "".into(), at_start: false, at_end: true };
        Rule { fetchable: true, ..Rule::new(Change::Replace(vec![replace])) }
    }

    fn compiled(rules: &[Rule]) -> Normalizer {
        let mut set = RuleSet::new("by hand");
        set.insert("a.example", SiteRules::new(SiteSummary::default(), rules.to_vec()).unwrap()).unwrap();
        Normalizer::compile(&set)
    }

    #[test]
    fn refuted_rules_are_left_out_and_the_others_keep_their_places() {
        let refuted = Some(Verdict { outcome: Outcome::Refuted, ..Verdict::default() });
        let mut rules = vec![replace("index.html"), replace("default.asp"), rule("x"), rule("y")];
        let (x, y) = ("http://a.example/x?sid=1", "http://a.example/y?sid=1");
        let (index, default) = ("http://a.example/p/index.html", "http://a.example/p/default.asp");
        let all = compiled(&rules);
        assert_eq!(all.normalize(x).unwrap(), "http://a.example/x");
        assert_eq!(all.normalize(index).unwrap(), "http://a.example/p/");

        rules[0].evidence.verdict = refuted.clone();
        rules[2].evidence.verdict = refuted.clone();
        let some = compiled(&rules);
        assert_eq!(some.normalize(x).unwrap(), x);
        assert_eq!(some.normalize(index).unwrap(), index);
        assert_eq!(some.explain(y).unwrap().rules, [3]);
        assert_eq!(some.explain(y).unwrap().canonical, "http://a.example/y");
        assert_eq!(some.explain(default).unwrap().rules, [1]);

        rules[1].evidence.verdict = refuted.clone();
        rules[3].evidence.verdict = refuted;
        let none = compiled(&rules);
        assert_eq!(none.explain(y).unwrap().site, None);
        assert_eq!(none.key(y).unwrap(), y);
    }

    #[test]
    fn rules_of_any_other_verdict_are_applied() {
        for outcome in [Outcome::Confirmed, Outcome::Unknown] {
            let mut rule = rule("x");
            rule.evidence.verdict = Some(Verdict { outcome, ..Verdict::default() });
            let normalizer = compiled(&[rule]);
            assert_eq!(normalizer.normalize("http://a.example/x?sid=1").unwrap(), "http://a.example/x");
        }
    }
}
