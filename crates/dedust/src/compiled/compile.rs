/*!
Which program do the rules of a site become?

Edits that are off or refuted are left out. A site with more than compiled rules have room for is left out as a whole, and named in the
end: leaving URLs alone is always safe.
*/

use super::{ImageBuilder, LeftOutReason, SiteFacts};
use crate::encoding::TooLarge;
use crate::program::edits;
use crate::rule::{Edit, RuleSet, SiteRules};
use crate::url::has_subdomains;

pub(crate) fn compile(rules: &RuleSet) -> ImageBuilder {
    let mut builder = ImageBuilder::default();
    builder.set_method(rules.method());
    for (domain, site) in rules.sites() {
        add_site(&mut builder, domain, site);
    }
    builder
}

pub(crate) fn add_site(builder: &mut ImageBuilder, domain: &str, site: &SiteRules) {
    if let Some(mirror) = site.mirror() {
        let facts = SiteFacts { with_subdomains: true, weight: site.summary().urls, rules: 1 };
        builder.insert_mirror(domain.as_bytes(), facts, &mirror);
        return;
    }
    let edits: Vec<(usize, &Edit)> = site.applied().collect();
    if edits.is_empty() {
        return;
    }
    match edits::encode(&edits) {
        Ok(program) => {
            let facts = SiteFacts {
                with_subdomains: has_subdomains(domain.as_bytes()),
                weight: site.summary().urls,
                rules: edits.len() as u64,
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
    use crate::rules::{Change, Edit, Outcome, Replace, SiteRules, SiteSummary, Verdict};
    use crate::{Normalizer, RuleSet};

    fn rule(path: &str) -> Edit {
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

    fn replace(from: &str) -> Edit {
        let replace = Replace { from: from.into(), to: "".into(), at_start: false, at_end: true };
        Edit { fetchable: true, ..Edit::new(Change::Replace(vec![replace])) }
    }

    fn compiled(edits: &[Edit]) -> Normalizer {
        let mut set = RuleSet::new("by hand");
        set.insert("a.example", SiteRules::new(SiteSummary::default(), edits.to_vec()).unwrap()).unwrap();
        Normalizer::compile(&set)
    }

    #[test]
    fn refuted_edits_are_left_out_and_the_others_keep_their_places() {
        let refuted = Some(Verdict { outcome: Outcome::Refuted, ..Verdict::default() });
        let mut edits = vec![replace("index.html"), replace("default.asp"), rule("x"), rule("y")];
        let (x, y) = ("http://a.example/x?sid=1", "http://a.example/y?sid=1");
        let (index, default) = ("http://a.example/p/index.html", "http://a.example/p/default.asp");
        let all = compiled(&edits);
        assert_eq!(all.normalize(x).unwrap(), "http://a.example/x");
        assert_eq!(all.normalize(index).unwrap(), "http://a.example/p/");

        edits[0].evidence.verdict = refuted.clone();
        edits[2].evidence.verdict = refuted.clone();
        let some = compiled(&edits);
        assert_eq!(some.normalize(x).unwrap(), x);
        assert_eq!(some.normalize(index).unwrap(), index);
        assert_eq!(some.explain(y).unwrap().edits, [3]);
        assert_eq!(some.explain(y).unwrap().canonical, "http://a.example/y");
        assert_eq!(some.explain(default).unwrap().edits, [1]);

        edits[1].evidence.verdict = refuted.clone();
        edits[3].evidence.verdict = refuted;
        let none = compiled(&edits);
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
