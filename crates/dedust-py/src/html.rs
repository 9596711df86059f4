/*!
Tables for notebooks. URLs and site names are texts of strangers: all of them are escaped.
*/

/// A text in HTML, also between quotes.
pub(crate) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            _ if character.is_control() => escaped.extend(character.escape_default()),
            _ => escaped.push(character),
        }
    }
    escaped
}

/// A table; the first cell of a row is a text, the others are aligned as numbers are.
pub(crate) fn table(head: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let mut html = String::from("<table><thead><tr>");
    head.iter().for_each(|name| html.push_str(&format!("<th>{}</th>", escape(name))));
    html.push_str("</tr></thead><tbody>");
    for row in rows {
        html.push_str("<tr>");
        row.iter().for_each(|cell| html.push_str(&format!("<td>{}</td>", escape(cell))));
        html.push_str("</tr>");
    }
    html.push_str("</tbody></table>");
    html
}
