//! Traces across two purlin nodes.

use purlin::server::{self, ServerRef};
use purlin::{Node, Process, task};
use purlin_dist::NodeName;
use purlin_dist::cluster::Cluster;
use purlin_otel::TraceContext;
use purlin_term::Atom;
use serde::{Deserialize, Serialize};
use tracing::{Instrument as _, info_span};

use crate::support::{HANG, assert_child, assert_root, join, market_node, named, request, spans};

/// A server that asks a market on another node.
struct Desk {
    cluster: Cluster,
    market: NodeName,
}

impl std::fmt::Debug for Desk {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Desk of {}", self.market)
    }
}

#[purlin::server]
impl Desk {
    #[call(timeout = HANG)]
    async fn ask(&self, symbol: String, caller: TraceContext) -> Option<u32> {
        let span = caller.child(info_span!("ask", otel.kind = "client"));
        let request = (Atom::from_static("price"), symbol, TraceContext::of(&span));
        let answer = self.cluster.call("market", &self.market, request, HANG);
        answer.instrument(span).await.ok()
    }
}

#[purlin::test]
async fn a_trace_goes_from_a_request_over_a_server_to_a_server_of_another_node() {
    let (epmd, market) = market_node().await;
    let node = Node::current().expect("this is a process");
    let cluster = join(&epmd, "desk", &node).await;
    let desk = Desk { cluster, market: market.name().clone() };
    let desk = server::start::<Desk>(desk).await.expect("it starts");

    // Requests at the same time have a trace each.
    let requests = (0..8).map(|_| {
        let (desk, span): (ServerRef<Desk>, _) = (desk.clone(), request());
        let context = TraceContext::of(&span);
        let ask = async move { desk.ask("ACME".into(), TraceContext::current()).await };
        (context, task::spawn(ask.instrument(span)))
    });
    for (context, answer) in requests.collect::<Vec<_>>() {
        assert_eq!(answer.await.expect("no panic"), Ok(Some(1250)));
        let spans = spans(&context);
        assert_eq!(spans.len(), 3, "{spans:?}");
        let [request, ask, price] = ["request", "ask", "price"].map(|name| named(&spans, name));
        assert_root(request);
        assert_child(ask, request);
        assert_child(price, ask);
        assert!(price.parent_span_is_remote && !ask.parent_span_is_remote);
    }
}

/// A message to a process of another node.
#[derive(Serialize, Deserialize)]
struct Trade {
    price: u32,
    sender: TraceContext,
}

#[purlin::test]
async fn a_message_to_another_node_carries_the_context_with_the_state_of_vendors() {
    let (epmd, market) = market_node().await;
    market.receives::<Trade>();
    let trades = market.node().spawn(async |mut me: Process<Trade>| {
        let trade = me.receive().await;
        let _span = trade.sender.child(info_span!("trade", trade.price)).entered();
    });
    market.node().register("trades", &trades).expect("the name is free");
    let node = Node::current().expect("this is a process");
    let desk = join(&epmd, "desk", &node).await;
    let client = TraceContext::extract(|field| match field {
        "traceparent" => Some("00-0af7651916cd43dd8448eb211c80319d-b7ad6b7169203331-01"),
        _ => Some("one=1,other=2"),
    });
    let there = desk.named::<Trade>("trades", market.name()).expect("there is room");
    there.send(Trade { price: 1260, sender: client.clone() });
    trades.ended().await;

    let spans = spans(&client);
    let trade = named(&spans, "trade");
    assert_eq!(trade.parent_span_id, client.span_context().span_id());
    assert_eq!(trade.span_context.trace_state().header(), "one=1,other=2");
}
