#![allow(missing_docs, clippy::unwrap_used, clippy::print_stdout, reason="temporary")]
mod support;
use support::*;
#[test]
fn dump() {
    let file = std::env::var("DUMP").unwrap();
    let r = framegate_translators::runners::runner("codex").unwrap();
    let c = framegate_translators::contracts::contract(&std::env::var("C").unwrap_or("frames.v2".into())).unwrap();
    let bytes = std::fs::read(file).unwrap();
    print!("{}", String::from_utf8(translate(r, c, &bytes)).unwrap());
}
