/*!
`Explanation`: what was done to a URL, for people to look at.
*/

use dedust::RuleSet;
use pyo3::prelude::*;

use crate::html::escape;

/// What was done to a URL, and by which rules.
#[pyclass(frozen, get_all, module = "dedust")]
pub(crate) struct Explanation {
    /// The URL as it was given.
    url: String,
    /// The URL after safe normalization.
    safe: String,
    /// The site whose rules were tried, if it has any.
    site: Option<String>,
    /// The site of the URL, if that shows the pages of `site`.
    mirror: Option<String>,
    /// The indexes, in the site's list, of the rules that changed the URL or its key.
    rules: Vec<usize>,
    /// These rules in words, if they are at hand.
    sentences: Vec<String>,
    /// The key.
    key: String,
    /// The canonical URL.
    canonical: String,
}

impl Explanation {
    pub(crate) fn new(url: &[u8], explanation: dedust::Explanation, known: Option<&RuleSet>) -> Self {
        let dedust::Explanation { safe, site, mirror, rules, key, canonical } = explanation;
        let known = known.zip(site.as_deref()).and_then(|(known, site)| known.site(site));
        let sentence = |&index: &usize| Some(known?.rules().get(index)?.to_string());
        Self {
            url: String::from_utf8_lossy(url).into_owned(),
            safe: safe.to_string(),
            sentences: rules.iter().filter_map(sentence).collect(),
            site: site.map(Into::into),
            mirror: mirror.map(Into::into),
            rules,
            key: key.to_string(),
            canonical: canonical.to_string(),
        }
    }

    /// Names and values, for people.
    fn lines(&self) -> Vec<(&'static str, String)> {
        let mut lines = vec![("URL", self.url.clone()), ("safe form", self.safe.clone())];
        lines.extend(self.site.clone().map(|site| ("site", site)));
        lines.extend(self.mirror.clone().map(|mirror| ("mirror", mirror)));
        if self.sentences.len() == self.rules.len() {
            lines.extend(self.sentences.iter().map(|sentence| ("rule", sentence.clone())));
        } else {
            lines.extend(self.rules.iter().map(|rule| ("rule", format!("number {rule}, counted from 0"))));
        }
        lines.extend([("key", self.key.clone()), ("canonical", self.canonical.clone())]);
        lines
    }
}

#[pymethods]
impl Explanation {
    fn __repr__(&self) -> String {
        format!("<dedust.Explanation: {:?} is {:?}, by {} rules>", self.url, self.canonical, self.rules.len())
    }

    fn __str__(&self) -> String {
        let line = |(name, value): &(&str, String)| format!("{name:<9}  {value}");
        self.lines().iter().map(line).collect::<Vec<_>>().join("\n")
    }

    fn _repr_html_(&self) -> String {
        let row =
            |(name, value): &(&str, String)| format!("<tr><th>{name}</th><td>{}</td></tr>", escape(value));
        format!("<table>{}</table>", self.lines().iter().map(row).collect::<String>())
    }
}
