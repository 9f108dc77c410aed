//! A token that is fetched once, with a code.
//!
//! Input: a code and a token, once; then the codes of requests. Output: the token, for the right code and only once. Never: the code
//! itself in memory (only its digest); a comparison whose time reveals how much of a code was right.

use sha2::{Digest, Sha256};
use std::sync::{Mutex, PoisonError};
use subtle::ConstantTimeEq;

/// A token that can be fetched once, with a code.
pub(super) struct OneTime {
    /// `None` after it was fetched, and if there never was a code.
    left: Mutex<Option<Secrets>>,
}

struct Secrets {
    code: [u8; 32],
    token: String,
}

impl OneTime {
    /// Exchanges this code for this token; `None`: no code is valid.
    pub(super) fn new(secrets: Option<(&str, &str)>) -> Self {
        let secrets =
            secrets.map(|(code, token)| Secrets { code: Sha256::digest(code).into(), token: token.to_owned() });
        Self { left: Mutex::new(secrets) }
    }

    /// The token, if the code is right and was not used before.
    pub(super) fn redeem(&self, code: &str) -> Option<String> {
        let given: [u8; 32] = Sha256::digest(code).into();
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        let is_right = left.as_ref().is_some_and(|secrets| secrets.code.ct_eq(&given).into());
        if is_right { left.take().map(|secrets| secrets.token) } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_works_once_and_a_wrong_one_does_not_use_it_up() {
        let one_time = OneTime::new(Some(("right", "secret")));
        assert_eq!(one_time.redeem("wrong"), None);
        assert_eq!(one_time.redeem(""), None);
        assert_eq!(one_time.redeem("right"), Some("secret".to_owned()));
        assert_eq!(one_time.redeem("right"), None);
        assert_eq!(OneTime::new(None).redeem(""), None);
    }
}
