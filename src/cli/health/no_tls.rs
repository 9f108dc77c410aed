//! Takes the place of TLS in a build without the feature `tls`: a proxy at an `https` URL cannot be probed.

use super::Trust;
use crate::features::WITHOUT_TLS;
use anyhow::bail;
use tokio::net::TcpStream;

pub(super) async fn secured(_: TcpStream, _: &str, _: &Trust<'_>) -> anyhow::Result<TcpStream> {
    bail!(WITHOUT_TLS)
}
