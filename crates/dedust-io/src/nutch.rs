/*!
What Apache Nutch says of a URL in its own words: states, and metadata about redirects.

Known by itself, since these words stand in dumps as text ([`crate::Format::NutchDump`]) and in tables ([`crate::preset`]). Reads no rows.
*/

use memchr::memmem;

use crate::Column;

/// What stands in place of a signature that is not known.
pub(crate) const NO_SIGNATURE: &str = "null";

/// The HTTP status that a state of the CrawlDb stands for.
pub(crate) fn status_of_state(state: &str) -> Option<u64> {
    Some(match state.trim().strip_prefix("db_")? {
        "fetched" | "notmodified" | "duplicate" => 200,
        "redir_temp" => 302,
        "redir_perm" => 301,
        "gone" => 404,
        "unfetched" | "orphan" => 0,
        _ => return None,
    })
}

/// The column of which a piece of metadata tells; that of redirects has a text around their target ([`redirect_in`]).
pub(crate) fn metadata_column(name: &str) -> Option<Column> {
    Some(match name {
        "_pst_" => Column::Redirect,
        "Content-Type" => Column::Mime,
        "nutch.protocol.code" => Column::Status,
        _ => return None,
    })
}

/// The target of a redirect in what a protocol said: `moved(12), lastModified=0: http://a.example/2`. Metadata in CSV has it
/// among others. Where a protocol said more than the target, all of it is numbered: `, args[0]=http://a.example/2, args[1]=...`.
pub(crate) fn redirect_in(text: &[u8]) -> Option<&[u8]> {
    const MODIFIED: &[u8] = b"lastModified=";
    let rest = &text[memmem::find(text, b"moved(")?..];
    let rest = &rest[memmem::find(rest, MODIFIED)? + MODIFIED.len()..];
    let rest = &rest[rest.iter().take_while(|byte| byte.is_ascii_digit()).count()..];
    let target = rest.strip_prefix(b": ").or_else(|| rest.strip_prefix(b", args[0]="))?;
    let target = &target[..memmem::find(target, b", args[").unwrap_or(target.len())];
    let end =
        target.iter().position(|byte| byte.is_ascii_whitespace() || *byte == b'|').unwrap_or(target.len());
    (end > 0).then_some(&target[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn redirects_are_found_among_metadata() {
        assert_eq!(
            redirect_in(b"Content-Type:text/html|||_pst_:moved(12), lastModified=0: http://b/|||"),
            Some(&b"http://b/"[..])
        );
        assert_eq!(redirect_in(b"_pst_=temp_moved(13), lastModified=0: http://b/"), Some(&b"http://b/"[..]));
        assert_eq!(
            redirect_in(b"moved(12), lastModified=17, args[0]=http://b/, args[1]=x"),
            Some(&b"http://b/"[..])
        );
        assert_eq!(redirect_in(b"_pst_=success(1), lastModified=0"), None);
        assert_eq!(redirect_in(b"moved(12), lastModified=0"), None);
    }
}
