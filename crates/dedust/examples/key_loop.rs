/*!
How much CPU time does a loop over URLs take, with nothing around it? For comparison with callers in other languages.

    cargo run --release -p dedust --example key_loop -- RULES URLS

`RULES` is a rule file, `URLS` a list of URLs that fits into memory. Prints nanoseconds of CPU time for each key.
*/

use std::error::Error;
use std::fs::{self, File};
use std::io::{self, Write as _};

use cpu_time::ProcessTime;
use dedust::{Normalizer, Scratch};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(rules), Some(urls)) = (arguments.next(), arguments.next()) else {
        return Err("expected a rule file and a list of URLs".into());
    };
    let normalizer = Normalizer::compile_from(File::open(rules)?)?;
    let text = fs::read(urls)?;
    let urls: Vec<&[u8]> = text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).collect();
    let mut scratch = Scratch::default();
    let started = ProcessTime::now();
    let mut keys = Vec::new();
    normalizer.each_key(urls.iter().copied(), &mut scratch, |url, key| {
        keys.extend_from_slice(key.unwrap_or(url));
        keys.push(b'\n');
    });
    let elapsed = started.elapsed();
    let each = elapsed.as_nanos() as f64 / urls.len().max(1) as f64;
    writeln!(io::stdout(), "{each:.1} ns for each of {} keys, {} bytes", urls.len(), keys.len())?;
    Ok(())
}
