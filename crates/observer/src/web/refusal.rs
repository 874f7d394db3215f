//! Error responses: a status and one line.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::json;

/// An error response.
#[derive(Debug)]
pub(crate) struct Refusal(StatusCode, String);

impl Refusal {
    pub(crate) fn new(status: StatusCode, why: impl Into<String>) -> Self {
        let mut line = String::new();
        // WHY: some messages repeat the request, which may contain line breaks.
        for letter in why.into().chars() {
            if letter.is_control() {
                line.extend(letter.escape_default());
            } else {
                line.push(letter);
            }
        }
        Self(status, line)
    }

    /// The request is invalid.
    pub(crate) fn bad(why: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, why)
    }

    /// The requested item does not exist.
    pub(crate) fn gone(why: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, why)
    }

    /// The action is not permitted.
    pub(crate) fn forbidden(why: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, why)
    }

    /// The node has stopped or is about to.
    pub(crate) fn stopped() -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "the node has stopped")
    }

    /// No snapshot was completed in time.
    pub(crate) fn late() -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "no snapshot was completed in time")
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        (self.0, Json(json!({ "error": self.1 }))).into_response()
    }
}
