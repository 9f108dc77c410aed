//! Takes the place of the page in a build without the feature `ui`: its paths say that the page is not part of this build.

use super::problem::Problem;
use super::reply::Body;
use super::route::Call;
use crate::features::WITHOUT_UI;
use hyper::Response;

/// `GET /`.
pub(super) async fn index(_: Call) -> Result<Response<Body>, Problem> {
    Err(Problem::not_found(WITHOUT_UI))
}

/// `GET /app.js`.
pub(super) async fn script(_: Call) -> Result<Response<Body>, Problem> {
    Err(Problem::not_found(WITHOUT_UI))
}

/// `GET /app.css`.
pub(super) async fn style(_: Call) -> Result<Response<Body>, Problem> {
    Err(Problem::not_found(WITHOUT_UI))
}
