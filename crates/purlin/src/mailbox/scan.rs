//! Selective receive: takes the oldest message that matches and leaves the others in order.
//!
//! [`receive!`](crate::receive!) tests its arms on one message after the other, each in its position
//! in the mailbox. Patterns and guards see the message by value, as in a `match`, and payloads need
//! not be `Copy`: the arms are tested in a first `match` whose guards all end in `false`, so that
//! nothing is moved. A message that fits no arm's pattern is excluded before that, by reference,
//! because one that was passed by value has to be written back. The body runs after the scan, in a
//! second `match` on the number of the arm, so that `break`, `continue`, `?` and `.await` keep their
//! meaning in the surrounding code. A third `match` never runs: in it the compiler finds the arms that
//! no message reaches.

use std::future::poll_fn;
use std::time::Duration;

use crate::mailbox::deadline::Deadline;
use crate::signals::handle_signal::handle_signal;
use crate::{Process, Reference};

/// Scan of the mailbox, from the oldest message or from a receive marker on.
///
/// A message that was passed over is not examined again (R4): the mailbox remembers the position.
pub struct Scan<'a, M: Send + 'static> {
    process: &'a mut Process<M>,
    /// Time limit of the receive.
    after: Option<Deadline>,
}

impl<M: Send + 'static> Process<M> {
    /// Starts a selective receive; expansion of [`receive!`](crate::receive!).
    #[doc(hidden)]
    pub fn scan(&mut self, after: Option<Duration>) -> Scan<'_, M> {
        self.in_turn(|me| me.mailbox().rewind());
        Scan { process: self, after: after.map(Deadline::after) }
    }

    /// [`Process::scan`] from the receive marker of a reference on, if it has one (R8).
    #[doc(hidden)]
    pub fn scan_since(&mut self, reference: Reference, after: Option<Duration>) -> Scan<'_, M> {
        self.in_turn(|me| me.mailbox().rewind_to(reference.number()));
        Scan { process: self, after: after.map(Deadline::after) }
    }
}

impl<M: Send + 'static> Scan<'_, M> {
    /// Waits for a message to examine. Returns `false` when the time is up.
    pub async fn has_next(&mut self) -> bool {
        poll_fn(|cx| {
            let has_next = |process: &mut Process<M>| {
                let found = process
                    .in_turn(|me| me.mailbox().has_next(move |signal| handle_signal(me, signal)));
                found.then_some(())
            };
            self.process.poll_within(has_next, self.after.as_mut(), cx)
        })
        .await
        .is_some()
    }

    /// Passes messages that `fits` does not exclude to `test` until it accepts one, and returns that
    /// one. Returns `None` if it accepts none, or if the budget is used up.
    ///
    /// WHY apart from the wait: an async function would hold what `test` borrows while it waits, and
    /// guards that use a [`Cell`](std::cell::Cell) would make the process's future `!Send`.
    pub fn examine(
        &mut self,
        fits: impl FnMut(&M) -> bool,
        test: impl FnMut(M) -> Result<M, M>,
    ) -> Option<M> {
        self.process.in_turn(|me| me.mailbox().scan(fits, test))
    }
}

/// Receives the oldest message that matches an arm; the others stay, in order (R1).
///
/// ```
/// use std::time::Duration;
/// use purlin::{Process, receive, spawn};
///
/// #[derive(Debug, PartialEq)]
/// enum Msg { Number(i64), Text(String), Stop }
///
/// # #[purlin::main] async fn main() {
/// # let pid =
/// spawn(async |mut me: Process<Msg>| {
///     let myself = me.pid();
///     myself.send(Msg::Number(3));
///     myself.send(Msg::Text("hello".into()));
///     myself.send(Msg::Number(30));
///
///     // The oldest that matches; the guard sees the number by value.
///     let big = receive!(me, { Msg::Number(n) if n > 10 => n });
///     assert_eq!(big, 30);
///
///     // Nothing matches in time.
///     let stopped = receive!(me, {
///         Msg::Stop => true,
///         after Duration::from_millis(1) => false,
///     });
///     assert!(!stopped);
///
///     // What was passed over is still there, in order.
///     assert_eq!(me.flush(), [Msg::Number(3), Msg::Text("hello".into())]);
/// });
/// # assert_eq!(pid.ended().await, purlin::ExitReason::Normal);
/// # }
/// ```
///
/// The arms are those of a `match`, with `|` and guards. A last arm `after DURATION => …` runs when
/// nothing has matched for that long; `after Duration::ZERO` scans once and never waits (R3). The
/// bodies may use `break`, `continue`, `return`, `?` and `.await`.
///
/// A guard is evaluated for each message and should be cheap. It cannot await, nor leave the
/// receive with `?` or `return`. A guard that panics ends the process, as any panic in the process
/// does. An arm that no message reaches gets the compiler's warning `unreachable_patterns`.
///
/// `receive!(me, tag == reference, { … })` waits for messages that hold a reference: the pattern of
/// each arm binds `tag`, or another name, to a [`Reference`](crate::Reference) or
/// [`MonitorRef`](crate::MonitorRef), and the arm matches only if that is equal to `reference`.
/// Messages that had arrived before the reference was made are not examined (R8): see
/// [`Process::make_ref`].
///
/// *Cancellation*: dropping a receive that waits loses no message (R7). One receive examines a
/// message once (R4), so a receive behind K messages that do not match examines K messages, however
/// often it is woken.
///
/// COST: a message that does not match stays where it is; no allocation. An `after` that has to wait
/// is an entry in the worker's timing wheel, which those of a second or more share; if the first scan
/// finds a match, it costs nothing.
///
/// # Panics
/// Panics outside the process's own turns, as [`Process::receive`] does.
#[macro_export]
macro_rules! receive {
    ($me:expr, { $($arms:tt)* }) => {
        $crate::__receive!(@munch [[$me.scan] [] true []] [] [] $($arms)*)
    };
    ($me:expr, $tag:ident == $reference:expr, { $($arms:tt)* }) => {{
        let __purlin_reference = $crate::__private::Tag::reference(&$reference);
        $crate::__receive!(@munch
            [
                [$me.scan_since] [__purlin_reference,]
                { $crate::__private::Tag::reference(&$tag) == __purlin_reference }
                [#[allow(unused_variables)] let $tag = $crate::__private::UnboundTag;]
            ]
            [] [] $($arms)*)
    }};
}

/// Collects the arms of `receive!`, then expands them three times.
///
/// `$scan` has four parts: the method that starts the scan, its arguments before the timeout, the
/// first condition of each arm, and a statement before the arms.
#[doc(hidden)]
#[macro_export]
macro_rules! __receive {
    // The last arm, `after`.
    (@munch $scan:tt [$($done:tt)*] [$($n:tt)*] after $time:expr => $body:block $(,)?) => {
        $crate::__receive!(@expand $scan [$($done)*] [Some($time)] [$body])
    };
    (@munch $scan:tt [$($done:tt)*] [$($n:tt)*] after $time:expr => $body:expr $(,)?) => {
        $crate::__receive!(@expand $scan [$($done)*] [Some($time)] [$body])
    };
    (@munch $scan:tt [$($done:tt)*] [$($n:tt)*] after $time:expr => $($rest:tt)*) => {
        ::core::compile_error!("`after` must be the last arm of `receive!`")
    };
    // An arm with a block needs no comma.
    (@munch $scan:tt [$($done:tt)*] [$($n:tt)*]
        $pattern:pat $(if $guard:expr)? => $body:block, $($rest:tt)*) => {
        $crate::__receive!(@munch $scan
            [$($done)* { [$($n)*] [$pattern] [$($guard)?] [$body] }] [$($n)* +] $($rest)*)
    };
    (@munch $scan:tt [$($done:tt)*] [$($n:tt)*]
        $pattern:pat $(if $guard:expr)? => $body:block $($rest:tt)*) => {
        $crate::__receive!(@munch $scan
            [$($done)* { [$($n)*] [$pattern] [$($guard)?] [$body] }] [$($n)* +] $($rest)*)
    };
    (@munch $scan:tt [$($done:tt)*] [$($n:tt)*]
        $pattern:pat $(if $guard:expr)? => $body:expr, $($rest:tt)*) => {
        $crate::__receive!(@munch $scan
            [$($done)* { [$($n)*] [$pattern] [$($guard)?] [$body] }] [$($n)* +] $($rest)*)
    };
    (@munch $scan:tt [$($done:tt)*] [$($n:tt)*]
        $pattern:pat $(if $guard:expr)? => $body:expr) => {
        $crate::__receive!(@munch $scan
            [$($done)* { [$($n)*] [$pattern] [$($guard)?] [$body] }] [$($n)* +])
    };
    (@munch $scan:tt [$($done:tt)*] [$($n:tt)*]) => {
        $crate::__receive!(@expand $scan [$($done)*] [None] [::core::unreachable!()])
    };
    (@expand [[$($scan:tt)*] [$($since:tt)*] $has_tag:tt [$($unbound:tt)*]]
        [$({ [$($n:tt)*] [$pattern:pat] [$($guard:expr)?] [$body:expr] })*]
        [$after:expr] [$late:expr]) => {{
        let mut __purlin_arm: ::core::option::Option<usize> = ::core::option::Option::None;
        // Which alternative of the arm matched: a guard is evaluated once for each alternative that
        // fits.
        #[allow(unused_mut, unused_variables)]
        let (mut __purlin_asked, mut __purlin_tries) = (usize::MAX, 0usize);
        let __purlin_received = {
            let mut __purlin_scan = $($scan)*($($since)* $after);
            loop {
                if !__purlin_scan.has_next().await {
                    break ::core::option::Option::None;
                }
                let __purlin_received = __purlin_scan.examine(|__purlin_message| {
                    $crate::__private::fits!(__purlin_message, $([$pattern])*)
                }, |__purlin_message| {
                    $($unbound)*
                    // Never runs: shows the compiler which arms have no guard, so that it reports
                    // an arm that no message reaches.
                    if false {
                        #[allow(unused_variables, unused_mut, clippy::all)]
                        match __purlin_message {
                            $(
                                $pattern $(if $crate::__receive!(@true $guard))? =>
                                    ::core::unreachable!(),
                            )*
                            #[allow(unreachable_patterns)]
                            _ => ::core::unreachable!(),
                        }
                    }
                    #[allow(unused_variables, unused_mut, clippy::all)]
                    let __purlin_message = match __purlin_message {
                        $(
                            $pattern if __purlin_arm.is_none() && {
                                let __purlin_this = $crate::__receive!(@count $($n)*);
                                __purlin_tries =
                                    if __purlin_asked == __purlin_this { __purlin_tries + 1 } else { 1 };
                                __purlin_asked = __purlin_this;
                                true
                            } && $has_tag $(&& $guard)? && {
                                __purlin_arm = ::core::option::Option::Some($crate::__receive!(@count $($n)*));
                                false
                            } => ::core::unreachable!(),
                        )*
                        __purlin_message => __purlin_message,
                    };
                    if __purlin_arm.is_some() {
                        return ::core::result::Result::Ok(__purlin_message);
                    }
                    __purlin_asked = usize::MAX;
                    ::core::result::Result::Err(__purlin_message)
                });
                if __purlin_received.is_some() {
                    break __purlin_received;
                }
            }
        };
        #[allow(unreachable_code, unused_variables, clippy::all)]
        match __purlin_received {
            $(
                ::core::option::Option::Some($pattern)
                    if __purlin_arm == ::core::option::Option::Some($crate::__receive!(@count $($n)*)) && {
                        __purlin_tries -= 1;
                        __purlin_tries == 0
                    } => $body,
            )*
            ::core::option::Option::Some(_) => ::core::unreachable!(),
            ::core::option::Option::None => $late,
        }
    }};
    (@true $guard:expr) => { true };
    (@count) => { 0usize };
    (@count + $($rest:tt)*) => { 1usize + $crate::__receive!(@count $($rest)*) };
}
