//! The npm packages, installed from their files without network.

use crate::packed::{VERSION, is_framegate, lasting_folder, open_ingest, package, ran, serve, succeeds};
use crate::proxy::Folder;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::Duration;

/// This platform, as Node names it.
fn platform() -> String {
    let cpu = if std::env::consts::ARCH == "aarch64" { "arm64" } else { "x64" };
    format!("linux-{cpu}")
}

/// Installs packages into a folder, and returns the path of the program.
fn installed(folder: &Path, packages: &[PathBuf]) -> PathBuf {
    fs::write(folder.join("package.json"), "{\"private\": true}\n").unwrap();
    let mut install = Command::new("npm");
    install.args(["install", "--offline", "--no-audit", "--no-fund", "--no-update-notifier", "--prefix"]);
    succeeds(install.arg(folder).args(packages));
    folder.join("node_modules/.bin/framegate")
}

/// One installation for the tests that change nothing in it.
fn shared() -> &'static (PathBuf, PathBuf) {
    static SHARED: OnceLock<(PathBuf, PathBuf)> = OnceLock::new();
    SHARED.get_or_init(|| {
        let folder = lasting_folder("npm");
        let program = installed(&folder, &both());
        (folder, program)
    })
}

fn both() -> [PathBuf; 2] {
    [package(&format!("framegate-{}-", platform()), ".tgz"), package(&format!("framegate-{VERSION}"), ".tgz")]
}

#[test]
#[ignore = "needs npm"]
fn npm_packages_install_the_program() {
    let (folder, program) = shared();
    is_framegate(&|| Command::new(program));
    // As `npx` runs it, in the folder where it is installed.
    let mut npx = Command::new("npm");
    npx.args(["exec", "--offline", "--prefix"]).arg(folder).args(["--", "framegate", "--version"]);
    assert_eq!(succeeds(&mut npx), format!("framegate {VERSION}\n"));

    let manifest = |name: &str| -> Value {
        let path = folder.join("node_modules").join(name).join("package.json");
        serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
    };
    let launcher = manifest("framegate");
    let name = format!("@framegate/{}", platform());
    assert_eq!(launcher["optionalDependencies"], json!({ &name: VERSION }));
    assert_eq!(launcher["scripts"], Value::Null, "it must work with --ignore-scripts");
    let binary = manifest(&name);
    let (system, cpu) = name.trim_start_matches("@framegate/").split_once('-').unwrap();
    // Cargo's binary needs glibc. A static one has no `libc`.
    assert_eq!((&binary["os"], &binary["cpu"], &binary["libc"]), (&json!([system]), &json!([cpu]), &json!(["glibc"])));
}

#[test]
#[ignore = "needs npm"]
fn npm_launcher_says_what_to_do_without_a_binary() {
    let folder = Folder::new();
    let program = installed(&folder.path(""), &both());
    let name = format!("@framegate/{}", platform());
    let there = folder.path("node_modules").join(&name);
    fs::rename(&there, folder.path("elsewhere")).unwrap();
    let missing = ran(Command::new(&program).arg("--version"));
    assert_eq!(missing.code, Some(127), "{missing:#?}");
    let hints = [format!("{name} is not installed"), "--omit=optional".into(), format!("npm install {name}@{VERSION}")];
    assert!(hints.iter().all(|hint| missing.err.contains(hint)), "{}", missing.err);

    fs::rename(folder.path("elsewhere"), &there).unwrap();
    let other = folder.write("other.cjs", "Object.defineProperty(process, 'arch', { value: 'riscv64' });\n");
    let unknown = ran(Command::new("node").arg("--require").arg(other).arg(&program).arg("--version"));
    assert_eq!(unknown.code, Some(127), "{unknown:#?}");
    let hints = [format!("no binary for linux-riscv64; there are binaries for {}", platform()), "cargo install".into()];
    assert!(hints.iter().all(|hint| unknown.err.contains(hint)), "{}", unknown.err);

    // A file that is there, and cannot be executed.
    fs::write(there.join("bin/framegate"), "\u{7f}ELF, but damaged").unwrap();
    let damaged = ran(Command::new(&program).arg("--version"));
    assert!(damaged.code != Some(0), "{damaged:#?}");
}

/// The children of a process.
fn children(pid: u32) -> Vec<u32> {
    let list = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap();
    list.split_whitespace().map(|pid| pid.parse().unwrap()).collect()
}

#[test]
#[ignore = "needs npm"]
fn npm_launcher_ends_as_its_binary_ends() {
    let folder = Folder::new();
    let (_, program) = shared();
    let mut proxy = serve(&|| Command::new(program), &folder);
    // With execve, the launcher is the binary.
    let binary = children(proxy.pid()).first().copied().unwrap_or(proxy.pid());
    assert!(Command::new("kill").args(["-KILL", &binary.to_string()]).status().unwrap().success());
    assert_eq!(proxy.wait().signal(), Some(9));
}

#[test]
#[ignore = "needs npm"]
fn npm_launcher_passes_the_signal_of_a_terminal_on_once() {
    let folder = Folder::new();
    let (_, program) = shared();
    let controller = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&controller).unwrap();
    unlockpt(&controller).unwrap();
    let name = ptsname(&controller, Vec::new()).unwrap();
    let in_terminal = || {
        let terminal =
            fs::File::options().read(true).write(true).open(Path::new(std::ffi::OsStr::from_bytes(name.as_bytes())));
        let mut command = Command::new(program);
        command.stdin(Stdio::from(terminal.unwrap())).process_group(0);
        command
    };
    let mut proxy = serve(&in_terminal, &folder);
    let upload = open_ingest(&proxy);
    // A terminal sends Ctrl-C to the whole group. A second SIGINT would end the proxy at once.
    let group = format!("-{}", proxy.pid());
    assert!(Command::new("kill").args(["-INT", "--", &group]).status().unwrap().success());
    proxy.wait_until_stopping();
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!(proxy.left(), None);
    proxy.wait_until_stopping();
    upload.finish();
    assert_eq!(proxy.wait().code(), Some(0));
}
