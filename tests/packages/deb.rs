//! The Debian package, installed by dpkg into a folder of its own.

use crate::packed::{VERSION, is_framegate, package, ran, succeeds};
use crate::proxy::Folder;
use std::fs;
use std::path::Path;
use std::process::Command;

/// An empty system: dpkg's database, and nothing else.
fn system() -> Folder {
    let folder = Folder::new();
    for name in ["var/lib/dpkg/updates", "var/lib/dpkg/info", "usr/lib", "etc"] {
        fs::create_dir_all(folder.path(name)).unwrap();
    }
    fs::write(folder.path("var/lib/dpkg/status"), "").unwrap();
    folder
}

/// Runs dpkg on that system. Its scripts run here, with DPKG_ROOT, because the system has no shell. What the package depends on is not
/// there.
fn dpkg(system: &Path, arguments: &[&str]) -> String {
    let is_root = rustix::process::geteuid().is_root();
    let mut command = Command::new(if is_root { "dpkg" } else { "fakeroot" });
    if !is_root {
        command.arg("dpkg");
    }
    command.arg("--root").arg(system).args(["--force-depends", "--force-script-chrootless", "--force-not-root"]);
    // dpkg wants the folders of an administrator in the path.
    let path = format!("{}:/usr/local/sbin:/usr/sbin:/sbin", std::env::var("PATH").unwrap());
    succeeds(command.args(arguments).env("PATH", path).env("DEBIAN_FRONTEND", "noninteractive"))
}

#[test]
#[ignore = "needs dpkg"]
fn deb_is_installed_kept_configured_and_removed() {
    let system = system();
    let root = system.path("");
    let deb = package("framegate_", ".deb");
    let deb = deb.to_str().unwrap();
    dpkg(&root, &["--install", deb]);
    let program = system.path("usr/bin/framegate");
    is_framegate(&|| Command::new(&program));
    assert_eq!(dpkg(&root, &["--verify", "framegate"]), "", "files differ from their checksums");
    let state = || dpkg(&root, &["--status", "framegate"]);
    assert!(
        state().contains("\nStatus: install ok installed\n") && state().contains(&format!("\nVersion: {VERSION}-1\n"))
    );

    // The pages and completions are those of the binary.
    let page = succeeds(Command::new("gzip").arg("-dc").arg(system.path("usr/share/man/man1/framegate-log-list.1.gz")));
    assert_eq!(page, succeeds(Command::new(&program).args(["man", "log", "list"])));
    let completions = fs::read_to_string(system.path("usr/share/bash-completion/completions/framegate")).unwrap();
    assert_eq!(completions, succeeds(Command::new(&program).args(["completions", "bash"])));
    let copyright = fs::read_to_string(system.path("usr/share/doc/framegate/copyright")).unwrap();
    assert!(
        copyright.contains("License: Apache-2.0\n") && copyright.contains("\n - ring "),
        "the licences are not there"
    );
    if succeeds(Command::new("sh").args(["-c", "command -v systemd-sysusers || true"])).is_empty() {
        eprintln!("systemd-sysusers is missing: the user was NOT created");
    } else {
        let users = fs::read_to_string(system.path("etc/passwd")).unwrap();
        assert!(users.lines().any(|line| line.starts_with("framegate:x:") && line.ends_with("/nologin")), "{users}");
    }

    // The user's configuration survives an installation of the package, and its removal, but not a purge.
    let config = system.path("etc/framegate/config.toml");
    assert!(fs::read_to_string(&config).unwrap().contains("listen = \"127.0.0.1:8080\""));
    fs::write(&config, "[server]\nlisten = \"127.0.0.1:9090\"\n").unwrap();
    fs::create_dir_all(system.path("var/lib/framegate")).unwrap();
    fs::write(system.path("var/lib/framegate/framegate.db"), "runs").unwrap();
    dpkg(&root, &["--install", deb]);
    assert!(fs::read_to_string(&config).unwrap().contains("9090"));
    dpkg(&root, &["--remove", "framegate"]);
    assert!(!program.exists() && config.exists());
    dpkg(&root, &["--purge", "framegate"]);
    assert!(!config.exists() && system.path("var/lib/framegate/framegate.db").exists());
}

#[test]
#[ignore = "needs dpkg"]
fn deb_has_the_fields_and_owners_that_dpkg_expects() {
    let deb = package("framegate_", ".deb");
    let field = |name: &str| succeeds(Command::new("dpkg-deb").arg("--field").arg(&deb).arg(name)).trim().to_owned();
    let architecture = succeeds(Command::new("dpkg").arg("--print-architecture"));
    assert_eq!((field("Package"), field("Architecture")), ("framegate".into(), architecture.trim().into()));
    // Cargo's binary needs the libraries of the system. A static one needs nothing.
    assert!(field("Depends").starts_with("libc6 (>= 2."), "{}", field("Depends"));
    let list = succeeds(Command::new("dpkg-deb").arg("--contents").arg(&deb));
    for line in list.lines() {
        assert!(line.contains(" root/root "), "{line}");
        let is_program = line.ends_with(" ./usr/bin/framegate");
        let mode = if is_program {
            "-rwxr-xr-x"
        } else if line.starts_with('d') {
            "drwxr-xr-x"
        } else {
            "-rw-r--r--"
        };
        assert!(line.starts_with(mode), "{line}");
    }
    let scratch = Folder::new();
    succeeds(Command::new("dpkg-deb").arg("--control").arg(&deb).arg(scratch.path("control")));
    for script in ["postinst", "prerm", "postrm"] {
        let path = scratch.path("control").join(script);
        assert_eq!(ran(Command::new("sh").arg("-n").arg(&path)).code, Some(0), "{script}");
    }
    // lintian knows more of Debian's policy. Its tags about the way in which Debian itself builds packages do not apply.
    if ran(Command::new("sh").args(["-c", "command -v lintian"])).code == Some(0) {
        let lint = ran(Command::new("lintian")
            .args(["--fail-on", "error", "--suppress-tags", "statically-linked-binary"])
            .arg(&deb));
        assert_eq!(lint.code, Some(0), "{lint:#?}");
    } else {
        eprintln!("lintian is missing: the package was NOT compared with Debian's policy");
    }
}
