//! The names whose values are secrets.
//!
//! Input: the configured keys, then a name in any spelling (`apiKey`, `API-KEY`, `api_key`). Output: whether its value is a
//! secret, and how certain that is. Never: names that only look similar, such as `max_tokens` or `next_page_token`.

/// The default keys whose values are secrets. `*_` at the start matches any words before the rest.
pub const DEFAULT_KEYS: &[&str] = &[
    "api_key",
    "*_api_key",
    "apikey",
    "*_apikey",
    "authorization",
    "proxy_authorization",
    "password",
    "*_password",
    "pgpassword",
    "passwd",
    "*_passwd",
    "*_pass",
    "*_pwd",
    "sshpass",
    "passphrase",
    "*_passphrase",
    "secret",
    "*_secret",
    "secret_key",
    "*_secret_key",
    "access_key",
    "*_access_key",
    "account_key",
    "*_account_key",
    "private_key",
    "*_private_key",
    "signing_key",
    "*_signing_key",
    "encryption_key",
    "*_encryption_key",
    "master_key",
    "*_master_key",
    "auth_key",
    "*_auth_key",
    "functions_key",
    "*_functions_key",
    "subscription_key",
    "*_subscription_key",
    "*_auth",
    "token",
    "*_token",
    "cookie",
    "set_cookie",
    "*_cookie",
    "*_credential",
];

/// The words before `_token` in names that do not name a secret: positions in a list, terms of a language model, limits.
const HARMLESS_TOKENS: &str = "next page continuation pagination sync pad eos bos unk sep cls mask stop start end special \
    image per max min first last cancellation cancel progress design";
/// Other names that end like a key but do not name a secret.
const HARMLESS: &[&str] = &["oauth", "basic_auth", "no_auth"];

/// Keys whose values are never changed: what the provider signed or sealed becomes worthless when one byte changes.
pub(super) const EXEMPT: &[&str] =
    &["signature", "thinking_signature", "thought_signature", "encrypted_content", "sha256", "integrity"];

/// Keys inside the value of a secret key whose own values describe the secret: those of JSON Schema, OpenAPI, forms and lock
/// files.
const DESCRIBING: &str = "title description summary pattern example enum ref label message placeholder checksum hash digest \
    resolved etag commit sha sha1 sha512";

/// Keys of a schema that contain a sample value. Most samples are words, but some are real secrets.
const SHOWING: &[&str] = &["default", "const", "examples"];

/// What a name says about its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A key from the settings that is not a default one: any value is a secret.
    Own,
    /// A password, which a person may have chosen.
    Password,
    Other,
    /// A sample value of a schema.
    Shown,
}

/// What a key inside the value of a secret key says about its own value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum KeyMeaning {
    #[default]
    Unknown,
    /// The value describes the secret.
    Describes,
    /// The value is a sample.
    Shows,
}

/// Classifies a key inside the value of a secret key.
pub(super) fn meaning_of(key: &str) -> KeyMeaning {
    let name = canonical(key.trim_start_matches('$'));
    let name = name.as_str();
    match name {
        _ if SHOWING.contains(&name) => KeyMeaning::Shows,
        _ if DESCRIBING.split(' ').any(|word| word == name) || EXEMPT.contains(&name) => KeyMeaning::Describes,
        _ => KeyMeaning::Unknown,
    }
}

/// Whether a name that ends like a key names no secret.
fn is_harmless(name: &str) -> bool {
    let before = name.strip_suffix("_token");
    HARMLESS.iter().any(|end| name.ends_with(end))
        || before.is_some_and(|before| HARMLESS_TOKENS.split(' ').any(|word| before.ends_with(word)))
}

/// Normalises the spelling of a key: `apiKey`, `API-KEY` and `api_key` are the same.
pub(super) fn canonical(key: &str) -> String {
    let mut name = Vec::with_capacity(key.len() + 4);
    let mut was_small = false;
    // Byte by byte, since only ASCII characters change.
    for byte in key.bytes() {
        if byte.is_ascii_uppercase() && was_small {
            name.push(b'_');
        }
        was_small = byte.is_ascii_lowercase() || byte.is_ascii_digit();
        name.push(match byte {
            b'-' | b'.' | b' ' => b'_',
            _ => byte.to_ascii_lowercase(),
        });
    }
    String::from_utf8(name).unwrap_or_default()
}

/// The last two bytes of a name, as an index; `None` if it is shorter.
fn last_pair(name: &str) -> Option<usize> {
    name.as_bytes().last_chunk().map(|pair| usize::from(u16::from_le_bytes(*pair)))
}

/// The configured keys.
pub(super) struct Keys {
    /// Each with a flag that is set unless it is one of the default keys.
    whole: Vec<(String, bool)>,
    ends: Vec<(String, bool)>,
    /// The words that the keys consist of.
    words: Vec<String>,
    /// For each pair of bytes, whether a key ends in it: most names end in no such pair.
    lasts: Vec<bool>,
}

impl Keys {
    pub(super) fn new<'k>(keys: impl Iterator<Item = &'k str>) -> Self {
        let mut this = Self { whole: Vec::new(), ends: Vec::new(), words: Vec::new(), lasts: vec![false; 1 << 16] };
        for key in keys {
            let is_own = !DEFAULT_KEYS.contains(&key);
            match key.strip_prefix('*') {
                Some(end) => this.ends.push((canonical(end), is_own)),
                None => this.whole.push((canonical(key), is_own)),
            }
        }
        let words =
            this.all().flat_map(|key| key.split('_')).filter(|word| !word.is_empty()).map(str::to_owned).collect();
        this.words = words;
        this.words.sort_unstable();
        this.words.dedup();
        let lasts: Option<Vec<usize>> = this.all().map(last_pair).collect();
        match lasts {
            Some(lasts) => {
                for pair in lasts {
                    this.lasts.get_mut(pair).into_iter().for_each(|is_last| *is_last = true);
                }
            }
            // A key of one byte: any name may end in it.
            None => this.lasts.fill(true),
        }
        this
    }

    /// The keys, normalised and without what `*` matches.
    pub(super) fn all(&self) -> impl Iterator<Item = &str> {
        self.whole.iter().chain(&self.ends).map(|(key, _)| key.as_str())
    }

    /// Whether a word of a key begins with `front`.
    pub(super) fn has_word(&self, front: &[u8]) -> bool {
        let Some(first) = front.first().map(u8::to_ascii_lowercase) else { return false };
        // The words are sorted and in lower case.
        let from = self.words.partition_point(|word| word.as_bytes().first() < Some(&first));
        let begins =
            |word: &String| word.as_bytes().get(..front.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(front));
        let words = self.words.get(from..).unwrap_or_default();
        words.iter().take_while(|word| word.as_bytes().first() == Some(&first)).any(begins)
    }

    /// Whether the value of a name is a secret.
    pub(super) fn has(&self, key: &str) -> bool {
        self.kind(&canonical(key)).is_some()
    }

    /// The kind of the value of a normalised name. `None` if it is not a secret.
    pub(super) fn kind(&self, name: &str) -> Option<Kind> {
        // A path, such as the name of a package in a lock file.
        if !self.may_end(name) || name.contains('/') {
            return None;
        }
        let whole = self.whole.iter().filter(|(key, _)| key == name);
        let ends = self.ends.iter().filter(|(end, _)| name.ends_with(end.as_str()));
        let is_own = whole.chain(ends).map(|(_, is_own)| *is_own).reduce(|one, other| one || other)?;
        let last = name.rsplit('_').next().unwrap_or_default();
        match last {
            _ if is_own => Some(Kind::Own),
            _ if is_harmless(name) => None,
            "password" | "passwd" | "passphrase" | "pass" | "pwd" | "pgpassword" | "sshpass" => Some(Kind::Password),
            _ => Some(Kind::Other),
        }
    }

    /// Whether a key ends in the last bytes of a name.
    fn may_end(&self, name: &str) -> bool {
        last_pair(name).is_none_or(|pair| self.lasts.get(pair) == Some(&true))
    }

    /// All spellings of the keys, in lower case and without what `*` matches.
    pub(super) fn literals(&self) -> Vec<String> {
        let mut all: Vec<String> = Vec::new();
        for key in self.all() {
            let mut spellings = vec![String::new()];
            for (at, part) in key.trim_start_matches('_').split('_').enumerate() {
                let joints: &[&str] = if at == 0 { &[""] } else { &["_", "-", ".", " ", ""] };
                // For a key with very many words, the last ones suffice.
                if spellings.len() > 64 {
                    spellings = vec![String::new()];
                }
                spellings = spellings
                    .iter()
                    .flat_map(|front| joints.iter().map(move |joint| format!("{front}{joint}{part}")))
                    .collect();
            }
            all.extend(spellings);
        }
        all.sort();
        all.dedup();
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_names_match_in_every_spelling() {
        let keys = Keys::new(DEFAULT_KEYS.iter().copied().chain(["badge"]));
        for name in [
            "apiKey",
            "API-KEY",
            "x-api-key",
            "PGPASSWORD",
            "MYSQL_PWD",
            "jwt_secret",
            "accessKey",
            "AccountKey",
            "SharedAccessKey",
            "GITHUB_TOKEN",
            "npm_config__authToken",
            "spring.datasource.password",
            "refreshToken",
            "Ocp-Apim-Subscription-Key",
        ] {
            assert!(keys.has(name), "{name}");
        }
        for name in [
            "max_tokens",
            "tokens",
            "next_page_token",
            "nextPageToken",
            "pad_token",
            "public_key",
            "keyboard",
            "oauth",
            "compass",
            "bypass",
        ] {
            assert!(!keys.has(name), "{name}");
        }
        assert_eq!((keys.kind("badge"), keys.kind("db_password")), (Some(Kind::Own), Some(Kind::Password)));
    }
}
