//! The check that a runner takes the files of a prompt, before anything is started or sent.
//!
//! Input: the files, and the dialogue that would send them. Output: nothing, or why the prompt is refused. Never: a file that is left out silently.

use super::StartError;
use framegate_translators::host::{Dialogue, FileContent, PromptFile};
use framegate_translators::runners::Runner;

/// Whether a runner takes images.
pub(super) fn takes_images(runner: &Runner) -> bool {
    let content = FileContent::Base64(String::new());
    let image = PromptFile { media_type: "image/png".to_owned(), name: None, content };
    runner.dialogue.is_some_and(|make| make().takes(&image))
}

/// Refuses files that the runner does not take. Without a dialogue, a runner takes none.
pub(super) fn check(dialogue: Option<&dyn Dialogue>, files: &[PromptFile]) -> Result<(), StartError> {
    let takes = |file: &PromptFile| dialogue.is_some_and(|dialogue| dialogue.takes(file));
    match files.iter().find(|file| !takes(file)) {
        None => Ok(()),
        Some(PromptFile { media_type, .. }) if dialogue.is_some() => {
            Err(StartError::Refused(format!("the runner of this upstream takes no files of the type {media_type}")))
        }
        Some(_) => Err(StartError::Refused("this upstream takes no files with a prompt".to_owned())),
    }
}
