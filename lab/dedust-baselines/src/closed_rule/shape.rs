/*!
Writes keys with what is said about them where they stand in a URL, for people to read.
*/

use std::fmt;

use dedust::rules::UrlPart;

/// Writes `scheme://sub.DOMAIN:port/path;param/?query#!hashbang`, with `~` for the site's domain.
pub(super) fn write_shape<'a>(
    f: &mut fmt::Formatter<'_>,
    parts: impl Iterator<Item = (&'a UrlPart, &'a dyn fmt::Display)>,
) -> fmt::Result {
    let parts: Vec<_> = parts.collect();
    let one = |wanted: UrlPart| parts.iter().find(|(key, _)| **key == wanted).map(|(_, part)| *part);
    if let Some(scheme) = one(UrlPart::Scheme) {
        write!(f, "{scheme}://")?;
    }
    for (key, part) in parts.iter().rev() {
        if matches!(key, UrlPart::Subdomain(_)) {
            write!(f, "{part}.")?;
        }
    }
    f.write_str("~")?;
    if let Some(port) = one(UrlPart::Port) {
        write!(f, ":{port}")?;
    }
    let mut query = 0;
    let mut has_path = false;
    for (key, part) in &parts {
        match key {
            UrlPart::PathSegment(_) => {
                write!(f, "/{part}")?;
                has_path = true;
            }
            UrlPart::PathParam(name) => write!(f, ";{name}={part}")?,
            _ => {}
        }
    }
    match one(UrlPart::TrailingSlash) {
        Some(part) if part.to_string() == "/" || !has_path => f.write_str("/")?,
        Some(_) => f.write_str("[/]")?,
        None if !has_path => f.write_str("/")?,
        None => {}
    }
    for (key, part) in &parts {
        match key {
            UrlPart::QueryParam(name) => {
                f.write_str(if query == 0 { "?" } else { "&" })?;
                if !key.is_query_text() {
                    write!(f, "{name}=")?;
                }
                write!(f, "{part}")?;
                query += 1;
            }
            UrlPart::Hashbang => write!(f, "#!{part}")?,
            _ => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_in_place_of_a_parameter_has_no_name() {
        struct Shape<'a>(&'a [(UrlPart, &'a str)]);
        impl fmt::Display for Shape<'_> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write_shape(f, self.0.iter().map(|(key, part)| (key, part as &dyn fmt::Display)))
            }
        }
        let parts = [(UrlPart::query("="), "<text>"), (UrlPart::query("id"), "7")];
        assert!(Shape(&parts).to_string().ends_with("/?<text>&id=7"), "{}", Shape(&parts));
    }
}
