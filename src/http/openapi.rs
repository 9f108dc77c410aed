//! stub
use super::body::Body;
use super::router::no_content;
pub(super) fn answer() -> hyper::Response<Body> {
    no_content()
}
