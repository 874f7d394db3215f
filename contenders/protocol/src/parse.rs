//! Parses the parameters of each experiment to a [`Run`].
//!
//! Called for every `run` request, by the serving contender and by the conformance test. Pure.

use crate::params::{
    COUNT_MAX, HOGS_MAX, LENGTH_MAX, MS_MAX, PROCESSES_MAX, Params, REPS_MAX, RESTARTS_MAX,
    ROOM_MAX, SENDERS_MAX, WAITING_MAX,
};
use crate::run::{
    EXPERIMENTS, End, Exchange, Expiry, Hog, LoopKind, Mode, Payload, Run, Signals, Timers,
};
use crate::savina::Savina;
use crate::variants::{Variants, variant};

/// The variant of `signals` in which the receiver's queue adapts automatically.
pub(crate) const ADAPTIVE: &str = "adaptive";

impl Run {
    /// Parses the parameters of one experiment and checks each of them.
    ///
    /// `variants` are those the contender can run; a request without a variant means the natural
    /// one.
    ///
    /// # Errors
    ///
    /// Returns one line that names the wrong experiment or parameter and the valid values.
    pub fn parse(
        experiment: &str,
        params: &serde_json::Map<String, serde_json::Value>,
        variants: &Variants,
    ) -> Result<Run, String> {
        let mut p = Params::new(experiment, params);
        let run = match experiment {
            "call-vs-send" => Run::CallVsSend {
                mode: p.choice("mode", &[("local", Mode::Local), ("remote", Mode::Remote)])?,
                n: p.integer("n", 0, COUNT_MAX)?,
                flow: variant(&mut p, &variants.flows)?,
            },
            "tail-call" => Run::TailCall { n: p.integer("n", 0, COUNT_MAX)?, reps: p.reps()? },
            "spawn-chain" => Run::SpawnChain { n: p.integer("n", 1, COUNT_MAX)?, reps: p.reps()? },
            "exchange" => Run::Exchange(exchange(&mut p)?),
            "message-size" => Run::MessageSize(payload(&mut p)?),
            "bandwidth" => Run::Bandwidth(payload(&mut p)?),
            "message-moved" => Run::MessageMoved(payload(&mut p)?),
            "serial-spawn" => {
                let total = p.integer("total", 1, COUNT_MAX)?;
                let m = p.integer("m", 1, PROCESSES_MAX)?;
                if m > total {
                    return Err(p.wrong(&format!("m is {m}, more than the total of {total}")));
                }
                Run::SerialSpawn { m, total }
            }
            "ping-pong" => Run::PingPong { n: p.integer("n", 0, COUNT_MAX)? },
            "throughput" => Run::Throughput {
                n: p.integer("n", 0, COUNT_MAX)?,
                flow: variant(&mut p, &variants.flows)?,
            },
            "fan-in" => Run::FanIn {
                senders: p.integer("senders", 1, PROCESSES_MAX)?,
                n: p.integer("n", 0, COUNT_MAX)?,
                flow: variant(&mut p, &variants.flows)?,
            },
            "thread-ring" => Run::ThreadRing {
                processes: p.integer("processes", 1, PROCESSES_MAX)?,
                n: p.integer("n", 1, COUNT_MAX)?,
            },
            "fork-join" => Run::ForkJoin {
                n: p.integer("n", 0, PROCESSES_MAX)?,
                children: variant(&mut p, &variants.children)?,
            },
            "skynet" => {
                let leaves = p.integer("leaves", 1, PROCESSES_MAX)?;
                if 10u64.pow(leaves.ilog10()) != leaves {
                    return Err(p.wrong(&format!("leaves is {leaves}, not a power of ten")));
                }
                Run::Skynet { leaves }
            }
            "fan-out" => Run::FanOut {
                processes: p.integer("processes", 1, PROCESSES_MAX)?,
                n: p.integer("n", 0, COUNT_MAX)?,
            },
            "call" => Run::Call {
                n: p.integer("n", 0, COUNT_MAX)?,
                callee: variant(&mut p, &variants.callees)?,
            },
            "call-deep" => Run::CallDeep {
                waiting: p.integer("waiting", 0, WAITING_MAX)?,
                n: p.integer("n", 0, COUNT_MAX)?,
            },
            "reply-deep" => Run::ReplyDeep {
                waiting: p.integer("waiting", 0, WAITING_MAX)?,
                n: p.integer("n", 0, COUNT_MAX)?,
            },
            "selective" => Run::Selective { k: p.integer("k", 0, WAITING_MAX)?, reps: p.reps()? },
            "timers" => Run::Timers(Timers {
                window: p.integer("window", 1, WAITING_MAX)?,
                n: p.integer("n", 0, COUNT_MAX)?,
                seed: 0,
            }),
            "timer-expiry" => Run::TimerExpiry(Expiry {
                n: p.integer("n", 1, WAITING_MAX)?,
                after_ms: p.integer("after_ms", 0, MS_MAX)?,
                spread_ms: p.integer("spread_ms", 0, MS_MAX)?,
                seed: 0,
            }),
            "idle-memory" => Run::IdleMemory { n: p.integer("n", 0, PROCESSES_MAX)? },
            "hog" => Run::Hog(Hog {
                pace: p
                    .choice("loop", &[("open", LoopKind::Open), ("closed", LoopKind::Closed)])?,
                hogs: p.integer("hogs", 0, HOGS_MAX)?,
                ms: p.integer("ms", 1, MS_MAX)?,
            }),
            "monitor-churn" => Run::MonitorChurn { n: p.integer("n", 0, COUNT_MAX)? },
            "link-churn" => Run::LinkChurn { n: p.integer("n", 0, COUNT_MAX)? },
            "exit-cascade" => {
                Run::ExitCascade { n: p.integer("n", 1, PROCESSES_MAX)?, reps: p.reps()? }
            }
            "restart" => Run::Restart { n: p.integer("n", 0, RESTARTS_MAX)?, reps: p.reps()? },
            "signals" => Run::Signals(signals(&mut p)?),
            _ => Run::Savina(Savina::parse(experiment, &mut p)?.ok_or_else(|| {
                let known = EXPERIMENTS.join(", ");
                format!("unknown experiment {experiment:?}; this contender knows {known}")
            })?),
        };
        p.finish()?;
        Ok(run)
    }
}

fn exchange(p: &mut Params<'_>) -> Result<Exchange, String> {
    Ok(Exchange {
        n: p.integer("n", 0, COUNT_MAX)?,
        pieces: p.integer("pieces", 1, COUNT_MAX)?,
        work: p.integer("work", 0, COUNT_MAX)?,
        reps: p.reps()?,
    })
}

fn signals(p: &mut Params<'_>) -> Result<Signals, String> {
    // Rust contenders have only this variant.
    p.choice_or("variant", &[(ADAPTIVE, ())], ())?;
    Ok(Signals {
        end: p.choice("mode", &[("send", End::Send), ("receive", End::Receive)])?,
        senders: p.integer("senders", 1, SENDERS_MAX)?,
        ms: p.integer("ms", 1, MS_MAX)?,
        exit_percent: p.integer("exit_percent", 0, 100)?,
        s: p.integer("s", 0, LENGTH_MAX)?,
        switch: p.integer("switch", 0, 1)?,
        rest_ms: p.integer("rest_ms", 0, MS_MAX)?,
        room: p.integer("room", 1, ROOM_MAX)?,
        seed: 0,
    })
}

fn payload(p: &mut Params<'_>) -> Result<Payload, String> {
    let exchange = exchange(p)?;
    let s = p.integer("s", 0, LENGTH_MAX)?;
    if exchange.messages().checked_mul(s).is_none_or(|elements| elements > i64::MAX as u64) {
        return Err(p.wrong("2·n·s·reps elements are more than can be counted; lower one of them"));
    }
    Ok(Payload { exchange, s })
}

const _: () = assert!(REPS_MAX as u128 * COUNT_MAX as u128 * 2 < 1 << 63);
