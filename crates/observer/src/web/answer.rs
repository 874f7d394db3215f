//! What is answered when something cannot be had: a status and one line.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Serialize;

/// Why there is no answer.
#[derive(Debug)]
pub(crate) struct Refusal(StatusCode, String);

#[derive(Serialize)]
struct Said<'a> {
    error: &'a str,
}

impl Refusal {
    pub(crate) fn new(status: StatusCode, why: impl Into<String>) -> Self {
        let mut line = String::new();
        // WHY: some repeat what was asked, which may be several lines.
        for letter in why.into().chars() {
            if letter.is_control() {
                line.extend(letter.escape_default());
            } else {
                line.push(letter);
            }
        }
        Self(status, line)
    }

    /// What was asked makes no sense.
    pub(crate) fn bad(why: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, why)
    }

    /// What was asked for is not there.
    pub(crate) fn gone(why: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, why)
    }

    /// It may not be done.
    pub(crate) fn forbidden(why: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, why)
    }

    /// The node has ended, or is about to.
    pub(crate) fn stopped() -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "the node has stopped")
    }

    /// The node has not been looked at in time.
    pub(crate) fn late() -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "the node has not been looked at in time")
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        (self.0, Json(Said { error: &self.1 })).into_response()
    }
}
