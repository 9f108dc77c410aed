//! The environment variables that are passed to a program by default: those that it needs to be found, to find its settings and
//! its login, and to reach its vendor.
//!
//! Input: a preset. Output: names; a name that ends in `*` matches every variable with that prefix. Never: a variable of
//! another vendor, or of the machine's cloud provider.

use super::Preset;
use crate::platform::variables::{NEEDED, known_name};

/// Variables for every program, besides those that the system needs: paths and user, locale, settings in the XDG directories, proxies and certificates.
const COMMON: &[&str] = &[
    "ALL_PROXY",
    "COLORTERM",
    "CURL_CA_BUNDLE",
    "HOME",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "LANG",
    "LANGUAGE",
    "LC_*",
    "LOGNAME",
    "NODE_EXTRA_CA_CERTS",
    "NO_PROXY",
    "PATH",
    "REQUESTS_CA_BUNDLE",
    "SHELL",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "TERM",
    "TMPDIR",
    "TZ",
    "USER",
    "XDG_*",
    "all_proxy",
    "http_proxy",
    "https_proxy",
    "no_proxy",
];

/// The names of the variables that are passed to a program of this preset.
pub fn passed(preset: Preset) -> impl Iterator<Item = &'static str> {
    let own = preset.built_in().map_or(&[][..], |preset| preset.environment);
    COMMON.iter().chain(NEEDED).chain(own).copied()
}

/// Whether an entry of such a list matches a variable.
pub fn is_meant(listed: &str, variable: &str) -> bool {
    let known = |name: &str| known_name(name.into());
    match listed.strip_suffix('*') {
        Some(front) => variable.get(..front.len()).is_some_and(|variable| known(variable) == known(front)),
        None => known(listed) == known(variable),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use framegate_translators::runners::presets;

    fn named(name: &str) -> Preset {
        Preset::find(name, false).unwrap()
    }

    fn has(preset: Preset, variable: &str) -> bool {
        passed(preset).any(|listed| is_meant(listed, variable))
    }

    #[test]
    fn each_preset_passes_only_the_variables_of_its_vendor() {
        let presets = presets().filter_map(|(_, preset)| Preset::find(preset.name, false));
        for preset in presets.chain([Preset::default()]) {
            for variable in ["PATH", "HOME", "XDG_CONFIG_HOME", "HTTPS_PROXY", "no_proxy", "SSL_CERT_FILE", "LC_ALL"] {
                assert!(has(preset, variable), "{preset:?} lacks {variable}");
            }
            for variable in ["FRAMEGATE__SERVER__TOKEN_FILE", "AWS_SECRET_ACCESS_KEY", "SSH_AUTH_SOCK", "PATHS"] {
                assert!(!has(preset, variable), "{preset:?} has {variable}");
            }
            assert_eq!(has(preset, "GITHUB_TOKEN"), preset == named("copilot"), "{preset:?}");
        }
        for (variable, claude, codex, opencode) in [
            ("ANTHROPIC_API_KEY", true, false, true),
            ("ANTHROPIC_BASE_URL", true, false, true),
            ("CLAUDE_CONFIG_DIR", true, false, false),
            ("CLAUDE_CODE_OAUTH_TOKEN", true, false, false),
            ("OPENAI_API_KEY", false, true, true),
            ("CODEX_HOME", false, true, false),
            ("OPENCODE_CONFIG", false, false, true),
            ("OPENROUTER_API_KEY", false, false, true),
        ] {
            assert_eq!(has(named("claude-code"), variable), claude, "{variable}");
            assert_eq!(has(named("codex-exec"), variable), codex, "{variable}");
            assert_eq!(has(named("codex-app-server"), variable), codex, "{variable}");
            assert_eq!(has(named("opencode-run"), variable), opencode, "{variable}");
            assert!(!has(Preset::default(), variable), "{variable}");
        }
    }
}
