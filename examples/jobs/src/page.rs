//! Dashboard: a page with the number of jobs in each state and the newest failures.
//!
//! Each connection is a process, of which there are at most [`CONNECTIONS`].

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use purlin::Process;
use purlin::supervisor::{ChildSpec, ChildTemplate, DynamicSupervisorRef, SupervisorSpec};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::sleep;

use crate::Failure;
use crate::database::Database;

/// Connections at a time; further ones are closed.
const CONNECTIONS: usize = 32;
/// Pause after a connection that cannot be accepted.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);
/// Time limit of a request's head.
const HEAD: Duration = Duration::from_secs(10);

const STATES: &str = "
    select state, count(*), count(*) filter (where state = 'ready' and attempts > 0)
    from jobs group by state order by state";
const FAILURES: &str = "
    select id, payload, state, attempts, error from jobs
    where error is not null order by id desc limit 20";

/// What a connection needs.
type Arguments = (TcpStream, Database);

/// Returns the supervisor of the page.
pub(crate) fn page(listener: TcpListener, database: Database) -> SupervisorSpec {
    let listener = Arc::new(listener);
    let connections =
        SupervisorSpec::simple_one_for_one(ChildTemplate::temporary("connection", connection))
            .max_children(CONNECTIONS)
            .name("connections");
    let acceptor = move |me| acceptor(me, Arc::clone(&listener), database.clone());
    let acceptor = ChildSpec::worker("acceptor", acceptor);
    SupervisorSpec::rest_for_one()
        .child(ChildSpec::supervisor("connections", connections))
        .child(acceptor.backoff(Duration::from_millis(100), Duration::from_secs(10)))
}

/// Accepts connections.
async fn acceptor(
    _me: Process<()>,
    listener: Arc<TcpListener>,
    database: Database,
) -> Result<(), Failure> {
    let connections: DynamicSupervisorRef<Arguments> =
        DynamicSupervisorRef::whereis("connections")?;
    loop {
        match listener.accept().await {
            // At the limit the connection is closed.
            Ok((stream, _peer)) => {
                let _ = connections.start_child((stream, database.clone())).await;
            }
            // The system may have no more file descriptors.
            Err(error) => {
                tracing::warn!(%error, "a connection cannot be accepted");
                sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

async fn connection(_me: Process<()>, (stream, database): Arguments) {
    let service = service_fn(move |request| respond(request, database.clone()));
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEAD).keep_alive(false);
    // The peer may close the connection at any time.
    let _ = http.serve_connection(TokioIo::new(stream), service).await;
}

async fn respond(
    request: Request<Incoming>,
    database: Database,
) -> Result<Response<String>, Infallible> {
    let (status, text) = match (request.method(), request.uri().path()) {
        (&Method::GET, "/") => match render(&database).await {
            Ok(page) => (StatusCode::OK, page),
            Err(error) => (StatusCode::SERVICE_UNAVAILABLE, escape(&error.to_string())),
        },
        (_, "/") => (StatusCode::METHOD_NOT_ALLOWED, "only GET".into()),
        _ => (StatusCode::NOT_FOUND, "no such page".into()),
    };
    let mut response = Response::new(text);
    *response.status_mut() = status;
    let html = "text/html; charset=utf-8".parse().expect("it is ASCII");
    response.headers_mut().insert(hyper::header::CONTENT_TYPE, html);
    Ok(response)
}

async fn render(database: &Database) -> Result<String, tokio_postgres::Error> {
    let client = database.connect().await?;
    let mut page = String::from(
        "<!doctype html><title>Jobs</title><meta http-equiv=refresh content=2>\
         <h1>Jobs</h1><table><tr><th>state<th>jobs<th>waiting for a retry\n",
    );
    for row in client.query(STATES, &[]).await? {
        let (state, count, retries): (String, i64, i64) = (row.get(0), row.get(1), row.get(2));
        page += &format!("<tr><td>{state}<td>{count}<td>{retries}\n");
    }
    page += "</table><h2>Newest failures</h2><table>\
             <tr><th>job<th>payload<th>state<th>attempts<th>error\n";
    for row in client.query(FAILURES, &[]).await? {
        let (id, attempts): (i64, i32) = (row.get(0), row.get(3));
        let [payload, state, error] = [1, 2, 4].map(|column| escape(row.get(column)));
        page += &format!("<tr><td>{id}<td>{payload}<td>{state}<td>{attempts}<td>{error}\n");
    }
    Ok(page + "</table>\n")
}

/// Escapes text for HTML.
fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
