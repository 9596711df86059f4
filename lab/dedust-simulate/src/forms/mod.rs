/*!
How each section of a site spells its URLs.

A section is a part of the site, known by its path or host: one for every phenomenon, one for pages that look like
duplicates and are none, two without phenomena. Within a section a URL is a function of a page and a copy, both
counted from 0, and no two pairs give the same URL. Nothing is remembered, so URLs can be had in any order.
*/

mod background;
mod hosts;
mod ids;
mod paths;
mod queries;
mod sessions;

use super::chance::mix;
use super::phenomenon::Phenomenon;
use super::text::Text;

/// A part of a site in which URLs are spelled in one way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Section {
    /// Pages with as many URLs as the phenomenon gives them.
    Of(Phenomenon),
    /// Pages of one URL each that could be taken for duplicates of pages of [`Section::Of`].
    Beside(Phenomenon),
    /// Pages of one URL each.
    Articles,
    /// Pages told apart by `id`, `lang` and `page`; their copies differ in a session id.
    Catalog,
}

/// Sessions in which the first copies of pages are met.
const SESSIONS: u64 = 256;

/// What a site calls its things.
#[derive(Clone, Debug)]
pub(super) struct Names {
    /// `a.example`.
    domain: String,
    /// `a.test`, or `a.example` where the domain itself is under `.test`.
    second_domain: String,
    /// `http://www.a.example`.
    origin: String,
    session_key: &'static str,
    first_id: u64,
    salt: u64,
}

/// One URL to write.
#[derive(Clone, Copy)]
struct Spelling {
    page: u64,
    copy: u64,
    /// A hash of the page.
    hash: u64,
}

/// Appends a URL.
type Write = fn(&Names, Spelling, &mut Text<'_>);

impl Names {
    pub(super) fn new(domain: &str, seed: u64) -> Self {
        let salt = mix(seed ^ 0x6E61_6D65);
        let (name, suffix) = domain.rsplit_once('.').unwrap_or((domain, ""));
        let second_suffix = if suffix == "test" { "example" } else { "test" };
        Self {
            domain: domain.to_owned(),
            second_domain: format!("{name}.{second_suffix}"),
            origin: format!("http://www.{domain}"),
            session_key: ["sid", "PHPSESSID", "session", "s"][(salt >> 40) as usize % 4],
            first_id: 100 + (salt >> 8) % 100_000,
            salt,
        }
    }

    /// Appends the URL of a copy of a page.
    #[inline]
    pub(super) fn write(&self, section: Section, page: u64, copy: u64, out: &mut Vec<u8>) {
        let spelling = Spelling { page, copy, hash: self.hash(page) };
        let mut text = Text::new(out);
        match section {
            Section::Of(phenomenon) => duplicates(phenomenon)(self, spelling, &mut text),
            Section::Beside(phenomenon) => {
                if let Some(write) = look_alikes(phenomenon) {
                    write(self, spelling, &mut text);
                }
            }
            Section::Articles => background::article(self, spelling, &mut text),
            Section::Catalog => background::catalog(self, spelling, &mut text),
        }
    }

    /// `http://www.a.example`, to be followed by a path.
    #[inline]
    fn origin<'t, 'b>(&self, text: &'t mut Text<'b>) -> &'t mut Text<'b> {
        text.str(&self.origin)
    }

    /// The number by which the site knows a page.
    fn id(&self, page: u64) -> u64 {
        self.first_id + page
    }

    fn hash(&self, page: u64) -> u64 {
        super::chance::mix_two(self.salt, page)
    }
}

impl Spelling {
    /// Which of `forms` spellings this copy takes. Pages start at different ones, so that all are equally frequent.
    #[inline]
    fn form(self, forms: u64) -> u64 {
        ((self.hash >> 32) + self.copy) % forms
    }

    /// The id of a session: no other copy of the page has it, but other pages met in the same session do.
    #[inline]
    fn session(self, names: &Names) -> u64 {
        mix(names.salt ^ (self.hash % SESSIONS + self.copy))
    }

    /// A number that no other copy of the page has.
    #[inline]
    fn random(self) -> u64 {
        mix(self.hash ^ self.copy)
    }
}

/// How the URLs of a phenomenon are written.
fn duplicates(phenomenon: Phenomenon) -> Write {
    match phenomenon {
        Phenomenon::TwoRandomKeys => sessions::two_random_keys,
        Phenomenon::SessionInPath => sessions::session_in_path,
        Phenomenon::RareTracking => sessions::rare_tracking,
        Phenomenon::Mirrors => hosts::mirrors,
        Phenomenon::CrossDomainMirror => hosts::cross_domain_mirror,
        Phenomenon::HttpsAndWww => hosts::https_and_www,
        Phenomenon::DirectoryIndex => paths::directory_index,
        Phenomenon::ExtensionAliases => paths::extension_aliases,
        Phenomenon::ParameterOrder => queries::parameter_order,
        Phenomenon::MovedId => ids::moved_id,
        Phenomenon::SlugAndId => ids::slug_and_id,
        Phenomenon::GluedSlug => ids::glued_slug,
        Phenomenon::DefaultValue => queries::default_value,
        Phenomenon::SectionOnlyKey => sessions::section_only_key,
        Phenomenon::CaseInsensitive => paths::case_insensitive,
        Phenomenon::Encodings => queries::encodings,
        Phenomenon::NumberFormats => queries::number_formats,
        Phenomenon::RedundantCategory => paths::redundant_category,
        Phenomenon::DefaultLanguage => paths::default_language,
        Phenomenon::AliasTable => queries::alias_table,
        Phenomenon::AffinePagination => queries::affine_pagination,
        Phenomenon::SoftErrors => sessions::soft_errors,
        Phenomenon::PrintAndMobile => hosts::print_and_mobile,
        Phenomenon::CrawlerTrap => paths::crawler_trap,
        Phenomenon::DatabaseMapping => ids::database_mapping,
    }
}

/// How URLs are written that look like duplicates by `phenomenon` and are none; `None` where its own pages do.
fn look_alikes(phenomenon: Phenomenon) -> Option<Write> {
    Some(match phenomenon {
        Phenomenon::Mirrors => hosts::beside_mirrors,
        Phenomenon::CrossDomainMirror => hosts::beside_cross_domain_mirror,
        Phenomenon::HttpsAndWww => hosts::beside_https_and_www,
        Phenomenon::PrintAndMobile => hosts::beside_print_and_mobile,
        Phenomenon::DirectoryIndex => paths::beside_directory_index,
        Phenomenon::ExtensionAliases => paths::beside_extension_aliases,
        Phenomenon::CaseInsensitive => paths::beside_case_insensitive,
        Phenomenon::RedundantCategory => paths::beside_redundant_category,
        Phenomenon::Encodings => queries::beside_encodings,
        Phenomenon::SoftErrors => sessions::beside_soft_errors,
        _ => return None,
    })
}

/// Whether there is a [`Section::Beside`] a phenomenon.
pub(super) fn has_look_alikes(phenomenon: Phenomenon) -> bool {
    look_alikes(phenomenon).is_some()
}
