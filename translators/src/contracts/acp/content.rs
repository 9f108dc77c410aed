//! The content of a call: texts and diffs.

use super::data::{Block, text};
use super::diff::Hunk;
use crate::contracts::live_output::Output;
use crate::encode::{Data, ObjectWriter, Word, data, key};
use std::borrow::Cow;

data! {
    struct Text<'a> {
        kind: Word => "type",
        content: Block<'a>,
    }
}

/// One item of a call's content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Item<'a> {
    Text(Cow<'a, str>),
    /// A part of a file before and after a change; `old` is `None` for a new file.
    Diff {
        path: Cow<'a, str>,
        old: Option<Cow<'a, str>>,
        new: Cow<'a, str>,
    },
}

impl Data for Item<'_> {
    fn fields(&self, map: &mut ObjectWriter<'_>) {
        match self {
            Self::Text(said) => Text { kind: Word("content"), content: text(said) }.fields(map),
            Self::Diff { path, old, new } => {
                map.word(key!("type"), "diff");
                map.text(key!("path"), path);
                if let Some(old) = old {
                    map.text(key!("oldText"), old);
                }
                map.text(key!("newText"), new);
            }
        }
    }
}

/// A tool's output: an item for each stream that has any.
pub(super) fn of_output(output: &Output) -> Vec<Item<'_>> {
    let streams = [output.stdout(), output.stderr()].into_iter().filter(|stream| !stream.is_empty());
    streams.map(|stream| Item::Text(Cow::Borrowed(stream))).collect()
}

/// A change of a file, hunk by hunk.
pub(super) fn of_hunks<'a>(path: &'a str, hunks: Vec<Hunk>, is_new: bool) -> impl Iterator<Item = Item<'a>> {
    hunks.into_iter().map(move |hunk| Item::Diff {
        path: Cow::Borrowed(path),
        old: (!is_new).then_some(Cow::Owned(hunk.old)),
        new: Cow::Owned(hunk.new),
    })
}
