//! Sysmon: the thread that detects stalled workers and hands off their cores.
//!
//! It takes a sample of all workers every 500 µs while a worker is awake, and every 100 µs while a
//! process waits and a worker may be stalled. It passes the sample to the policy (`judge`) and
//! carries out the decision:
//!
//! - *wake* a sleeper, because a process waits that no worker has seen;
//! - *lay open* (expose) the process just woken by a stalled worker, so that others can steal it;
//! - *fire* overdue timers of a worker that has not fired them;
//! - *relieve* a thread, which is the hand-off: sysmon takes its core and gives it to a fresh
//!   thread, which continues with the same queue under the same worker number. The detached thread
//!   notices when it next schedules a process or ends its turn: it puts what it schedules into the
//!   global queue, and exits after the turn.
//!
//! At each tick sysmon also reads the processor time of the detached threads, which makes the
//! kernel reconsider their processors (`hogs`). It is a real-time thread, if the program may have
//! one, so that it does not have to wait for a processor: while it rests, while all workers are
//! busy, while detached threads compute or are in their grace period, while a worker may be
//! stalled, and for twenty ticks after that. It is never real-time while it runs code of the
//! program.
//!
//! Sysmon takes a core only from a thread that is in a turn (`Seat::running`). Such a thread is
//! neither asleep nor counted as searching, and before it could become either it must use its core
//! and finds it gone. So `idle` does not have to track hand-offs.
//!
//! COST: a tick without findings, with two workers, takes 0.2 µs (the lowest tenth of 2,000 on a
//! busy machine), and the wake-up for it 15 to 25 µs of processor time (an AMD EPYC, virtual),
//! which is 3 to 5 % of a processor while a worker is busy. A stalled worker costs one `membarrier`
//! per tick, a detached thread one system call per tick. A hand-off costs one thread, for which
//! sysmon needs 15 to 80 µs on that machine. At rest sysmon costs nothing.

use std::sync::Arc;
use std::thread::available_parallelism;
use std::time::Duration;

use purlin_raw::{Slot, ThreadId};

use crate::crew::{Assignment, Crew};
use crate::ebb;
use crate::judge::{Judge, Scene, Step, Verdict, View};
use crate::queue::{FIRST_PATIENCE, patience};
use crate::seat::Seat;
use crate::spread::{Seen, Spread, Way};
use crate::sync::mpsc::{Sender, channel};
use crate::sync::{Instant, Ordering, Parker};

/// Period of sysmon.
pub(crate) const TICK: Duration = Duration::from_micros(500);
/// Shorter period after a worker was seen twice in the same turn while a process waits, and how
/// long it applies.
const SOON: Duration = Duration::from_micros(100);
const SUSPICION: Duration = Duration::from_millis(2);
/// Turns per tick from which sysmon does not read the thread's processor time.
const FEW_TURNS: u32 = 64;
/// Number of ticks for which all workers must sleep before sysmon rests.
const TICKS_BEFORE_REST: u32 = if cfg!(shuttle) { 2 } else { 20 };
/// Maximum number of detached threads. WHY a limit: each has a stack.
const MOST_HOGS: usize = 512;

pub(crate) struct Monitor {
    crew: Crew,
    parker: Parker,
    /// Status of the thread that holds each core.
    seats: Box<[Arc<Seat>]>,
    judge: Judge,
    views: Vec<View>,
    /// Spare buffer for the next sample.
    room: Vec<View>,
    looked: Instant,
    /// Steal threshold by each worker's pace, before load balancing.
    pace: Box<[usize]>,
    spread: Spread,
    /// When each worker was first seen in its present turn.
    since: Box<[Instant]>,
    /// Processor time of each worker's thread when it was first seen in a turn that may be long.
    used: Box<[Option<Duration>]>,
    /// Spare thread that waits for an assignment.
    spare: Option<Sender<Assignment>>,
    /// Whether the failure to hand off has been reported.
    helpless: bool,
    /// Whether a worker may be stalled.
    suspicious: bool,
    /// Whether sysmon is a real-time thread.
    urgent: bool,
}

impl Monitor {
    pub(crate) fn new(crew: Crew, parker: Parker, seats: Box<[Arc<Seat>]>) -> Self {
        let workers = seats.len();
        Self {
            crew,
            parker,
            seats,
            judge: Judge::new(workers),
            views: Vec::with_capacity(workers),
            room: Vec::with_capacity(workers),
            looked: Instant::now(),
            pace: vec![FIRST_PATIENCE; workers].into(),
            spread: Spread::new(),
            since: vec![Instant::now(); workers].into(),
            used: vec![None; workers].into(),
            spare: None,
            helpless: false,
            suspicious: false,
            urgent: false,
        }
    }

    /// Runs until the scheduler stops.
    pub(crate) fn run(mut self) {
        ThreadId::run_often();
        let processors = available_parallelism().map_or(1, usize::from);
        let (mut quiet, mut calm) = (0, 0);
        while self.wait() {
            let now = Instant::now();
            self.crew.shared.ticks.fetch_add(1, Ordering::Relaxed);
            self.look(now);
            let hogs = self.crew.shared.hogs.look(now);
            self.serve(&hogs.news);
            let all_busy = self.crew.shared.idle.free() == 0;
            let hurries = all_busy || self.suspicious || hogs.mercy || hogs.computing > 0;
            calm = if hurries { 0 } else { TICKS_BEFORE_REST.min(calm + 1) };
            self.hurry(calm < TICKS_BEFORE_REST);
            // WHY this number: with fewer computing threads, a thread that wakes finds a free
            // processor.
            let crowd = hogs.mercy || hogs.computing >= processors;
            let idle = &self.crew.shared.idle;
            let all_quiet = idle.all_asleep() && !crowd;
            quiet = if all_quiet { quiet + 1 } else { 0 };
            if quiet >= TICKS_BEFORE_REST && idle.begin_rest() {
                quiet = 0;
                // WHY: a node at rest keeps no spare thread.
                self.spare = None;
                // The next load may be of another kind.
                self.spread = Spread::new();
                self.pace.fill(FIRST_PATIENCE);
                self.tidy();
                calm = 0;
                self.hurry(true);
                self.parker.park();
            }
        }
    }

    /// Starts a trim if it is due. Called when all workers sleep.
    ///
    /// WHY on a separate thread: a trim takes milliseconds, and the node may wake meanwhile.
    fn tidy(&self) {
        let shared = Arc::clone(&self.crew.shared);
        // WHY: detached threads run although all workers sleep, and the resident memory is theirs.
        let rests = move || shared.idle.resting() && shared.hogs.count() == 0;
        if rests() && ebb::is_due() {
            // If the thread cannot be started, the trim waits for the next rest.
            let _ = self.crew.begin("trim", move || ebb::give_back(rests));
        }
    }

    /// Waits for the next tick. Returns `false` when the scheduler stops.
    fn wait(&self) -> bool {
        let next = Instant::now() + if self.suspicious { SOON } else { TICK };
        // WHY a loop: an unpark that arrives after the last rest must not shorten a tick.
        while !self.crew.shared.stopping() {
            self.parker.park_deadline(next);
            if Instant::now() >= next {
                return true;
            }
        }
        false
    }

    fn look(&mut self, now: Instant) {
        let shared = Arc::clone(&self.crew.shared);
        let mut before = std::mem::replace(&mut self.views, std::mem::take(&mut self.room));
        let time = now - std::mem::replace(&mut self.looked, now);
        for (index, (seat, queue)) in self.seats.iter().zip(&shared.queues).enumerate() {
            let (turn, running) = (seat.turn(), seat.running().is_some());
            let before = before.get(index);
            let turns = before.map_or(u32::MAX, |before| turn.wrapping_sub(before.turn));
            if turns > 0 {
                self.since[index] = now;
            }
            let preempted = running && lacks_processor(seat, turns, &mut self.used[index]);
            // WHY at both ends: the pace of a worker that slept in between is unknown.
            if before.is_some_and(|before| before.running && running) {
                self.pace[index] = patience(turns, time);
            }
            let (work, waiting) = (shared.tallies[index].work(), queue.waiting());
            self.views.push(View {
                turn,
                work,
                running,
                preempted,
                waiting,
                patience: queue.patience(),
            });
        }
        if !self.suspicious {
            self.choose_way(&before, time);
        }
        let outside = !shared.injector.is_empty();
        self.suspicious = (self.since.iter().zip(&self.views)).any(|(since, view)| {
            let somebody_waits = view.waiting > 0 || outside;
            view.running && somebody_waits && *since < now && now - *since < SUSPICION
        });
        before.clear();
        self.room = before;
        let free = shared.idle.free();
        let scene = Scene { workers: &self.views, outside, free };
        let Verdict { steps, mut wake } = self.judge.judge(scene);
        for step in steps {
            match step {
                Step::LayOpen(index) => {
                    shared.queues[index].set_limits(0, 0);
                    wake |= self.lay_open(index);
                }
                Step::RelieveIfAnyWaits(index) => self.relieve(index, false),
                Step::Relieve(index) => self.relieve(index, true),
            }
        }
        if wake {
            shared.notify();
        }
    }

    /// Updates load balancing, and sets the steal threshold of each worker.
    fn choose_way(&mut self, before: &[View], time: Duration) {
        let shared = &self.crew.shared;
        let done = before.iter().zip(&self.views);
        let done: u64 = done.map(|(before, now)| now.work.saturating_sub(before.work)).sum();
        let short = |index: &usize| self.views[*index].running && self.pace[*index] > 0;
        let working = (0..self.views.len()).filter(short);
        let busiest = working.clone().max_by_key(|&index| self.views[index].waiting);
        let crowd = busiest.is_some_and(|index| self.views[index].waiting > 1);
        let way = self.spread.tick(Seen {
            work: (u128::from(done) * TICK.as_nanos() / time.as_nanos().max(1)) as u64,
            working: working.count(),
            could_spread: crowd && shared.idle.free() > 0,
        });
        for (index, queue) in shared.queues.iter().enumerate() {
            let pace = self.pace[index];
            queue.set_limits(if way == Way::Spread { 0 } else { pace }, pace);
            let gathers = way == Way::Gather && busiest == Some(index);
            queue.set_gathers(gathers);
            // WHY: these entries became local while turns were short, and a worker that pushes
            // nothing leaves them there.
            let out_of_reach = pace == 0 && self.views[index].waiting > 1 && !queue.wants_help();
            if way == Way::Gather && !gathers || out_of_reach && shared.idle.free() > 0 {
                self.lay_open(index);
            }
        }
    }

    /// Moves all entries of a core to its stealable queue. Returns `true` if that queue is not
    /// empty.
    fn lay_open(&self, index: usize) -> bool {
        let mut anything = false;
        let taken = self.seats[index].post.take(|post| {
            anything = post.lay_open();
            false
        });
        debug_assert!(taken.is_none());
        anything
    }

    /// Hands the core off to a fresh thread, unless the worker has made progress or is using its
    /// core at this moment; the next tick then decides again.
    fn relieve(&mut self, index: usize, somebody_waits: bool) {
        // WHY before the core is taken: if no thread can be started, the core stays where it is.
        let spare = match self.spare.take().map_or_else(|| self.crew.hire_spare(), Ok) {
            Ok(spare) => spare,
            Err(why) => return self.tell_helpless(&why),
        };
        let shared = &self.crew.shared;
        let seat = &self.seats[index];
        let (turn, since) = (self.views[index].turn, self.since[index]);
        let before = self.used[index];
        let post = seat.post.take(|post| {
            let Some(slot) = seat.running().filter(|_| seat.turn() == turn) else { return false };
            let take = post.lay_open() || somebody_waits;
            if take {
                // WHY here: the thread cannot end before it has noticed that its core is gone.
                shared.hogs.add(seat, slot, since, before);
            }
            take
        });
        let Some(post) = post else {
            self.spare = Some(spare);
            return;
        };
        let assignment = Assignment::new(index, post);
        self.seats[index] = Arc::clone(&assignment.seat);
        self.judge.forget(index);
        self.used[index] = None;
        self.views[index].running = false;
        self.helpless = false;
        self.crew.shared.set_waker(index, assignment.waker());
        let given = spare.send(assignment);
        debug_assert!(given.is_ok(), "a spare thread does nothing but wait");
    }

    /// Reports stalled workers, and fires overdue timers.
    fn serve(&mut self, news: &[(Slot, Instant)]) {
        let timers = &self.crew.shared.timers;
        let now = timers.clock().now();
        if news.is_empty() && !timers.any_overdue(now) {
            return;
        }
        // WHY: this runs code of the program, which may take long or spin until other threads
        // progress.
        self.hurry(false);
        for &(slot, since) in news {
            self.crew.above.hogging(slot, since);
        }
        self.crew.shared.timers.fire_overdue(now);
    }

    /// Makes sysmon a real-time thread, or an ordinary one. WHY not always real-time: such a thread
    /// wakes on the processor where it slept, although another may be idle.
    fn hurry(&mut self, urgent: bool) {
        if std::mem::replace(&mut self.urgent, urgent) != urgent {
            ThreadId::run_at_once(urgent);
        }
    }

    /// Reports that no core can be handed off, once until the next hand-off.
    fn tell_helpless(&mut self, why: &str) {
        if !std::mem::replace(&mut self.helpless, true) {
            self.hurry(false);
            self.crew.above.helpless(why);
        }
    }
}

/// Returns whether a thread with `turns` turns in the last tick is preempted: it neither computes
/// nor blocks, because other threads have the processor. Keeps its processor time in `used`.
fn lacks_processor(seat: &Seat, turns: u32, used: &mut Option<Duration>) -> bool {
    let thread = seat.thread();
    if turns >= FEW_TURNS {
        *used = None;
        return false;
    }
    let Some(now) = thread.time_used() else { return false };
    if turns > 0 {
        *used = Some(now);
        return false;
    }
    let before = *used.get_or_insert(now);
    now.saturating_sub(before) < TICK / 2 && !thread.is_blocked()
}

impl Crew {
    /// Starts a thread that waits for an assignment.
    fn hire_spare(&self) -> Result<Sender<Assignment>, String> {
        if self.shared.hogs.count() >= MOST_HOGS {
            return Err(format!("{MOST_HOGS} threads are held up already"));
        }
        let (give, given) = channel();
        let hired = self.hire("relief", move || given.recv().ok());
        hired.map(|()| give).map_err(|error| format!("no thread could be begun: {error}"))
    }
}
