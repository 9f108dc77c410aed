//! Command lines: recovers the script from an argument vector that was joined with shell quoting.
//!
//! Input: the command, reported as one string or as a list of words. Output: the script that the model wrote. Never: a guess;
//! anything not certain to be `SHELL -lc SCRIPT` is returned unchanged.

use std::borrow::Cow;

/// The script inside a command line.
pub(super) fn script(command: &str) -> Cow<'_, str> {
    match split(command).as_deref().and_then(inner) {
        Some(script) => Cow::Owned(script.to_owned()),
        None => Cow::Borrowed(command),
    }
}

/// The script inside an argument vector, or else the words, quoted if necessary.
pub(super) fn script_of(words: &[Cow<'_, str>]) -> String {
    if let Some(script) = inner(words) {
        return script.to_owned();
    }
    let mut line = String::new();
    for word in words {
        if !line.is_empty() {
            line.push(' ');
        }
        if !word.is_empty() && word.chars().all(is_plain) {
            line.push_str(word);
        } else {
            line.push('\'');
            line.push_str(&word.replace('\'', "'\\''"));
            line.push('\'');
        }
    }
    line
}

/// The script of `bash -lc SCRIPT`, with any path, or of `pwsh … -Command SCRIPT`.
fn inner<W: AsRef<str>>(words: &[W]) -> Option<&str> {
    let shell = words.first()?.as_ref().rsplit(['/', '\\']).next()?;
    let shell = shell.strip_suffix(".exe").unwrap_or(shell);
    match (shell, words) {
        ("bash" | "sh" | "zsh" | "dash" | "ksh" | "fish" | "ash", [_, flag, script]) => {
            matches!(flag.as_ref(), "-c" | "-lc" | "-cl" | "-ic" | "-lic").then_some(script.as_ref())
        }
        ("pwsh" | "powershell", [_, .., flag, script]) => {
            flag.as_ref().eq_ignore_ascii_case("-command").then_some(script.as_ref())
        }
        _ => None,
    }
}

fn is_plain(char: char) -> bool {
    char.is_alphanumeric() || matches!(char, '_' | '-' | '.' | '/' | ':' | '=' | '@' | '%' | '+' | ',')
}

/// The words of a command line; `None` if it contains more than quoted words.
fn split(line: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = line.chars();
    while let Some(char) = chars.next() {
        match char {
            ' ' | '\t' | '\n' => words.extend(word.take()),
            '\'' => {
                let word = word.get_or_insert_default();
                loop {
                    match chars.next()? {
                        '\'' => break,
                        char => word.push(char),
                    }
                }
            }
            '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match chars.next()? {
                        '"' => break,
                        '\\' => match chars.next()? {
                            char @ ('"' | '\\' | '$' | '`') => word.push(char),
                            char => word.extend(['\\', char]),
                        },
                        // The shell would expand this, so it is more than the quoting of a word.
                        '$' | '`' => return None,
                        char => word.push(char),
                    }
                }
            }
            '\\' => word.get_or_insert_default().push(chars.next()?),
            '$' | '`' | ';' | '|' | '&' | '<' | '>' | '(' | ')' | '*' | '?' | '#' => return None,
            char => word.get_or_insert_default().push(char),
        }
    }
    words.extend(word);
    Some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_script_is_unquoted() {
        for (line, expected) in [
            ("/bin/bash -lc 'echo hi'", "echo hi"),
            ("/bin/bash -lc true", "true"),
            (r#"/bin/bash -lc "printf 'a\\nb'""#, r"printf 'a\nb'"),
            (r#"bash -lc "echo \"it's\"""#, r#"echo "it's""#),
            ("/bin/bash -lc \"cat <<'E'\nheredoc \"'$x'", "cat <<'E'\nheredoc $x"),
            ("/usr/bin/sh -c ''", ""),
            ("pwsh.exe -NoProfile -Command 'dir x'", "dir x"),
        ] {
            assert_eq!(script(line), expected, "{line}");
        }
    }

    #[test]
    fn uncertain_command_lines_are_unchanged() {
        for line in ["ls -la", "/bin/bash -lc 'open", "bash script.sh arg", "bash -lc echo; ls", "", "bash -lc \"$x\""]
        {
            assert_eq!(script(line), line);
        }
    }

    #[test]
    fn an_argument_vector_without_a_script_is_joined() {
        let words = |words: &[&'static str]| words.iter().map(|word| Cow::Borrowed(*word)).collect::<Vec<_>>();
        assert_eq!(script_of(&words(&["/bin/bash", "-lc", "a 'b'"])), "a 'b'");
        assert_eq!(script_of(&words(&["git", "commit", "-m", "it's"])), "git commit -m 'it'\\''s'");
    }
}
