//! Ticks of a connection between a purlin node and a BEAM under clocks that the test advances. Neither node checks the
//! connection unless the test triggers it, so the results do not depend on the speed of either.

use std::sync::mpsc;
use std::time::{Duration, Instant};

use purlin_dist::link::{Ended, Settings};
use purlin_term::Term;
use tokio::time::advance;

use crate::processes::beam_until;
use crate::support::{Beam, Connected, HANG};

/// Flags of a BEAM that does not tick without a trigger: a tick time of a day, in seconds.
pub(crate) const BEAM_WAITS: [&str; 3] = ["-kernel", "net_ticktime", "86400"];

/// Number of checks per tick time, on a purlin node and, by default, on a BEAM.
const LOOKS: u32 = 4;

/// Ticks alone keep a connection to a BEAM with [`BEAM_WAITS`], in which a message then arrives. When the BEAM is
/// stopped, the purlin node ends the connection.
pub(crate) async fn ticks_keep_it_and_silence_ends_it(beam: &mut Beam, connected: &mut Connected) {
    let clock = Clock::stop();
    only_ticks_pass(&clock, beam, connected).await;
    beam.send("{here, 'ours@127.0.0.1'} ! still").await;
    assert_eq!(connected.next().await.payload, Some(Term::atom("still")));
    a_stopped_beam_is_noticed(&clock, beam, connected).await;
}

/// While it exists, the tokio clock of this test stands still unless [`Clock::passes`] moves it.
struct Clock {
    _ends_the_task: mpsc::Sender<()>,
}

impl Clock {
    fn stop() -> Self {
        let (ends, ended) = mpsc::channel::<()>();
        // WHY: tokio advances a paused clock when all tasks wait, but not while a blocking task runs.
        tokio::task::spawn_blocking(move || ended.recv());
        tokio::time::pause();
        Self { _ends_the_task: ends }
    }

    /// Advances the clock by the interval between two checks of the purlin node, and lets the node check.
    async fn passes(&self) {
        // WHY 2 ms more: tokio's timers expire at whole milliseconds.
        advance(Settings::default().tick_time / LOOKS + Duration::from_millis(2)).await;
        // The link runs on the thread of the test: its ticker, then its writer.
        for _ in 0..10 {
            tokio::task::yield_now().await;
        }
    }

    /// Waits until a condition holds. The paused clock cannot guard against hanging here.
    async fn until(&self, what: &str, condition: impl Fn() -> bool) {
        // WHY real time: a guard against hanging with the limit `HANG`.
        let began = Instant::now();
        while !condition() {
            assert!(began.elapsed() < HANG, "waited in vain for {what}");
            tokio::task::yield_now().await;
        }
    }
}

/// Lets three tick times of each node pass without any message.
async fn only_ticks_pass(clock: &Clock, beam: &mut Beam, connected: &Connected) {
    let ours = connected.link.clone();
    let came = "Came = fun() -> {ok, Info} = net_kernel:node_info('ours@127.0.0.1'), \
                proplists:get_value(in, Info) end";
    beam.eval(came).await;
    // The first check of a BEAM finds that data were written since the start, and writes no tick.
    beam.eval("net_kernel ! tick").await;
    // The first check of the purlin node starts its ticker.
    clock.passes().await;
    let first = ours.traffic();
    for look in 1..=3 * LOOKS {
        beam.eval(&format!("Before{look} = Came()")).await;
        let before = ours.traffic();
        // WHY twice: a tick counts as written data at the next check, so every second check writes a tick.
        clock.passes().await;
        clock.passes().await;
        clock.until("a tick of ours", || ours.traffic().bytes_out > before.bytes_out).await;
        beam_until(beam, &format!("Came() > Before{look}")).await;
        // This is what its ticker does.
        beam.eval("net_kernel ! tick").await;
        clock.until("a tick of the BEAM", || ours.traffic().bytes_in > before.bytes_in).await;
    }
    let last = ours.traffic();
    for bytes in [last.bytes_in - first.bytes_in, last.bytes_out - first.bytes_out] {
        // A tick has four bytes.
        assert!(bytes % 4 == 0 && bytes <= u64::from(4 * (6 * LOOKS + 1)), "{bytes} bytes");
    }
}

/// Suspends the BEAM and lets time pass until our node detects it.
async fn a_stopped_beam_is_noticed(clock: &Clock, beam: &Beam, connected: &Connected) {
    beam.stop();
    // CLOCK: tokio's, which the test moves.
    let began = tokio::time::Instant::now();
    let ended = tokio::select! {
        ended = connected.link.ended() => ended,
        () = async { loop { clock.passes().await } } => unreachable!("it has no end"),
    };
    assert_eq!(ended, Ended::IdleTimeout);
    let least = Settings::default().tick_time / LOOKS * (LOOKS - 1);
    assert!(began.elapsed() >= least, "noticed after {:?}", began.elapsed());
}
