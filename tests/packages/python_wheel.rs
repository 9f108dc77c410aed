//! The Python wheel, installed by pip into a virtual environment without network.

use crate::packed::{VERSION, is_framegate, package, ran, root, succeeds, text};
use crate::proxy::Folder;
use std::path::Path;
use std::process::Command;

fn python(venv: &Path) -> Command {
    Command::new(venv.join("bin/python"))
}

#[test]
#[ignore = "needs python3 and pip"]
fn python_wheel_installs_the_program() {
    let folder = Folder::new();
    let venv = folder.path("venv");
    succeeds(Command::new("python3").args(["-m", "venv", "--without-pip"]).arg(&venv));
    let wheel = package("framegate-", ".whl");
    // pip refuses a wheel whose tags do not fit this system.
    let mut install = Command::new("python3");
    install.args(["-m", "pip", "--python"]).arg(venv.join("bin/python")).args(["install", "--no-index", "--quiet"]);
    succeeds(install.arg("--disable-pip-version-check").arg(&wheel));
    is_framegate(&|| Command::new(venv.join("bin/framegate")));

    // What an installed distribution says about itself, and that its files are those of its list.
    let script = "
import base64, hashlib, importlib.metadata
found = importlib.metadata.distribution('framegate')
for file in found.files:
    if file.hash:
        digest = hashlib.new(file.hash.mode, file.read_binary()).digest()
        assert base64.urlsafe_b64encode(digest).rstrip(b'=').decode() == file.hash.value, file
assert any(file.name == 'framegate' and file.hash for file in found.files)
print(found.version, found.metadata['License-Expression'], ' '.join(found.metadata.get_all('License-File')))
";
    let said = succeeds(python(&venv).args(["-c", script]));
    assert_eq!(said, format!("{VERSION} Apache-2.0 LICENSE THIRD-PARTY-LICENSES.txt\n"));
    let list = venv.join("lib");
    let licences =
        succeeds(Command::new("find").arg(list).args(["-path", "*/licenses/*", "-type", "f", "-size", "+8k"]));
    assert_eq!(licences.lines().count(), 2, "{licences}");
}

/// The name of the wheel of a program that `cc` compiles with these options, or why there is none.
fn wheel_of(folder: &Folder, name: &str, options: &[&str]) -> Result<String, String> {
    let source = folder.write("main.c", "int answer(void); int main(void) { return ANSWER; }\n");
    let binary = folder.path(name);
    succeeds(Command::new("cc").arg(source).arg("-o").arg(&binary).args(options));
    let script = root().join("packaging/wheel/build.py");
    let made = ran(Command::new("python3").arg(script).arg("--output").arg(folder.path("")).arg(&binary));
    if made.code == Some(0) { Ok(made.out.trim().rsplit('/').next().unwrap().to_owned()) } else { Err(made.err) }
}

#[test]
#[ignore = "needs python3"]
fn python_wheel_names_what_its_binary_needs() {
    let folder = Folder::new();
    let cpu = std::env::consts::ARCH;
    let fixed = wheel_of(&folder, "static", &["-static", "-DANSWER=0"]).unwrap();
    let tags = format!("manylinux_2_17_{cpu}.manylinux2014_{cpu}.musllinux_1_1_{cpu}");
    assert_eq!(fixed, format!("framegate-{VERSION}-py3-none-{tags}.whl"));
    let dynamic = wheel_of(&folder, "dynamic", &["-DANSWER=0"]).unwrap();
    assert!(dynamic.contains("-manylinux_2_") && !dynamic.contains("musllinux"), "{dynamic}");
    // A library that no Python installation promises.
    let library = folder.write("answer.c", "int answer(void) { return 0; }\n");
    let shared = folder.path("libanswer.so.3");
    succeeds(Command::new("cc").args(["-shared", "-Wl,-soname,libanswer.so.3", "-o"]).arg(&shared).arg(library));
    let refused = wheel_of(&folder, "library", &["-DANSWER=answer()", shared.to_str().unwrap()]).unwrap_err();
    assert!(refused.contains("needs libanswer.so.3, which no tag of manylinux promises"), "{refused}");
    let script = root().join("packaging/wheel/build.py");
    let refused = ran(Command::new("python3").arg(script).arg(folder.path("main.c")));
    assert!(refused.code == Some(1) && refused.err.contains("is no executable"), "{refused:#?}");
}

#[test]
fn the_program_and_the_clients_have_different_names() {
    assert!(text("clients/python/pyproject.toml").contains("\nname = \"framegate-client\"\n"));
    assert!(text("clients/typescript/package.json").contains("\n  \"name\": \"framegate-client\",\n"));
}
