//! `[redaction]`: the rules that find secrets, compiled from the settings.

use super::Redaction;
use framegate_translators::redact::{Rules, Settings, SettingsError};

impl Redaction {
    /// Compiles the redaction rules; `None` if redaction is off.
    ///
    /// # Errors
    /// An invalid pattern, rule name or key.
    pub fn rules(&self) -> Result<Option<Rules>, SettingsError> {
        if !self.enabled {
            return Ok(None);
        }
        Rules::new(Settings {
            keys: self.keys.clone(),
            patterns: self.patterns.clone().into_iter().collect(),
            disabled: self.disabled_rules.clone(),
            hold_ms: self.hold_ms,
            hold_secret_ms: self.hold_secret_ms,
            hold_bytes: self.hold_bytes,
        })
        .map(Some)
    }
}
