//! Security tests of the page over raw sockets: access control and resource limits.

use std::io::{Read, Write};
use std::net::TcpStream;

use crate::support::{Seen, TOKEN, bearer, until};
use purlin::{BuildError, ExitReason, Node, Process};
use purlin_observer::{Observed, Observer};

/// Every path that returns data of the node.
const DATA: [&str; 12] = [
    "/api/about",
    "/api/overview",
    "/api/live",
    "/api/processes",
    "/api/process?pid=%3C0.1.0%3E",
    "/api/tree",
    "/api/cluster",
    "/api/servers",
    "/api/warnings",
    "/api/trace",
    "/api/trace/chrome",
    "/metrics",
];

// No data without the token
#[test]
fn no_data_is_returned_without_the_token() {
    let seen = Seen::start();
    let wrong = TOKEN.replace('a', "b");
    let near = &TOKEN[..TOKEN.len() - 1];
    let sayings = [
        String::new(),
        format!("Bearer {wrong}"),
        format!("Bearer {near}"),
        format!("Bearer {TOKEN}x"),
        format!("Basic {TOKEN}"),
        TOKEN.to_string(),
        "Bearer ".to_string(),
    ];
    for path in DATA.into_iter().chain(["/api/nothing", "/", "/page/main.js"]) {
        for said in &sayings {
            let fields = [("Authorization", said.as_str())];
            let answer = seen.ask(&format!("GET {path}"), &fields, "");
            let page = ["/", "/page/main.js"].contains(&path);
            assert_eq!(answer.status, if page { 200 } else { 401 }, "{path} with {said:?}");
            assert!(!answer.body.contains("zanzibar"), "{path} with {said:?}: {}", answer.body);
        }
    }
    let twice = [("Authorization", bearer()), ("Authorization", bearer())];
    let twice = twice.each_ref().map(|(name, value)| (*name, value.as_str()));
    assert_eq!(seen.ask("GET /api/about", &twice, "").status, 401);
    assert_eq!(seen.ask(&format!("GET /api/about?token={TOKEN}"), &[], "").status, 401);
    let cookie = format!("token={TOKEN}");
    assert_eq!(seen.ask("GET /api/about", &[("Cookie", &cookie)], "").status, 401);
    assert_eq!(seen.get("/api/about").status, 200);
}

#[test]
fn random_tokens_differ_between_nodes() {
    let url = || {
        let observer = Observer::at(([127, 0, 0, 1], 0).into()).silent();
        let node = Node::builder().workers(1).observer(observer.clone()).build();
        node.expect("the node starts").stop_blocking();
        observer.url().expect("it was opened").split_once("#token=").expect("a token").1.to_string()
    };
    let (one, other) = (url(), url());
    assert!(one != other && one.len() == 43, "{one} {other}");
}

// No cross-site request accepted (DNS rebinding)
#[test]
fn a_rebound_host_name_is_refused() {
    let seen = Seen::start_with(|observer| observer.host("shop.example"));
    let port = seen.observer.local_addr().expect("it listens").port();
    let ask = |host: &str| {
        let fields = [("Host", host), ("Authorization", &bearer())];
        (seen.ask("GET /", &fields, "").status, seen.ask("GET /api/about", &fields, "").status)
    };
    for host in ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example:80", "", "a b"] {
        assert_eq!(ask(host), (421, 421), "{host}");
    }
    for host in ["localhost", "shop.example", "[::1]:80", &format!("127.0.0.1:{port}")] {
        assert_eq!(ask(host), (200, 200), "{host}");
    }
}

// No cross-site request accepted
#[test]
fn requests_of_another_site_are_refused_even_with_the_token() {
    let seen = Seen::start_with(|observer| observer.allow_exit(true));
    let token = bearer();
    let token = ("Authorization", token.as_str());
    for site in ["cross-site", "same-site"] {
        for path in DATA {
            let answer = seen.ask(&format!("GET {path}"), &[token, ("Sec-Fetch-Site", site)], "");
            assert_eq!(answer.status, 403, "{path} {site}");
        }
    }
    let victim = seen.node.spawn(async |mut me: Process<()>| me.receive().await);
    let body = format!(r#"{{"pid":"{}","reason":"kill"}}"#, victim.id());
    let host = seen.host();
    let end = |fields: &[(&str, &str)]| {
        let fields: Vec<_> = fields.iter().copied().chain([token]).collect();
        seen.ask("POST /api/process/exit", &fields, &body).status
    };
    let own = format!("http://{host}");
    for origin in
        ["http://evil.example", "null", "http://127.0.0.1:1", "file://", "", host.as_str()]
    {
        assert_eq!(end(&[("Origin", origin)]), 403, "{origin:?}");
    }
    assert_eq!(end(&[("Origin", &own), ("Sec-Fetch-Site", "cross-site")]), 403);
    assert_eq!(end(&[("Origin", &own), ("Origin", "http://evil.example")]), 403);
    assert!(victim.is_alive());
    assert_eq!(end(&[("Origin", &own), ("Sec-Fetch-Site", "same-origin")]), 200);
    assert_eq!(block_on(victim.ended()), ExitReason::Killed);
    // An HTML form of another site cannot send this content type, so its request is refused.
    let form = "POST /api/process/exit";
    let plain = [token, ("Content-Length", "2"), ("Content-Type", "text/plain")];
    assert_eq!(seen.ask(form, &plain, "").status, 400);
    for method in ["OPTIONS", "PUT", "DELETE"] {
        let answer = seen.ask(&format!("{method} /api/about"), &[token, ("Origin", &own)], "");
        assert_eq!(answer.status, 405, "{method}");
        assert!(!answer.head.contains("access-control"), "{method}: {}", answer.head);
    }
}

// No change without the right
#[test]
fn without_the_right_no_process_can_be_ended() {
    let seen = Seen::start();
    let victim = seen.node.spawn(async |mut me: Process<()>| me.receive().await);
    let body = format!(r#"{{"pid":"{}","reason":"kill"}}"#, victim.id());
    let answer = seen.post("/api/process/exit", &body);
    assert_eq!(answer.status, 403);
    assert!(answer.error().contains("Observer::allow_exit"), "{}", answer.body);
    assert!(victim.is_alive());
    assert_eq!(seen.json("/api/about")["rights"]["exit"], false);
    assert_eq!(seen.ask("GET /api/process/exit", &[("Authorization", &bearer())], "").status, 405);
}

#[test]
fn with_the_right_an_exit_signal_is_sent_and_an_ended_process_is_not_found() {
    let seen = Seen::start_with(|observer| observer.allow_exit(true));
    let victim = seen.node.spawn(async |mut me: Process<()>| me.receive().await);
    let body = format!(r#"{{"pid":"{}","reason":"shutdown"}}"#, victim.id());
    assert_eq!(seen.post("/api/process/exit", &body).status, 200);
    assert_eq!(block_on(victim.ended()), ExitReason::Shutdown);
    let again = seen.post("/api/process/exit", &body);
    assert_eq!((again.status, again.error().contains("does not live")), (404, true));
}

#[test]
fn security_headers_are_on_every_response() {
    let seen = Seen::start();
    for path in ["/", "/page/main.js", "/page/none", "/api/about", "/nothing"] {
        let head = seen.get(path).head;
        for part in [
            "content-security-policy: default-src 'none'; script-src 'self'; style-src 'self'",
            "frame-ancestors 'none'",
            "require-trusted-types-for 'script'",
            "x-content-type-options: nosniff",
            "cache-control: no-store",
            "referrer-policy: no-referrer",
            "cross-origin-resource-policy: same-origin",
        ] {
            assert!(head.contains(part), "{path} without {part}: {head}");
        }
        assert!(!head.contains("set-cookie"), "{path}: {head}");
    }
}

#[test]
fn invalid_queries_get_one_line_and_oversized_requests_are_rejected() {
    let seen = Seen::start_with(|observer| observer.allow_exit(true));
    let long = "x".repeat(300);
    for path in [
        "/api/processes?limit=0",
        "/api/processes?limit=501",
        "/api/processes?limit=-1",
        "/api/processes?sort=password",
        "/api/processes?order=up",
        "/api/processes?state=dead",
        "/api/processes?mailbox=many",
        "/api/processes?parent=me",
        "/api/processes?colour=red",
        &format!("/api/processes?text={long}"),
        "/api/process",
        "/api/process?pid=me",
        "/api/process?pid=%3C0.99999999999.0%3E",
    ] {
        let answer = seen.get(path);
        assert_eq!(answer.status, 400, "{path}: {}", answer.body);
        assert!(!answer.error().is_empty() && !answer.error().contains('\n'), "{}", answer.body);
    }
    for body in [
        "{",
        "[]",
        r#"{"pid":"<0.1.0>"}"#,
        r#"{"pid":"x","reason":"kill"}"#,
        r#"{"pid":1,"reason":"kill"}"#,
        r#"{"pid":"<0.1.0>","reason":"boom"}"#,
    ] {
        assert_eq!(seen.post("/api/process/exit", body).status, 400, "{body}");
    }
    let large = format!(r#"{{"pid":"{}"}}"#, "x".repeat(9 << 10));
    assert_eq!(seen.post("/api/process/exit", &large).status, 400);
    let head = "x".repeat(20 << 10);
    assert_eq!(seen.ask("GET /", &[("X-Long", &head)], "").status, 431);
    let mut many: Vec<_> = (0..80).map(|_| ("X-More", "x")).collect();
    many.push(("Authorization", "x"));
    assert_eq!(seen.ask("GET /", &many, "").status, 431);
    assert_eq!(seen.get("/api/about").status, 200, "and it still answers");
}

/// Sends a request and keeps the connection open. Returns the start of the response.
fn keep_alive(stream: &mut TcpStream, path: &str, fields: &str) -> String {
    let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n{fields}\r\n");
    stream.write_all(request.as_bytes()).expect("it is served");
    let mut begin = [0; 12];
    stream.read_exact(&mut begin).expect("it is answered");
    String::from_utf8_lossy(&begin).into_owned()
}

#[test]
fn connections_without_the_token_give_way_to_new_ones() {
    let seen = Seen::start();
    let mut owner = seen.connect();
    let token = format!("Authorization: {}\r\n", bearer());
    assert_eq!(keep_alive(&mut owner, "/api/live", &token), "HTTP/1.1 200");
    // Three times as many as there are slots; each is answered, and none is closed by its client.
    let mut strangers: Vec<_> = (0..192)
        .map(|_| {
            let mut stream = seen.connect();
            assert_eq!(keep_alive(&mut stream, "/api/about", ""), "HTTP/1.1 401");
            stream
        })
        .collect();
    assert_eq!(seen.get("/api/about").status, 200, "the owner can open another connection");
    let mut end = Vec::new();
    strangers[0].read_to_end(&mut end).expect("the oldest was closed");
    let mut event = [0; 1];
    owner.read_exact(&mut event).expect("the owner's first connection is open");
}

#[test]
fn connections_with_the_token_are_limited_and_slots_are_reused() {
    let seen = Seen::start();
    let token = format!("Authorization: {}\r\n", bearer());
    let mut held: Vec<_> = (0..64)
        .map(|_| {
            let mut stream = seen.connect();
            assert_eq!(keep_alive(&mut stream, "/api/about", &token), "HTTP/1.1 200");
            stream
        })
        .collect();
    let mut refused = String::new();
    // The server closes without reading, so the end may be a reset.
    let _ = seen.connect().read_to_string(&mut refused);
    assert!(refused.is_empty() || refused.contains(" 503 "), "{refused}");
    held.pop();
    until("its slot is free", || {
        let mut stream = seen.connect();
        stream.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").is_ok()
            && stream.read_exact(&mut [0; 12]).is_ok()
    });
}

#[test]
fn event_streams_are_limited() {
    let seen = Seen::start();
    let request =
        format!("GET /api/live HTTP/1.1\r\nHost: localhost\r\nAuthorization: {}\r\n\r\n", bearer());
    let mut followers: Vec<_> = (0..16).map(|_| seen.connect()).collect();
    for follower in &mut followers {
        follower.write_all(request.as_bytes()).expect("it reads");
        let mut begin = [0; 15];
        follower.read_exact(&mut begin).expect("it answers");
        assert_eq!(&begin, b"HTTP/1.1 200 OK");
    }
    assert_eq!(seen.get("/api/live").status, 503);
}

#[test]
fn a_reachable_address_requires_a_chosen_token() {
    let build = |observer: Observer| Node::builder().workers(1).observer(observer.silent()).build();
    let Err(BuildError::Io(error)) = build(Observer::at(([0, 0, 0, 0], 0).into())) else {
        panic!("it was opened")
    };
    let line = error.to_string();
    assert!(line.contains("Observer::token") && !line.contains('\n'), "{line}");
    for weak in ["", "short", "a token with blanks in it"] {
        assert!(build(Observer::at(([0, 0, 0, 0], 0).into()).token(weak)).is_err(), "{weak:?}");
    }
    build(Observer::at(([0, 0, 0, 0], 0).into()).token(TOKEN))
        .expect("it is opened")
        .stop_blocking();
}

#[test]
fn a_port_in_use_is_reported_in_one_line() {
    let seen = Seen::start();
    let address = seen.observer.local_addr().expect("it listens");
    let Err(error) = Node::builder().workers(1).observer(address).build() else {
        panic!("it was opened twice")
    };
    let line = error.to_string();
    assert!(
        line.contains(&format!("the observer cannot listen at {address}")) && !line.contains('\n'),
        "{line}"
    );
}

// The page ends with its node
#[test]
fn the_page_ends_with_its_node_and_frees_its_port() {
    let seen = Seen::start();
    let address = seen.observer.local_addr().expect("it listens");
    let mut follower = seen.connect();
    let request =
        format!("GET /api/live HTTP/1.1\r\nHost: localhost\r\nAuthorization: {}\r\n\r\n", bearer());
    follower.write_all(request.as_bytes()).expect("it reads");
    let mut begin = [0; 15];
    follower.read_exact(&mut begin).expect("it follows");
    seen.node.stop_blocking();
    let mut rest = Vec::new();
    let _ = follower.read_to_end(&mut rest);
    std::net::TcpListener::bind(address).expect("the port is free");
}

#[test]
fn an_open_page_does_not_keep_the_node_alive() {
    let observer = Observer::at(([127, 0, 0, 1], 0).into()).silent();
    let node = Node::builder().workers(1).observer(observer.clone()).build().expect("it starts");
    let pid = node.spawn(async |mut me: Process<()>| me.receive().await);
    drop(node);
    assert_eq!(block_on(pid.ended()), ExitReason::Shutdown);
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    runtime.block_on(future)
}
