//! Who is let in: asked of every request, before anything else.
//!
//! | asked | of | refused |
//! |---|---|---|
//! | does `Host` say an address, `localhost`, or a name that was allowed? | everything | a page of a name that its owner points at this machine (DNS rebinding) |
//! | does `Sec-Fetch-Site` say that the page asks itself? | everything but the opening of the page | another site's page, whatever it asks |
//! | does `Origin` name the very host? | what changes something | the same, from browsers that do not say the first |
//! | is the token in `Authorization`? | everything but the page's own files | whoever does not know it |
//!
//! WHY the token travels in a header and not in a cookie: a browser sends the cookies of an address to every
//! port of it, to whoever listens there, and by itself, also when another site's page has it ask. A header it
//! sends only where our own script says so. The script has the token from the part of the link that browsers
//! send to nobody, and keeps it for one tab.

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header::{
    AUTHORIZATION, CACHE_CONTROL, CONTENT_SECURITY_POLICY, HOST, HeaderMap, HeaderName,
    HeaderValue, ORIGIN, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{Method, StatusCode, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::answer::Refusal;
use super::site::Site;

/// What a browser is told about every answer.
const HEADERS: [(HeaderName, &str); 6] = [
    (
        CONTENT_SECURITY_POLICY,
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
         base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; \
         trusted-types 'none'",
    ),
    (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (CACHE_CONTROL, "no-store"),
    (REFERRER_POLICY, "no-referrer"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
];

/// Lets a request in, or says why not.
pub(crate) async fn guard(State(site): State<Arc<Site>>, request: Request, next: Next) -> Response {
    let mut answer = match admit(&site, request.method(), request.uri(), request.headers()) {
        Ok(()) => next.run(request).await,
        Err(refusal) => refusal.into_response(),
    };
    for (name, value) in HEADERS {
        answer.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    answer
}

fn admit(site: &Site, method: &Method, uri: &Uri, headers: &HeaderMap) -> Result<(), Refusal> {
    let host = said(headers, HOST).or_else(|| uri.authority().map(|it| it.as_str()));
    let host = host.unwrap_or_default();
    if !may_be_called(host, &site.hosts) {
        return Err(Refusal::new(
            StatusCode::MISDIRECTED_REQUEST,
            "the observer is not called that: use an address, localhost, or a name that Observer::host allows",
        ));
    }
    let harmless = method == Method::GET || method == Method::HEAD;
    let own = own_file(uri.path());
    let opens = harmless && own;
    if said(headers, HeaderName::from_static("sec-fetch-site"))
        .is_some_and(|from| !opens && !["same-origin", "none"].contains(&from))
    {
        return Err(Refusal::forbidden("another site's page may not ask the observer"));
    }
    if !harmless && headers.contains_key(ORIGIN) {
        let from = said(headers, ORIGIN).and_then(|origin| origin.split_once("://"));
        if from.is_none_or(|(scheme, from)| from != host || !["http", "https"].contains(&scheme)) {
            return Err(Refusal::forbidden("another site's page may change nothing"));
        }
    }
    let token = said(headers, AUTHORIZATION).and_then(|all| all.strip_prefix("Bearer "));
    if !own && !token.is_some_and(|token| site.token.is(token.as_bytes())) {
        return Err(Refusal::new(
            StatusCode::UNAUTHORIZED,
            "say the token that was printed when the node started: Authorization: Bearer TOKEN",
        ));
    }
    Ok(())
}

/// Whether it is a file of the page's own, which says nothing of the node.
fn own_file(path: &str) -> bool {
    path == "/" || path.starts_with("/page/")
}

/// What a header says, if it is there once.
fn said(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    let mut all = headers.get_all(name).iter();
    let value = all.next()?.to_str().ok()?;
    all.next().is_none().then_some(value)
}

/// Whether a request may name its host so. WHY any address: a page that was loaded from another name cannot
/// have its requests carry an address in `Host`; only names can be pointed elsewhere.
fn may_be_called(host: &str, allowed: &[String]) -> bool {
    let (name, port) = match host.strip_prefix('[') {
        Some(rest) => match rest.split_once(']') {
            Some((address, "")) => (address, None),
            Some((address, rest)) => (address, Some(rest.strip_prefix(':').unwrap_or_default())),
            None => return false,
        },
        None => host.split_once(':').map_or((host, None), |(name, port)| (name, Some(port))),
    };
    port.is_none_or(|port| port.parse::<u16>().is_ok())
        && (name.eq_ignore_ascii_case("localhost")
            || name.parse::<IpAddr>().is_ok()
            || allowed.iter().any(|known| known.eq_ignore_ascii_case(name)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::may_be_called;

    #[test]
    fn addresses_localhost_and_allowed_names_are_hosts_and_nothing_else_is() {
        let allowed = ["shop.example".to_string()];
        for host in
            ["127.0.0.1:4", "[::1]:4", "[::1]", "localhost", "LocalHost:9", "Shop.example:1"]
        {
            assert!(may_be_called(host, &allowed), "{host}");
        }
        for host in [
            "",
            "evil.example",
            "127.0.0.1.evil.example",
            "localhost.evil.example",
            "[::1",
            "[::1]x:4",
            "localhost:x",
            "localhost:99999",
            "user@localhost",
            "localhost:1:2",
        ] {
            assert!(!may_be_called(host, &allowed), "{host}");
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_the_reading_of_a_host_panic(text in "\\[?[a-z0-9.:]{0,20}\\]?:?[0-9]{0,6}|.{0,40}") {
            may_be_called(&text, &[]);
        }
    }
}
