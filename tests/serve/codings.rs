//! Bodies that are compressed, or encoded in UTF-16.

use crate::client::{Upload, get, post};
use crate::proxy::{Proxy, recording};
use flate2::Compression;
use flate2::write::GzEncoder;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use std::io::Write;

const INGEST: &str = "/v1/ingest/claude-code";

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    compress_to_vec(bytes, CompressionLevel::Fastest)
}

fn raw(proxy: &Proxy, made: &serde_json::Value) -> Vec<u8> {
    let run = made["runs"][0]["run_id"].as_str().unwrap_or_else(|| panic!("{made:#}"));
    let path = format!("/v1/runs/{run}/events?contract=raw");
    get(proxy.address, &path, &[("accept", "application/octet-stream")]).bytes()
}

#[test]
fn a_compressed_body_is_read_as_the_original() {
    let proxy = Proxy::start();
    let bytes = recording("claude-code", "parallel_tools.partial.ndjson");
    let plain = post(proxy.address, INGEST, &[], &bytes).json();
    let expected = raw(&proxy, &plain);
    for (coding, body) in
        [("gzip", gzip(&bytes)), ("x-gzip", gzip(&bytes)), ("zstd", zstd(&bytes)), ("identity", bytes.clone())]
    {
        let made = post(proxy.address, INGEST, &[("content-encoding", coding)], &body).json();
        assert_eq!(made["records"], plain["records"], "{coding}: {made:#}");
        assert!(raw(&proxy, &made) == expected, "{coding}");
        let mut upload = Upload::start(proxy.address, "/v1/ingest/auto", &[("content-encoding", coding)]);
        body.chunks(997).for_each(|piece| upload.send(piece));
        assert_eq!(upload.finish().json()["records"], plain["records"], "{coding} in pieces");
    }
}

#[test]
fn a_gzip_body_is_read_while_it_arrives() {
    let proxy = Proxy::start();
    let bytes = recording("claude-code", "text_plain.partial.ndjson");
    let line_end = bytes.iter().position(|&byte| byte == b'\n').unwrap() + 1;
    let headers = [("content-encoding", "gzip"), ("accept", "application/x-ndjson; contract=frames.v2")];
    let mut upload = Upload::start(proxy.address, INGEST, &headers);
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(&bytes[..line_end]).unwrap();
    encoder.flush().unwrap();
    upload.send(&std::mem::take(encoder.get_mut()));
    let mut answer = upload.answer();
    assert!(answer.line().unwrap().contains("session_started"));
    encoder.write_all(&bytes[line_end..]).unwrap();
    upload.send(&encoder.finish().unwrap());
    upload.end();
    let last = std::iter::from_fn(|| answer.line()).last().unwrap();
    assert!(last.contains("session_ended") && last.contains("completed"), "{last}");
}

#[test]
fn a_body_that_cannot_be_decompressed_is_refused_and_its_readable_part_kept() {
    let proxy = Proxy::start();
    let bytes = recording("claude-code", "text_plain.ndjson");
    for coding in ["br", "deflate", "compress", "gzip, zstd"] {
        let refused = post(proxy.address, INGEST, &[("content-encoding", coding)], &bytes);
        assert_eq!((refused.status, refused.header("accept-encoding")), (415, "gzip, zstd"), "{coding}");
    }
    let runs = || get(proxy.address, "/v1/runs", &[]).json()["data"].as_array().unwrap().len();
    assert_eq!(runs(), 0, "nothing must be read");
    let cut = gzip(&bytes);
    let answer = post(proxy.address, INGEST, &[("content-encoding", "gzip")], &cut[..cut.len() - 4]);
    assert_eq!(answer.status, 400);
    assert!(answer.json()["detail"].as_str().unwrap().contains("ends in the middle"));
    assert_eq!(runs(), 1);
    let answer = post(proxy.address, INGEST, &[("content-encoding", "zstd")], &bytes);
    assert_eq!((answer.status, runs()), (400, 1));
}

#[test]
fn a_decompression_bomb_is_refused() {
    let proxy = Proxy::with(&[("FRAMEGATE__INGEST__MAX_DECOMPRESSED_BYTES", "2000000")]);
    let blank = vec![b'\n'; 64 << 20];
    for (coding, body) in [("gzip", gzip(&blank)), ("zstd", zstd(&blank))] {
        let answer = post(proxy.address, INGEST, &[("content-encoding", coding)], &body);
        assert_eq!(answer.status, 413, "{coding}");
        let detail = answer.json()["detail"].as_str().unwrap().to_owned();
        assert!(
            detail.contains("ingest.max_compression_ratio") || detail.contains("ingest.max_decompressed"),
            "{detail}"
        );
    }
    let bytes = recording("claude-code", "bash_large.ndjson").repeat(400);
    assert!(bytes.len() > 2_000_000);
    let answer = post(proxy.address, INGEST, &[("content-encoding", "gzip")], &gzip(&bytes));
    assert_eq!(answer.status, 413);
}

#[test]
fn utf_16_is_read_as_text_and_other_charsets_are_refused() {
    let proxy = Proxy::start();
    let text = String::from_utf8(recording("claude-code", "text_plain.ndjson")).unwrap();
    let plain = post(proxy.address, INGEST, &[], text.as_bytes()).json();
    let expected = raw(&proxy, &plain);
    let little = |mark: &str| [mark, &text].concat().encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    let big = [text.as_str()].concat().encode_utf16().flat_map(u16::to_be_bytes).collect::<Vec<u8>>();
    for (media, body) in [
        ("application/x-ndjson", little("\u{FEFF}")),
        ("application/x-ndjson", little("")),
        ("application/x-ndjson; charset=utf-16", big.clone()),
        ("application/x-ndjson; charset=UTF-16BE", big.clone()),
    ] {
        let made = post(proxy.address, INGEST, &[("content-type", media)], &body).json();
        assert!(raw(&proxy, &made) == expected, "{media}");
    }
    let both = [("content-type", "application/x-ndjson; charset=utf-16"), ("content-encoding", "gzip")];
    assert!(raw(&proxy, &post(proxy.address, INGEST, &both, &gzip(&big)).json()) == expected);
    let refused = post(proxy.address, INGEST, &[("content-type", "text/plain; charset=iso-8859-1")], text.as_bytes());
    assert_eq!(refused.status, 415);
    assert!(refused.json()["detail"].as_str().unwrap().contains("iso-8859-1"));
    let wide: Vec<u8> = text.chars().flat_map(|letter| u32::from(letter).to_le_bytes()).collect();
    assert_eq!(post(proxy.address, INGEST, &[], &wide).status, 415);
}

#[test]
fn requests_of_the_api_can_be_compressed_too() {
    let proxy = Proxy::start();
    let order = br#"{"upstream":"unknown","prompt":"hello"}"#;
    for (coding, body) in [("gzip", gzip(order)), ("zstd", zstd(order))] {
        let answer = post(proxy.address, "/v1/runs", &[("content-encoding", coding)], &body);
        assert_eq!(answer.status, 404, "{coding}: the body is read, and its upstream is unknown");
    }
    assert_eq!(post(proxy.address, "/v1/runs", &[("content-encoding", "br")], order).status, 415);
    let bomb = gzip(&vec![b' '; 64 << 20]);
    assert_eq!(post(proxy.address, "/v1/runs", &[("content-encoding", "gzip")], &bomb).status, 400);
}
