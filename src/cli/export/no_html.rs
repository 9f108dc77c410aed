//! Takes the place of the HTML file in a build without the feature `ui`: there is no page to put the data into.

use crate::features::WITHOUT_UI;
use anyhow::bail;

pub(super) fn document(_: &str) -> anyhow::Result<String> {
    bail!("--html needs the page, but {WITHOUT_UI}")
}
