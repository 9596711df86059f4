/*!
Which form of a URL do people want to see, where a site shows its pages under several?

A preference never says that two URLs are one page. It only chooses which of two forms is written, where a rule was found to join
them and the wanted form was seen often enough to be fetched.
*/

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A form that a canonical URL may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Form {
    /// The scheme `https`.
    Https,
    /// The scheme `http`.
    Http,
    /// A host that starts with `www`.
    Www,
    /// A host without `www`.
    Bare,
}

/// The forms that are wanted on a site.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PreferredForms {
    /// [`Form::Https`] or [`Form::Http`]. Default: the one that shows more pages.
    pub scheme: Option<Form>,
    /// [`Form::Www`] or [`Form::Bare`]. Default: likewise.
    pub host: Option<Form>,
}

/// The forms that are wanted, in general and on some sites.
///
/// ```
/// use dedust_learn::support::{Form, Preferences};
///
/// let preferences = Preferences::new(["bare".parse()?, "example.org=www".parse()?])?;
/// assert_eq!(preferences.of("example.com").host, Some(Form::Bare));
/// assert_eq!(preferences.of("example.org").host, Some(Form::Www));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Preferences {
    general: PreferredForms,
    by_site: BTreeMap<Box<str>, PreferredForms>,
}

/// One wish: a form, for all sites or for one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Preference {
    /// The registrable domain; `None` for all sites.
    pub site: Option<Box<str>>,
    /// What is wanted there.
    pub form: Form,
}

/// A preference that cannot be met.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PreferenceError {
    /// Not one of the forms.
    #[error("`{0}` is no form, expected https, http, www or bare, or SITE=FORM such as example.org=www")]
    Unknown(Box<str>),
    /// Both of two forms that exclude each other.
    #[error("`{0}` and `{1}` exclude each other")]
    Contradiction(Preference, Preference),
}

/// A preferred form that a rule does not write though it joins both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnmetPreference {
    /// What was wanted.
    pub form: Form,
    /// Why the other is kept.
    pub reason: UnmetReason,
}

/// Why the other form is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum UnmetReason {
    /// Too few pages were seen in that form.
    SeenTooRarely,
    /// With the other rules of the site it would bring other URLs together.
    OtherRules,
}

impl Form {
    /// All forms.
    pub const ALL: [Self; 4] = [Self::Https, Self::Http, Self::Www, Self::Bare];

    /// The name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Https => "https",
            Self::Http => "http",
            Self::Www => "www",
            Self::Bare => "bare",
        }
    }

    /// The form that excludes it.
    pub const fn opposite(self) -> Self {
        match self {
            Self::Https => Self::Http,
            Self::Http => Self::Https,
            Self::Www => Self::Bare,
            Self::Bare => Self::Www,
        }
    }
}

impl fmt::Display for Preference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.site {
            Some(site) => write!(f, "{site}={}", self.form.name()),
            None => f.write_str(self.form.name()),
        }
    }
}

impl FromStr for Preference {
    type Err = PreferenceError;

    fn from_str(text: &str) -> Result<Self, PreferenceError> {
        let (site, name) = match text.split_once('=') {
            Some((site, name)) => (Some(site.to_lowercase()), name),
            None => (None, text),
        };
        let is_site =
            |site: &String| site.contains('.') && dedust::site_of(site.as_bytes()) == site.as_bytes();
        let form = Form::ALL.into_iter().find(|form| form.name() == name);
        match form.filter(|_| site.as_ref().is_none_or(is_site)) {
            Some(form) => Ok(Self { site: site.map(Into::into), form }),
            None => Err(PreferenceError::Unknown(text.into())),
        }
    }
}

impl TryFrom<String> for Preference {
    type Error = PreferenceError;

    fn try_from(text: String) -> Result<Self, PreferenceError> {
        text.parse()
    }
}

impl From<Preference> for String {
    fn from(preference: Preference) -> Self {
        preference.to_string()
    }
}

impl Preferences {
    /// What is wanted, in any order. Wishes for a site come before those for all.
    pub fn new(wishes: impl IntoIterator<Item = Preference>) -> Result<Self, PreferenceError> {
        let mut wishes: Vec<Preference> = wishes.into_iter().collect();
        wishes.sort();
        for wish in &wishes {
            let opposite = Preference { form: wish.form.opposite(), ..wish.clone() };
            if wishes.contains(&opposite) {
                return Err(PreferenceError::Contradiction(wish.clone(), opposite));
            }
        }
        let mut preferences = Self::default();
        for Preference { site, form } in wishes {
            let general = preferences.general;
            let forms = match site {
                // Sorted, so those for all sites came before.
                Some(site) => preferences.by_site.entry(site).or_insert(general),
                None => &mut preferences.general,
            };
            match form {
                Form::Https | Form::Http => forms.scheme = Some(form),
                Form::Www | Form::Bare => forms.host = Some(form),
            }
        }
        Ok(preferences)
    }

    /// What is wanted on a site.
    pub fn of(&self, site: &str) -> PreferredForms {
        self.by_site.get(site).copied().unwrap_or(self.general)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn preferences(wishes: &[&str]) -> Result<Preferences, PreferenceError> {
        Preferences::new(wishes.iter().map(|wish| wish.parse().unwrap()))
    }

    #[test]
    fn what_is_said_of_a_site_comes_before_what_is_said_of_all() {
        let preferences = preferences(&["a.example=www", "http", "bare", "b.example=https"]).unwrap();
        let forms = |site| (preferences.of(site).scheme, preferences.of(site).host);
        assert_eq!(forms("a.example"), (Some(Form::Http), Some(Form::Www)));
        assert_eq!(forms("b.example"), (Some(Form::Https), Some(Form::Bare)));
        assert_eq!(forms("c.example"), (Some(Form::Http), Some(Form::Bare)));
        assert_eq!(Preferences::default().of("c.example"), PreferredForms::default());
    }

    #[test]
    fn contradictions_and_unknown_forms_are_refused() {
        assert!(preferences(&["www", "bare"]).is_err());
        assert!(preferences(&["a.example=http", "a.example=https"]).is_err());
        assert!(preferences(&["a.example=http", "https"]).is_ok());
        for text in ["", "ftp", "a.example=", "=www", "www.a.example=www", "a=www"] {
            assert!(text.parse::<Preference>().is_err(), "{text}");
        }
    }
}
