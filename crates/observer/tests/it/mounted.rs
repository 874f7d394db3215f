//! The page in a router of the program.

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::header::{AUTHORIZATION, HOST, LOCATION};
use axum::http::{Request, StatusCode};
use axum::response::Response;
use purlin::Node;
use purlin_observer::Observer;
use tokio::runtime::Builder;
use tower::ServiceExt;

use crate::support::{PERIOD, TOKEN, bearer};

/// Largest body of a response that is read.
const BODY: usize = 1 << 20;

async fn ask(app: &Router, path: &str, fields: &[(axum::http::HeaderName, &str)]) -> Response {
    let mut request = Request::get(path);
    for (name, value) in fields {
        request = request.header(name, *value);
    }
    let request = request.body(Body::empty()).expect("the request is valid");
    app.clone().oneshot(request).await.expect("a router does not fail")
}

#[purlin::test(name = "zanzibar")]
async fn a_mounted_page_has_its_files_its_data_and_its_access_control() {
    let node = Node::current().expect("this is a process");
    let observer = Observer::mounted(TOKEN).period(PERIOD).host("shop.example");
    let router = observer.router(&node).expect("the token is long enough");
    let app = Router::new().nest_service("/admin/observer", router);
    let host = (HOST, "shop.example");

    let answer = ask(&app, "/admin/observer", std::slice::from_ref(&host)).await;
    assert_eq!(answer.status(), StatusCode::PERMANENT_REDIRECT);
    assert_eq!(answer.headers()[LOCATION], "./observer/");
    for path in ["", "page/main.js", "page/page.css"] {
        let answer =
            ask(&app, &format!("/admin/observer/{path}"), std::slice::from_ref(&host)).await;
        assert_eq!(answer.status(), StatusCode::OK, "{path}");
    }
    let about = "/admin/observer/api/about";
    assert_eq!(
        ask(&app, about, std::slice::from_ref(&host)).await.status(),
        StatusCode::UNAUTHORIZED
    );
    let token = bearer();
    let other = [(HOST, "other.example"), (AUTHORIZATION, token.as_str())];
    assert_eq!(ask(&app, about, &other).await.status(), StatusCode::MISDIRECTED_REQUEST);
    let answer = ask(&app, "/admin/observer/api/overview", &[host, (AUTHORIZATION, &token)]).await;
    assert_eq!(answer.status(), StatusCode::OK);
    let body = to_bytes(answer.into_body(), BODY).await.expect("it is short");
    assert!(String::from_utf8_lossy(&body).contains("zanzibar"), "{body:?}");
}

#[test]
fn streams_and_requests_of_a_mounted_page_end_when_the_node_stops() {
    let node = Node::builder().build().expect("the node starts");
    let observer = Observer::mounted(TOKEN).period(PERIOD);
    let app = observer.router(&node).expect("the token is long enough");
    let token = bearer();
    let fields = [(HOST, "localhost"), (AUTHORIZATION, token.as_str())];
    let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
    let stream = runtime.block_on(ask(&app, "/api/live", &fields));
    assert_eq!(stream.status(), StatusCode::OK);
    node.stop_blocking();
    runtime.block_on(async {
        to_bytes(stream.into_body(), BODY).await.expect("it ends, and is short");
        for path in ["/api/overview", "/api/processes", "/api/warnings", "/api/live", "/metrics"] {
            let answer = ask(&app, path, &fields).await;
            assert_eq!(answer.status(), StatusCode::SERVICE_UNAVAILABLE, "{path}");
            let body = to_bytes(answer.into_body(), BODY).await.expect("it is short");
            assert!(String::from_utf8_lossy(&body).contains("the node has stopped"), "{body:?}");
        }
    });
}

#[purlin::test]
async fn a_mounted_page_needs_a_chosen_token() {
    let node = Node::current().expect("this is a process");
    let at = Observer::at(([127, 0, 0, 1], 0).into());
    let error = at.router(&node).expect_err("it has no token");
    assert!(error.to_string().contains("Observer::token"), "{error}");
    assert!(Observer::mounted("guess").router(&node).is_err());
}
