//! Access control, applied to every request before routing.
//!
//! | check | applies to | rejects |
//! |---|---|---|
//! | `Host` is an address, `localhost`, or an allowed name | every request | a page under a name that resolves to this machine (DNS rebinding) |
//! | `Sec-Fetch-Site` is `same-origin` or `none` | every request but loading the page | requests of another site's page |
//! | `Origin` is the requested host | requests that change something | the same, from browsers that do not send `Sec-Fetch-Site` |
//! | the token is in `Authorization` | every request but the page's static files | clients without the token |
//!
//! WHY the token is sent in a header and not in a cookie: a browser sends the cookies of a host to every port of it,
//! whatever server listens there, and sends them automatically, also for requests of another site's page. It sends the
//! header only when this page's script sets it. The script reads the token from the fragment of the link, which
//! browsers do not send, and keeps it for one tab.

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

use super::connections::Connection;
use super::refusal::Refusal;
use super::state::Site;
use super::token::Token;

/// Response headers added to every response.
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

/// Passes a request on if it is admitted, and returns an error response otherwise.
pub(crate) async fn guard(State(site): State<Arc<Site>>, request: Request, next: Next) -> Response {
    let mut answer = match admit(
        &site.settings.hosts,
        &site.token,
        request.method(),
        request.uri(),
        request.headers(),
    ) {
        Ok(()) => {
            // WHY: a request for anything but a file of the page is admitted only with the token.
            if !own_file(request.uri().path())
                && let Some(connection) = request.extensions().get::<Arc<Connection>>()
            {
                connection.authenticate();
            }
            next.run(request).await
        }
        Err(refusal) => refusal.into_response(),
    };
    for (name, value) in HEADERS {
        answer.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    answer
}

/// Checks a request against the allowed hosts and the token.
fn admit(
    hosts: &[String],
    known: &Token,
    method: &Method,
    uri: &Uri,
    headers: &HeaderMap,
) -> Result<(), Refusal> {
    let host = single_value(headers, HOST).or_else(|| uri.authority().map(|it| it.as_str()));
    let host = host.unwrap_or_default();
    if !is_allowed_host(host, hosts) {
        return Err(Refusal::new(
            StatusCode::MISDIRECTED_REQUEST,
            "the observer is not called that: use an address, localhost, or a name that Observer::host allows",
        ));
    }
    let harmless = method == Method::GET || method == Method::HEAD;
    let own = own_file(uri.path());
    let opens = harmless && own;
    let mut from = headers.get_all("sec-fetch-site").iter();
    if !opens && !from.all(|from| from == "same-origin" || from == "none") {
        return Err(Refusal::forbidden("another site's page may not ask the observer"));
    }
    if !harmless && headers.contains_key(ORIGIN) {
        let from = single_value(headers, ORIGIN).and_then(|origin| origin.split_once("://"));
        if from.is_none_or(|(scheme, from)| from != host || !["http", "https"].contains(&scheme)) {
            return Err(Refusal::forbidden("another site's page may change nothing"));
        }
    }
    let token = single_value(headers, AUTHORIZATION).and_then(|all| all.strip_prefix("Bearer "));
    if !own && !token.is_some_and(|token| known.is(token.as_bytes())) {
        return Err(Refusal::new(
            StatusCode::UNAUTHORIZED,
            "send the token that was printed when the node started: Authorization: Bearer TOKEN",
        ));
    }
    Ok(())
}

/// Returns whether the path is a static file of the page, which has no data of the node.
fn own_file(path: &str) -> bool {
    path == "/" || path.starts_with("/page/")
}

/// Returns the value of a header that is present exactly once.
fn single_value(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    let mut all = headers.get_all(name).iter();
    let value = all.next()?.to_str().ok()?;
    all.next().is_none().then_some(value)
}

/// Returns whether `host` is acceptable in a request. WHY any address is: the requests of a page that was loaded under
/// a name carry that name in `Host`, never an address; only names can be made to resolve elsewhere.
fn is_allowed_host(host: &str, allowed: &[String]) -> bool {
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
    use std::net::IpAddr;

    use axum::http::header::{AUTHORIZATION, HOST, HeaderMap, HeaderName, HeaderValue, ORIGIN};
    use axum::http::uri::Authority;
    use axum::http::{Method, Uri};
    use proptest::prelude::*;

    use super::{admit, is_allowed_host};
    use crate::web::token::Token;

    const TOKEN: &str = "a-token-hard-to-guess-0123456789";

    /// Parses the host as an HTTP client does, in lower case.
    fn host_of(text: &str) -> Option<String> {
        let authority = text.parse::<Authority>().ok()?;
        Some(authority.host().trim_matches(['[', ']']).to_ascii_lowercase())
    }

    fn is_ours(host: &str) -> bool {
        ["localhost", "shop.example"].contains(&host) || host.parse::<IpAddr>().is_ok()
    }

    /// Generates a host as headers have it, and near misses.
    fn host() -> impl Strategy<Value = String> {
        let ours = ["localhost", "LocalHost", "shop.example", "127.0.0.1", "[::1]"];
        let others = ["evil.example", "127.0.0.1.evil.example", "[::1", ""];
        let name = prop::sample::select([&ours[..], &others].concat());
        let before = prop_oneof![4 => "", 1 => "[a-z]{0,3}[@./:\\[]"];
        let behind =
            prop_oneof!["", ":[0-9]{0,6}", "[.:@/#? ]{1,2}[a-z0-9.]{0,8}", "[\\[\\]:]{1,2}"];
        (before, name, behind).prop_map(|(before, name, behind)| before + name + &behind)
    }

    /// Generates an origin, in which `OWN` stands for the requested host.
    fn origin() -> impl Strategy<Value = String> {
        let scheme = prop_oneof![2 => "https?://", 1 => "[a-z]{0,4}://", 1 => "[a-z]{0,4}:?/?"];
        let host = prop_oneof![2 => Just("OWN".to_owned()), 1 => host()];
        prop_oneof![1 => "null", 4 => (scheme, host).prop_map(|(scheme, host)| scheme + &host)]
    }

    fn site() -> impl Strategy<Value = String> {
        prop_oneof!["same-origin", "none", "cross-site", "same-site", "[a-z-]{0,9}"]
    }

    fn authorization() -> impl Strategy<Value = String> {
        let near = "(Bearer|Basic|bearer) {0,2}[a-z-]{0,29}";
        prop_oneof![2 => Just(format!("Bearer {TOKEN}")), 1 => Just(TOKEN.to_owned()), 1 => near]
    }

    /// Generates the values of a header, which is usually present once.
    fn single_value(text: impl Strategy<Value = String>) -> impl Strategy<Value = Vec<String>> {
        let times = prop_oneof![3 => Just(1), 1 => 0..3_usize];
        (prop::collection::vec(text, 2), times).prop_map(|(mut single_value, times)| {
            single_value.truncate(times);
            single_value
        })
    }

    #[test]
    fn only_addresses_localhost_and_allowed_names_are_accepted_as_hosts() {
        let allowed = ["shop.example".to_string()];
        for host in
            ["127.0.0.1:4", "[::1]:4", "[::1]", "localhost", "LocalHost:9", "Shop.example:1"]
        {
            assert!(is_allowed_host(host, &allowed), "{host}");
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
            assert!(!is_allowed_host(host, &allowed), "{host}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1024))]

        #[test]
        fn an_accepted_host_is_ours_to_an_http_parser_too(
            text in prop_oneof![host(), "\\[?[a-z0-9.:]{0,20}\\]?:?[0-9]{0,6}", ".{0,40}"],
        ) {
            if is_allowed_host(&text, &["shop.example".to_owned()]) {
                prop_assert!(host_of(&text).is_none_or(|host| is_ours(&host)), "{text}");
            }
        }

        #[test]
        fn an_admitted_request_has_the_token_once_and_comes_from_no_other_site(
            hosts in single_value(host()),
            origins in single_value(origin()),
            sites in single_value(site()),
            tokens in single_value(authorization()),
            method in prop::sample::select(vec![Method::GET, Method::HEAD, Method::POST]),
            path in prop::sample::select(vec!["/", "/page/main.js", "/page", "/api/about", "//page/x"]),
        ) {
            let own = hosts.first().map_or("", String::as_str);
            let origins: Vec<_> = origins.iter().map(|origin| origin.replace("OWN", own)).collect();
            let mut headers = HeaderMap::new();
            let site = HeaderName::from_static("sec-fetch-site");
            let all = [(HOST, &hosts), (ORIGIN, &origins), (site, &sites), (AUTHORIZATION, &tokens)];
            for (name, texts) in all {
                for text in texts {
                    headers.append(&name, HeaderValue::from_str(text).expect("plain letters"));
                }
            }
            let token = Token::chosen(TOKEN).expect("it is long enough");
            let uri = Uri::from_static(path);
            if admit(&["shop.example".to_owned()], &token, &method, &uri, &headers).is_ok() {
                prop_assert_eq!(hosts.len(), 1);
                prop_assert!(host_of(&hosts[0]).is_none_or(|host| is_ours(&host)));
                let (file, post) = (path == "/" || path == "/page/main.js", method == Method::POST);
                let right = format!("Bearer {TOKEN}");
                prop_assert!(file || tokens == [right]);
                let same = |site: &String| site == "same-origin" || site == "none";
                prop_assert!(file && !post || sites.iter().all(same));
                let own = ["http://", "https://"].map(|scheme| vec![scheme.to_owned() + own]);
                prop_assert!(!post || origins.is_empty() || own.contains(&origins));
            }
        }
    }
}
