/*!
Asks a set on disk which keys are new: a key in each line of standard input, those that were never met before on standard output.

    cargo run --release -p dedust-seen --example new_lines -- FOLDER < KEYS

`FOLDER` is made if it is not there. Keys are texts of any kind, such as `dedust normalize RULES --key` prints for URLs.
*/

use std::error::Error;
use std::io::{self, BufRead, Write};

use dedust_seen::SeenSet;

/// Asking for many keys at once is several times faster than one by one.
const KEYS_AT_ONCE: usize = 4096;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args_os().nth(1).ok_or("expected a folder: new_lines FOLDER < KEYS")?;
    let mut seen = SeenSet::open(&folder)?;
    let mut output = io::BufWriter::new(io::stdout().lock());
    print_new(&mut seen, io::stdin().lock(), &mut output)?;
    // Written before the set is closed: the set notes then that every answer has reached whoever asked.
    output.flush()?;
    seen.close()?;
    Ok(())
}

/// Writes the lines whose keys the set has not met, each once, and has the set remember them.
fn print_new(seen: &mut SeenSet, input: impl BufRead, mut output: impl Write) -> Result<(), Box<dyn Error>> {
    // Keys are hashed with the secret of the set, so that no site can make a URL that hides the page of another.
    let hasher = seen.hasher();
    let mut lines = input.split(b'\n');
    let (mut keys, mut is_new) = (Vec::new(), Vec::new());
    loop {
        let batch = lines.by_ref().take(KEYS_AT_ONCE).collect::<io::Result<Vec<Vec<u8>>>>()?;
        if batch.is_empty() {
            return Ok(());
        }
        keys.clear();
        keys.extend(batch.iter().map(|line| hasher.hash(line)));
        seen.insert_batch(&keys, &mut is_new)?;
        for (line, _) in batch.iter().zip(&is_new).filter(|(_, is_new)| **is_new) {
            output.write_all(line)?;
            output.write_all(b"\n")?;
        }
    }
}

#[test]
fn a_key_is_new_once_also_for_the_next_process() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let new_of = |input: &str| -> Result<String, Box<dyn Error>> {
        let mut seen = SeenSet::open(folder.path())?;
        let mut output = Vec::new();
        print_new(&mut seen, input.as_bytes(), &mut output)?;
        seen.close()?;
        Ok(String::from_utf8(output)?)
    };
    let many: String = (0..2 * KEYS_AT_ONCE).map(|page| format!("http://a.example/{page}\n")).collect();
    assert_eq!(new_of(&(many.clone() + &many))?, many);
    assert_eq!(new_of("http://a.example/7\nhttp://a.example/new\n")?, "http://a.example/new\n");
    Ok(())
}
