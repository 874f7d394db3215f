//! A price service that exports the trace of each HTTP request by OTLP: a span of the request, and one of the server
//! that it calls.
//!
//! Run it with `cargo run -p purlin-otel --example otlp`, and ask for a price with `curl` at the address that it prints.
//! It exports to a collector at `http://localhost:4318`. The standard variables `OTEL_EXPORTER_OTLP_ENDPOINT` and
//! `OTEL_SERVICE_NAME` set another address, and the name of the service. Stop it with `kill` or Ctrl-C; it exports the
//! last spans before it ends.

use std::collections::HashMap;
use std::error::Error;
use std::io;
use std::process::ExitCode;

use axum::Router;
use axum::extract::{Path, Request};
use axum::http::StatusCode;
use axum::middleware::{self, Next};
use axum::response::Response;
use axum::routing::get;
use opentelemetry::trace::TracerProvider as _;
use opentelemetry_otlp::SpanExporter;
use opentelemetry_sdk::trace::SdkTracerProvider;
use purlin::application::{self, ApplicationSpec};
use purlin::server::{self, ServerRef};
use purlin::supervisor::{ChildSpec, SupervisorSpec};
use purlin_axum::Server;
use purlin_otel::TraceContext;
use tracing::{Instrument as _, info_span};
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::prelude::*;

#[derive(Debug)]
struct Market(HashMap<String, u32>);

#[purlin::server]
impl Market {
    #[init]
    fn open() -> Self {
        Self(HashMap::from([("ACME".into(), 1250)]))
    }

    #[call]
    fn price(&self, symbol: String, caller: TraceContext) -> Option<u32> {
        let _span = caller.child(info_span!("price", symbol)).entered();
        self.0.get(&symbol).copied()
    }
}

/// Handles a request in a span, whose parent is the span that the client names in the headers.
async fn traced(request: Request, next: Next) -> Response {
    let headers = request.headers();
    let client = TraceContext::extract(|name| headers.get(name)?.to_str().ok());
    let path = request.uri().path();
    let span = client.child(info_span!("request", otel.kind = "server", url.path = path));
    next.run(request).instrument(span).await
}

async fn price(Path(symbol): Path<String>) -> Result<String, StatusCode> {
    let unavailable = StatusCode::SERVICE_UNAVAILABLE;
    let market = ServerRef::<Market>::whereis("market").map_err(|_| unavailable)?;
    let price = market.price(symbol, TraceContext::current()).await.map_err(|_| unavailable)?;
    Ok(format!("{}\n", price.ok_or(StatusCode::NOT_FOUND)?))
}

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let exporter = SpanExporter::builder().with_http().build()?;
    let provider = SdkTracerProvider::builder().with_batch_exporter(exporter).build();
    let traces = tracing_opentelemetry::layer().with_tracer(provider.tracer("prices"));
    let log = tracing_subscriber::fmt::layer().with_writer(io::stderr);
    tracing_subscriber::registry()
        .with(traces.with_filter(LevelFilter::INFO))
        .with(log.with_filter(LevelFilter::WARN))
        .init();

    let code = serve();
    // The node has stopped, so every span has ended: export the last ones.
    if let Err(error) = provider.shutdown() {
        eprintln!("otlp: spans were not exported: {error}");
    }
    Ok(code)
}

#[purlin::main]
async fn serve() -> ExitCode {
    let app = Router::new().route("/price/{symbol}", get(price));
    let web = match Server::bind(([127, 0, 0, 1], 0), app.layer(middleware::from_fn(traced))) {
        Ok(web) => web,
        Err(error) => {
            eprintln!("otlp: {error}");
            return ExitCode::FAILURE;
        }
    };
    println!("http://{}/price/ACME", web.local_addr());
    let market =
        ChildSpec::server("market", |me| server::start_link::<Market>(me, ()).name("market"));
    let tree = SupervisorSpec::rest_for_one().child(market).child(web.child_spec("web"));
    application::run(ApplicationSpec::new("prices", tree)).await
}
