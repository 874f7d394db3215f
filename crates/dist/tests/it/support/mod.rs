//! Real nodes for tests: an epmd on a port of its own, and BEAMs that evaluate what they are told.
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
use purlin_dist::handshake::{Caller, Local, Verdict};
use purlin_dist::link::{Link, Settings};
use purlin_dist::{Came, Cookie, Flags, Listener, NodeName, epmd};
pub(crate) use purlin_polling::HANG;
use purlin_term::{Atom, Pid, Reference, Term};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, Lines};
use tokio::net::TcpSocket;
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::sync::mpsc;

pub(crate) const COOKIE: &str = "monster";

/// An epmd of the test's own.
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
        // Whatever else it says is taken, so that it never waits for a reader.
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

/// The output of a future that must not hang.
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

/// Waits until a future that is made again and again gives `true`.
pub(crate) async fn until_async(what: &str, mut condition: impl AsyncFnMut() -> bool) {
    let holds = async { while !condition().await {} };
    in_time(what, holds).await;
}

/// A port of all addresses of this machine, which as long as this is there nobody gets who asks for any. Who says
/// that it is to be this one can listen on it.
#[derive(Clone)]
pub(crate) struct Port {
    pub(crate) number: u16,
    /// WHY bound and not listening: the system then gives it to nobody by itself, and lets others that reuse
    /// addresses, as all that listen here do, have it.
    _held: Arc<TcpSocket>,
}

/// A port that nobody has.
pub(crate) fn free_port() -> Port {
    let held = TcpSocket::new_v4().expect("a socket");
    held.set_reuseaddr(true).expect("it is new");
    held.bind((Ipv4Addr::UNSPECIFIED, 0).into()).expect("a port");
    let number = held.local_addr().expect("an address").port();
    Port { number, _held: held.into() }
}

/// Reads expressions, one a line, and answers each with its value, one a line.
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

/// OTP's logger, with standard error in place of standard output.
const LOG_TO_STDERR: &str =
    "[{handler, default, logger_std_h, #{config => #{type => standard_error}}}]";

/// A node of the BEAM.
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

    /// A node with Elixir on it.
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

    /// A node that is to be given its name by the first one that it calls.
    pub(crate) async fn start_nameless(epmd_port: u16) -> Self {
        Self::run(epmd_port, "-name", "undefined@127.0.0.1", &["-dist_listen", "false"]).await
    }

    /// A node of that whole name, in the form `-name` or `-sname`.
    pub(crate) async fn run(epmd_port: u16, form: &str, name: &str, more: &[&str]) -> Self {
        let home = tempfile::tempdir().expect("a folder");
        // WHY so much heap: OTP 25.2.3 under load ended with a fault where the process that evaluates collects garbage
        // (its list of what is off the heap is broken, as in erlang/otp#8044). With this it collects none.
        let mut machine = Command::new("erl")
            .args(["+S", "1:1", "+sbwt", "none", "+hms", "300000"])
            .args(["-noshell", "-start_epmd", "false"])
            .args(["-boot", "start_clean", form, name, "-setcookie", COOKIE])
            // The most that a BEAM gives a handshake, in seconds.
            .args(["-kernel", "net_setuptime", "120"])
            // WHY: a report on its standard output would be taken for an answer.
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

    /// Tells it to evaluate an expression, without waiting for the value.
    pub(crate) async fn tell(&mut self, expression: &str) {
        let line = format!("{}.\n", expression.replace('\n', " "));
        self.input.write_all(line.as_bytes()).await.expect("the BEAM reads");
    }

    /// The value of what it was told first and has not answered, as Erlang prints it.
    pub(crate) async fn line(&mut self) -> String {
        let line = in_time("a line", self.output.next_line()).await;
        line.expect("the BEAM writes").expect("the BEAM goes on")
    }

    pub(crate) async fn eval(&mut self, expression: &str) -> String {
        self.tell(expression).await;
        self.line().await
    }

    /// Ends it as a power cut would.
    pub(crate) async fn kill(mut self) {
        self.machine.kill().await.expect("it runs");
    }

    /// Stops it: it is there, and does nothing.
    pub(crate) fn stop(&self) {
        let id = self.machine.id().expect("it runs").to_string();
        let stopped = std::process::Command::new("kill").args(["-STOP", &id]).status();
        assert!(stopped.is_ok_and(|status| status.success()));
    }
}

/// A node of ours, without processes: what comes is for the test to read.
pub(crate) struct Ours {
    pub(crate) local: Local,
    pub(crate) epmd: epmd::Epmd,
    listener: Listener,
    _registration: Registration,
}

/// One connection of it.
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
        let told = Alive { alive: alive.to_owned(), port: address.port(), kind: Kind::Hidden };
        let registration = Registration::new(epmd, told).await.expect("epmd is there");
        let name: NodeName = format!("{alive}@127.0.0.1").parse().expect("a name");
        let local = Local { name, creation: registration.creation(), flags };
        let listener = Listener::new(socket, local.clone(), decide);
        Self { local, epmd, listener, _registration: registration }
    }

    /// Lets in only nodes that speak TLS.
    #[cfg(feature = "tls")]
    pub(crate) fn over_tls(self, tls: purlin_dist::Tls) -> Self {
        Self { listener: self.listener.tls(tls), ..self }
    }

    /// Calls a node.
    pub(crate) async fn call(&self, peer: &NodeName) -> Connected {
        let mut stream = connect::dial(&self.epmd, peer).await.expect("it listens");
        let established =
            connect::call(&mut stream, Lengths::Two, &self.local, peer.clone(), cookie(), || true)
                .await;
        Connected::new(stream, established.expect("it knows the cookie"))
    }

    /// The next node that has called.
    pub(crate) async fn called(&mut self) -> Connected {
        let (stream, established) = self.called_raw().await;
        Connected::new(stream, established)
    }

    pub(crate) async fn called_raw(
        &mut self,
    ) -> (purlin_dist::Stream, purlin_dist::handshake::Established) {
        loop {
            if let Came::Up(stream, established) = self.listener.next().await {
                return (stream, established);
            }
        }
    }

    /// A pid of ours.
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

    /// Answers whatever the other node asks of a node that it sees for the first time, until something else
    /// comes: that is given back. Monitors and the like are let go.
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

    /// Answers a call as `gen_server:reply/2` does.
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
            Some(alias) => Control::to_alias(flags, ours.pid(1), alias).expect("OTP 24 or later"),
            None => Control::to_pid(flags, ours.pid(1), to),
        };
        self.send(control, Some(answer)).await;
    }
}
