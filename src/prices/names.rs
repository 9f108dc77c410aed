//! The forms in which a model's name is looked up, because runners, clouds and routers add to it.
//!
//! Input: a name as a runner spells it. Output: the name in lower case, then shorter forms of it, in the order of docs/costs.md: without what is in brackets at
//! its end, without the provider before it, without the version after it. Never: a form without what makes a price differ (`:free`,
//! `-mini`, `-preview`).

/// The regions that Amazon Bedrock writes before the provider.
const REGIONS: &[&str] = &["apac", "au", "ca", "eu", "global", "jp", "sa", "us", "us-gov"];

/// The providers that Amazon Bedrock and others write before a name, followed by a dot.
const PROVIDERS: &[&str] = &[
    "amazon",
    "anthropic",
    "cohere",
    "deepseek",
    "google",
    "meta",
    "minimax",
    "mistral",
    "moonshot",
    "openai",
    "qwen",
    "xai",
    "zai",
];

/// The digits of a date such as 20251101.
const DATE_DIGITS: usize = 8;

/// The forms of a name, each once, the longest first.
pub(super) fn forms(name: &str) -> Vec<String> {
    let mut forms = vec![name.trim().to_lowercase()];
    let steps = [without_brackets, without_path, without_provider, without_revision, without_date, without_latest];
    for step in steps {
        if let Some(shorter) = forms.last().and_then(|last| step(last)).filter(|shorter| !shorter.is_empty()) {
            let shorter = shorter.to_owned();
            forms.push(shorter);
        }
    }
    forms
}

/// `claude-opus-5-5[1m]`, `gpt-6.1-sol[high]`, `qwen3-max(openai)`.
fn without_brackets(name: &str) -> Option<&str> {
    let open = name.ends_with(']').then_some('[').or_else(|| name.ends_with(')').then_some('('))?;
    name.rsplit_once(open).map(|(before, _)| before.trim_end())
}

/// `openrouter/anthropic/claude-opus-4.5`, `$runtime|openai|qwen3-max`.
fn without_path(name: &str) -> Option<&str> {
    name.rsplit_once(['/', '|']).map(|(_, after)| after)
}

/// `us.anthropic.claude-opus-4-5`, `anthropic.claude-opus-4-5`.
fn without_provider(name: &str) -> Option<&str> {
    let (first, after) = name.split_once('.')?;
    let (provider, after) = if REGIONS.contains(&first) { after.split_once('.')? } else { (first, after) };
    PROVIDERS.contains(&provider).then_some(after)
}

/// `claude-opus-4-5-20251101-v1:0` of Amazon Bedrock, `claude-opus-4-5@20251101` of Google Cloud.
fn without_revision(name: &str) -> Option<&str> {
    if let Some((before, _)) = name.split_once('@') {
        return Some(before);
    }
    let (before, version) = name.rsplit_once("-v")?;
    let is_number = |digits: &str| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    version.split_once(':').is_some_and(|(major, minor)| is_number(major) && is_number(minor)).then_some(before)
}

/// `claude-opus-4-5-20251101`, `gpt-5-2025-08-07`.
fn without_date(name: &str) -> Option<&str> {
    [DATE_DIGITS, DATE_DIGITS + 2].into_iter().find_map(|length| {
        let (before, date) = name.split_at_checked(name.len().checked_sub(length)?)?;
        let mut parts = date.split('-');
        let is_date = match length {
            DATE_DIGITS => date.bytes().all(|byte| byte.is_ascii_digit()),
            _ => [4, 2, 2].into_iter().all(|digits| {
                parts.next().is_some_and(|part| part.len() == digits && part.bytes().all(|byte| byte.is_ascii_digit()))
            }),
        };
        before.strip_suffix('-').filter(|_| is_date && date.starts_with("20"))
    })
}

fn without_latest(name: &str) -> Option<&str> {
    name.strip_suffix("-latest")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_form_is_the_vendors_own_name() {
        for (name, last) in [
            ("claude-opus-4-5", "claude-opus-4-5"),
            ("claude-opus-4-5-20251101", "claude-opus-4-5"),
            ("claude-opus-5-5[1m]", "claude-opus-5-5"),
            ("Anthropic/Claude-Opus-4.5", "claude-opus-4.5"),
            ("openrouter/anthropic/claude-opus-4.5", "claude-opus-4.5"),
            ("us.anthropic.claude-opus-4-5-20251101-v1:0", "claude-opus-4-5"),
            ("anthropic.claude-3-haiku-20240307-v1:0", "claude-3-haiku"),
            ("bedrock/eu.anthropic.claude-sonnet-4-5-20250929-v1:0", "claude-sonnet-4-5"),
            ("claude-opus-4-5@20251101", "claude-opus-4-5"),
            ("vertex_ai/claude-opus-4-5@20251101", "claude-opus-4-5"),
            ("claude-3-5-haiku-latest", "claude-3-5-haiku"),
            ("gpt-6.1-sol[xhigh]", "gpt-6.1-sol"),
            ("gpt-5-2025-08-07", "gpt-5"),
            ("openai/gpt-5.1-codex", "gpt-5.1-codex"),
            ("$runtime|openai|qwen3-coder-plus(openai)", "qwen3-coder-plus"),
            ("models/gemini-2.5-pro", "gemini-2.5-pro"),
            // What these say decides the price.
            ("qwen/qwen3-coder:free", "qwen3-coder:free"),
            ("gpt-5-mini", "gpt-5-mini"),
            ("gemini-2.5-pro-preview-06-05", "gemini-2.5-pro-preview-06-05"),
            ("gpt-5.5", "gpt-5.5"),
            ("us.gpt-5.5", "us.gpt-5.5"),
            ("deepseek-v3", "deepseek-v3"),
            ("model-12345678", "model-12345678"),
            ("-20251101", "-20251101"),
            ("[1m]", "[1m]"),
            ("", ""),
            ("ä-2025", "ä-2025"),
        ] {
            assert_eq!(forms(name).last().map(String::as_str), Some(last), "{name}");
        }
    }

    #[test]
    fn longer_forms_come_first() {
        let forms = forms("bedrock/us.anthropic.claude-opus-4-5-20251101-v1:0");
        assert_eq!(
            forms,
            [
                "bedrock/us.anthropic.claude-opus-4-5-20251101-v1:0",
                "us.anthropic.claude-opus-4-5-20251101-v1:0",
                "claude-opus-4-5-20251101-v1:0",
                "claude-opus-4-5-20251101",
                "claude-opus-4-5",
            ]
        );
    }
}
