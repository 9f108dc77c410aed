//! What a release has: archives, checksums, the formula, and the script that tries the packages on other systems.

use crate::packed::{VERSION, dist, is_framegate, package, ran, root, succeeds, target, text};
use crate::proxy::Folder;
use std::fs;
use std::process::Command;

/// The targets of the formula, as the release workflow builds them.
const TARGETS: [&str; 4] =
    ["aarch64-apple-darwin", "x86_64-apple-darwin", "aarch64-unknown-linux-musl", "x86_64-unknown-linux-musl"];

#[test]
#[ignore = "needs python3 and npm"]
fn release_archive_has_the_program_its_pages_and_its_licences() {
    let folder = Folder::new();
    succeeds(
        Command::new("tar")
            .arg("-xzf")
            .arg(package("framegate-", &format!("{}.tar.gz", target())))
            .arg("-C")
            .arg(folder.path("")),
    );
    let unpacked = folder.path(&format!("framegate-{VERSION}-{}", target()));
    is_framegate(&|| Command::new(unpacked.join("framegate")));
    for file in ["LICENSE", "README.md", "config.toml"] {
        assert_eq!(fs::read_to_string(unpacked.join(file)).unwrap(), text(file), "{file}");
    }
    let page = fs::read_to_string(unpacked.join("man/framegate-serve.1")).unwrap();
    assert!(page.contains(".TH framegate-serve 1"));
    assert!(fs::read_to_string(unpacked.join("completions/_framegate")).unwrap().contains("#compdef framegate"));

    // Every library of another author has its licence, and a text that several have is there once.
    let notices = fs::read_to_string(unpacked.join("THIRD-PARTY-LICENSES.txt")).unwrap();
    for library in ["ring", "rusqlite", "tikv-jemalloc-sys", "tokio", "httpdate"] {
        assert!(notices.contains(&format!("\n- {library} ")), "{library}");
    }
    assert!(
        !notices.contains("\n- framegate-translators ") && !notices.contains("\n- proptest "),
        "not a library of the binary"
    );
    let of_tokio = notices.lines().filter(|line| line.starts_with("- tokio") && line.contains(": MIT")).count();
    assert!(notices.matches("Copyright (c) Tokio Contributors\n").count() < of_tokio, "texts are repeated");
    assert!(notices.contains("Copyright (C) 2002-present Jason Evans"), "jemalloc's own licence is missing");
}

#[test]
#[ignore = "needs python3 and npm"]
fn release_checksums_cover_every_file() {
    let sums = fs::read_to_string(dist().join("SHA256SUMS")).unwrap();
    let mut listed: Vec<&str> = sums.lines().map(|line| line.split_once("  ").unwrap().1).collect();
    listed.sort_unstable();
    let files = fs::read_dir(dist()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut files: Vec<String> = files.filter(|name| name != "SHA256SUMS").collect();
    files.sort_unstable();
    assert_eq!(listed, files);
    succeeds(Command::new("sh").args(["-c", "cd \"$1\" && sha256sum --check --quiet SHA256SUMS", "sh"]).arg(dist()));
    // A folder with other files is refused, because the sums would include them.
    let script = root().join("packaging/release.sh");
    let refused = ran(Command::new(script).arg(dist().with_file_name("binaries")).arg(dist()));
    assert!(refused.code == Some(2) && refused.err.contains("is not empty"), "{refused:#?}");
}

#[test]
#[ignore = "needs python3 and npm"]
fn release_packages_pass_the_script_for_other_systems() {
    let tried = succeeds(Command::new(root().join("packaging/try.sh")).arg(dist()).arg(target()));
    for way in ["archive: ok\n", "wheel: ok\n", "npm: ok\n"] {
        assert!(tried.contains(way), "{tried}");
    }
    // It fails if a package is damaged.
    let folder = Folder::new();
    for entry in fs::read_dir(dist()).unwrap().map(Result::unwrap) {
        fs::copy(entry.path(), folder.path(entry.file_name().to_str().unwrap())).unwrap();
    }
    folder.write(&format!("framegate-{VERSION}.tgz"), "damaged");
    let failed = ran(Command::new(root().join("packaging/try.sh")).arg(folder.path("")).arg(target()));
    assert!(failed.code == Some(1) && failed.err.contains("differ from SHA256SUMS"), "{failed:#?}");
}

#[test]
#[ignore = "needs python3"]
fn release_formula_has_the_checksum_of_each_archive() {
    let folder = Folder::new();
    let sum = |nth: usize| format!("{nth:064x}");
    let line = |(nth, target): (usize, &&str)| format!("{}  framegate-{VERSION}-{target}.tar.gz\n", sum(nth + 1));
    let sums: String = TARGETS.iter().enumerate().map(line).collect();
    let formula = |sums: &str| {
        ran(Command::new("python3").arg(root().join("packaging/homebrew/build.py")).arg(folder.write("sums", sums)))
    };
    let made = formula(&sums);
    assert_eq!(made.code, Some(0), "{made:#?}");
    for (nth, target) in TARGETS.iter().enumerate() {
        let url = format!(
            "/releases/download/v{VERSION}/framegate-{VERSION}-{target}.tar.gz\"\n      sha256 \"{}\"\n",
            sum(nth + 1)
        );
        assert!(made.out.contains(&url), "{target}: {}", made.out);
    }
    assert!(!made.out.contains('@'), "{}", made.out);
    let blocks = ["do", "end"].map(|word| made.out.split_whitespace().filter(|found| *found == word).count());
    // `class` and each `def` have an `end` too.
    assert_eq!(blocks[1], blocks[0] + 2, "{}", made.out);
    let incomplete = formula(sums.split_once('\n').unwrap().1);
    assert!(incomplete.code == Some(1) && incomplete.err.contains(TARGETS[0]), "{incomplete:#?}");
}

#[test]
#[ignore = "needs python3"]
fn release_binaries_are_recognised_by_what_they_need() {
    let script = root().join("packaging/executable.py");
    let described = |path: &str| ran(Command::new("python3").arg(&script).args(["--static", path]));
    let dynamic = described(env!("CARGO_BIN_EXE_framegate"));
    assert!(
        dynamic.code == Some(1) && dynamic.out.contains("libc.so.6") && dynamic.err.contains("is not static"),
        "{dynamic:#?}"
    );
    let folder = Folder::new();
    let cut = folder.path("cut");
    fs::write(&cut, &fs::read(env!("CARGO_BIN_EXE_framegate")).unwrap()[..80]).unwrap();
    let damaged = described(cut.to_str().unwrap());
    assert!(damaged.code == Some(1) && damaged.err.contains("is damaged"), "{damaged:#?}");
    // The heads of programs for macOS and Windows.
    let mut mach = vec![
        0xcf, 0xfa, 0xed, 0xfe, 0x0c, 0, 0, 1, 0, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 24, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    ];
    mach.extend([0x32, 0, 0, 0, 24, 0, 0, 0, 1, 0, 0, 0, 0, 0, 11, 0, 0, 0, 15, 0, 0, 0, 0, 0]);
    let mut pe = vec![0; 0x80];
    pe[..2].copy_from_slice(b"MZ");
    pe[0x3c] = 0x40;
    pe[0x40..0x46].copy_from_slice(b"PE\0\0\x64\x86");
    for (bytes, expected) in [(mach, "darwin, aarch64, macOS 11.0 or later"), (pe, "win32, x86_64")] {
        let path = folder.path("program");
        fs::write(&path, bytes).unwrap();
        let said = ran(Command::new("python3").arg(&script).arg(&path));
        assert!(said.code == Some(0) && said.out.contains(expected), "{said:#?}");
    }
}
