//! `GET /schemas/…`: the JSON Schemas of the contracts. `GET /v1/contracts`: where they are.
//!
//! Input: a path. Output: a schema exactly as written, or the bundle of a contract, with an `ETag`. Never: a text that
//! changes while the proxy runs.
//!
//! A schema is at `/schemas/{contract}/{type}.json`, a bundle at `/schemas/{contract}.json`, and what the contract's document
//! allows at `/schemas/{contract}/document.json`. Each is also available at the path of its `$id`, so that an `$id` resolved
//! against this server leads to it.

use super::etag::is_known;
use super::problem::Problem;
use super::reply::{Body, empty, full, json_response};
use super::route::Call;
use crate::catalogue;
use bytes::Bytes;
use framegate_translators::contracts::CONTRACTS;
use framegate_translators::publish::{bundle, bundle_id, schema_id};
use hyper::header::{self, HeaderValue};
use hyper::{Response, StatusCode};
use serde_json::json;
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::sync::LazyLock;

/// A published text and its entity tag.
#[derive(Clone)]
struct Published {
    text: Bytes,
    etag: HeaderValue,
}

impl Published {
    /// `None` cannot happen: hexadecimal digits are a valid header value.
    fn new(text: Bytes) -> Option<Self> {
        let digest = Sha256::digest(&text);
        let etag = HeaderValue::from_str(&format!("\"{digest:x}\"")).ok()?;
        Some(Self { text, etag })
    }
}

/// The published texts, by the path after `/schemas/`.
static PUBLISHED: LazyLock<HashMap<String, Published>> = LazyLock::new(|| {
    let mut all = HashMap::new();
    let mut publish = |path: String, id: &str, text: Bytes| {
        let Some(published) = Published::new(text) else { return };
        if let Some((_, by_id)) = id.split_once("/schemas/") {
            all.insert(by_id.to_owned(), published.clone());
        }
        all.insert(path, published);
    };
    for contract in CONTRACTS.iter().filter(|contract| !contract.schemas.is_empty()) {
        publish(format!("{}.json", contract.name), &bundle_id(contract), bundle(contract).into());
        if let Some(file) = contract.document_schema {
            let text = Bytes::from_static(file.text().as_bytes());
            publish(format!("{}/document.json", contract.name), &schema_id(file), text);
        }
        for file in contract.schemas {
            let text = Bytes::from_static(file.text().as_bytes());
            publish(format!("{}/{}.json", contract.name, file.kind), &schema_id(file), text);
        }
    }
    all
});

/// How long clients may cache a schema. A new release may have new schemas.
const CACHE_CONTROL: &str = "max-age=3600";

/// `GET /v1/contracts`: the contracts with the paths of their schemas, and the runners.
pub(super) async fn catalogue(_: Call) -> Result<Response<Body>, Problem> {
    Ok(json_response(&json!({"contracts": catalogue::contracts(), "runners": catalogue::runners()})))
}

/// Responds with the schema at a path.
pub(super) async fn schema(call: Call) -> Result<Response<Body>, Problem> {
    let (path, headers) = (&*call.path.joined(), call.request.headers());
    let unknown = || {
        Problem::not_found(format!(
            "there is no schema {path:?}; GET /v1/contracts lists the paths of all schemas, such as \
             /schemas/frames.v2/tool_started.json"
        ))
    };
    let published = PUBLISHED.get(path).ok_or_else(unknown)?;
    let mut response = if is_known(headers, published.etag.as_bytes()) {
        let mut response = Response::new(empty());
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        response
    } else {
        let mut response = Response::new(full(published.text.clone()));
        response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/schema+json"));
        response
    };
    response.headers_mut().insert(header::ETAG, published.etag.clone());
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static(CACHE_CONTROL));
    Ok(response)
}
