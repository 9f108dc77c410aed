//! How the program of a runner is started for one run.
//!
//! Input: a prompt, and what the request and the settings add. Output: the arguments of the program. Never: a shell; text of a
//! client in a position where the program could read it as an option.

/// One built-in way to start a runner's program.
pub struct Preset {
    /// The value of `preset` in the configuration, and the name for `framegate run`.
    pub name: &'static str,
    /// Other names for `framegate run`.
    pub aliases: &'static [&'static str],
    /// The program, if the settings name no other one.
    pub program: &'static str,
    /// Whether the runner's protocol uses the standard input of the program. The runner then has a dialogue.
    pub has_dialogue: bool,
    /// Environment variables that the program gets besides those that every program needs. A final `*` matches any suffix.
    pub environment: &'static [&'static str],
    /// The options of the program that choose a mode. If the settings contain one, requests cannot choose another mode.
    pub mode_options: &'static [&'static str],
    /// Builds the arguments, without the program.
    pub arguments: fn(&Start<'_>) -> Vec<String>,
}

impl std::fmt::Debug for Preset {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// What one run starts with. The session, the model and the mode are single words that no program reads as an option.
#[derive(Clone, Copy, Debug)]
pub struct Start<'s> {
    /// The prompt.
    pub prompt: &'s str,
    /// The session to continue.
    pub session: Option<&'s str>,
    /// The model.
    pub model: Option<&'s str>,
    /// The mode.
    pub mode: Option<&'s str>,
    /// Further arguments from the settings.
    pub further: &'s [String],
}

impl Preset {
    /// The option in these arguments that chooses a mode, `--option` or `--option=value`; `None` if there is none.
    pub fn mode_option(&self, arguments: &[String]) -> Option<&'static str> {
        let is_in = |option: &&&str| {
            let is_it = |argument: &String| {
                let rest = argument.strip_prefix(**option);
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
            };
            arguments.iter().take_while(|argument| *argument != "--").any(is_it)
        };
        self.mode_options.iter().find(is_in).copied()
    }
}

impl Start<'_> {
    /// Joins arguments: `fixed`, then for each option with a value its name and the value, then the further ones.
    pub fn arguments(&self, fixed: &[&str], options: &[(&str, Option<&str>)]) -> Vec<String> {
        let mut arguments: Vec<String> = fixed.iter().map(|&text| text.to_owned()).collect();
        for (option, value) in options {
            if let Some(value) = value {
                arguments.extend([(*option).to_owned(), (*value).to_owned()]);
            }
        }
        arguments.extend_from_slice(self.further);
        arguments
    }

    /// Appends `--` and the prompt.
    pub fn with_prompt(&self, mut arguments: Vec<String>) -> Vec<String> {
        arguments.extend(["--".to_owned(), self.prompt.to_owned()]);
        arguments
    }
}
