//! Lanes: where many senders on many cores put their signals side by side, when the one word of the
//! receiver has become the bottleneck.
//!
//! `head` decides when lanes are in use and calls everything here. Any thread that found the lanes
//! in use may `push`; only the owner may `take` and `freeze`. Only `new` allocates.
//!
//! # Protocol
//!
//! A sender always uses the same lane, so its own signals stay in order. A lane is a word like the
//! stack of the process:
//!
//! | word | meaning |
//! |---|---|
//! | links and their number | open, signals waiting |
//! | null | open, nothing waiting |
//! | `FROZEN` and an era | not to be used by who believes in this era or an earlier one |
//!
//! Each time the owner installs the lanes it begins an *era*, whose number stands in the word of the
//! process. Removing freezes every lane with the era that ends. A sender of a later era opens its
//! lane with its first push; a sender that still believes in the old one finds it frozen and reads
//! the word of the process again. So installing needs not touch the lanes, and there is no moment
//! at which a sender could put something into a lane while the stack is in use.
//!
//! INVARIANT: a lane is opened only in the era that its opener read, and frozen only after that era
//! has ended in the word of the process.
//!
//! COST: 128 bytes a lane, four lanes a core, at most 32; one compare-and-swap per push, one swap
//! per lane taken.

use std::ptr::{self, NonNull};

use crate::chain::Chain;
use crate::link::{CONTENDED, Link};
use crate::sync::{AtomicPtr, Ordering};

/// The most lanes there are: the word of a process has a bit for each.
pub(crate) const MOST: usize = 32;
/// The last era. WHY: an inbox that has changed its mode so often keeps its lanes, so that no number
/// is ever used twice.
pub(crate) const LAST_ERA: usize = (1 << 15) - 2;

const FROZEN: usize = 1;
const TOP_SHIFT: u32 = 48;
const LINK: usize = ((1 << TOP_SHIFT) - 1) & !0b1111;
const COUNT_MAX: usize = u16::MAX as usize;

/// How the owner judges whether lanes are worth having.
///
/// One number. Without lanes it rises with each push that met another sender and falls with each
/// that did not; with lanes it rises with what was taken and falls with each taking.
#[derive(Debug)]
pub struct Traffic(u16);

/// A push that met another sender weighs as much as this many that did not.
const WEIGHT: usize = 2;
/// Lanes are installed when this much has gathered. WHY: OTP's figure for its own; a lone accident
/// does not get there, a burst of some hundred messages does.
const INSTALL: usize = if cfg!(shuttle) { 2 } else { 50 };
/// What a take has to bring for the lanes to be worth their while. WHY: a message alone in its lane
/// costs two compare-and-swaps, one in the stack a single one.
const WORTH: usize = 2;
/// Lanes are removed after so many takes that brought one signal each. WHY: OTP looks every 8192
/// times; a receiver that is done with its crowd gets there in a fraction of a millisecond.
const PATIENCE: usize = if cfg!(shuttle) { 2 } else { 4096 };

impl Traffic {
    /// No crowd.
    pub const fn new() -> Self {
        Self(0)
    }

    /// A crowd, as far as the owner has seen.
    #[cfg(loom)]
    pub fn crowded() -> Self {
        Self(PATIENCE as u16)
    }

    #[cold]
    fn change(&mut self, up: usize, down: usize) {
        self.0 = (usize::from(self.0) + up).saturating_sub(down).min(PATIENCE) as u16;
    }

    /// Counts what was taken from the stack.
    #[inline]
    pub(crate) fn stacked(&mut self, chain: &Chain) {
        // WHY the condition: this is every take of a receiver that has no crowd.
        if self.0 != 0 || chain.contended != 0 {
            self.change(chain.contended * WEIGHT, chain.len - chain.contended);
        }
    }

    /// Whether no sender has met another for long enough.
    #[inline]
    pub(crate) fn is_calm(&self) -> bool {
        self.0 == 0
    }

    /// Counts one message with these tags that was alone in the stack, where it is calm.
    #[inline]
    pub(crate) fn calm_lone(&mut self, tags: usize) {
        if tags & CONTENDED != 0 {
            self.change(WEIGHT, 0);
        }
    }

    /// Counts what was taken from the lanes.
    pub(crate) fn laned(&mut self, chain: &Chain) {
        self.change(chain.len, WORTH);
    }

    #[inline]
    pub(crate) fn wants_lanes(&self) -> bool {
        usize::from(self.0) >= INSTALL
    }

    pub(crate) fn wants_stack(&self) -> bool {
        self.is_calm()
    }

    pub(crate) fn installed(&mut self) {
        self.0 = PATIENCE as u16;
    }
}

/// What a sender found in its lane.
pub enum Found {
    /// Nothing: it has to tell the receiver.
    Empty,
    /// Others, who told the receiver, or are about to.
    Others,
    /// The end of the era.
    Frozen,
}

/// A cache line of its own, and the one that the hardware fetches beside it.
#[repr(align(128))]
struct Lane(AtomicPtr<Link>);

/// All lanes of one process.
pub struct Lanes(Box<[Lane]>);

fn frozen(era: usize) -> *mut Link {
    ptr::without_provenance_mut(era << TOP_SHIFT | FROZEN)
}

fn top(word: *mut Link) -> usize {
    word.addr() >> TOP_SHIFT
}

fn is_frozen(word: *mut Link) -> bool {
    word.addr() & FROZEN != 0
}

fn link(word: *mut Link) -> *mut Link {
    word.map_addr(|addr| addr & LINK)
}

/// Four lanes a core: senders that run at the same time then seldom share one.
#[cfg(not(any(loom, shuttle)))]
fn how_many() -> usize {
    static LANES: std::sync::OnceLock<usize> = std::sync::OnceLock::new();
    *LANES.get_or_init(|| {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        (4 * cores).next_power_of_two().min(MOST)
    })
}

#[cfg(any(loom, shuttle))]
fn how_many() -> usize {
    2
}

impl Lanes {
    /// Lanes that are frozen since before the first era.
    pub fn new() -> Self {
        Self((0..how_many()).map(|_| Lane(AtomicPtr::new(frozen(0)))).collect())
    }

    /// The lane of a sender.
    pub(crate) fn lane_of(&self, sender: u32) -> usize {
        sender as usize & (self.0.len() - 1)
    }

    /// The last era that has ended. Only for the owner, while the lanes are frozen.
    pub(crate) fn last_era(&self) -> usize {
        top(self.0[0].0.load(Ordering::Relaxed))
    }

    /// Adds a link, for a sender that read `era` in the word of the process.
    ///
    /// # Safety
    /// The caller owns the link and gives it away, except when the lane is frozen.
    pub unsafe fn push(&self, lane: usize, new: NonNull<Link>, era: usize) -> Found {
        let lane = &self.0[lane].0;
        // ORDER: acquire from `freeze`: the sender then sees the end of the era in the word of the
        // process. Nothing more is needed of what is not frozen.
        let mut word = lane.load(Ordering::Acquire);
        loop {
            if is_frozen(word) && top(word) >= era {
                return Found::Frozen;
            }
            let (before, count) =
                if is_frozen(word) { (0, 1) } else { (link(word).addr(), top(word) + 1) };
            // SAFETY: the link is the caller's until the exchange below succeeds.
            unsafe { new.as_ref().set_next(link(word)) };
            let count = count.min(COUNT_MAX) << TOP_SHIFT;
            let next = new.as_ptr().map_addr(|addr| addr | count);
            // ORDER: release to `take` and `freeze` (the payload), and to later pushes, which
            // acquire it: who pushes into a lane that another has opened knows of its era. A
            // failure carries nothing: who finds the lane frozen comes back and loads.
            match lane.compare_exchange_weak(word, next, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) if before == 0 => return Found::Empty,
                Ok(_) => return Found::Others,
                Err(now) => word = now,
            }
        }
    }

    /// Takes what is in the marked lanes. Only for the owner, in an era.
    pub fn take(&self, marked: u32) -> Chain {
        let mut chain = Chain::empty();
        let mut rest = marked;
        while rest != 0 {
            // ORDER: acquire from `push` (the payloads); release to a push that finds the lane
            // empty: a lane that was frozen, and marked by a latecomer, is opened here, and who
            // pushes into it must know of this era.
            let word =
                self.0[rest.trailing_zeros() as usize].0.swap(ptr::null_mut(), Ordering::AcqRel);
            // SAFETY: the swap gave the stack to us.
            chain.append(unsafe { Chain::turn_round(link(word)) });
            rest &= rest - 1;
        }
        chain
    }

    /// Freezes all lanes and takes what is in them. Only for the owner, once the word of the process
    /// says that the era has ended.
    pub fn freeze(&self, era: usize) -> Chain {
        let mut chain = Chain::empty();
        for lane in &self.0 {
            // ORDER: acquire from `push` (the payloads); release to a push that finds the lane
            // frozen: the word of the process has changed.
            let word = lane.0.swap(frozen(era), Ordering::AcqRel);
            // SAFETY: the swap gave the stack to us.
            chain.append(unsafe { Chain::turn_round(link(word)) });
        }
        chain
    }

    /// Links in all lanes: a glance that may be old at once.
    pub(crate) fn count(&self) -> usize {
        let words = self.0.iter().map(|lane| lane.0.load(Ordering::Relaxed));
        words.filter(|&word| !is_frozen(word)).map(top).sum()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::sync::mpsc::{Receiver, Sender, channel};

    use super::*;
    use crate::head::{Head, Pushed, Slept};
    use crate::link::{Class, Envelope};

    const SENDERS: u32 = 6;
    const EACH: u32 = 20_000;

    /// Who sent it, and the how manyeth it was.
    type Mail = (u32, u32);

    /// One sender: every seventh is a signal, and so is the last. Says how many were accepted.
    fn send_all(head: &Head, sender: u32, runnable: &Sender<()>) -> u32 {
        for number in 0..EACH {
            let signal = number % 7 == 6 || number == EACH - 1;
            let class = if signal { Class::Signal } else { Class::Message };
            let link = Envelope::<Mail>::seal(class, (sender, number));
            // SAFETY: the envelope is ours to give.
            match unsafe { head.push(link, class, || sender) } {
                Pushed::Queued => {}
                Pushed::Schedule => runnable.send(()).expect("the owner waits"),
                Pushed::Closed => {
                    // SAFETY: a refused link is ours again, and was sealed as this.
                    drop(unsafe { Envelope::<Mail>::open(link) });
                    return number;
                }
            }
            if number % 32 == sender {
                // WHY: the owner then finds nothing now and then, and sleeps.
                std::thread::yield_now();
            }
        }
        EACH
    }

    /// Opens what arrived, and checks that each sender's next is the one after its last.
    fn check(arrived: &Chain, next: &mut [u32]) {
        let mut rest = arrived.oldest;
        while let Some(link) = NonNull::new(rest) {
            // SAFETY: the chain is ours, and every envelope in it was sealed as `Mail`.
            let ((sender, number), _paper) = unsafe {
                rest = link.as_ref().next();
                Envelope::<Mail>::open(link)
            };
            assert_eq!(
                number, next[sender as usize],
                "M2: in the order sent, none lost or doubled"
            );
            next[sender as usize] += 1;
        }
    }

    /// The owner: takes, changes its mode at every third take, and sleeps in both ways, until it has
    /// had that many. Says how many of each sender it had.
    fn receive(head: &Head, woken: &Receiver<()>, most: u32) -> [u32; SENDERS as usize] {
        let mut next = [0; SENDERS as usize];
        let (mut turn, mut sleeps) = (0usize, 0);
        while next.iter().sum::<u32>() < most {
            turn += 1;
            let mut traffic = Traffic(if turn % 6 < 3 { PATIENCE as u16 } else { 0 });
            check(&head.take(&mut traffic).arrived, &mut next);
            let over = next.iter().sum::<u32>() >= most;
            if !over && head.sleep(turn.is_multiple_of(2)) == Slept::Asleep {
                sleeps += 1;
                woken.recv().expect("somebody schedules a sleeper");
            }
        }
        println!("{sleeps} sleeps");
        next
    }

    /// Senders, and an owner that ends when it has had that many: of each sender, how many were
    /// accepted, and how many were received or dropped.
    fn crowd(most: u32) -> (Vec<u32>, [u32; SENDERS as usize]) {
        let head = Head::new();
        let (runnable, woken) = channel();
        let counts = std::thread::scope(|scope| {
            let senders = (0..SENDERS).map(|sender| {
                let (head, runnable) = (&head, runnable.clone());
                scope.spawn(move || send_all(head, sender, &runnable))
            });
            let senders: Vec<_> = senders.collect();
            let mut next = receive(&head, &woken, most);
            // WHY: something is waiting at the end then, more often than not.
            std::thread::yield_now();
            check(&head.close(), &mut next);
            let accepted = senders.into_iter().map(|sender| sender.join().expect("it only sends"));
            (accepted.collect(), next)
        });
        drop(runnable);
        assert_eq!(woken.try_iter().count(), 0, "a process was scheduled that was awake");
        counts
    }

    // M2, M4: what was sent is what arrived, each sender's in order, and no wake-up is lost, while
    // the inbox changes its mode all the time. Blind spot: what one machine's threads do.
    #[test]
    fn many_senders_and_changes_of_mode_lose_nothing() {
        let (accepted, received) = crowd(SENDERS * EACH);
        assert_eq!((accepted, received), (vec![EACH; SENDERS as usize], [EACH; SENDERS as usize]));
    }

    // M2, M4: what was accepted is what was received or dropped at the end, each sender's in order
    #[test]
    fn an_end_amid_changes_of_mode_drops_what_was_accepted_and_refuses_the_rest() {
        for round in 0..100 {
            let most = round * round;
            let (accepted, received_or_dropped) = crowd(most);
            assert_eq!(accepted, received_or_dropped);
        }
    }

    fn chain(len: usize, contended: usize) -> Chain {
        Chain { len, contended, ..Chain::empty() }
    }

    #[test]
    fn a_crowd_asks_for_lanes_and_single_senders_never_do() {
        let mut traffic = Traffic::new();
        (0..1000).for_each(|_| traffic.stacked(&chain(100, 20)));
        assert!(!traffic.wants_lanes(), "one push in five met another sender");
        traffic.stacked(&chain(100, 60));
        assert!(traffic.wants_lanes());
    }

    #[test]
    fn lanes_that_bring_one_signal_at_a_time_are_given_up_and_full_ones_are_not() {
        let mut traffic = Traffic::new();
        traffic.installed();
        (0..1_000_000).for_each(|_| traffic.laned(&chain(2, 0)));
        assert!(!traffic.wants_stack());
        (0..PATIENCE).for_each(|_| traffic.laned(&chain(1, 0)));
        assert!(traffic.wants_stack());
    }
}
