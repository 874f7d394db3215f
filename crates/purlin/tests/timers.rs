//! Messages that are sent later.

use std::time::{Duration, Instant};

use purlin::Process;

const MINUTE: Duration = Duration::from_secs(60);

// N3, CLOCK: the machine's: a timer that fires early would be seen here, if anywhere.
#[purlin::test]
async fn a_message_is_sent_after_its_time_and_never_before(mut me: Process<(Duration, Instant)>) {
    for micros in [1, 300, 1_000, 1_048, 1_049, 2_500, 7_000, 20_000] {
        let time = Duration::from_micros(micros);
        let timer = me.pid().send_after(time, (time, Instant::now()));
        let (time, set) = me.receive().await;
        assert!(set.elapsed() >= time, "{:?} instead of {time:?}", set.elapsed());
        assert_eq!(timer.cancel(), None);
        assert_eq!(timer.read(), None);
    }
}

// N3: the time left is told once, and the message does not come
#[purlin::test]
async fn a_timer_cancelled_in_time_sends_nothing(mut me: Process<&'static str>) {
    let early = me.pid().send_after(MINUTE, "never");
    let left = early.read().unwrap();
    assert!(left <= MINUTE && left > MINUTE / 2);
    assert!(early.cancel().unwrap() <= left);
    assert_eq!((early.cancel(), early.read()), (None, None));
    // The same for one whose time has begun to run.
    let short = me.pid().send_after(Duration::from_millis(20), "never");
    me.pid().send_after(Duration::from_millis(2), "meanwhile");
    assert_eq!(me.receive().await, "meanwhile");
    assert!(short.cancel().unwrap() <= Duration::from_millis(18));
    me.pid().send_after(Duration::from_millis(30), "later");
    assert_eq!(me.receive().await, "later");
}
