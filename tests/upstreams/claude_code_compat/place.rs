//! Where the command finds its upstream, and one call of it.

use crate::proxy::Folder;
use crate::started::{Started, filled, framegate};
use serde_json::Value;
use std::io::Write;
use std::process::{Command, Output, Stdio};

/// Where the command finds its upstream, and where it works.
pub struct Place {
    pub folder: Folder,
    options: Vec<String>,
}

impl Place {
    /// With a proxy of its own, whose upstream `fake` is the conversing fake.
    pub fn alone() -> Self {
        let program = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/upstreams/fake/agent.sh");
        Self::configured(&format!(
            "[[upstream]]\nname = \"fake\"\nkind = \"command\"\npreset = \"claude-code\"\nprogram = \"{program}\"\n"
        ))
    }

    /// With a proxy of its own and this configuration.
    pub fn configured(text: &str) -> Self {
        let folder = Folder::new();
        let config = folder.write("config.toml", &filled(text, &folder));
        Self { folder, options: vec!["--config".to_owned(), config] }
    }

    pub fn command(&self, upstream: &str, arguments: &[&str]) -> Command {
        command_in(&self.folder, &self.options, upstream, arguments)
    }

    /// Runs the command to its end, with this standard input.
    pub fn run_with(&self, arguments: &[&str], input: &str) -> Ran {
        ran(self.command("fake", arguments), input)
    }

    pub fn run(&self, arguments: &[&str]) -> Ran {
        self.run_with(arguments, "")
    }
}

fn command_in(folder: &Folder, options: &[String], upstream: &str, arguments: &[&str]) -> Command {
    let mut command = framegate();
    command.arg("claude-compat").args(options).args(Some(upstream).filter(|name| !name.is_empty())).args(arguments);
    command.current_dir(folder.path("")).env("XDG_STATE_HOME", folder.path("state"));
    command.env_remove("CLAUDE_CODE_SDK_READS_SESSION_STATE").env_remove("CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS");
    command
}

pub struct Ran {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        Self { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }
}

impl Ran {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {}\n{}", self.out, self.err))
    }
}

pub fn ran(mut command: Command, input: &str) -> Ran {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // The command may have ended without reading.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    child.wait_with_output().unwrap().into()
}

/// The command in front of a proxy.
pub fn before(started: &Started, arguments: &[&str]) -> Command {
    let url = format!("http://{}", started.proxy.address);
    command_in(&started.folder, &["--url".to_owned(), url], "fake", arguments)
}
