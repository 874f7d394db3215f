//! Export by OTLP: the example, as a program, and a receiver on a real socket.

use std::process::Stdio;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Bytes;
use axum::routing::post;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message as _;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::process::{Child, Command};
use tokio::time::timeout;

use crate::support::HANG;

const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

/// The received requests.
type Received = Arc<Mutex<Vec<ExportTraceServiceRequest>>>;

/// Starts a receiver of OTLP over HTTP; returns its endpoint.
async fn receiver() -> (Received, String) {
    let received = Received::default();
    let requests = Arc::clone(&received);
    let store = async move |body: Bytes| {
        let request = ExportTraceServiceRequest::decode(body).expect("it is protobuf");
        requests.lock().expect("no panic").push(request);
    };
    let app = Router::new().route("/v1/traces", post(store));
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
    let address = listener.local_addr().expect("it is bound");
    tokio::spawn(async { axum::serve(listener, app).await });
    (received, format!("http://{address}"))
}

/// Starts the example; returns its address. Cargo builds it with the tests.
async fn example(endpoint: &str) -> (Child, String) {
    let own = std::env::current_exe().expect("a test has a path");
    let built = own.ancestors().nth(2).expect("it lies in deps").join("examples/otlp");
    assert!(built.is_file(), "`cargo build -p purlin-otel --examples` builds {}", built.display());
    let mut program = Command::new(built)
        .env("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint)
        .env("OTEL_SERVICE_NAME", "prices")
        // CLOCK: no span is exported before the program ends, unless its batch is full.
        .env("OTEL_BSP_SCHEDULE_DELAY", "86400000")
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .expect("it starts");
    let mut line = String::new();
    let mut output = BufReader::new(program.stdout.take().expect("it is piped"));
    timeout(HANG, output.read_line(&mut line)).await.expect("it starts").expect("it is text");
    let address = line.strip_prefix("http://").and_then(|rest| rest.strip_suffix("/price/ACME\n"));
    (program, address.expect(&line).to_owned())
}

/// Requests a price, with a header; returns the answer.
async fn get(address: &str, symbol: &str, header: &str) -> String {
    let mut client = TcpStream::connect(address).await.expect("it listens");
    let request = format!(
        "GET /price/{symbol} HTTP/1.1\r\nHost: prices\r\nConnection: close\r\n{header}\r\n"
    );
    client.write_all(request.as_bytes()).await.expect("it reads");
    let mut answer = String::new();
    timeout(HANG, client.read_to_string(&mut answer)).await.expect("it answers").expect("text");
    answer
}

/// Sends SIGTERM, and waits until the program has ended with status 0.
async fn terminate(mut program: Child) {
    let id = program.id().expect("it runs").to_string();
    let sent = Command::new("kill").args(["-TERM", &id]).status().await;
    assert!(sent.expect("kill runs").success());
    let status = timeout(HANG, program.wait()).await.expect("it ends").expect("it is a child");
    assert!(status.success(), "{status}");
}

fn find<'a>(spans: &'a [Span], name: &str, with: &str) -> &'a Span {
    let has = |span: &&Span| {
        let mut values = span.attributes.iter().map(|one| format!("{:?}", one.value));
        span.name == name && values.any(|value| value.contains(with))
    };
    spans.iter().find(has).unwrap_or_else(|| panic!("no {name} {with}: {spans:?}"))
}

#[purlin::test]
async fn all_spans_are_exported_when_the_program_is_terminated() {
    let (received, endpoint) = receiver().await;
    let (program, address) = example(&endpoint).await;
    let header = format!("traceparent: {PARENT}\r\n");
    assert!(get(&address, "ACME", &header).await.ends_with("\r\n\r\n1250\n"));
    assert!(get(&address, "NONE", "").await.starts_with("HTTP/1.1 404"));
    let malformed = "traceparent: 00-\u{e9}-01\r\ntracestate: =\r\n";
    assert!(get(&address, "BAD", malformed).await.starts_with("HTTP/1.1 404"));
    assert!(received.lock().expect("no panic").is_empty(), "the batch waits");
    terminate(program).await;

    let received = received.lock().expect("no panic");
    let resources = || received.iter().flat_map(|request| &request.resource_spans);
    let of_service = |resource: &_| format!("{resource:?}").contains("prices");
    assert!(resources().all(|spans| of_service(&spans.resource)), "{received:?}");
    let scopes = resources().flat_map(|spans| &spans.scope_spans);
    let spans: Vec<_> = scopes.flat_map(|scope| scope.spans.clone()).collect();
    assert_eq!(spans.len(), 6, "{spans:?}");

    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let request = find(&spans, "request", "/price/ACME");
    let traced = format!("00-{}-{}-01", hex(&request.trace_id), hex(&request.parent_span_id));
    assert_eq!(traced, PARENT);
    for symbol in ["ACME", "NONE", "BAD"] {
        let request = find(&spans, "request", &format!("/price/{symbol}"));
        assert_eq!(request.parent_span_id.is_empty(), symbol != "ACME");
        let price = find(&spans, "price", symbol);
        assert_eq!((&price.trace_id, &price.parent_span_id), (&request.trace_id, &request.span_id));
    }
}

#[purlin::test]
async fn a_program_whose_collector_is_absent_serves_and_ends_as_without_it() {
    let closed = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
    let endpoint = format!("http://{}", closed.local_addr().expect("it is bound"));
    drop(closed);
    let (program, address) = example(&endpoint).await;
    assert!(get(&address, "ACME", "").await.ends_with("\r\n\r\n1250\n"));
    terminate(program).await;
}

#[test]
fn the_program_in_the_guide_is_the_example() {
    let example = include_str!("../../../../examples/otlp.rs");
    let (_, code) = example.split_once("\n\n").expect("a header, and code");
    let guide = include_str!("../../../../docs/guide/tracing.md");
    let (_, block) = guide.split_once("```rust,no_run\n").expect("the page shows a program");
    assert_eq!(block.split_once("```").expect("the block ends").0, code);
}
