/*!
Makes a Parquet table that looks like a part of the columnar index of Common Crawl, to measure and to try with.

    cargo run --release -p dedust-io --example common_crawl -- 5000000 index

writes `index/crawl=CC-MAIN-2026-46/subset=warc/part-00000.gz.parquet` with so many rows, sorted by site, and a twentieth as many
redirects beside it in `subset=crawldiagnostics`. Products are found under session ids that do not matter, and articles
with and without a campaign. The same number gives the same bytes.
*/

use std::error::Error;
use std::fs::{self, File};
use std::path::Path;
use std::sync::Arc;

use parquet::basic::{Compression, GzipLevel};
use parquet::data_type::{ByteArray, ByteArrayType, Int32Type, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

/// As in the index: the rows of a part are written in groups of about this size.
const GROUP_ROWS: u64 = 1_000_000;

const SCHEMA: &str = "message spark_schema {
    optional binary url_surtkey (UTF8); optional binary url (UTF8); optional binary url_host_name (UTF8);
    optional binary url_host_tld (UTF8); optional binary url_host_2nd_last_part (UTF8);
    optional binary url_host_3rd_last_part (UTF8); optional binary url_host_4th_last_part (UTF8);
    optional binary url_host_5th_last_part (UTF8); optional binary url_host_registry_suffix (UTF8);
    optional binary url_host_registered_domain (UTF8); optional binary url_host_private_suffix (UTF8);
    optional binary url_host_private_domain (UTF8); optional binary url_host_name_reversed (UTF8);
    optional binary url_protocol (UTF8); optional int32 url_port; optional binary url_path (UTF8);
    optional binary url_query (UTF8); optional int64 fetch_time (TIMESTAMP_MILLIS);
    optional int32 fetch_status (INT_16); optional binary fetch_redirect (UTF8);
    optional binary content_digest (UTF8); optional binary content_mime_type (UTF8);
    optional binary content_mime_detected (UTF8); optional binary content_charset (UTF8);
    optional binary content_languages (UTF8); optional binary content_truncated (UTF8);
    optional binary warc_filename (UTF8); optional int32 warc_record_offset;
    optional int32 warc_record_length; optional binary warc_segment (UTF8);
}";

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let rows: u64 = arguments.next().ok_or("expected a number of rows and a folder")?.parse()?;
    let folder = arguments.next().ok_or("expected a folder")?;
    let crawl = Path::new(&folder).join("crawl=CC-MAIN-2026-46");
    write(&crawl.join("subset=warc"), rows, false)?;
    write(&crawl.join("subset=crawldiagnostics"), rows / 20, true)
}

/// One row, from which all columns are made.
struct Row {
    site: u64,
    path: String,
    query: Option<String>,
    page: u64,
    number: u64,
}

impl Row {
    fn new(number: u64) -> Self {
        // Sites of 500 rows, of which pairs show the same page.
        let (site, visit) = (number / 500, number % 500);
        let page = visit / 2;
        let chance =
            number.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(31).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let (path, query) = if visit < 300 {
            ("/catalogue/view.php".to_owned(), Some(format!("id={page}&sid={chance:016x}&lang=en")))
        } else {
            let title = ["reading-the-web", "a-longer-title-of-an-article", "news"][(page % 3) as usize];
            let query = visit.is_multiple_of(2).then(|| "utm_source=newsletter&utm_medium=email".to_owned());
            (format!("/2026/{:02}/{title}-{page}/", page % 12 + 1), query)
        };
        Self { site, path, query, page, number }
    }

    fn host(&self) -> String {
        format!("www.site-{:06}.example", self.site)
    }

    fn url(&self) -> String {
        let query = self.query.as_ref().map(|query| format!("?{query}")).unwrap_or_default();
        format!("https://{}{}{query}", self.host(), self.path)
    }

    /// The text in a column; `None` is null.
    fn text(&self, column: &str, is_redirect: bool) -> Option<String> {
        let domain = format!("site-{:06}.example", self.site);
        Some(match column {
            "url_surtkey" => {
                let query = self.query.as_ref().map(|query| format!("?{query}")).unwrap_or_default();
                format!("example,site-{:06}){}{query}", self.site, self.path)
            }
            "url" if is_redirect => self.url().replacen("https:", "http:", 1),
            "url" => self.url(),
            "url_host_name" => self.host(),
            "url_host_tld" | "url_host_registry_suffix" | "url_host_private_suffix" => "example".into(),
            "url_host_2nd_last_part" => format!("site-{:06}", self.site),
            "url_host_3rd_last_part" => "www".into(),
            "url_host_registered_domain" | "url_host_private_domain" => domain,
            "url_host_name_reversed" => format!("example.site-{:06}.www", self.site),
            "url_protocol" => if is_redirect { "http" } else { "https" }.into(),
            "url_path" => self.path.clone(),
            "url_query" => return self.query.clone(),
            "fetch_redirect" => return is_redirect.then(|| self.url()),
            "content_digest" => digest(self.site * 1000 + self.page),
            "content_mime_type" | "content_mime_detected" => "text/html".into(),
            "content_charset" => "UTF-8".into(),
            "content_languages" => "eng".into(),
            // The digest of a page that was cut off says nothing.
            "content_truncated" => return self.number.is_multiple_of(97).then(|| "length".into()),
            "warc_filename" => {
                let segment = self.number % 100;
                format!(
                    "crawl-data/CC-MAIN-2026-46/segments/17{segment:02}/warc/CC-MAIN-20261116-{segment:05}.warc.gz"
                )
            }
            "warc_segment" => format!("17{:02}", self.number % 100),
            _ => return None,
        })
    }

    fn number(&self, column: &str, is_redirect: bool) -> Option<i64> {
        match column {
            "fetch_time" => Some(1_794_787_200_000 + self.number as i64),
            "fetch_status" => Some(if is_redirect { 301 } else { 200 }),
            "warc_record_offset" => Some((self.number * 7919 % 1_000_000_000) as i64),
            "warc_record_length" => Some((self.number * 104_729 % 100_000) as i64),
            _ => None,
        }
    }
}

/// 32 letters and digits, as base32 has them.
fn digest(number: u64) -> String {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
    let mut state = number;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        char::from(LETTERS[(state >> 59) as usize])
    };
    (0..32).map(|_| next()).collect()
}

fn write(folder: &Path, rows: u64, is_redirect: bool) -> Result<(), Box<dyn Error>> {
    fs::create_dir_all(folder)?;
    let schema = Arc::new(parse_message_type(SCHEMA)?);
    let properties =
        WriterProperties::builder().set_compression(Compression::GZIP(GzipLevel::try_new(3)?)).build();
    let file = File::create(folder.join("part-00000.gz.parquet"))?;
    let mut writer = SerializedFileWriter::new(file, schema.clone(), Arc::new(properties))?;
    for start in (0..rows).step_by(GROUP_ROWS as usize) {
        let numbers = start..rows.min(start + GROUP_ROWS);
        let mut group = writer.next_row_group()?;
        for field in schema.get_fields() {
            let Some(mut column) = group.next_column()? else { break };
            for chunk in numbers.clone().step_by(10_000) {
                let chunk: Vec<Row> = (chunk..numbers.end.min(chunk + 10_000)).map(Row::new).collect();
                let texts = || chunk.iter().map(|row| row.text(field.name(), is_redirect));
                let values = || chunk.iter().map(|row| row.number(field.name(), is_redirect));
                match field.get_physical_type() {
                    parquet::basic::Type::BYTE_ARRAY => {
                        let levels: Vec<i16> = texts().map(|text| i16::from(text.is_some())).collect();
                        let texts: Vec<ByteArray> =
                            texts().flatten().map(|text| ByteArray::from(text.into_bytes())).collect();
                        column.typed::<ByteArrayType>().write_batch(&texts, Some(&levels), None)?;
                    }
                    parquet::basic::Type::INT64 => {
                        let levels: Vec<i16> = values().map(|value| i16::from(value.is_some())).collect();
                        let values: Vec<i64> = values().flatten().collect();
                        column.typed::<Int64Type>().write_batch(&values, Some(&levels), None)?;
                    }
                    _ => {
                        let levels: Vec<i16> = values().map(|value| i16::from(value.is_some())).collect();
                        let values: Vec<i32> = values().flatten().map(|value| value as i32).collect();
                        column.typed::<Int32Type>().write_batch(&values, Some(&levels), None)?;
                    }
                }
            }
            column.close()?;
        }
        group.close()?;
    }
    writer.close()?;
    Ok(())
}
