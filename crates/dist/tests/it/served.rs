//! Typed purlin servers and supervisors, called by `gen_server`, `sys`, `supervisor` and Elixir.

use std::convert::Infallible;
use std::time::Duration;

use crate::processes::{beam_and_ours, found, join, start, term};
use crate::support::{Beam, Epmd, until};
use purlin::server::{self, Init, Mail, Next, Server};
use purlin::supervisor::{ChildSpec, SupervisorSpec};
use purlin::{CallError, ExitReason, Process, Reply};
use purlin_dist::cluster::{Cluster, GenCall, Serve as _, Served};
use purlin_term::Term;
use serde::{Deserialize, Serialize};
use tokio::runtime::Handle;

/// State of the server: the number of tickets left.
#[derive(Debug, Serialize)]
struct Tickets {
    left: u32,
}

#[derive(Debug)]
enum Call {
    Left(Reply<u32>),
    Buy(u32, Reply<Result<u32, String>>),
    Forget(Reply<()>),
    Unsaid(Reply<std::collections::HashMap<Vec<u8>, Unsaid>>),
    Panics(Reply<Panics>),
    Crash(Reply<()>),
}

/// A value whose serialization panics.
#[derive(Debug)]
struct Panics;

impl Serialize for Panics {
    fn serialize<S: serde::Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        panic!("not to be serialized")
    }
}

/// A value that cannot be serialized as a term.
#[derive(Debug)]
struct Unsaid;

impl Serialize for Unsaid {
    fn serialize<S: serde::Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        Err(serde::ser::Error::custom("not to be said"))
    }
}

impl Server for Tickets {
    type Args = u32;
    type Call = Call;
    type Cast = u32;
    type Info = String;
    type Continue = Infallible;

    async fn init(left: u32, _: &mut Process<Mail<Self>>) -> server::Result<Init<Self>> {
        Ok(Init::Ready(Self { left }))
    }

    async fn handle_call(
        &mut self,
        call: Call,
        _: &mut Process<Mail<Self>>,
    ) -> server::Result<Next<Self>> {
        match call {
            Call::Left(reply) => reply.send(self.left),
            Call::Buy(number, reply) if number <= self.left => {
                self.left -= number;
                reply.send(Ok(self.left));
            }
            Call::Buy(_, reply) => reply.send(Err("sold out".to_owned())),
            Call::Forget(reply) => drop(reply),
            Call::Unsaid(reply) => reply.send([(vec![1], Unsaid)].into()),
            Call::Panics(reply) => reply.send(Panics),
            Call::Crash(_reply) => panic!("on purpose"),
        }
        Ok(Next::Wait)
    }

    async fn handle_cast(
        &mut self,
        printed: u32,
        _: &mut Process<Mail<Self>>,
    ) -> server::Result<Next<Self>> {
        self.left += printed;
        Ok(Next::Wait)
    }

    async fn handle_info(
        &mut self,
        info: String,
        _: &mut Process<Mail<Self>>,
    ) -> server::Result<Next<Self>> {
        self.left = info.len() as u32;
        Ok(Next::Wait)
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Ask {
    Left,
    Buy(u32),
    Forget,
    Unsaid,
    Panics,
    Crash,
}

async fn tickets(cluster: &Cluster, name: &str) {
    let served = Served::<Tickets>::new()
        .calls(|ask, caller| match ask {
            Ask::Left => Call::Left(caller.reply()),
            Ask::Buy(number) => Call::Buy(number, caller.reply()),
            Ask::Forget => Call::Forget(caller.reply()),
            Ask::Unsaid => Call::Unsaid(caller.reply()),
            Ask::Panics => Call::Panics(caller.reply()),
            Ask::Crash => Call::Crash(caller.reply()),
        })
        .casts(|printed: u32| printed)
        .infos(|text: String| text);
    cluster.serves(served);
    let started = cluster.node().start::<Tickets>(10).name(name).await;
    started.expect("the name is free");
}

#[tokio::test]
async fn a_beam_calls_casts_and_sends_to_a_typed_server() {
    let (_epmd, mut beam, cluster) = beam_and_ours().await;
    tickets(&cluster, "tickets").await;
    beam.eval("S = {tickets, 'ours@127.0.0.1'}, C = fun(Q) -> gen_server:call(S, Q, infinity) end")
        .await;
    assert_eq!(beam.eval("C(left)").await, "10");
    assert_eq!(beam.eval("C({buy, 3})").await, "{'Ok',7}");
    assert_eq!(beam.eval("C({buy, 8})").await, "{'Err',<<\"sold out\">>}");
    assert_eq!(beam.eval("gen_server:cast(S, 5), C(left)").await, "12");
    assert_eq!(beam.eval("S ! <<\"four\">>, C(left)").await, "4");
    let multi = "gen_server:multi_call(['ours@127.0.0.1'], tickets, left)";
    assert_eq!(beam.eval(multi).await, "{[{'ours@127.0.0.1',4}],[]}");
    assert_eq!(
        beam.eval("gen_server:wait_response(gen_server:send_request(S, left), infinity)").await,
        "{reply,4}"
    );
    // An undecodable request affects the caller only, which gets an error immediately.
    for nonsense in ["C(nonsense)", "C({buy, -1})", "C(#{})"] {
        let reply = beam.eval(nonsense).await;
        assert!(reply.starts_with("{exit,{{bad_call,<<"), "{reply}");
    }
    let arity = beam.eval("C({buy, 1, 2})").await;
    assert!(
        arity.starts_with("{exit,{{bad_call,<<\"`buy` takes 1 argument, not 2\">>}"),
        "{arity}"
    );
    beam.eval("gen_server:cast(S, nonsense), S ! {no, text}").await;
    assert_eq!(beam.eval("C(left)").await, "4");
    assert_eq!(cluster.undecoded(), 2);
    // So does a request whose reply is dropped or is no term. The caller's own monitor stays.
    beam.eval("M = monitor(process, S)").await;
    let dropped = beam.eval("C(forget)").await;
    assert!(dropped.starts_with("{exit,{no_reply,"), "{dropped}");
    let unsaid = beam.eval("C(unsaid)").await;
    assert!(unsaid.starts_with("{exit,{{bad_reply,<<"), "{unsaid}");
    let panics = beam.eval("C(panics)").await;
    assert!(panics.starts_with("{exit,{{bad_reply,<<\"making it one has panicked\">>"), "{panics}");
    for question in ["nonsense", "forget"] {
        for timeout in ["infinity", "600000"] {
            let multi = format!("[element(2, S)], tickets, {question}, {timeout}");
            let multi = format!("gen_server:multi_call({multi})");
            assert_eq!(beam.eval(&multi).await, "{[],['ours@127.0.0.1']}");
        }
    }
    assert_eq!(beam.eval("C(left)").await, "4");
    // A server that ends with the reply in its hands is reported by its own reason.
    let crash = beam.eval("C(crash)").await;
    assert!(crash.starts_with("{exit,{{panic,<<\"on purpose\">>"), "{crash}");
    assert_eq!(beam.eval("receive {'DOWN', M, _, _, Why} -> element(1, Why) end").await, "panic");
    let gone = beam.eval("C(left)").await;
    assert!(gone.starts_with("{exit,{noproc,"), "{gone}");
}

/// A server that drops the replies of many calls in one turn.
#[derive(Debug)]
struct Forgetful {
    kept: Vec<Reply<()>>,
    runtime: Handle,
}

#[purlin::server(dist)]
impl Forgetful {
    #[call]
    fn keep(&mut self, reply: Reply<()>) {
        self.kept.push(reply);
    }

    /// Returns the number of dropped replies and the number of tasks before and after.
    #[call]
    fn forget(&mut self) -> (usize, usize, usize) {
        let tasks = || self.runtime.metrics().num_alive_tasks();
        let before = tasks();
        let dropped = self.kept.drain(..).count();
        (dropped, before, tasks())
    }
}

// A dropped reply of a live server is answered without a task.
#[tokio::test]
async fn a_beam_gets_an_answer_for_each_reply_that_a_server_drops() {
    let (_epmd, mut beam, cluster) = beam_and_ours().await;
    cluster.serves(Forgetful::served());
    let forgetful = Forgetful { kept: Vec::new(), runtime: Handle::current() };
    let started = cluster.node().start::<Forgetful>(forgetful).name("forgetful").await;
    started.expect("the name is free");
    beam.eval("S = {forgetful, 'ours@127.0.0.1'}").await;
    beam.eval("R = [gen_server:send_request(S, keep) || _ <- lists:seq(1, 1000)]").await;
    let few_more = "{N, Before, After} = gen_server:call(S, forget, infinity), \
                    {N, After < Before + 500}";
    assert_eq!(beam.eval(few_more).await, "{1000,true}");
    let answers = "lists:usort([W || Q <- R, {error, {W, _}} <- \
                   [gen_server:wait_response(Q, infinity)]])";
    assert_eq!(beam.eval(answers).await, "[no_reply]");
}

/// A server whose declaration is its protocol for the BEAM.
#[derive(Debug)]
struct Counter(i64);

/// Has the name of a request in generated code.
#[derive(Debug, Deserialize)]
struct Request(i64);

impl Counter {
    const LIMIT: Duration = Duration::MAX;
}

#[purlin::server(dist)]
impl Counter {
    #[call(timeout = Self::LIMIT)]
    fn apply(&mut self, Request(number): Request) -> i64 {
        self.0 *= number;
        self.0
    }

    #[call]
    fn total(&self) -> i64 {
        self.0
    }

    #[call]
    fn add_all(&mut self, numbers: Vec<i64>, twice: bool) -> i64 {
        self.0 += numbers.iter().sum::<i64>() * if twice { 2 } else { 1 };
        self.0
    }

    #[call]
    fn later(&mut self, text: String, reply: Reply<String>) {
        reply.send(text);
    }

    #[cast]
    fn add(&mut self, number: i64) {
        self.0 += number;
    }

    #[cast]
    fn reset(&mut self) {
        self.0 = 0;
    }
}

#[tokio::test]
async fn a_beam_uses_a_declared_server_by_its_declaration() {
    let (_epmd, mut beam, cluster) = beam_and_ours().await;
    cluster.serves(Counter::served().state(|counter| counter.0));
    let started = cluster.node().start::<Counter>(Counter(1)).name("counter").await;
    started.expect("the name is free");
    beam.eval("S = {counter, 'ours@127.0.0.1'}, C = fun(Q) -> gen_server:call(S, Q, infinity) end")
        .await;
    assert_eq!(beam.eval("gen_server:cast(S, {add, 5}), C(total)").await, "6");
    assert_eq!(beam.eval("C({apply, 1})").await, "6");
    assert_eq!(beam.eval("C({add_all, [1, 2], true})").await, "12");
    assert_eq!(beam.eval("C({later, <<\"text\">>})").await, "<<\"text\">>");
    assert_eq!(beam.eval("sys:get_state(S, infinity)").await, "12");
    let refused = beam.eval("C({add_all, [1, two], true})").await;
    assert!(refused.starts_with("{exit,{{bad_call,<<"), "{refused}");
    assert_eq!(beam.eval("gen_server:cast(S, reset), C(total)").await, "0");
}

#[tokio::test]
async fn sys_inspects_and_stops_our_server() {
    let (_epmd, mut beam, cluster) = beam_and_ours().await;
    tickets(&cluster, "tickets").await;
    beam.eval("S = {tickets, 'ours@127.0.0.1'}").await;
    assert_eq!(beam.eval("sys:get_state(S, infinity)").await, "<<\"Tickets { left: 10 }\">>");
    cluster.serves(Served::<Tickets>::new().state(|tickets| tickets.left));
    assert_eq!(beam.eval("sys:get_state(S, infinity)").await, "10");
    let status = beam.eval("sys:get_status(S, infinity)").await;
    assert!(status.starts_with("{status,<") && status.contains("{module,gen_server}"), "{status}");
    assert!(status.contains("{\"State\",10}") && status.contains("served::Tickets"), "{status}");
    let unknown = beam.eval("catch sys:replace_state(S, fun(X) -> X end)").await;
    assert!(unknown.contains("unknown_system_msg"), "{unknown}");
    // The second registration did not include calls.
    let reply = beam.eval("gen_server:call(S, left, infinity)").await;
    assert!(reply.starts_with("{exit,{{bad_call,<<"), "{reply}");
    beam.eval("M = monitor(process, S)").await;
    assert_eq!(beam.eval("gen_server:stop(S, {shutdown, enough}, infinity)").await, "ok");
    let end = beam.eval("receive {'DOWN', M, _, _, Why} -> Why end").await;
    assert_eq!(end, "{shutdown,enough}");
}

#[tokio::test]
async fn sys_waits_for_a_busy_server_and_refuses_a_state_that_is_no_term() {
    let (_epmd, mut beam, cluster) = beam_and_ours().await;
    cluster.serves(Served::<Tickets>::new().state(|tickets| tickets.left));
    let server = cluster.node().start::<Tickets>(10).name("tickets").await;
    let server = server.expect("the name is free");
    beam.eval("S = {tickets, 'ours@127.0.0.1'}").await;

    let (begin, begun) = tokio::sync::oneshot::channel();
    let (let_go, may_go) = std::sync::mpsc::channel::<()>();
    let is_busy = move |_: &Tickets| {
        begin.send(()).expect("the test waits");
        may_go.recv().is_ok()
    };
    let same = server.clone();
    let busy = tokio::spawn(async move { same.inspect_timeout(is_busy, Duration::MAX).await });
    begun.await.expect("it begins");
    let release = async {
        // The monitor of the call, and the request.
        until("the request has come", || server.pid().mailbox_len() == 2).await;
        // The limit of a call that began later is over.
        let limited = server.inspect(|tickets| tickets.left).await;
        assert!(matches!(limited, Err(CallError::Timeout(_))), "{limited:?}");
        let_go.send(()).expect("it waits");
    };
    let (state, ()) = tokio::join!(beam.eval("sys:get_state(S, infinity)"), release);
    assert_eq!(state, "10");
    assert_eq!(busy.await.expect("it does not panic"), Ok(true));

    cluster.serves(Served::<Tickets>::new().state(|_| Unsaid));
    for request in ["get_state", "get_status"] {
        let refused = beam.eval(&format!("sys:{request}(S, infinity)")).await;
        assert!(refused.starts_with("{exit,{{bad_reply,<<"), "{refused}");
    }
}

// The protocol of `sys` in OTP 26.1 and later, simulated as no such BEAM is installed.
#[tokio::test]
async fn a_node_with_a_newer_sys_gets_the_state_in_its_format() {
    let epmd = Epmd::start();
    let (ours, newer) = (join(&epmd, "ours").await, join(&epmd, "newer").await);
    tickets(&ours, "tickets").await;
    let version = async |_| Ok(Term::tuple([Term::atom("ok"), Term::string("5.1")]));
    newer.export("application", "get_key", 2, version).expect("short names");
    let there = ours.name().clone();
    let reply = start(&newer, "asks", async move |mut me, newer| {
        let tickets = newer.named::<Term>("tickets", &there).expect("there is room");
        let asker = Term::tuple([newer.term_of(me.id()).into(), Term::atom("tag")]);
        tickets.send(Term::tuple([Term::atom("system"), asker, Term::atom("get_state")]));
        term(&mut me).await.to_string()
    });
    assert_eq!(found(reply).await, "{tag,{ok,<<\"Tickets { left: 10 }\">>}}");
}

async fn idle(mut me: Process<()>) {
    me.receive().await;
}

// G2
#[tokio::test]
async fn a_beam_inspects_our_supervisor_and_its_children() {
    let (_epmd, mut beam, cluster) = beam_and_ours().await;
    let under = SupervisorSpec::one_for_one().child(ChildSpec::worker("deep", idle));
    let tree = SupervisorSpec::one_for_one()
        .name("top")
        .child(ChildSpec::worker("first", idle))
        .child(ChildSpec::supervisor("second", under));
    let (sender, up) = tokio::sync::oneshot::channel();
    cluster.node().spawn(async move |mut me: Process<()>| {
        let started = tree.start_link(&me).await.is_ok();
        let _ = sender.send(started);
        me.receive().await;
    });
    assert_eq!(up.await, Ok(true));
    beam.eval("S = {top, 'ours@127.0.0.1'}").await;
    let children = "[{I, node(P), T} || {I, P, T, _} <- supervisor:which_children(S)]";
    let expected = "[{second,'ours@127.0.0.1',supervisor},{first,'ours@127.0.0.1',worker}]";
    assert_eq!(beam.eval(children).await, expected);
    let counts = "[{specs,2},{active,2},{supervisors,1},{workers,1}]";
    assert_eq!(beam.eval("supervisor:count_children(S)").await, counts);
    let deep = "{_, Second, _, _} = lists:keyfind(second, 1, supervisor:which_children(S)), \
                [I || {I, _, worker, _} <- supervisor:which_children(Second)]";
    assert_eq!(beam.eval(deep).await, "[deep]");
    assert_eq!(beam.eval("supervisor:terminate_child(S, first)").await, "ok");
    assert_eq!(beam.eval("supervisor:delete_child(S, second)").await, "{error,running}");
    assert_eq!(beam.eval("supervisor:terminate_child(S, third)").await, "{error,not_found}");
    let absent = "lists:keyfind(first, 1, supervisor:which_children(S))";
    assert_eq!(beam.eval(absent).await, "{first,undefined,worker,dynamic}");
    let again = beam.eval("element(1, supervisor:restart_child(S, first))").await;
    assert_eq!(again, "ok");
    let bad = beam.eval("supervisor:start_child(S, [])").await;
    assert_eq!(bad, "{error,{bad_call,{start_child,[]}}}");
    assert_eq!(beam.eval("gen_server:call(S, {7, x}, infinity)").await, "{error,{bad_call,{7,x}}}");
    assert_eq!(beam.eval("length(sys:get_state(S, infinity))").await, "2");
    assert!(beam.eval("sys:get_status(S, infinity)").await.contains("{module,supervisor}"));
    let stopped = "M = monitor(process, S), sys:terminate(S, shutdown), \
                   receive {'DOWN', M, _, _, Why} -> Why end";
    assert_eq!(beam.eval(stopped).await, ExitReason::Shutdown.to_string());
}

#[tokio::test]
async fn elixir_calls_a_typed_server_and_inspects_it() {
    let epmd = Epmd::start();
    let mut beam = Beam::start_elixir(&epmd, "elixir").await;
    let cluster = join(&epmd, "ours").await;
    tickets(&cluster, "tickets").await;
    let mut elixir = async |code: &str| {
        let code = code.replace("THERE", "{:tickets, :\\\"ours@127.0.0.1\\\"}");
        beam.eval(&format!("element(1, 'Elixir.Code':eval_string(<<\"{code}\">>))")).await
    };
    assert_eq!(elixir("GenServer.call(THERE, :left, :infinity)").await, "10");
    assert_eq!(elixir("GenServer.call(THERE, {:buy, 4}, :infinity)").await, "{'Ok',6}");
    assert_eq!(elixir("GenServer.cast(THERE, 1)").await, "ok");
    assert_eq!(elixir(":sys.get_state(THERE, :infinity)").await, "<<\"Tickets { left: 7 }\">>");
    let caught =
        "try do GenServer.call(THERE, :nonsense, :infinity) catch :exit, {{why, _}, _} -> why end";
    assert_eq!(elixir(caught).await, "bad_call");
    assert_eq!(elixir("GenServer.stop(THERE)").await, "ok");
    assert_eq!(elixir("GenServer.whereis(THERE) |> elem(0)").await, "tickets");
}

/// A term that cannot be encoded, after `size` bytes that can.
fn not_encodable(size: usize) -> Term {
    let inside = Term::Local([1, 2, 3][..].into());
    Term::list([Term::Binary(vec![0; size].as_slice().into()), inside])
}

#[tokio::test]
async fn a_call_exits_with_bad_reply_if_the_reply_cannot_be_encoded() {
    let (_epmd, mut beam, cluster) = beam_and_ours().await;
    let sizes = [0, 1 << 20];
    let answers = start(&cluster, "answers", async move |mut me, cluster| {
        for size in sizes {
            let call = GenCall::try_from(term(&mut me).await).expect("a call");
            cluster.reply(call, not_encodable(size));
        }
    });
    for _ in sizes {
        let exit = beam.eval("gen_server:call({answers, 'ours@127.0.0.1'}, any, infinity)").await;
        assert!(exit.starts_with("{exit,{{bad_reply,<<"), "{exit}");
    }
    found(answers).await;
    let function = async |arguments: Vec<Term>| match arguments[0].as_integer() {
        Some(size) => Ok(not_encodable(size as usize)),
        None => Err(not_encodable(0)),
    };
    cluster.export("m", "f", 1, function).expect("short names");
    for argument in ["0", "1048576", "x"] {
        let call = format!("{{call, m, f, [{argument}], user}}");
        let to_rex = "{rex, 'ours@127.0.0.1'}";
        for calls in [
            format!("{to_rex} ! {{self(), {call}}}, receive {{rex, Result}} -> Result end"),
            format!("gen_server:call({to_rex}, {call}, infinity)"),
            format!("rpc:call('ours@127.0.0.1', m, f, [{argument}], infinity)"),
        ] {
            let result = beam.eval(&calls).await;
            assert!(result.starts_with("{badrpc,{'EXIT',{{bad_reply,<<"), "{calls}: {result}");
        }
    }
}
