//! Traces that begin on an Erlang node.

use std::path::Path;

use opentelemetry::trace::SpanId;
use purlin_otel::TraceContext;
use tokio::process::Command;
use tokio::time::timeout;

use crate::support::{COOKIE, HANG, market_node, named, spans};

/// Evaluates expressions on a new Erlang node, and returns what they print.
async fn erlang(folder: &Path, epmd: u16, expressions: &str) -> String {
    let mut erl = Command::new("erl");
    erl.args(["+S", "1:1", "+sbwt", "none", "-noinput", "-start_epmd", "false"])
        .args(["-boot", "start_clean", "-name", "beam@127.0.0.1", "-setcookie", COOKIE])
        // The longest handshake timeout that a BEAM allows, in seconds.
        .args(["-kernel", "net_setuptime", "120"])
        .args(["-eval", &format!("{expressions}, halt().")])
        .env("ERL_EPMD_PORT", epmd.to_string())
        .env("HOME", folder)
        .kill_on_drop(true);
    let output = timeout(HANG, erl.output()).await.expect("it ends").expect("erl is there");
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).expect("it is text")
}

#[purlin::test]
async fn an_erlang_node_calls_with_the_carrier_of_its_propagator() {
    let (epmd, _market) = market_node().await;
    let folder = tempfile::tempdir().expect("a folder");
    // `otel_propagator_text_map:inject([])` returns such a list. The state is an empty list if the span has none.
    let calls = "
        Call = fun(Carrier) ->
            Request = {price, <<\"ACME\">>, Carrier},
            1250 = gen_server:call({market, 'market@127.0.0.1'}, Request, infinity)
        end,
        Parent = <<\"00-0af7651916cd43dd8448eb211c80319e-b7ad6b7169203331-01\">>,
        Call([{<<\"traceparent\">>, Parent}, {<<\"tracestate\">>, []}]),
        Bad = [<<>>, <<\"00-1\">>, <<\"no parent\">>, binary:copy(<<\"0\">>, 1000000), \"é\", parent],
        [Call([{<<\"traceparent\">>, Text}]) || Text <- Bad],
        [Call(List) || List <- [[], [{<<\"baggage\">>, <<\"a=1\">>}], [{traceparent, <<>>}]]],
        {'EXIT', {{bad_call, _}, _}} = (catch Call(7)),
        {'EXIT', {{bad_call, _}, _}} = (catch Call([{<<\"traceparent\">>, self()}])),
        Call([]),
        io:format(\"done\")";
    let port = epmd.address().port();
    assert_eq!(erlang(folder.path(), port, calls).await, "done");

    let context = TraceContext::extract(|name| {
        (name == "traceparent").then_some("00-0af7651916cd43dd8448eb211c80319e-b7ad6b7169203331-01")
    });
    let parent: SpanId = context.span_context().span_id();
    assert_eq!(named(&spans(&context), "price").parent_span_id, parent);
}
