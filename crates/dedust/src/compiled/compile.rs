/*!
Which program do the rules of a site become?

Edits on the text of a URL come first. If all others are closed [rules](Rule), of whose URLs everything is known, they become templates;
otherwise all of them are run as edits. Edits that are off or refuted are left out, and so are rules that can cover no URL. A site with
more than compiled rules have room for is left out as a whole, and named in the end: leaving URLs alone is always safe.
*/

use super::{ImageBuilder, LeftOutReason, SiteFacts};
use crate::encoding::TooLarge;
use crate::program::{closed, edits};
use crate::rule::{Replace, Rule, RuleSet, SiteRules};
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
    let (replaced, edits): (Vec<_>, Vec<_>) = site.applied().partition(|(_, edit)| edit.replaced().is_some());
    let replaced: Vec<(usize, &Replace)> =
        replaced.into_iter().filter_map(|(list_index, edit)| Some((list_index, edit.replaced()?))).collect();
    let rules: Option<Vec<(usize, Rule)>> =
        edits.iter().map(|&(list_index, edit)| Some((list_index, Rule::of(edit)?))).collect();
    let edits = if rules.is_some() { Vec::new() } else { edits };
    let rules: Vec<(usize, Rule)> =
        rules.into_iter().flatten().filter(|(_, rule)| closed::can_cover(rule)).collect();
    let count = rules.len() + replaced.len() + edits.len();
    if count == 0 {
        return;
    }
    let rules = rules.iter().map(|(list_index, rule)| (*list_index, rule)).collect();
    let compiled = match &edits[..] {
        [] => closed::encode(rules, &replaced),
        // They stand beside no others.
        edits => edits::encode(edits),
    };
    match compiled {
        Ok(program) => {
            let facts = SiteFacts {
                with_subdomains: has_subdomains(domain.as_bytes()),
                weight: site.summary().urls,
                rules: count as u64,
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
            "change": [{"write": {"scheme": {"keep": "http"}, "path_0": {"keep": path}}}],
            "last": true,
            "fetchable": true,
        }))
        .unwrap()
    }

    fn replace(from: &str) -> Edit {
        Edit::new(Change::Replace(Replace {
            from: from.into(),
            to: "".into(),
            at_start: false,
            at_end: true,
        }))
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
