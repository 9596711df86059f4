/*!
What is known of a row, as JSON that [`dedust_io`] reads again.
*/

use std::io::{self, Write};

use serde::Serialize;

use crate::row::CrawlRow;

/// What is written of a row besides its URL, in this order; values that are not known are left out.
#[derive(Serialize)]
struct Facts<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mime: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    time: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    canonical: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    redirect: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    size: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    digest: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text_digest: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    main_digest: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    simhash: Option<String>,
}

impl CrawlRow {
    /// Writes the URL as a JSON string.
    pub fn write_url(&self, out: impl Write) -> io::Result<()> {
        Ok(serde_json::to_writer(out, &printable(self.url()))?)
    }

    /// Writes what is known besides the URL and its cluster, as a JSON object.
    pub fn write_facts(&self, out: impl Write) -> io::Result<()> {
        Ok(serde_json::to_writer(out, &self.facts())?)
    }

    fn facts(&self) -> Facts<'_> {
        Facts {
            status: self.status(),
            mime: self.mime(),
            time: self.time(),
            title: self.title(),
            canonical: self.canonical().map(printable),
            redirect: self.redirect().map(printable),
            size: self.size(),
            digest: self.digest(),
            text_digest: self.text_digest(),
            main_digest: self.main_digest(),
            simhash: self.simhash().map(|simhash| format!("{simhash:016x}")),
        }
    }

    /// Writes all that readers have columns for, besides the cluster, as one line of JSON.
    pub fn write_line(&self, mut out: impl Write) -> io::Result<()> {
        out.write_all(b"{\"url\":")?;
        self.write_url(&mut out)?;
        let facts = serde_json::to_vec(&Facts { main_digest: None, ..self.facts() })?;
        if facts != b"{}" {
            out.write_all(b",")?;
        }
        out.write_all(&facts[1..])?;
        out.write_all(b"\n")
    }
}

/// A URL as text: bytes that are no text are percent-encoded, which does not change what it means.
pub fn printable(url: &[u8]) -> String {
    match std::str::from_utf8(url) {
        Ok(text) => text.to_owned(),
        Err(_) => url
            .iter()
            .map(|&byte| if byte.is_ascii() { char::from(byte).to_string() } else { format!("%{byte:02X}") })
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use dedust_io::{Column, Observation};

    use super::*;

    fn line(observation: Observation) -> String {
        let mut line = Vec::new();
        CrawlRow::new(observation).write_line(&mut line).unwrap();
        String::from_utf8(line).unwrap()
    }

    #[test]
    fn a_line_has_what_is_known_and_nothing_else() {
        let mut observation = Observation::new();
        observation.set_bytes(Column::Url, b"http://a.example/\xff").unwrap();
        assert_eq!(line(observation.clone()), "{\"url\":\"http://a.example/%FF\"}\n");
        observation.set_number(Column::Status, 301).unwrap();
        observation.set_bytes(Column::Redirect, b"/b").unwrap();
        let expected = "{\"url\":\"http://a.example/%FF\",\"status\":301,\"redirect\":\"/b\"}\n";
        assert_eq!(line(observation), expected);
    }

    #[test]
    fn the_digest_of_an_empty_body_is_not_known() {
        let with_digest = |digest| {
            let mut observation = Observation::new();
            observation.set_text(Column::Url, "http://a.example/").unwrap();
            observation.set_text(Column::Digest, digest).unwrap();
            let row = CrawlRow::new(observation);
            (row.clues().digest.is_some(), line(row.observation.clone()).contains("digest"))
        };
        assert_eq!(with_digest("3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"), (false, false));
        assert_eq!(with_digest("sha1:3i42h3s6nnfq2msvx7xzkyayscx5qbyj"), (false, false));
        assert_eq!(with_digest("OSSA"), (true, true));
    }
}
