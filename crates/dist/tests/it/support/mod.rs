//! Test support: an epmd on a private port, and BEAMs that evaluate expressions.
#![allow(dead_code, reason = "each test uses some of it")]

use std::io::{BufRead, BufReader};
use std::net::{Ipv4Addr, SocketAddr};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use purlin_dist::connect::{self, Lengths};
use purlin_dist::control::Control;
use purlin_dist::epmd::{Alive, Kind, Registration};
use purlin_dist::frame::Signal;
use purlin_dist::handshake::{Caller, LocalNode, Verdict};
use purlin_dist::link::{Link, Settings};
use purlin_dist::{Accepted, Cookie, Flags, Listener, NodeName, epmd};
pub(crate) use purlin_polling::HANG;
use purlin_term::{Atom, Pid, Reference, Term};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, Lines};
use tokio::net::TcpSocket;
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::sync::mpsc;

pub(crate) const COOKIE: &str = "monster";

/// An epmd started by the test.
pub(crate) struct Epmd {
    daemon: std::process::Child,
    pub(crate) port: u16,
    _held: Port,
}

impl Epmd {
    pub(crate) fn start() -> Self {
        Self::start_on(free_port())
    }

    pub(crate) fn start_on(held: Port) -> Self {
        let port = held.number;
        let mut daemon = std::process::Command::new("epmd")
            .args(["-d", "-d", "-address", "127.0.0.1", "-port", &port.to_string()])
            .stderr(Stdio::piped())
            .spawn()
            .expect("epmd is there");
        let lines = BufReader::new(daemon.stderr.take().expect("its log")).lines();
        let mut log = lines.map_while(Result::ok);
        assert!(log.any(|line| line.contains("main select")), "epmd ended");
        // Drains the remaining output, so that epmd never blocks on a full pipe.
        std::thread::spawn(move || log.for_each(drop));
        Self { daemon, port, _held: held }
    }

    pub(crate) fn ask(&self) -> epmd::Epmd {
        epmd::Epmd::at((Ipv4Addr::LOCALHOST, self.port).into())
    }
}

impl Drop for Epmd {
    fn drop(&mut self) {
        let _ = self.daemon.kill();
        let _ = self.daemon.wait();
    }
}

/// Awaits a future with a timeout that guards against hanging.
pub(crate) async fn in_time<F: Future>(what: &str, comes: F) -> F::Output {
    let came = tokio::time::timeout(HANG, comes).await;
    came.unwrap_or_else(|_| panic!("waited in vain for {what}"))
}

/// Waits until a condition holds.
pub(crate) async fn until(what: &str, mut condition: impl FnMut() -> bool) {
    let holds = async {
        // WHY a period: the tasks and programs that make the condition true need the processor.
        let mut looks = tokio::time::interval(Duration::from_millis(1));
        while !condition() {
            looks.tick().await;
        }
    };
    in_time(what, holds).await;
}

/// Repeats an asynchronous condition until it returns `true`.
pub(crate) async fn until_async(what: &str, mut condition: impl AsyncFnMut() -> bool) {
    let holds = async { while !condition().await {} };
    in_time(what, holds).await;
}

/// A port reserved on all addresses of this machine while this exists. The system assigns it to no program that asks
/// for any port; a program that names the port can listen on it.
#[derive(Clone)]
pub(crate) struct Port {
    pub(crate) number: u16,
    /// WHY bound and not listening: the system then assigns the port to no other program, but lets programs that set
    /// `SO_REUSEADDR`, as all in these tests do, listen on it.
    _held: Arc<TcpSocket>,
}

/// Reserves a free port.
pub(crate) fn free_port() -> Port {
    let held = TcpSocket::new_v4().expect("a socket");
    held.set_reuseaddr(true).expect("it is new");
    held.bind((Ipv4Addr::UNSPECIFIED, 0).into()).expect("a port");
    let number = held.local_addr().expect("an address").port();
    Port { number, _held: held.into() }
}

/// Evaluates expressions from standard input, one per line, and prints each value in one line.
const EVALUATE: &str = r#"
    process_flag(trap_exit, true),
    Run = fun Run(Bound) ->
        case io:get_line("") of
            eof -> halt(0);
            Line ->
                Next = try
                    {ok, Tokens, _} = erl_scan:string(unicode:characters_to_list(Line)),
                    {ok, Expressions} = erl_parse:parse_exprs(Tokens),
                    {value, Value, Bound1} = erl_eval:exprs(Expressions, Bound),
                    io:format("~0tp~n", [Value]),
                    Bound1
                catch Class:Reason -> io:format("~0tp~n", [{Class, Reason}]), Bound
                end,
                Run(Next)
        end
    end,
    io:format("ready~n"),
    Run([])."#;

/// Configuration of OTP's logger: standard error instead of standard output.
pub(crate) const LOG_TO_STDERR: &str =
    "[{handler, default, logger_std_h, #{config => #{type => standard_error}}}]";

/// A BEAM node.
pub(crate) struct Beam {
    machine: Child,
    input: ChildStdin,
    output: Lines<tokio::io::BufReader<ChildStdout>>,
    pub(crate) name: NodeName,
    _home: tempfile::TempDir,
}

impl Beam {
    pub(crate) async fn start(epmd: &Epmd, alive: &str) -> Self {
        Self::start_with(epmd.port, alive, &[]).await
    }

    pub(crate) async fn start_with(epmd_port: u16, alive: &str, more: &[&str]) -> Self {
        Self::run(epmd_port, "-name", &format!("{alive}@127.0.0.1"), more).await
    }

    /// Starts a node with Elixir.
    pub(crate) async fn start_elixir(epmd: &Epmd, alive: &str) -> Self {
        let place = ["-e", "IO.write(Path.dirname(:code.lib_dir(:elixir)))"];
        let place = std::process::Command::new("elixir").args(place).output();
        let place = String::from_utf8(place.expect("elixir is there").stdout).expect("a path");
        let more = ["elixir", "logger"].map(|part| format!("{place}/{part}/ebin"));
        let mut beam = Self::start_with(epmd.port, alive, &["-pa", &more[0], &more[1]]).await;
        let started = beam.eval("element(1, application:ensure_all_started(elixir))").await;
        assert_eq!(started, "ok");
        beam
    }

    /// Starts a nameless node, which gets its name from the first node it connects to.
    pub(crate) async fn start_nameless(epmd_port: u16) -> Self {
        Self::run(epmd_port, "-name", "undefined@127.0.0.1", &["-dist_listen", "false"]).await
    }

    /// Starts a node with that full name, in the form `-name` or `-sname`.
    pub(crate) async fn run(epmd_port: u16, form: &str, name: &str, more: &[&str]) -> Self {
        let home = tempfile::tempdir().expect("a folder");
        // WHY a large heap: under load OTP 25.2.3 crashed during garbage collection of the evaluating process (its
        // off-heap list is corrupt, as in erlang/otp#8044). With this size it collects no garbage.
        let mut machine = Command::new("erl")
            .args(["+S", "1:1", "+sbwt", "none", "+hms", "300000"])
            .args(["-noshell", "-start_epmd", "false"])
            .args(["-boot", "start_clean", form, name, "-setcookie", COOKIE])
            // The longest handshake timeout that a BEAM allows, in seconds.
            .args(["-kernel", "net_setuptime", "120"])
            // WHY: a report on standard output would be taken for an answer.
            .args(["-kernel", "logger", LOG_TO_STDERR])
            .args(more)
            .args(["-eval", EVALUATE])
            .env("ERL_EPMD_PORT", epmd_port.to_string())
            .env("ERL_CRASH_DUMP_SECONDS", "0")
            .env("HOME", home.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .expect("erl is there");
        let input = machine.stdin.take().expect("its input");
        let output = tokio::io::BufReader::new(machine.stdout.take().expect("its output"));
        let name = name.parse().expect("a name");
        let mut beam = Self { machine, input, output: output.lines(), name, _home: home };
        assert_eq!(beam.line().await, "ready");
        beam
    }

    /// Starts the evaluation of an expression without waiting for the value.
    pub(crate) async fn send(&mut self, expression: &str) {
        let line = format!("{}.\n", expression.replace('\n', " "));
        self.input.write_all(line.as_bytes()).await.expect("the BEAM reads");
    }

    /// Returns the value of the oldest unanswered expression, as Erlang prints it.
    pub(crate) async fn line(&mut self) -> String {
        let line = in_time("a line", self.output.next_line()).await;
        line.expect("the BEAM writes").expect("the BEAM goes on")
    }

    pub(crate) async fn eval(&mut self, expression: &str) -> String {
        self.send(expression).await;
        self.line().await
    }

    /// Returns whether the node is of this OTP release or a later one.
    pub(crate) async fn has_release(&mut self, release: u32) -> bool {
        let its = self.eval("list_to_integer(erlang:system_info(otp_release))").await;
        its.parse::<u32>().expect("a number") >= release
    }

    /// Kills the node, as a power failure would.
    pub(crate) async fn kill(mut self) {
        self.machine.kill().await.expect("it runs");
    }

    /// Suspends the node: its connections stay open, but it does nothing.
    pub(crate) fn stop(&self) {
        let id = self.machine.id().expect("it runs").to_string();
        let stopped = std::process::Command::new("kill").args(["-STOP", &id]).status();
        assert!(stopped.is_ok_and(|status| status.success()));
    }
}

/// A purlin node without processes: the test reads incoming signals.
pub(crate) struct Ours {
    pub(crate) local: LocalNode,
    pub(crate) epmd: epmd::Epmd,
    listener: Listener,
    _registration: Registration,
}

/// Starts an epmd, a purlin node without processes, `ours`, and the BEAM node `beam`.
pub(crate) async fn ours_and_beam() -> (Epmd, Ours, Beam) {
    let epmd = Epmd::start();
    let ours = Ours::start(&epmd, "ours").await;
    let beam = Beam::start(&epmd, "beam").await;
    (epmd, ours, beam)
}

/// A connection of such a node.
pub(crate) struct Connected {
    pub(crate) link: Link,
    pub(crate) signals: mpsc::Receiver<Signal>,
}

pub(crate) fn cookie() -> Cookie {
    Cookie::new(COOKIE)
}

pub(crate) fn welcome(_: &Caller) -> (Verdict, Cookie) {
    (Verdict::Ok, cookie())
}

impl Ours {
    pub(crate) async fn start(epmd: &Epmd, alive: &str) -> Self {
        Self::start_with(epmd.ask(), alive, Flags::OFFERED, welcome).await
    }

    pub(crate) async fn start_with(
        epmd: epmd::Epmd,
        alive: &str,
        flags: Flags,
        decide: impl Fn(&Caller) -> (Verdict, Cookie) + Send + Sync + 'static,
    ) -> Self {
        let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let (socket, address) = Listener::bind(any).await.expect("a port");
        let entry = Alive { alive: alive.to_owned(), port: address.port(), kind: Kind::Hidden };
        let registration = Registration::new(epmd, entry).await.expect("epmd is there");
        let name: NodeName = format!("{alive}@127.0.0.1").parse().expect("a name");
        let local = LocalNode { name, creation: registration.creation(), flags };
        let listener = Listener::new(socket, local.clone(), decide);
        Self { local, epmd, listener, _registration: registration }
    }

    /// Accepts only peers that use TLS.
    #[cfg(feature = "tls")]
    pub(crate) fn over_tls(self, tls: purlin_dist::Tls) -> Self {
        Self { listener: self.listener.over(purlin_dist::Transport::Tls(tls)), ..self }
    }

    /// Connects to a node.
    pub(crate) async fn call(&self, peer: &NodeName) -> Connected {
        let mut stream = connect::dial(&self.epmd, peer).await.expect("it listens");
        let established =
            connect::call(&mut stream, Lengths::Two, &self.local, peer.clone(), cookie(), || true)
                .await;
        Connected::new(stream, established.expect("it knows the cookie"))
    }

    /// Waits for the next incoming connection.
    pub(crate) async fn called(&mut self) -> Connected {
        let (stream, established) = self.called_raw().await;
        Connected::new(stream, established)
    }

    pub(crate) async fn called_raw(
        &mut self,
    ) -> (purlin_dist::Stream, purlin_dist::handshake::Established) {
        loop {
            if let Accepted::Up(stream, established) = self.listener.next().await {
                return (stream, established);
            }
        }
    }

    /// Returns a pid of this node.
    pub(crate) fn pid(&self, id: u32) -> Pid {
        Pid { node: self.atom(), id, serial: 0, creation: self.local.creation }
    }

    pub(crate) fn reference(&self, number: u32) -> Reference {
        Reference::new(self.atom(), self.local.creation, &[number, 0, 0]).expect("three words")
    }

    pub(crate) fn atom(&self) -> Atom {
        Atom::new(self.local.name.as_str()).expect("a name fits")
    }
}

impl Connected {
    fn new(
        stream: impl AsyncRead + AsyncWrite + Send + 'static,
        established: purlin_dist::handshake::Established,
    ) -> Self {
        let (receive, signals) = mpsc::channel(64);
        Self { link: Link::start(stream, established, Settings::default(), receive), signals }
    }

    pub(crate) async fn next(&mut self) -> Signal {
        in_time("a signal", self.signals.recv()).await.expect("the link goes on")
    }

    pub(crate) async fn send(&self, control: Control, payload: Option<Term>) {
        self.link.send(Signal { control, payload }).await.expect("the link goes on");
    }

    /// Returns the next call as pid, tag and request. Skips monitors and other signals that a node sends to a new peer.
    pub(crate) async fn next_call(&mut self) -> (Pid, Term, Term) {
        loop {
            let Signal { control, payload } = self.next().await;
            if let (Control::RegSend { from, .. }, Some(message)) = (control, payload)
                && let Some([tag, asker, request]) = message.as_tuple()
                && tag.is_atom("$gen_call")
                && let Some([_, tag]) = asker.as_tuple()
            {
                return (from, tag.clone(), request.clone());
            }
        }
    }

    /// Replies to a call like `gen_server:reply/2`.
    pub(crate) async fn reply(&self, ours: &Ours, to: Pid, tag: Term, reply: Term) {
        let flags = self.link.flags();
        let alias = match &tag {
            Term::ImproperList(list) if list.elements()[0].is_atom("alias") => {
                list.tail().as_reference().cloned()
            }
            _ => None,
        };
        let answer = Term::tuple([tag, reply]);
        let control = match alias {
            Some(alias) => {
                Control::to_alias(flags, ours.pid(1), alias, false).expect("OTP 24 or later")
            }
            None => Control::to_pid(flags, ours.pid(1), to),
        };
        self.send(control, Some(answer)).await;
    }
}
