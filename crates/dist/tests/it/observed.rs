//! Inspection of our node by a BEAM: `etop`, the calls of `observer`, and other tools.

use std::time::Duration;

use crate::processes::builder;
use crate::support::{Beam, COOKIE, Epmd, HANG, until};
use purlin::application::ApplicationSpec;
use purlin::supervisor::{ChildSpec, SupervisorSpec};
use purlin::{Exit, Node, Process, SpawnOptions};
use purlin_dist::cluster::Cluster;
use purlin_term::Term;

enum Mail {
    Exit,
    /// Stops receiving until the channel is closed.
    Busy(std::sync::mpsc::Receiver<()>),
}

impl From<Exit> for Mail {
    fn from(_: Exit) -> Self {
        Self::Exit
    }
}

async fn clerk(mut me: Process<Mail>) {
    me.trap_exit(true);
    me.report_memory(1 << 20);
    loop {
        if let Mail::Busy(until) = me.receive().await {
            let _ = until.recv();
        }
    }
}

async fn idle(mut me: Process<Term>) {
    me.receive().await;
}

/// Joins a purlin node with an application `shop`, whose supervisor `top` has a child `keeper`, and with a process
/// `clerk`.
async fn shop(epmd: &Epmd) -> Cluster {
    shop_within(epmd, HANG).await
}

/// Like `shop`, with this timeout for answers of processes.
async fn shop_within(epmd: &Epmd, timeout: Duration) -> Cluster {
    let node = Node::builder().workers(2).build().expect("a node");
    let joins = builder(epmd, "ours").observable_within(timeout).start(&node);
    let cluster = joins.await.expect("it joins");
    let keeper = ChildSpec::worker("keeper", async |me: Process<Term>| {
        me.register("keeper").expect("the name is free");
        idle(me).await;
    });
    let tree = SupervisorSpec::one_for_one().name("top").child(keeper);
    let shop = ApplicationSpec::new("shop", tree);
    cluster.node().start_application(shop).await.expect("it starts");
    let named = SpawnOptions::new().name("clerk");
    named.spawn_on(cluster.node(), clerk).expect("there is room");
    cluster
}

/// Starts a BEAM that has `etop`.
async fn looker_with_etop(epmd: &Epmd) -> Beam {
    let mut beam = looker(epmd).await;
    let found = beam.eval("code:which(etop) =/= non_existing").await;
    assert_eq!(found, "true", "etop is not installed: on Debian `apt-get install erlang-observer`");
    beam
}

/// Starts a BEAM with a function that calls our node: `C(Module, Function, Arguments)`.
async fn looker(epmd: &Epmd) -> Beam {
    let mut beam = Beam::start(epmd, "beam").await;
    beam.eval("N = 'ours@127.0.0.1', C = fun(M, F, A) -> rpc:call(N, M, F, A) end").await;
    beam
}

#[tokio::test]
async fn etop_prints_our_processes() {
    let epmd = Epmd::start();
    let mut beam = looker_with_etop(&epmd).await;
    let _cluster = shop(&epmd).await;
    let options = "[{node, N}, {output, text}, {lines, 20}, {interval, 1}, {tracing, off}]";
    beam.send(&format!("spawn(fun() -> etop:start({options}) end)")).await;
    // Two consecutive tables: the second one includes the work done in between.
    let mut tables = 0;
    let mut table = Vec::new();
    while tables < 2 {
        let line = beam.line().await;
        tables += usize::from(line.contains("'ours@127.0.0.1'"));
        table.push(line);
    }
    let found = |what: &str| {
        let line = table.iter().find(|line| line.contains(what));
        line.unwrap_or_else(|| panic!("{what}: {table:#?}"))
    };
    assert!(found("procs").contains("processes"));
    let clerk: Vec<&str> = found("clerk").split_whitespace().collect();
    // Pid, name, time, reductions, memory, messages, function.
    assert!(clerk[0].starts_with('<') && clerk[1] == "clerk" && clerk[2] == "'-'", "{clerk:?}");
    assert!(clerk[3..6].iter().all(|figure| figure.parse::<u64>().is_ok()), "{clerk:?}");
    // The part of `'it::observed':clerk/1` that fits into the column.
    assert!(clerk[6].starts_with("'it::observed':clerk"), "{clerk:?}");
    for name in ["keeper", "top", "'purlin::supervisor'"] {
        found(name);
    }
    beam.send("etop:stop()").await;
}

#[tokio::test]
async fn etop_with_tracing_gets_an_error() {
    let epmd = Epmd::start();
    let mut beam = looker_with_etop(&epmd).await;
    let _cluster = shop(&epmd).await;
    beam.send("etop:start([{node, N}, {output, text}])").await;
    // It may have printed a table before.
    let found = loop {
        let line = beam.line().await;
        if line.starts_with('{') {
            break line;
        }
    };
    assert_eq!(found, "{error,{badmatch,{error,econnrefused}}}");
}

#[tokio::test]
async fn invalid_arguments_are_answered_with_badarg_and_end_no_process() {
    let epmd = Epmd::start();
    let mut beam = looker(&epmd).await;
    let cluster = shop(&epmd).await;
    let calls = [
        "erlang, process_info, [1]",
        "erlang, process_info, [self(), links]",
        "erlang, process_info, [C(erlang, whereis, [clerk]), {1, 2}]",
        "erlang, system_info, [{a, b, c}]",
        "erlang, system_info, [{a, b}]",
        "erlang, nodes, [nonsense]",
        "erlang, nodes, [[this, nonsense]]",
        "erlang, memory, [nonsense]",
        "erlang, memory, [[total, 7]]",
        "erlang, statistics, [[]]",
        "erlang, whereis, [\"clerk\"]",
        "erlang, is_process_alive, [clerk]",
        "erlang, exit, [clerk, kill]",
        "erlang, function_exported, [a, b, c]",
        "proc_lib, initial_call, [a]",
        "sys, get_state, [7]",
        "observer_backend, etop_collect, [nobody]",
        "observer_backend, procs_info, [nobody]",
        "observer_backend, fetch_stats, [self(), -1]",
        "observer_backend, fetch_stats, [nobody, 1]",
        "appmon_info, start_link2, [a, b, c]",
        "dbg, do_relay, [a, b]",
    ];
    for call in calls {
        let found = beam.eval(&format!("C({call})")).await;
        assert_eq!(found, "{badrpc,{'EXIT',{badarg,[]}}}", "{call}");
    }
    for (call, why) in [
        ("sys, get_state, [nobody]", "noproc"),
        ("sys, get_state, [clerk]", "undef"),
        ("supervisor, which_children, [clerk]", "undef"),
        ("supervisor, which_children, [nobody]", "noproc"),
    ] {
        let found = beam.eval(&format!("C({call})")).await;
        assert_eq!(found, format!("{{badrpc,{{'EXIT',{{{why},[]}}}}}}"), "{call}");
    }
    assert_eq!(
        beam.eval("[{_, P, _, _}] = C(supervisor, which_children, [top]), node(P)").await,
        "'ours@127.0.0.1'"
    );
    assert_eq!(
        beam.eval("C(supervisor, count_children, [top])").await,
        "[{specs,1},{active,1},{supervisors,0},{workers,1}]"
    );
    // No combination of function and argument panics, which would be reported as `{panic, Message, Place}`.
    let pool = "[7, -1, 1 bsl 80, a, \"text\", <<1:3>>, #{a => b}, self(), make_ref(), {a, b}, [a | b], 1.5, \
                [], C(erlang, whereis, [top]), fun() -> ok end]";
    let ones = "[{erlang, F} || F <- [process_info, system_info, memory, statistics, whereis, nodes, \
        is_process_alive, garbage_collect, port_info]] ++ [{sys, get_state}, {sys, get_status}, \
        {supervisor, which_children}, {supervisor, count_children}, {code, which}, {code, is_loaded}, \
        {code, ensure_loaded}, {proc_lib, initial_call}, {net_adm, ping}, {m, module_info}, \
        {application_controller, get_master}, {application_controller, get_loaded}, \
        {observer_backend, etop_collect}, {observer_backend, procs_info}]";
    let twos = "[{erlang, process_info}, {sys, get_state}, {sys, get_status}, {dbg, do_relay}, \
        {observer_backend, get_table_list}, {erlang, port_info}, {erlang, system_flag}]";
    let panics = format!(
        "Pool = {pool}, Told = [C(M, F, [X]) || {{M, F}} <- {ones}, X <- Pool] ++ \
         [C(M, F, [X, Y]) || {{M, F}} <- {twos}, X <- Pool, Y <- Pool], \
         [T || {{badrpc, {{'EXIT', {{panic, _, _}}}}}} = T <- Told]"
    );
    assert_eq!(beam.eval(&panics).await, "[]");
    assert!(cluster.node().whereis::<Mail>("clerk").is_ok_and(|clerk| clerk.is_alive()));
}

#[tokio::test]
async fn every_call_of_observer_gets_the_expected_answer() {
    let epmd = Epmd::start();
    let mut beam = looker(&epmd).await;
    let _cluster = shop(&epmd).await;
    // The call, and a condition on its answer A.
    let calls = [
        ("observer_backend, vsn, []", "{ok, [_ | _]} = A"),
        (
            "observer_backend, sys_info, []",
            "[I || I <- [uptime, run_queue, io_input, io_output, \
            logical_processors, schedulers, schedulers_online, schedulers_available, otp_release, \
            version, system_architecture, kernel_poll, smp_support, threads, thread_pool_size, \
            wordsize_internal, wordsize_external, alloc_info, process_count, process_limit, \
            atom_limit, atom_count, port_limit, port_count, ets_limit, ets_count, \
            dist_buf_busy_limit, total, processes, atom, binary, code, ets], \
            not lists:keymember(I, 1, A)] =:= []",
        ),
        ("observer_backend, socket_info, []", "is_list(A)"),
        ("observer_backend, get_port_list, []", "A =:= []"),
        ("observer_backend, get_socket_list, []", "A =:= []"),
        ("observer_backend, get_table_list, [ets, []]", "A =:= []"),
        ("observer_backend, get_table_list, [mnesia, []]", "{error, \"Mnesia is not\" ++ _} = A"),
        ("code, ensure_loaded, [observer_backend]", "A =:= {module, observer_backend}"),
        ("code, ensure_loaded, [rb]", "A =:= {error, nofile}"),
        ("erlang, function_exported, [observer_backend, procs_info, 1]", "A"),
        ("erlang, function_exported, [observer_backend, get_socket_list, 0]", "A"),
        ("erlang, function_exported, [rb, log_list, 0]", "not A"),
        ("erlang, system_info, [wordsize]", "A =:= 8"),
        ("erlang, system_info, [dirty_cpu_schedulers]", "A =:= 0"),
        ("erlang, whereis, [rb_server]", "A =:= undefined"),
        ("erlang, whereis, [clerk]", "node(A) =:= N"),
        ("erlang, garbage_collect, [C(erlang, whereis, [clerk])]", "A"),
        ("net_adm, localhost, []", "A =:= \"127.0.0.1\""),
        ("application, which_applications, []", "lists:keymember(shop, 1, A)"),
        ("code, all_loaded, []", "lists:keymember(erlang, 1, A)"),
        ("any_module, module_info, [attributes]", "A =:= []"),
        (
            "erlang, process_info, [C(erlang, whereis, [clerk]), registered_name]",
            "A =:= {registered_name, clerk}",
        ),
        ("erlang, process_info, [C(erlang, whereis, [clerk]), messages]", "A =:= {messages, []}"),
        // Includes the memory that the process reports.
        ("erlang, process_info, [C(erlang, whereis, [clerk]), memory]", "element(2, A) > 1 bsl 20"),
        (
            "erlang, process_info, [C(erlang, whereis, [clerk]), dictionary]",
            "{dictionary, [_ | _]} = A",
        ),
        (
            "erlang, process_info, [C(erlang, whereis, [clerk]), current_stacktrace]",
            "{current_stacktrace, [{_, clerk, 1, []}]} = A",
        ),
        ("proc_lib, translate_initial_call, [C(erlang, whereis, [clerk])]", "{_, clerk, 1} = A"),
        (
            "sys, get_status, [C(erlang, whereis, [top]), 200]",
            "{status, _, {module, _}, [_, _, _, _, [_, {data, _}, {data, _} | _]]} = A",
        ),
        (
            "sys, get_status, [C(erlang, whereis, [clerk]), 200]",
            "{status, _, {module, _}, [_, _, _, _, _]} = A",
        ),
    ];
    for (call, expected) in calls {
        let asked = format!(
            "(fun() -> A = C({call}), case begin {expected} end of false -> A; _ -> ok end end)()"
        );
        assert_eq!(beam.eval(&asked).await, "ok", "{call}");
    }
    assert_eq!(beam.eval("C(init, get_status, [])").await, "{started,started}");
    for call in ["application, which_applications, []", "erlang, whereis, [rb_server]"] {
        let asked = beam.eval(&format!("rpc:block_call(N, {call})")).await;
        assert!(!asked.contains("badrpc"), "{call}: {asked}");
    }
    let items = "[binary, catchlevel, current_function, error_handler, garbage_collection, \
        group_leader, heap_size, initial_call, last_calls, links, memory, message_queue_len, \
        monitored_by, monitors, priority, reductions, registered_name, sequential_trace_token, \
        stack_size, status, suspending, total_heap_size, trace, trap_exit]";
    let all = format!(
        "I = C(erlang, process_info, [C(erlang, whereis, [clerk]), {items}]), \
                       [K || {{K, _}} <- I] =:= {items}"
    );
    assert_eq!(beam.eval(&all).await, "true");
    // The queries of `recon` and `observer_cli`.
    let all = "Ks = [registered_name, dictionary, group_leader, status, links, monitors, monitored_by, \
        trap_exit, initial_call, current_stacktrace, memory, message_queue_len, heap_size, \
        total_heap_size, garbage_collection, reductions], \
        [K || {K, _} <- C(erlang, process_info, [C(erlang, whereis, [top]), Ks])] =:= Ks";
    assert_eq!(beam.eval(all).await, "true");
    let supervisor = "{links, Ls} = C(erlang, process_info, [C(erlang, whereis, [top]), links]), \
        lists:member(C(erlang, whereis, [keeper]), Ls)";
    assert_eq!(beam.eval(supervisor).await, "true");
    assert_eq!(beam.eval("{C(ets, all, []), C(ets, info, [x])}").await, "{[],undefined}");
    let found = "[proplists:get_value(K, I) || K <- [registered_name, status, trap_exit, links]]";
    assert_eq!(beam.eval(found).await, "[clerk,waiting,true,[]]");
}

// A process that has the pid of the group leader would never answer, and would receive its exit signals.
#[tokio::test]
async fn the_group_leader_of_our_processes_is_no_process() {
    let epmd = Epmd::start();
    let mut beam = looker(&epmd).await;
    let _cluster = shop(&epmd).await;
    beam.eval("{_, G} = C(erlang, process_info, [C(erlang, whereis, [clerk]), group_leader])")
        .await;
    let is_ours = "{node(G), lists:member(G, C(erlang, processes, []))}";
    assert_eq!(beam.eval(is_ours).await, "{'ours@127.0.0.1',false}");
    let printed = beam.eval("catch io:format(G, \"hello~n\", [])").await;
    assert!(printed.starts_with("{'EXIT',{terminated,"), "{printed}");
    let ended = "M = monitor(process, G), receive {'DOWN', M, process, G, Why} -> Why end";
    assert_eq!(beam.eval(ended).await, "noproc");
}

#[tokio::test]
async fn processes_statistics_and_trees_of_observer_are_sent_as_messages() {
    let epmd = Epmd::start();
    let mut beam = looker(&epmd).await;
    let cluster = shop(&epmd).await;
    // Like observer's process table: the rows, then the exit signal it waits for.
    beam.eval("P = spawn_link(N, observer_backend, procs_info, [self()])").await;
    let names = "Rows = receive {procs_info, P, Ps} -> Ps end, \
                 [X || X <- [clerk, keeper, top], not lists:keymember(X, 5, Rows)]";
    assert_eq!(beam.eval(names).await, "[]");
    assert_eq!(beam.eval("receive {'EXIT', P, E} -> E end").await, "normal");
    assert_eq!(beam.eval("[P || {_, P1, _, _, _, _, _, _} <- Rows, P1 =:= P]").await, "[]");
    // A long table comes in several messages, each process once.
    let many: Vec<_> = (0..2500).map(|_| cluster.node().spawn(idle)).collect();
    let all = "All = fun F(Told, Rs) -> receive {procs_info, P2, Ps2} -> F(Told + 1, Ps2 ++ Rs); \
               {'EXIT', P2, normal} -> {Told, length(Rs), length(lists:ukeysort(2, Rs)), \
               length([idle || {_, _, _, _, {_, idle, 1}, _, _, _} <- Rs])} end end";
    beam.eval(&format!("P2 = spawn_link(N, observer_backend, procs_info, [self()]), {all}")).await;
    let found = beam.eval("{Told, Rs, Us, 2500} = All(0, []), {Told, Rs =:= Us}").await;
    assert_eq!(found, "{3,true}");
    drop(many);
    // Like observer's charts.
    beam.eval("F = spawn_link(N, observer_backend, fetch_stats, [self(), 20])").await;
    // WHY a function: variables bound in the shell stay bound.
    let stats = "(fun() -> receive {stats, 1, [{1, _, _} | _], {{input, _}, {output, _}}, [{total, T} | _]} \
                 when T > 0 -> yes end end)()";
    for _ in 0..3 {
        assert_eq!(beam.eval(stats).await, "yes");
    }
    assert_eq!(beam.eval("F ! exit, receive {'EXIT', F, E2} -> E2 end").await, "normal");
    // Like observer's tab of applications.
    beam.eval(
        "{ok, M} = appmon_info:start_link(N, self(), []), \
               appmon_info:app_ctrl(M, N, true, []), appmon_info:app(M, shop, true, [])",
    )
    .await;
    let running =
        "receive {delivery, M, app_ctrl, N, [{Master, shop, {shop, _, _}}]} -> node(Master) end";
    assert_eq!(beam.eval(running).await, "'ours@127.0.0.1'");
    let tree = "receive {delivery, M, app, shop, {Root, Found, Links, []}} -> \
                {lists:keyfind(Root, 2, Found) =:= {Master, Root}, \
                 lists:keymember(\"keeper\", 2, Found), lists:member({\"top\", \"keeper\"}, Links)} end";
    assert_eq!(beam.eval(tree).await, "{true,true,true}");
    // Changes are reported.
    let wing = ApplicationSpec::new("wing", SupervisorSpec::one_for_one());
    cluster.node().start_application(wing).await.expect("it starts");
    let both = "receive {delivery, M, app_ctrl, N, [_, {_, wing, _}]} -> yes end";
    assert_eq!(beam.eval(both).await, "yes");
    // When the viewer has ended, the processes that serve it end too.
    let other = "spawn(fun() -> spawn(N, observer_backend, fetch_stats, [self(), 20]), \
                 appmon_info:start_link(N, self(), []), receive stop -> ok end end)";
    beam.eval(&format!("O = {other}")).await;
    let shows = |cluster: &Cluster| {
        cluster
            .node()
            .processes()
            .iter()
            .filter(|one| {
                ["builtin", "gone", "spawn_for"].iter().any(|part| one.function.contains(part))
            })
            .count()
    };
    until("the processes that show begin", || shows(&cluster) >= 6).await;
    assert_eq!(beam.eval("O ! stop").await, "stop");
    // Those that serve the shell, and the monitor of it.
    until("the processes that show to the other one end", || shows(&cluster) == 2).await;
    assert_eq!(beam.eval("erlang:disconnect_node(N)").await, "true");
    until("the processes that show to the shell end", || shows(&cluster) == 0).await;
}

// Queries do not wait for a process that does not answer.
#[tokio::test]
async fn a_process_that_does_not_answer_is_listed_all_the_same() {
    let epmd = Epmd::start();
    let mut beam = looker(&epmd).await;
    // WHY real time: the process does not answer at all, so the timeout expires whatever it is.
    let cluster = shop_within(&epmd, Duration::from_millis(20)).await;
    let clerk = cluster.node().whereis::<Mail>("clerk").expect("it lives");
    let (over, is_over) = std::sync::mpsc::channel();
    clerk.send(Mail::Busy(is_over));
    clerk.send(Mail::Exit);
    until("the clerk is busy", || clerk.info().messages_in > 0).await;
    let found = "C(erlang, process_info, [C(erlang, whereis, [clerk]), [status, message_queue_len, links]])";
    let found = beam.eval(found).await;
    assert_eq!(found, "[{status,running},{message_queue_len,1},{links,[]}]");
    drop(over);
}

#[tokio::test]
async fn remote_processes_linked_to_ours_are_reported_by_their_own_pids() {
    let epmd = Epmd::start();
    let mut beam = looker(&epmd).await;
    let cluster = shop(&epmd).await;
    cluster
        .export_process("rust", "wait", 0, async |mut me, _| Ok(me.receive().await))
        .expect("short");
    beam.eval("P = spawn_link(N, rust, wait, []), M = monitor(process, P)").await;
    let links = "C(erlang, process_info, [P, [links, registered_name]])";
    assert_eq!(
        beam.eval(&format!("{links} =:= [{{links, [self()]}}, {{registered_name, []}}]")).await,
        "true"
    );
    // Its watchers are the remote processes too, once per monitor.
    let watched = "W = spawn(fun() -> monitor(process, P), receive stop -> ok end end), \
        {monitored_by, By} = C(erlang, process_info, [P, monitored_by]), lists:sort(By -- [W])";
    beam.eval("monitor(process, P)").await;
    assert_eq!(beam.eval(&format!("{watched} =:= [self(), self()]")).await, "true");
    assert_eq!(beam.eval("C(erlang, process_info, [P, registered_name])").await, "[]");
    let parent = beam.eval("C(erlang, process_info, [P, parent])").await;
    assert_eq!(parent, "{parent,undefined}", "what reads the connection has spawned it");
    let pids = "All = C(erlang, processes, []), {lists:member(P, All), lists:usort([node(X) || X <- All])}";
    assert_eq!(beam.eval(pids).await, "{true,['ours@127.0.0.1']}");
    // Without the proxy of the shell and the agent of the connection.
    let same = "length(All) =:= C(erlang, system_info, [process_count])";
    assert_eq!(beam.eval(same).await, "true");
    let cell = cluster.node().processes().len();
    let listed = beam.eval("length(All)").await.parse::<usize>().expect("a number");
    assert!(listed < cell, "{listed} of {cell}");
    assert_eq!(
        beam.eval("C(erlang, exit, [P, kill]), receive {'EXIT', P, E} -> E end").await,
        "killed"
    );
    assert_eq!(beam.eval("C(erlang, process_info, [P])").await, "undefined");
    assert_eq!(beam.eval("C(erlang, is_process_alive, [P])").await, "false");
    let bad = beam.eval("C(erlang, process_info, [self()])").await;
    assert!(bad.contains("badarg"), "{bad}");
    let bad = beam.eval("C(erlang, process_info, [C(erlang, whereis, [clerk]), [nonsense]])").await;
    assert!(bad.contains("badarg"), "{bad}");
}

#[tokio::test]
async fn system_figures_have_the_same_types_as_on_a_beam() {
    let epmd = Epmd::start();
    let mut beam = looker(&epmd).await;
    let _cluster = shop(&epmd).await;
    // Keys whose value has another type than on the BEAM.
    let same = "Kind = fun(X) when is_integer(X) -> int; (X) when is_atom(X) -> atom; \
        (X) when is_list(X) -> list; (X) when is_binary(X) -> bin; (_) -> other end, \
        [K || K <- [schedulers, schedulers_online, logical_processors, process_count, \
        process_limit, port_count, port_limit, ets_count, ets_limit, atom_count, atom_limit, \
        otp_release, version, system_version, system_architecture, wordsize, creation, \
        kernel_poll, smp_support, threads, thread_pool_size, machine, build_type, \
        dist_buf_busy_limit, dirty_io_schedulers, start_time, multi_scheduling, \
        alloc_util_allocators, {wordsize, internal}, {wordsize, external}], \
        Kind(erlang:system_info(K)) =/= Kind(C(erlang, system_info, [K]))]";
    assert_eq!(beam.eval(same).await, "[]");
    let shape = "Shape = fun F(X) when is_integer(X) -> int; F(X) when is_tuple(X) -> \
        list_to_tuple([F(Y) || Y <- tuple_to_list(X)]); F([X | _]) -> [F(X)]; F([]) -> []; F(X) -> X end, \
        [K || K <- [wall_clock, runtime, reductions, run_queue, run_queue_lengths, \
        total_run_queue_lengths, io, garbage_collection, context_switches, active_tasks], \
        Shape(erlang:statistics(K)) =/= Shape(C(erlang, statistics, [K]))]";
    assert_eq!(beam.eval(shape).await, "[]");
    let memory = "[K || {K, V} <- C(erlang, memory, []), not is_integer(V) \
                  orelse C(erlang, memory, [K]) < 0 orelse not lists:keymember(K, 1, erlang:memory())]";
    assert_eq!(beam.eval(memory).await, "[]");
    assert_eq!(beam.eval("length(C(erlang, memory, [[total, processes]]))").await, "2");
    let nodes =
        "[C(erlang, nodes, A) || A <- [[], [this], [hidden], [[hidden, visible]], [known]]]";
    let (ours, beams) = ("'ours@127.0.0.1'", "'beam@127.0.0.1'");
    // As on a hidden BEAM node, whose connections are all hidden.
    let expected = format!("[[],[{ours}],[{beams}],[{beams}],[{ours},{beams}]]");
    assert_eq!(beam.eval(nodes).await, expected);
    assert_eq!(beam.eval("C(erlang, node, [])").await, "'ours@127.0.0.1'");
    assert_eq!(beam.eval("lists:member(clerk, C(erlang, registered, []))").await, "true");
    assert_eq!(beam.eval("{_, _, _} = C(erlang, timestamp, []), ok").await, "ok");
    // The time since the start is the same by either clock.
    let since = "W = fun() -> element(1, C(erlang, statistics, [wall_clock])) end, W1 = W(), \
                 M = C(erlang, monotonic_time, []) - C(erlang, system_info, [start_time]), \
                 [W1, M div 1000000, W()]";
    assert_eq!(beam.eval(&format!("Ws = begin {since} end, Ws =:= lists:sort(Ws)")).await, "true");
    let bad = beam.eval("C(erlang, system_info, [nonsense])").await;
    assert!(bad.contains("badarg"), "{bad}");
}

#[tokio::test]
async fn a_node_that_is_not_observable_answers_no_queries() {
    let epmd = Epmd::start();
    let mut beam = looker(&epmd).await;
    let node = Node::builder().workers(1).build().expect("a node");
    let name = "ours@127.0.0.1".parse().expect("a name");
    let builder = Cluster::builder(name).cookie(COOKIE).epmd(([127, 0, 0, 1], epmd.port).into());
    let _cluster = builder.observable(false).start(&node).await.expect("it joins");
    let found = beam.eval("C(erlang, processes, [])").await;
    assert!(found.contains("undef"), "{found}");
    assert_eq!(beam.eval("net_adm:ping(N)").await, "pong");
}
