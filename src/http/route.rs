//! A route: one method of one path, with all that belongs to it; and the call of its handler.
//!
//! Input: a path, and an admitted request. Output: the values of the path's parameters and of the query, for the handler. Never: a
//! handler that reads a query parameter without the route's list.

use super::problem::Problem;
use super::query::Query;
use super::reply::Body;
use super::shared::Shared;
use crate::auth::Scope;
use hyper::body::Incoming;
use hyper::{Method, Request, Response, StatusCode};
use serde_json::Value;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

/// What a route requires of its caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    /// Nothing: process monitors have no token, and a browser has none yet when it loads the page.
    Open,
    /// Any token, if tokens are configured.
    AnyToken,
    /// A token with this scope, if tokens are configured.
    Needs(Scope),
}

/// The response to a call.
pub(super) type Answer = Pin<Box<dyn Future<Output = Result<Response<Body>, Problem>> + Send>>;

/// One method of one path.
#[derive(Debug)]
pub(super) struct Route {
    pub(super) method: Method,
    /// A segment in braces matches any single segment that is not empty.
    pub(super) path: &'static str,
    pub(super) access: Access,
    /// The query parameters that the handler accepts.
    pub(super) query: &'static [&'static str],
    /// Whether other query parameters are ignored or passed on, because clients of other APIs, or browsers, add some.
    pub(super) allows_others: bool,
    /// Whether it reports the state of the proxy. Such routes are served on reserved connections and until the end of a shutdown.
    pub(super) is_probe: bool,
    pub(super) handler: fn(Call) -> Answer,
    /// The operation in `/openapi.json`, without the problems that precede every handler.
    pub(super) operation: fn() -> Value,
}

impl Route {
    pub(super) const fn new(
        method: Method,
        path: &'static str,
        access: Access,
        handler: fn(Call) -> Answer,
        operation: fn() -> Value,
    ) -> Self {
        Self { method, path, access, query: &[], allows_others: false, is_probe: false, handler, operation }
    }

    /// Sets the query parameters that the handler accepts.
    pub(super) const fn query(mut self, query: &'static [&'static str]) -> Self {
        self.query = query;
        self
    }

    /// Lets the query have other parameters.
    pub(super) const fn allowing_others(mut self) -> Self {
        self.allows_others = true;
        self
    }

    /// Declares the route a probe.
    pub(super) const fn probe(mut self) -> Self {
        self.is_probe = true;
        self.allows_others = true;
        self
    }

    /// The names of the parameters in the path, in order.
    pub(super) fn parameters(&self) -> impl Iterator<Item = &'static str> {
        self.path.split('/').filter_map(|segment| segment.strip_prefix('{')?.strip_suffix('}'))
    }

    /// The values of the parameters in a path, in order; `None` if the path does not match.
    pub(super) fn fit<'p>(&self, path: &'p str) -> Option<Vec<&'p str>> {
        let mut values = Vec::new();
        let mut segments = path.split('/');
        for wanted in self.path.split('/') {
            let segment = segments.next()?;
            if wanted.starts_with('{') && !segment.is_empty() {
                values.push(segment);
            } else if wanted != segment {
                return None;
            }
        }
        segments.next().is_none().then_some(values)
    }
}

/// An admitted request, for the handler of its route.
pub(super) struct Call {
    pub(super) request: Request<Incoming>,
    pub(super) path: PathValues,
    /// The query parameters that the route accepts.
    pub(super) known: &'static [&'static str],
    pub(super) shared: Arc<Shared>,
}

impl Call {
    /// Parses the query.
    ///
    /// # Errors
    /// 400: see [`Query::read`].
    pub(super) fn query(&self) -> Result<Query, Problem> {
        Query::read(self.request.uri().query(), self.known)
    }
}

/// The values of the parameters in a path, in order.
pub(super) struct PathValues(Vec<String>);

impl PathValues {
    pub(super) fn new(values: &[&str]) -> Self {
        Self(values.iter().map(|value| (*value).to_owned()).collect())
    }

    /// The values.
    ///
    /// # Errors
    /// 500 if the path does not have that many parameters: then the route table and the handler disagree.
    pub(super) fn get<const N: usize>(&self) -> Result<[&str; N], Problem> {
        let values: Vec<&str> = self.0.iter().map(String::as_str).collect();
        values.try_into().map_err(|values: Vec<&str>| {
            tracing::error!(expected = N, found = values.len(), "the path of a route does not fit its handler");
            Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "this path cannot be answered")
        })
    }

    /// All values, joined by slashes.
    pub(super) fn joined(&self) -> String {
        self.0.join("/")
    }
}
