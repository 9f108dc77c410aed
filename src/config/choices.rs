//! The words that settings choose from.
//!
//! Each is spelled in `config.toml` as it is here, in lower case.

use serde::{Deserialize, Serialize};
use std::net::SocketAddr;

/// Whether the proxy serves the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum UiEnabled {
    /// If the proxy listens on a loopback address.
    Auto,
    /// Always.
    On,
    /// Never.
    Off,
}

impl UiEnabled {
    /// Whether a proxy that listens on this address serves the page.
    pub fn at(self, listen: SocketAddr) -> bool {
        match self {
            Self::Auto => listen.ip().is_loopback(),
            Self::On => true,
            Self::Off => false,
        }
    }
}

/// The kind of storage for frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogKind {
    /// In the memory of this process.
    Memory,
    /// In an SQLite file.
    Sqlite,
    /// At NATS servers with JetStream.
    Jetstream,
}

/// Where the servers of [`LogKind::Jetstream`] keep frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StorageKind {
    /// In files.
    File,
    /// In memory.
    Memory,
}

/// When writes are synced to the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FsyncKind {
    /// Before an append is acknowledged.
    Always,
    /// At a fixed interval.
    Interval,
    /// Only when the operating system does it.
    Never,
}

/// The decision on an unanswered request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Unanswered {
    /// The request is denied.
    Deny,
    /// The request is allowed.
    Allow,
}

/// What happens to an event that breaks its schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum GateMode {
    /// Events are not checked.
    Off,
    /// It is sent, reported on stderr and counted.
    Warn,
    /// It is withheld, reported on stderr and counted; the contract's own error or gap event is sent in its place.
    Enforce,
}

/// The format of log lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// Human-readable text.
    Text,
    /// One JSON object on each line.
    Json,
}

/// The encoding of spans that are sent to a collector.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum OtlpProtocol {
    /// Protobuf over HTTP, which every collector accepts.
    #[serde(rename = "http/protobuf")]
    Protobuf,
    /// JSON over HTTP.
    #[serde(rename = "http/json")]
    Json,
    /// Protobuf over gRPC.
    #[serde(rename = "grpc")]
    Grpc,
}

/// The compression of requests to a collector.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OtlpCompression {
    /// None.
    None,
    /// gzip.
    Gzip,
}

/// What spans contain of prompts, answers, and the arguments and results of tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SpanContent {
    /// Nothing.
    None,
    /// All of it, up to its limits of bytes.
    Messages,
}
