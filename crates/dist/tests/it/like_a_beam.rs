//! A table of what processes of a BEAM do with another node: a purlin node and a second BEAM give the same answers.

use purlin::{ExitReason, Process};
use purlin_dist::cluster::{Cluster, GenCall, TermReason};
use purlin_term::{Pid, Term};

use crate::processes::join;
use crate::support::{Beam, Epmd};

/// First release of Erlang/OTP, what is done, and the expression, in which `N` is the other node. `N` has the processes
/// `server`, `owner` and `mortal_1` to `mortal_3`.
const ROWS: &[(u32, &str, &str)] = &[
    (25, "ping", "net_adm:ping(N)"),
    (25, "send by name", "{server, N} ! {self(), hi}, receive {P, W} -> {node(P), W} end"),
    (25, "send by pid", "ServerOf(N) ! {self(), [1, 2 | c]}, receive {P, W} -> {node(P), W} end"),
    (
        25,
        "send a long list",
        "{server, N} ! {self(), lists:seq(1, 500000)}, receive {_, L} -> {length(L), lists:sum(L)} end",
    ),
    (
        25,
        "send nested lists and maps",
        "Nest = fun(Depth) -> lists:foldl(fun(I, T) -> [I, #{a => {T}}] end, [], lists:seq(1, Depth)) end,
         [begin T = Nest(D), {server, N} ! {self(), T}, receive {_, Back} -> Back =:= T end end
          || D <- [300, 1100, 100000]]",
    ),
    (
        29,
        "send a native record",
        "R = records:create(m, pt, [{x, 1}, {y, [2]}], #{is_exported => true}),
         {server, N} ! {self(), R}, receive {_, Back} -> Back =:= R end",
    ),
    (25, "call", "gen_server:call({server, N}, {add, 1, 2}, infinity)"),
    (25, "call of a pid", "gen_server:call(ServerOf(N), #{a => 1.5}, infinity)"),
    (25, "call of a free name", "catch gen_server:call({nobody, N}, hi, infinity)"),
    (
        25,
        "send_request",
        "gen_server:receive_response(gen_server:send_request({server, N}, hi), infinity)",
    ),
    (
        25,
        "send_request to a free name",
        "gen_server:receive_response(gen_server:send_request({nobody, N}, hi), infinity)",
    ),
    (25, "multi_call", "gen_server:multi_call([N], server, hi)"),
    (25, "multi_call of a free name", "gen_server:multi_call([N], nobody, hi)"),
    // The server answers after the timeout, whatever its length, and before it answers the message.
    (
        25,
        "late answer to multi_call",
        "Result = gen_server:multi_call([N], server, late, 1), {server, N} ! {self(), now},
         Mail = fun Mail(All) -> receive {_, now} -> All; Other -> Mail([Other | All]) end end,
         {Result, Mail([])}",
    ),
    (25, "rpc", "rpc:call(N, erlang, whereis, [nobody])"),
    (25, "is_alive", "rpc:call(N, erlang, is_alive, [])"),
    (25, "form of the name", "gen_server:call({net_kernel, N}, longnames)"),
    (25, "rpc of no function", "rpc:call(N, nothing, nothing, [1])"),
    (25, "erpc", "node(erpc:call(N, erlang, whereis, [server]))"),
    (25, "erpc of no function", "catch erpc:call(N, nothing, nothing, [1])"),
    (
        25,
        "process_info",
        "Items = [message_queue_len, registered_name, trap_exit, status],
         erpc:call(N, erlang, process_info, [ServerOf(N), Items])",
    ),
    (
        25,
        "rpc of a C node",
        "{rex, N} ! {self(), {call, erlang, whereis, [nobody], user}}, receive {rex, R} -> R end",
    ),
    (
        25,
        "rpc of no function by a C node",
        "{rex, N} ! {self(), {call, nothing, nothing, [1], user}}, receive {rex, R} -> R end",
    ),
    (
        25,
        "rpc of no list of arguments by a C node",
        "[begin {rex, N} ! {self(), {call, M, F, A, user}}, Badarg(receive {rex, R} -> R end) end
          || {M, F, A} <- [{erlang, node, [1 | 2]}, {erlang, node, none}, {erlang, 1, []}, {{x}, node, []}]]",
    ),
    (
        25,
        "call of no list of arguments to rex",
        "[Badarg(gen_server:call({rex, N}, {Call, M, F, A, user}, infinity)) || Call <- [call, block_call],
          {M, F, A} <- [{erlang, node, [1 | 2]}, {erlang, node, none}, {erlang, 1, []}, {{x}, node, []}]]",
    ),
    (25, "rpc of an improper list", "Badarg(rpc:call(N, erlang, node, [1 | 2]))"),
    (
        25,
        "erpc of an improper list",
        "try erpc:call(N, erlang, node, [1 | 2]) catch error:{exception, W, [Call | _]} -> {W, Call3(Call)} end",
    ),
    (
        25,
        "rpc of erlang:apply",
        "[rpc:call(N, erlang, apply, A) || A <- [[erlang, whereis, [nobody]], [fun erlang:whereis/1, [nobody]],
          [erlang, apply, [erlang, apply, [fun erlang:whereis/1, [nobody]]]]]]",
    ),
    (
        25,
        "rpc of erlang:apply of no function",
        "[begin {badrpc, {'EXIT', {undef, [Call | _]}}} = rpc:call(N, erlang, apply, A), Call3(Call) end
          || A <- [[nothing, nothing, [1]], [fun nothing:nothing/1, [1]]]]",
    ),
    (
        25,
        "rpc of erlang:apply with invalid arguments",
        "[begin {badrpc, {'EXIT', {W, _}}} = rpc:call(N, erlang, apply, A), W end ||
          A <- [[erlang, node, x], [erlang, node, [1 | 2]], [1, node, []], [fun erlang:node/0, x],
          [fun erlang:node/0, [1 | 2]], [fun erlang:node/0, [1]], [other, []], [other, x], []]]",
    ),
    (25, "erpc of an external fun", "erpc:call(N, fun erlang:node/0)"),
    (
        25,
        "spawn of an external fun",
        "[Ended(spawn_monitor(N, F)) || F <- [fun erlang:node/0, fun nothing:nothing/0]]",
    ),
    (
        25,
        "proc_lib:spawn of an external fun",
        "P = proc_lib:spawn_link(N, fun erlang:node/0), receive {'EXIT', P, Why} -> Why end",
    ),
    (
        25,
        "sbcast",
        "Nodes = rpc:sbcast([N], server, {self(), hi}), receive {P, W} -> {Nodes, node(P), W} end",
    ),
    (25, "sbcast to a free name", "rpc:sbcast([N], nobody, hi)"),
    (
        25,
        "send by rex",
        "{rex, N} ! {self(), {send, server, hi}}, receive {P, W} -> {node(P), W} end",
    ),
    (
        25,
        "send by rex to a free name",
        "{rex, N} ! {self(), {send, nobody, hi}}, receive {rex, _, _} = Answer -> Answer end",
    ),
    (
        25,
        "eval_everywhere",
        "rpc:eval_everywhere([N], erlang, send, [self(), cast]), rpc:eval_everywhere([N], erlang, node, x),
         receive cast -> cast end",
    ),
    (25, "spawn", "node(spawn(N, erlang, whereis, [nobody]))"),
    (25, "spawn_monitor of no function", "Ended(spawn_monitor(N, nothing, nothing, [1]))"),
    (25, "monitor of an ended process", "P = Dead(N), Ended({P, monitor(process, P)})"),
    (
        25,
        "monitor of a free name",
        "M = monitor(process, {nobody, N}), receive {'DOWN', M, _, Of, Why} -> {Of, Why} end",
    ),
    (25, "link to an ended process", "P = Dead(N), link(P), receive {'EXIT', P, Why} -> Why end"),
    (
        25,
        "link",
        "P = PidOf(N, mortal_1), link(P), P ! {self(), {so, 1}}, receive {'EXIT', P, Why} -> Why end",
    ),
    (
        25,
        "unlink",
        "P = PidOf(N, mortal_2), link(P), unlink(P), M = monitor(process, P), P ! {self(), end_of_it},
         Why = Ended({P, M}), receive {'EXIT', P, _} -> linked after 0 -> Why end",
    ),
    (25, "exit/2", "P = PidOf(N, mortal_3), M = monitor(process, P), exit(P, kill), Ended({P, M})"),
    (
        28,
        "exit/2 to an alias",
        "{owner, N} ! {self(), alias},
         receive {P, Alias} -> M = monitor(process, P), exit(Alias, because), Ended({P, M}) end",
    ),
];

/// The funs of the table.
const FUNCTIONS: &str = "
    PidOf = fun(N, Name) -> erpc:call(N, erlang, whereis, [Name]) end,
    ServerOf = fun(N) -> PidOf(N, server) end,
    Ended = fun({P, M}) -> receive {'DOWN', M, process, P, Why} -> Why end end,
    Call3 = fun({M, F, A, _}) -> {M, F, A} end,
    Badarg = fun({badrpc, {'EXIT', {badarg, [Call | _]}}}) -> Call3(Call) end,
    Dead = fun(N) -> {P, M} = spawn_monitor(N, erlang, whereis, [nobody]), Ended({P, M}), P end,
    functions";

/// Processes of the BEAM that is compared.
const PROCESSES: &str = "
    Server = fun Server(Late) ->
        receive
            {'$gen_call', From, late} -> Server([From]);
            {'$gen_call', From, Request} -> gen_server:reply(From, Request), Server(Late);
            {P, What} ->
                [gen_server:reply(From, late) || From <- Late],
                P ! {self(), What},
                Server([])
        end
    end,
    Owner = fun() -> receive {P, alias} -> P ! {self(), alias()}, receive stop -> ok end end end,
    Mortal = fun() -> receive {_, Why} -> exit(Why) end end,
    register(server, spawn(fun() -> Server([]) end)),
    register(owner, spawn(Owner)),
    [register(Name, spawn(Mortal)) || Name <- [mortal_1, mortal_2, mortal_3]],
    processes";

/// The same processes on our node.
fn processes(cluster: &Cluster) {
    let (node, answers) = (cluster.node(), cluster.clone());
    let server = node.spawn(async move |mut me: Process<Term>| {
        let mut late = None;
        loop {
            match GenCall::try_from(me.receive().await) {
                Ok(call) if call.request.is_atom("late") => late = Some(call),
                Ok(call) => {
                    let request = call.request.clone();
                    answers.reply(call, request);
                }
                Err(message) => {
                    if let Some(call) = late.take() {
                        answers.reply(call, Term::atom("late"));
                    }
                    let (from, what) = asked(&message);
                    send(&answers, from, [answers.term_of(me.id()).into(), what]);
                }
            }
        }
    });
    let answers = cluster.clone();
    let owner = node.spawn(async move |mut me: Process<Term>| {
        let message = me.receive().await;
        let (from, _) = asked(&message);
        let alias = answers.term_of_alias(&me.alias());
        send(&answers, from, [answers.term_of(me.id()).into(), alias.into()]);
        me.receive().await;
    });
    let sends = cluster.clone();
    let send = move |mut arguments: Vec<Term>| {
        if let (Some(message), Some(Term::Pid(to))) = (arguments.pop(), arguments.pop()) {
            sends.pid::<Term>(&to).expect("there is room").send(message);
        }
        std::future::ready(Ok(Term::NIL))
    };
    cluster.export("erlang", "send", 2, send).expect("short names");
    node.register("server", &server).expect("the name is free");
    node.register("owner", &owner).expect("the name is free");
    for name in ["mortal_1", "mortal_2", "mortal_3"] {
        let mortal = node.spawn(async move |mut me: Process<Term>| {
            let (_, why) = asked(&me.receive().await);
            ExitReason::error(TermReason(why))
        });
        node.register(name, &mortal).expect("the name is free");
    }
}

/// Splits `{Pid, What}`.
fn asked(message: &Term) -> (&Pid, Term) {
    let Some([Term::Pid(from), what]) = message.as_tuple() else { panic!("{message}") };
    (from, what.clone())
}

fn send(cluster: &Cluster, to: &Pid, message: [Term; 2]) {
    cluster.pid::<Term>(to).expect("there is room").send(Term::tuple(message));
}

#[tokio::test]
async fn a_purlin_node_answers_a_beam_as_a_beam_does() {
    let epmd = Epmd::start();
    let mut beam = Beam::start(&epmd, "beam").await;
    let mut twin = Beam::start(&epmd, "twin").await;
    let cluster = join(&epmd, "ours").await;
    processes(&cluster);
    assert_eq!(twin.eval(PROCESSES).await, "processes");
    assert_eq!(beam.eval(FUNCTIONS).await, "functions");
    let watched = "[monitor_node(N, true) || N <- ['twin@127.0.0.1', 'ours@127.0.0.1']]";
    assert_eq!(beam.eval(watched).await, "[true,true]");
    for (release, what, expression) in ROWS {
        if !beam.has_release(*release).await {
            continue;
        }
        let mut answer = async |node: &str| {
            let node = format!("{node}@127.0.0.1");
            let answer = beam.eval(&format!("(fun(N) -> {expression} end)('{node}')")).await;
            answer.replace(&node, "node@127.0.0.1")
        };
        let due = answer("twin").await;
        assert_eq!(answer("ours").await, due, "{what}");
    }
    let lost = "receive {nodedown, Node} -> Node after 0 -> none end";
    assert_eq!(beam.eval(lost).await, "none");
}
