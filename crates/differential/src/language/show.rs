//! Text form of programs, close to Erlang's syntax.

use std::fmt;

use super::{After, By, How, Op, Pattern, Program, Side, Who};

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => f.write_str("_"),
            Self::Tag(tag) => write!(f, "{{t{tag}, _}}"),
            Self::Request => f.write_str("{call, _}"),
            Self::Down => f.write_str("{'DOWN', _}"),
            Self::DownOf(slot) => write!(f, "{{'DOWN', M{slot}}}"),
            Self::Exit => f.write_str("{'EXIT', _}"),
        }
    }
}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Spawn(child, How::Plain) => write!(f, "spawn(P{child})"),
            Self::Spawn(child, How::Link) => write!(f, "spawn_link(P{child})"),
            Self::Spawn(child, How::Monitor(slot)) => {
                write!(f, "M{slot} = spawn_monitor(P{child})")
            }
            Self::Send(to, tag) => write!(f, "P{to} ! t{tag}"),
            Self::SendName(name, tag) => write!(f, "n{name} ! t{tag}"),
            Self::Receive(pattern, After::Never) => write!(f, "receive {pattern}"),
            Self::Receive(pattern, After::Zero) => write!(f, "receive {pattern} after 0"),
            Self::Receive(pattern, After::Idle) => write!(f, "receive {pattern} after a while"),
            Self::Link(to) => write!(f, "link(P{to})"),
            Self::Unlink(to) => write!(f, "unlink(P{to})"),
            Self::Monitor(to, slot) => write!(f, "M{slot} = monitor(P{to})"),
            Self::MonitorName(name, slot) => write!(f, "M{slot} = monitor(n{name})"),
            Self::Demonitor(slot, false) => write!(f, "demonitor(M{slot})"),
            Self::Demonitor(slot, true) => write!(f, "demonitor(M{slot}, [flush])"),
            Self::ExitSelf(reason) => write!(f, "exit({reason})"),
            Self::Crash => f.write_str("error(crash)"),
            Self::Exit(to, reason) => write!(f, "exit(P{to}, {reason})"),
            Self::Trap(on) => write!(f, "trap_exit({on})"),
            Self::Register(name, who) => write!(f, "register(n{name}, P{who})"),
            Self::Unregister(name) => write!(f, "unregister(n{name})"),
            Self::Whereis(name) => write!(f, "whereis(n{name})"),
            Self::Call(to, tag) => write!(f, "call(P{to}, t{tag})"),
            Self::Reply(tag) => write!(f, "reply(t{tag})"),
            Self::Park => f.write_str("wait for ever"),
            Self::Cut(By::Wire) => f.write_str("cut the wire"),
            Self::Cut(By::Node) => f.write_str("disconnect"),
            Self::SendAlias(to, tag, false) => write!(f, "send(A{to}, t{tag})"),
            Self::SendAlias(to, tag, true) => write!(f, "send(A{to}, t{tag}, [priority])"),
            Self::ExitAlias(to, reason, false) => write!(f, "exit(A{to}, {reason})"),
            Self::ExitAlias(to, reason, true) => write!(f, "exit(A{to}, {reason}, [priority])"),
            Self::Unalias => f.write_str("unalias"),
            Self::LinkPriority(to) => write!(f, "link(P{to}, [priority])"),
            Self::MonitorPriority(to, slot) => write!(f, "M{slot} = monitor(P{to}, [priority])"),
        }
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (who, script) in self.scripts.iter().enumerate() {
            let child = if who < usize::from(self.bases) { "" } else { " (a child)" };
            let place = match self.side(who as Who) {
                Side::Beam => " (on the BEAM)",
                Side::Purlin => "",
            };
            write!(f, "P{who}{child}{place}:")?;
            for op in script {
                write!(f, "  {op};")?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}
