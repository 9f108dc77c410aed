//! The argument vector of a run.
//!
//! Input: the upstream's settings and the request. Output: the arguments, and what its standard input is used for. Never: a
//! shell; text of the client in a position where the program could read it as an option.

use crate::config::upstream::Command;
use framegate_translators::host::Opening;
use framegate_translators::runners::Start;

/// The longest argument that Linux accepts, including the terminating NUL, in bytes.
const MAX_ARGUMENT: usize = 128 << 10;

/// How a run is started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Invocation {
    /// The arguments, without the program.
    pub(super) arguments: Vec<String>,
    /// How the program receives the prompt.
    pub(super) input: Input,
}

/// What the standard input is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Input {
    /// Nothing: the prompt is an argument.
    None,
    /// The prompt, then end of file.
    Prompt,
    /// A conversation in the runner's protocol.
    Dialogue,
}

/// Checks a prompt, whether it starts the program or follows later.
///
/// # Errors
/// It is empty, or too long.
pub(super) fn check_prompt(command: &Command, prompt: &str) -> Result<(), String> {
    let (bytes, most) = (prompt.len(), command.max_prompt_bytes);
    match prompt.trim().is_empty() {
        true => Err("the prompt is empty".to_owned()),
        false if bytes > most => {
            Err(format!("the prompt has {bytes} bytes, but at most {most} are allowed (upstream.max_prompt_bytes)"))
        }
        false => Ok(()),
    }
}

/// Builds the arguments.
///
/// # Errors
/// The upstream does not support the request, or a value in the request is not valid.
pub(super) fn invocation(command: &Command, opening: &Opening) -> Result<Invocation, String> {
    check_prompt(command, &opening.prompt)?;
    of_opening(command, opening)
}

/// As [`invocation`], of a program that may need no prompt.
///
/// # Errors
/// As for [`invocation`], but the prompt may be empty.
pub(super) fn invocation_without_prompt(command: &Command, opening: &Opening) -> Result<Invocation, String> {
    if opening.prompt.is_empty() { of_opening(command, opening) } else { invocation(command, opening) }
}

fn of_opening(command: &Command, opening: &Opening) -> Result<Invocation, String> {
    let Opening { prompt, session, model, mode, .. } = opening;
    for (what, value) in [("session_id", session), ("model", model), ("mode", mode)] {
        if let Some(value) = value.as_deref().filter(|value| !is_word(value)) {
            return Err(format!(
                "invalid {what} {:?}: use at most 256 letters, digits and \"-_.:/@\"; it must not start with \"-\"",
                value.chars().take(64).collect::<String>()
            ));
        }
    }
    let model = model.as_deref().or(Some(command.model.as_str()).filter(|model| !model.is_empty()));
    let session = session.as_deref();
    let (arguments, input) = match command.preset.built_in() {
        // The protocol carries everything else.
        None if command.agent.is_some() => (command.arguments.clone(), Input::Dialogue),
        None => of_template(command, opening, model)?,
        Some(preset) => {
            let mode = mode.as_deref();
            let start = Start { prompt, session, model, mode, further: &command.arguments };
            ((preset.arguments)(&start), if preset.has_dialogue { Input::Dialogue } else { Input::None })
        }
    };
    if let Some(long) = arguments.iter().find(|argument| argument.len() >= MAX_ARGUMENT) {
        let (bytes, most) = (long.len(), MAX_ARGUMENT - 1);
        return Err(format!("an argument of {bytes} bytes would be needed, but a program accepts at most {most}"));
    }
    if arguments.iter().any(|argument| argument.contains('\0')) {
        return Err("the prompt contains NUL, which arguments cannot contain".to_owned());
    }
    Ok(Invocation { arguments, input })
}

fn of_template(command: &Command, opening: &Opening, model: Option<&str>) -> Result<(Vec<String>, Input), String> {
    let session = opening.session.as_deref();
    let template = match session {
        None => &command.arguments,
        Some(_) if command.resume_arguments.is_empty() => {
            return Err("this upstream cannot continue sessions (upstream.resume_arguments)".to_owned());
        }
        Some(_) => &command.resume_arguments,
    };
    let values = [
        ("{prompt}", opening.prompt.as_str()),
        ("{session}", session.unwrap_or_default()),
        ("{model}", model.unwrap_or_default()),
        ("{mode}", opening.mode.as_deref().unwrap_or_default()),
        ("{cwd}", opening.cwd.as_deref().unwrap_or(".")),
    ];
    let takes_prompt = template.iter().any(|argument| argument.contains("{prompt}"));
    let mut arguments = Vec::with_capacity(template.len());
    let mut behind_options = false;
    for argument in template {
        let text = filled(argument, &values);
        if text.starts_with('-') && !argument.starts_with('-') && !behind_options {
            return Err(format!(
                "the prompt begins with \"-\", so the program could take it for an option: if the program supports \
                 \"--\", put \"--\" before {argument:?} in upstream.arguments; otherwise start the prompt with another \
                 character"
            ));
        }
        behind_options |= argument == "--";
        arguments.push(text);
    }
    Ok((arguments, if takes_prompt { Input::None } else { Input::Prompt }))
}

/// Replaces placeholders with values. Placeholders within a value are not replaced.
fn filled(template: &str, values: &[(&str, &str)]) -> String {
    let mut text = String::with_capacity(template.len());
    let mut rest = template;
    while let Some((before, at)) = rest.split_once('{') {
        text.push_str(before);
        let named = values.iter().find_map(|(name, value)| Some((at.strip_prefix(name.strip_prefix('{')?)?, value)));
        rest = if let Some((behind, value)) = named {
            text.push_str(value);
            behind
        } else {
            text.push('{');
            at
        };
    }
    text.push_str(rest);
    text
}

/// Whether a text is a single word that no program reads as an option.
fn is_word(text: &str) -> bool {
    let is_of_word = |letter: char| letter.is_ascii_alphanumeric() || "-_.:/@".contains(letter);
    (1..=256).contains(&text.len()) && !text.starts_with('-') && text.chars().all(is_of_word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::upstream::Preset;
    use framegate_translators::runners::presets;

    fn opening(prompt: &str, session: Option<&str>) -> Opening {
        Opening { prompt: prompt.to_owned(), session: session.map(str::to_owned), ..Opening::default() }
    }

    fn of(preset: &str) -> Command {
        let preset = Preset::find(preset, false).unwrap();
        Command { preset, arguments: vec!["--extra".to_owned()], ..Command::default() }
    }

    #[test]
    fn every_preset_takes_the_prompt_by_its_dialogue_or_as_its_last_argument() {
        for (_, preset) in presets() {
            let invocation = invocation(&of(preset.name), &opening("-x; rm", Some("a-b"))).unwrap();
            let arguments: Vec<&str> = invocation.arguments.iter().map(String::as_str).collect();
            assert!(arguments.contains(&"--extra"), "{preset:?} ignores further arguments: {arguments:?}");
            if preset.has_dialogue {
                assert_eq!(invocation.input, Input::Dialogue, "{preset:?}");
                assert!(!arguments.contains(&"-x; rm"), "{preset:?} has the prompt twice: {arguments:?}");
            } else {
                assert_eq!(invocation.input, Input::None, "{preset:?}");
                let is_value = arguments.last().is_some_and(|last| last.starts_with("--") && last.ends_with("=-x; rm"));
                assert!(
                    is_value || arguments.ends_with(&["--", "-x; rm"]),
                    "{preset:?} could read a prompt as an option: {arguments:?}"
                );
                assert!(arguments.contains(&"a-b"), "{preset:?} does not continue the session: {arguments:?}");
            }
        }
    }

    #[test]
    fn a_template_is_filled_once_and_without_a_placeholder_the_prompt_is_input() {
        let command = Command {
            program: "agent".to_owned(),
            arguments: vec!["--at={cwd}".to_owned(), "{x}{prompt}".to_owned()],
            ..Command::default()
        };
        let filled = invocation(&command, &opening("{session}", None)).unwrap();
        assert_eq!(filled, Invocation { arguments: vec!["--at=.".into(), "{x}{session}".into()], input: Input::None });
        let command = Command { arguments: vec!["go".to_owned()], ..command };
        assert_eq!(invocation(&command, &opening("x", None)).unwrap().input, Input::Prompt);
        let refused = invocation(&command, &opening("x", Some("s"))).unwrap_err();
        assert!(refused.contains("cannot continue sessions"), "{refused}");
    }

    #[test]
    fn a_prompt_can_never_be_taken_for_an_option() {
        let with = |arguments: &[&str]| Command {
            program: "agent".to_owned(),
            arguments: arguments.iter().map(|argument| (*argument).to_owned()).collect(),
            resume_arguments: [&["--resume", "{session}"], arguments]
                .concat()
                .iter()
                .map(|&text| text.to_owned())
                .collect(),
            ..Command::default()
        };
        for session in [None, Some("s")] {
            for bare in [&["{prompt}"][..], &["-p", "{prompt}"], &["run", "{prompt}", "--"], &["{prompt} now"]] {
                for prompt in ["--dangerously-skip-permissions", "-x", "-"] {
                    let message = invocation(&with(bare), &opening(prompt, session)).unwrap_err();
                    assert!(message.contains("put \"--\" before"), "{bare:?} {prompt}: {message}");
                }
                assert!(invocation(&with(bare), &opening("a - b --c", session)).is_ok(), "{bare:?}");
            }
            for safe in [&["--", "{prompt}"][..], &["--prompt={prompt}"], &["ask: {prompt}"], &["--json"]] {
                assert!(invocation(&with(safe), &opening("--x", session)).is_ok(), "{safe:?}");
            }
        }
    }

    #[test]
    fn ambiguous_sessions_and_prompts_are_refused() {
        let command = of("claude-code");
        for session in ["", "-rf", "a b", "a\n", "é", &"a".repeat(257)] {
            assert!(
                invocation(&command, &opening("x", Some(session))).unwrap_err().contains("session_id"),
                "{session}"
            );
        }
        assert!(invocation(&command, &opening("x", Some(&"a".repeat(256)))).is_ok());
        for prompt in ["", " \n"] {
            assert!(invocation(&command, &opening(prompt, None)).is_err());
        }
        assert!(invocation(&of("codex-exec"), &opening("a\0b", None)).unwrap_err().contains("NUL"));
    }

    #[test]
    fn prompts_have_the_configured_limit_and_arguments_the_systems() {
        let small = Command { max_prompt_bytes: 4, ..of("claude-code") };
        assert!(invocation(&small, &opening("1234", None)).is_ok());
        assert!(invocation(&small, &opening("12345", None)).unwrap_err().contains("upstream.max_prompt_bytes"));
        let exec = of("codex-exec");
        assert!(invocation(&exec, &opening(&"a".repeat(MAX_ARGUMENT - 1), None)).is_ok());
        assert!(invocation(&exec, &opening(&"a".repeat(MAX_ARGUMENT), None)).unwrap_err().contains("131072 bytes"));
        assert!(invocation(&of("claude-code"), &opening(&"a".repeat(MAX_ARGUMENT), None)).is_ok());
    }
}
