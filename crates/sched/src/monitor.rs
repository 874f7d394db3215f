//! The monitor: a thread that notices workers which are stuck in a turn, and gets their work done.
//!
//! It looks every half millisecond while a worker is awake, more often at one that may be stuck while
//! somebody waits, lets `judge` decide and acts on it:
//!
//! - *wake* a sleeper, because something waits that nobody has seen;
//! - *lay open* the process just woken behind one that is stuck, so that others can steal it;
//! - *fire* the timers of a worker that ought to have done so and has not;
//! - *relieve* a thread: take its post away and give it to a fresh thread, which goes on with the
//!   same queue under the same number. The hog finds out when it next schedules something or ends
//!   its turn: what it schedules goes to the common queue, and when the turn is over it ends.
//!
//! At each look it also asks what processor time the hogs have used, for which the kernel lets those
//! run who wait for theirs (`hogs`). It does not wait for them itself where it may be real-time: it is
//! while it rests, while all workers are busy, while there are hogs or may be, and for twenty looks
//! after that; and never while it runs code of the program.
//!
//! A post is taken only from a thread that is in a turn (`Seat::running`): such a thread is neither
//! asleep nor counted as searching, and before it could be either it has to use its post and finds
//! that gone. So `idle` need not know.
//!
//! COST: a tick in which nothing is amiss, with two workers, takes 0.2 µs (the lowest tenth of 2,000
//! on a busy machine), and to be woken for it 15 to 25 µs of processor time (an AMD EPYC, virtual),
//! which is 3 to 5 % of a core while a worker is busy; a worker that is stuck costs a `membarrier` a
//! tick, a hog a system call a look; a relief costs a thread, for which the monitor needs 15 to 80 µs
//! there. At rest it costs nothing.

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

/// How often the monitor looks.
pub(crate) const TICK: Duration = Duration::from_micros(500);
/// How soon it looks again at one that was in the same turn while somebody waits, and for how long it
/// looks so often.
const SOON: Duration = Duration::from_micros(100);
const SUSPICION: Duration = Duration::from_millis(2);
/// Of a worker that makes more turns in a tick it is not asked how much time it has used.
const FEW_TURNS: u32 = 64;
/// How many ticks all have to sleep before the monitor does.
const TICKS_BEFORE_REST: u32 = if cfg!(shuttle) { 2 } else { 20 };
/// The most threads that may be left to their turns. WHY a limit: each has a stack.
const MOST_HOGS: usize = 512;

pub(crate) struct Monitor {
    crew: Crew,
    parker: Parker,
    /// The seat of the thread that has each post.
    seats: Box<[Arc<Seat>]>,
    judge: Judge,
    views: Vec<View>,
    /// Room for the next look.
    room: Vec<View>,
    looked: Instant,
    /// The patience that each worker's turns deserve.
    pace: Box<[usize]>,
    spread: Spread,
    /// When each worker was first seen in the turn it is in.
    since: Box<[Instant]>,
    /// The processor time of each worker's thread when it was first seen in a turn that may be long.
    used: Box<[Option<Duration>]>,
    /// A thread that waits for an assignment.
    spare: Option<Sender<Assignment>>,
    /// It was told that nothing can be done.
    helpless: bool,
    /// Somebody has been in a turn for a little too long.
    suspicious: bool,
    /// It has asked to run at once when it wakes.
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

    /// Watches until the scheduler stops.
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
            // WHY so many: while there are fewer, a thread that wakes finds a processor without one.
            let crowd = hogs.mercy || hogs.computing >= processors;
            let idle = &self.crew.shared.idle;
            let all_quiet = idle.all_asleep() && !crowd;
            quiet = if all_quiet { quiet + 1 } else { 0 };
            if quiet >= TICKS_BEFORE_REST && idle.begin_rest() {
                quiet = 0;
                // WHY: a thread kept in reserve has no place in a node at rest.
                self.spare = None;
                // What comes next may be of another kind.
                self.spread = Spread::new();
                self.pace.fill(FIRST_PATIENCE);
                self.tidy();
                calm = 0;
                self.hurry(true);
                self.parker.park();
            }
        }
    }

    /// All sleep: gives memory back if there is much of it.
    ///
    /// WHY on a thread of its own: it takes milliseconds, and the node may wake meanwhile.
    fn tidy(&self) {
        let shared = Arc::clone(&self.crew.shared);
        // WHY hogs: they run although all workers sleep, and what is resident is theirs.
        let rests = move || shared.idle.resting() && shared.hogs.count() == 0;
        if rests() && ebb::is_due() {
            // Without a thread it has to wait for the next rest.
            let _ = self.crew.begin("trim", move || ebb::give_back(rests));
        }
    }

    /// Waits for the next tick; `false` when the scheduler stops.
    fn wait(&self) -> bool {
        let next = Instant::now() + if self.suspicious { SOON } else { TICK };
        // WHY a loop: a word that came too late for the last rest must not shorten a tick.
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
            // WHY at both ends: of a worker that slept it is not known how fast it is.
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

    /// Has the work done together or spread, and writes down the patience of each worker.
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
            // WHY: they came near while turns were short, and a worker that adds nobody leaves them there.
            let out_of_reach = pace == 0 && self.views[index].waiting > 1 && !queue.wants_help();
            if way == Way::Gather && !gathers || out_of_reach && shared.idle.free() > 0 {
                self.lay_open(index);
            }
        }
    }

    /// `true` if there is anything to steal.
    fn lay_open(&self, index: usize) -> bool {
        let mut anything = false;
        let taken = self.seats[index].post.take(|post| {
            anything = post.lay_open();
            false
        });
        debug_assert!(taken.is_none());
        anything
    }

    /// Gives the post to a fresh thread, unless the worker has got on meanwhile or is busy with its
    /// post at this very moment; then the next tick will tell.
    fn relieve(&mut self, index: usize, somebody_waits: bool) {
        // WHY before the post is taken: without a thread to give it to, it stays where it is.
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
                // WHY here: the thread cannot end before it has seen that its post is gone.
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

    /// Tells of hogs, and fires timers.
    fn serve(&mut self, news: &[(Slot, Instant)]) {
        let timers = &self.crew.shared.timers;
        let now = timers.clock().now();
        if news.is_empty() && !timers.any_overdue(now) {
            return;
        }
        // WHY: this runs code of the program, which may take long, or spin until others get on.
        self.hurry(false);
        for &(slot, since) in news {
            self.crew.above.hogging(slot, since);
        }
        self.crew.shared.timers.fire_overdue(now);
    }

    /// Where there are hogs, waits for them no longer than it must. WHY not always: a thread that runs
    /// at once does so on the processor where it slept, though another has nothing to do.
    fn hurry(&mut self, urgent: bool) {
        if std::mem::replace(&mut self.urgent, urgent) != urgent {
            ThreadId::run_at_once(urgent);
        }
    }

    /// Tells once, until it is better again.
    fn tell_helpless(&mut self, why: &str) {
        if !std::mem::replace(&mut self.helpless, true) {
            self.hurry(false);
            self.crew.above.helpless(why);
        }
    }
}

/// Whether a thread that has made so many turns in the last tick is held up by others that have the
/// processor, and neither computes nor blocks. `used` is remembered for it.
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
    /// Begins a thread that waits for an assignment.
    fn hire_spare(&self) -> Result<Sender<Assignment>, String> {
        if self.shared.hogs.count() >= MOST_HOGS {
            return Err(format!("{MOST_HOGS} threads are held up already"));
        }
        let (give, given) = channel();
        let hired = self.hire("relief", move || given.recv().ok());
        hired.map(|()| give).map_err(|error| format!("no thread could be begun: {error}"))
    }
}
