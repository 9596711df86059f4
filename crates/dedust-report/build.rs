/*!
In comes `web/dedust.wasm`, which `.ci/wasm` makes, if it is there; out goes the file that `page.rs` includes, which is empty
otherwise. Does not build the module: that needs another target than this crate.
*/

use std::path::Path;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    // The folder, since a file that is not there counts as changed in every build.
    println!("cargo::rerun-if-changed=web");
    let module = match fs::read("web/dedust.wasm") {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        read => read?,
    };
    let folder = env::var_os("OUT_DIR").ok_or_else(|| io::Error::other("cargo has not set OUT_DIR"))?;
    fs::write(Path::new(&folder).join("dedust.wasm"), module)
}
