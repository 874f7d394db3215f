//! A node that answers pings, and prints any other message.
//!
//! ```sh
//! cargo run -p purlin-dist --example pong -- rust@127.0.0.1 secret
//! erl -name beam@127.0.0.1 -setcookie secret -eval "io:format(\"~p~n\", [net_adm:ping('rust@127.0.0.1')])"
//! ```
//!
//! If no epmd is there, it is one, too.

use std::error::Error;

use purlin_dist::control::Control;
use purlin_dist::epmd::{Alive, Epmd, Failed, Kind, PORT, Registration, Server};
use purlin_dist::frame::Signal;
use purlin_dist::handshake::{Caller, LocalNode, Verdict};
use purlin_dist::link::{Link, Settings};
use purlin_dist::{Accepted, Cookie, Flags, Listener, NodeName};
use purlin_term::{Atom, Pid, Term};
use tokio::sync::mpsc;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let name: NodeName = arguments.next().unwrap_or("rust@127.0.0.1".to_owned()).parse()?;
    let cookie = Cookie::new(arguments.next().ok_or("usage: pong NAME@HOST COOKIE")?);
    let port = std::env::var("ERL_EPMD_PORT").map_or(Ok(PORT), |port| port.parse())?;

    let (socket, address) = Listener::bind("127.0.0.1:0").await?;
    let alive = Alive { alive: name.alive().to_owned(), port: address.port(), kind: Kind::Hidden };
    let epmd = Epmd::at(([127, 0, 0, 1], port).into());
    let mut server = None;
    let registration = match Registration::new(epmd, alive.clone()).await {
        Err(Failed::Unreachable(..)) => {
            server = Some(Server::start(("127.0.0.1", port)).await?);
            Registration::new(epmd, alive).await?
        }
        registered => registered?,
    };
    let own_epmd = if server.is_some() { ", and an epmd of its own" } else { "" };
    println!("{name} listens on port {}{own_epmd}", address.port());

    let local = LocalNode { name, creation: registration.creation(), flags: Flags::OFFERED };
    let decide = move |_: &Caller| (Verdict::Ok, cookie.clone());
    let mut listener = Listener::new(socket, local.clone(), decide);
    loop {
        let Accepted::Up(stream, peer) = listener.next().await else { continue };
        println!("{} is there", peer.peer);
        let (receive, signals) = mpsc::channel(64);
        let link = Link::start(stream, peer, Settings::default(), receive);
        tokio::spawn(serve(link, signals, local.clone()));
    }
}

async fn serve(link: Link, mut signals: mpsc::Receiver<Signal>, local: LocalNode) {
    while let Some(signal) = signals.recv().await {
        match pong(&link, &local, &signal) {
            Some(answer) => drop(link.signal(answer)),
            None => println!("{}: {signal:?}", link.peer()),
        }
    }
    println!("{} is gone: {}", link.peer(), link.ended().await);
}

/// The answer to a ping: a call of `net_kernel` with `{is_auth, Node}` is answered with `yes`.
fn pong(link: &Link, local: &LocalNode, signal: &Signal) -> Option<Signal> {
    let Control::RegSend { from, to, .. } = &signal.control else { return None };
    let [_, asker, request] = signal.payload.as_ref()?.as_tuple()? else { return None };
    let [_, tag] = asker.as_tuple()? else { return None };
    if *to != "net_kernel" || !request.as_tuple()?.first()?.is_atom("is_auth") {
        return None;
    }
    let node = Atom::new(local.name.as_str()).ok()?;
    let us = Pid { node, id: 1, serial: 0, creation: local.creation };
    // Behind an alias, since OTP 24: `[alias | Reference]`.
    let alias = match tag {
        Term::ImproperList(list) => list.tail().as_reference().cloned(),
        _ => None,
    };
    let control = match alias {
        Some(alias) => Control::to_alias(link.flags(), us, alias, false)?,
        None => Control::to_pid(link.flags(), us, from.clone()),
    };
    Some(Signal { control, payload: Some(Term::tuple([tag.clone(), Term::atom("yes")])) })
}
