/*!
Any bytes as a rule file: loading never panics, and what is loaded can be saved, loaded again and compiled.
*/

#![no_main]

use dedust::rules::SiteRules;
use dedust::{Normalizer, RuleSet};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(loaded) = RuleSet::load(bytes) else {
        return;
    };
    // Saving rounds shares to four digits, so the first copy may differ from the file; no later one does.
    let saved = save(&loaded);
    let copy = RuleSet::load(&*saved).expect("what was saved can be loaded");
    assert_eq!(save(&copy), saved, "same rules, same bytes");
    assert_eq!(RuleSet::load(&*saved).expect("as before"), copy);

    let rules = |set: &RuleSet| {
        let of_site = |site: &SiteRules| -> Vec<_> {
            let rules = site.rules().iter();
            rules.map(|rule| (rule.when.clone(), rule.closed, rule.change.clone(), rule.last, rule.fetchable)).collect()
        };
        set.sites().map(|(name, site)| (name.to_owned(), of_site(site))).collect::<Vec<_>>()
    };
    assert_eq!(rules(&copy), rules(&loaded));
    let mirrors = |set: &RuleSet| {
        let mirror = |site: &SiteRules| match site {
            SiteRules::Mirror(mirror) => Some((mirror.of.clone(), mirror.except.clone(), mirror.fetchable)),
            SiteRules::Rules(_) => None,
        };
        set.sites().map(|(_, site)| mirror(site)).collect::<Vec<_>>()
    };
    assert_eq!(mirrors(&copy), mirrors(&loaded));

    let normalizer = Normalizer::compile(&loaded);
    for (site, _) in loaded.sites() {
        let _ = normalizer.explain(format!("http://www.{site}/a/b;c=1?d=2&d=3#!e"));
    }
});

fn save(rules: &RuleSet) -> Vec<u8> {
    let mut file = Vec::new();
    rules.save(&mut file).expect("a vector takes all bytes");
    file
}
