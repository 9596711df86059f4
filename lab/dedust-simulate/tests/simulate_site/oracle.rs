//! The right rule of each phenomenon, written by hand: URLs have one key exactly if they lead to one page.

use std::collections::HashMap;

use dedust::ParsedUrl;
use dedust_simulate::Phenomenon;

/// Category names and numbers that stand for each other.
pub type Aliases = HashMap<String, String>;

/// The parts of a URL after safe normalization.
pub struct Parts {
    pub scheme: String,
    pub host: String,
    pub path: String,
    pub query: Vec<(String, String)>,
}

impl Parts {
    pub fn of(url: &[u8]) -> Self {
        let parsed = ParsedUrl::parse(url).unwrap();
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        let query = parsed.query().map(text).unwrap_or_default();
        let params = query.split('&').filter(|param| !param.is_empty());
        let split = |param: &str| {
            let (name, value) = param.split_once('=').unwrap();
            (name.to_owned(), value.to_owned())
        };
        Self {
            scheme: text(parsed.scheme()),
            host: text(parsed.host()),
            path: text(parsed.path()),
            query: params.map(split).collect(),
        }
    }

    fn key(&self) -> String {
        format!("{}://{}{}?{:?}", self.scheme, self.host, self.path, self.query)
    }

    fn keep(&mut self, names: &[&str]) {
        self.query.retain(|(name, _)| names.contains(&name.as_str()));
    }

    fn drop(&mut self, name: &str, value: &str) {
        self.query.retain(|param| (param.0.as_str(), param.1.as_str()) != (name, value));
    }

    pub fn value(&self, name: &str) -> Option<&str> {
        self.query.iter().find(|param| param.0 == name).map(|param| param.1.as_str())
    }
}

fn last_number(text: &str) -> &str {
    let text = text.trim_end_matches(|character: char| !character.is_ascii_digit());
    let start = text.rfind(|character: char| !character.is_ascii_digit()).map_or(0, |at| at + 1);
    &text[start..]
}

/// The key of a URL of `phenomenon`.
pub fn key(phenomenon: Phenomenon, url: &[u8], aliases: &Aliases) -> String {
    let mut url = Parts::of(url);
    match phenomenon {
        Phenomenon::TwoRandomKeys => url.keep(&["id", "lang", "page"]),
        Phenomenon::SessionInPath => {
            if let Some(at) = url.path.find(";jsessionid=") {
                url.path.truncate(at);
            }
            if let Some((before, after)) = url.path.split_once("(S(") {
                url.path = format!("{before}{}", after.split_once("))/").unwrap().1);
            }
        }
        Phenomenon::RareTracking => url.query.clear(),
        Phenomenon::Mirrors if url.host.find('.') == Some(2) => url.host = "mirror".into(),
        Phenomenon::CrossDomainMirror if url.path.starts_with("/pub/") => url.host = "either".into(),
        Phenomenon::HttpsAndWww => {
            url.scheme = "either".into();
            url.host = url.host.trim_start_matches("www.").into();
        }
        Phenomenon::DirectoryIndex => {
            url.path = url.path.trim_end_matches("index.html").trim_end_matches('/').into();
        }
        Phenomenon::ExtensionAliases if !url.path.ends_with(".pdf") => {
            url.path.truncate(url.path.rfind('.').unwrap());
        }
        Phenomenon::ParameterOrder => {
            url.query.retain(|(_, value)| !value.is_empty());
            url.query.sort();
            url.query.dedup();
        }
        Phenomenon::MovedId => {
            let id = url.value("t").unwrap_or(last_number(&url.path)).parse::<u64>().unwrap();
            return (if url.path.starts_with("/forum/print/") { id - 7 } else { id }).to_string();
        }
        Phenomenon::SlugAndId => return url.path.split('/').nth(2).unwrap().into(),
        Phenomenon::GluedSlug => return last_number(&url.path).into(),
        Phenomenon::DefaultValue => {
            url.drop("page", "1");
            url.drop("sort", "newest");
        }
        Phenomenon::SectionOnlyKey if url.path.starts_with("/help/") => url.query.clear(),
        Phenomenon::SectionOnlyKey => url.keep(&["id"]),
        Phenomenon::CaseInsensitive => url.path.make_ascii_lowercase(),
        Phenomenon::Encodings => {
            let query = &mut url.query[0].1;
            *query = query.replace("%20", "+").replace("e%CC%81", "%C3%A9");
        }
        Phenomenon::NumberFormats if url.path == "/record" => {
            url.query[0].1 = url.query[0].1.trim_start_matches('0').into();
        }
        Phenomenon::NumberFormats => {
            let from_query = url.query.iter().map(|param| param.1.clone()).collect::<String>();
            return url.path.replace("/diary", "").replace('/', "") + &from_query;
        }
        Phenomenon::RedundantCategory => {
            url.path = url.path.rsplit('/').take(2).collect();
        }
        Phenomenon::DefaultLanguage => {
            if let Some(language) = url.value("lang") {
                url.path = format!("/{language}{}", url.path);
                url.query.clear();
            }
            url.path = url.path.trim_start_matches("/en").into();
        }
        Phenomenon::AliasTable => {
            if let Some(name) = url.value("cat") {
                url.query[0] = ("c".into(), aliases.get(name).cloned().unwrap_or_else(|| name.into()));
            }
        }
        Phenomenon::AffinePagination => {
            if let Some(start) = url.value("start") {
                let page = start.parse::<u64>().unwrap() / 20 + 1;
                url.query[0] = ("page".into(), page.to_string());
            }
        }
        Phenomenon::SoftErrors => {
            let is_even = last_number(&url.path).bytes().last().is_some_and(|digit| digit.is_multiple_of(2));
            if url.path.starts_with("/account/") || !is_even {
                url.path.truncate(url.path.rfind('/').unwrap());
            }
        }
        Phenomenon::PrintAndMobile => {
            url.host = url.host.trim_start_matches("m.").trim_start_matches("www.").into();
            url.path = url.path.trim_start_matches("/amp").into();
            url.drop("print", "1");
        }
        Phenomenon::CrawlerTrap => {
            let mut segments: Vec<&str> = url.path.split('/').skip(2).collect();
            while segments.len() > 4 && segments[..2] == segments[2..4] {
                segments.drain(..2);
            }
            return segments.join("/");
        }
        _ => {}
    }
    url.key()
}
