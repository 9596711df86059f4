//! The README of the project has the code of this crate's, which is tested. Not packaged, as it reads the root of the repository.

#[test]
fn both_readmes_have_the_same_code() {
    let code = |readme: &'static str| {
        let (_, code) = readme.split_once("```rust\n").expect("code");
        code.split_once("```").expect("an end of the code").0
    };
    assert_eq!(code(include_str!("../../../README.md")), code(include_str!("../README.md")));
}
