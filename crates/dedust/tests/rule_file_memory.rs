/*!
Rule files of any length: memory is counted by the allocator, and stays near the limit that was set.
*/
#![expect(clippy::unwrap_used, reason = "a test fails by panicking, also in what its cases share")]

use std::io::{self, Read};

use dedust::errors::LoadRulesError;
use dedust::{Normalizer, RuleSet};
use peak_alloc::PeakAlloc;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

const EVIDENCE: &str = r#""evidence":{"urls":0,"support_pairs":0,"false_pairs":0,"groups":0,"failed_groups":0,"failure_bound":0.1,"kinds":[]}"#;
const MB: u64 = 1_000_000;

/// A rule file that is made while it is read: a start, then `part(0)`, `part(1)` and so on, then an end.
struct Made<'p> {
    part: &'p dyn Fn(u64) -> String,
    parts: u64,
    next: u64,
    end: &'static str,
    rest: Vec<u8>,
    read: u64,
}

impl<'p> Made<'p> {
    fn sites(parts: u64, part: &'p dyn Fn(u64) -> String) -> Self {
        let rest = br#"{"version":1,"sites":{"first.example":{}"#.to_vec();
        Self { part, parts, next: 0, end: "}}", rest, read: 0 }
    }
}

impl Read for Made<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.rest.len() < buffer.len() && self.next < self.parts {
            self.rest.extend_from_slice((self.part)(self.next).as_bytes());
            self.next += 1;
        }
        if self.next == self.parts {
            self.rest.extend_from_slice(std::mem::take(&mut self.end).as_bytes());
        }
        let length = self.rest.len().min(buffer.len());
        buffer[..length].copy_from_slice(&self.rest[..length]);
        self.rest.drain(..length);
        self.read += length as u64;
        Ok(length)
    }
}

/// What comes out, and the most bytes that were allocated meanwhile.
fn peak_of<T>(make: impl FnOnce() -> T) -> (T, u64) {
    let before = MEMORY.current_usage();
    MEMORY.reset_peak_usage();
    let made = make();
    (made, (MEMORY.peak_usage() - before) as u64)
}

/// Reads sites without end within a limit. Memory for buffers is allowed beside it.
fn is_refused(name: &str, part: &dyn Fn(u64) -> String) {
    let (limit, most) = (2 * MB, 6 * MB);
    let ((error, read), peak) = peak_of(|| {
        let mut file = Made::sites(u64::MAX, part);
        (RuleSet::load_within(&mut file, limit).unwrap_err(), file.read)
    });
    assert!(matches!(error, LoadRulesError::TooMuchMemory { .. }), "{name}: {error}");
    assert!(peak < most, "{name}: {peak} bytes to load {read}");
    let mut file = Made::sites(20_000, part);
    let (compiled, peak) = peak_of(|| Normalizer::compile_within(&mut file, limit));
    match compiled {
        Ok(normalizer) => assert_eq!(normalizer.site_count(), 0, "{name}"),
        Err(error) => assert!(matches!(error, LoadRulesError::TooMuchMemory { .. }), "{name}: {error}"),
    }
    assert!(peak < most, "{name}: {peak} bytes to compile {}", file.read);
}

// One test, since the counters are those of the process.
#[test]
fn memory_for_a_rule_file_is_limited() {
    let drop = |name: &str| format!(r#"{{"change":[{{"drop":"q.{name}"}}],{EVIDENCE}}}"#);
    is_refused("empty sites", &|number| format!(r#","{number:x}.a":{{}}"#));
    is_refused("rules", &|number| format!(r#","{number}.a":{{"rules":[{}]}}"#, drop(&format!("p{number}"))));
    is_refused("the same rules", &|number| format!(r#","{number}.a":{{"rules":[{}]}}"#, drop("s")));
    is_refused("closed rules", &|number| {
        format!(
            r#","{number}.a":{{"rules":[{{"when":{{"scheme":{{"is":"http"}}}},"closed":true,"last":true,"change":[],{EVIDENCE}}}]}}"#
        )
    });
    is_refused("many labels", &|number| {
        format!(r#","{}{number}.a":{{"rules":[{}]}}"#, "a.".repeat(100), drop("s"))
    });
    is_refused("hosts", &|number| {
        let hosts = (0..9).map(|host| format!("\"{host}.{number}.a\"")).collect::<Vec<_>>().join(",");
        format!(r#","{number}.a":{{"hosts":[{hosts}],"rules":[{}]}}"#, drop("s"))
    });
    is_refused("mirrors", &|number| {
        format!(r#","m{number}.com":{{"mirror":{{"of":"o{number}.com","fetchable":true,{EVIDENCE}}}}}"#)
    });
    is_refused("refused rules", &|number| {
        let refused = r#"{"change":[],"reason":"","votes":0,"against":0}"#;
        format!(r#","{number}.a":{{"refused":[{}]}}"#, [refused; 10].join(","))
    });

    // What a few mirrors say is said of all mirrors of them; hosts have many ends.
    let segments =
        (0..16).map(|number| format!("\"{number}{}\"", "x".repeat(230))).collect::<Vec<_>>().join(",");
    let mirror = |number: u64, of: &str, except: &str| {
        format!(
            r#","m{number}.com":{{"mirror":{{"of":"{of}","except":[{except}],"fetchable":true,{EVIDENCE}}}}}"#
        )
    };
    is_refused("exceptions", &|number| match number {
        0 => mirror(0, "o.com", &segments),
        _ => mirror(number, "m0.com", &format!("\"{number}\"")),
    });
    let hosts = |site: u64| {
        let hosts = (0..9).map(|host| format!("\"{host}.{}{site}.a\"", "a.".repeat(100))).collect::<Vec<_>>();
        format!(r#","{site}.a":{{"hosts":[{}],"rules":[{}]}}"#, hosts.join(","), drop("s"))
    };
    is_refused("hosts of many labels", &hosts);

    // One site with entries of one byte, and one without end.
    let entries = "0,".repeat(500_000);
    let one = format!(r#"{{"version":1,"sites":{{"a.example":{{"rules":[{entries}0]}}}}}}"#);
    let (refused, peak) = peak_of(|| RuleSet::load_within(one.as_bytes(), 20 * MB));
    assert!(matches!(refused, Err(LoadRulesError::TooMuchMemory { .. })), "{refused:?}");
    assert!(peak < 5 * MB, "{peak} bytes");
    let part = |number| if number == 0 { r#","long.example":{"rules":["#.into() } else { " ".repeat(999) };
    let mut file = Made::sites(u64::MAX, &part);
    let (refused, peak) = peak_of(|| Normalizer::compile_from(&mut file).unwrap_err());
    assert_eq!(refused.to_string(), "site `long.example` has more than 32 MiB of JSON");
    assert!(peak < 110 * MB, "{peak} bytes");
    assert!(file.read < 36 * MB, "{} bytes were read", file.read);

    // Sites as they are learned: the JSON is many times the limit.
    let examples = format!(
        r#","refused":[{}]"#,
        vec![drop("x").replace(EVIDENCE, r#""reason":"too few","votes":2,"against":1"#); 20].join(",")
    );
    let part = |number| format!(r#","site-{number}.example":{{"rules":[{}]{examples}}}"#, drop("s"));
    let mut file = Made::sites(10_000, &part);
    let (normalizer, peak) = peak_of(|| Normalizer::compile_within(&mut file, 4 * MB).unwrap());
    assert_eq!(normalizer.site_count(), 10_000);
    assert!(file.read > 10 * MB && peak < 6 * MB, "{peak} bytes for {}", file.read);
    assert_eq!(normalizer.key("http://site-7.example/?s=1").unwrap(), "http://site-7.example/");
}
