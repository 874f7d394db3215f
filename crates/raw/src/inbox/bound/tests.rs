//! Test of the list of spilled signals: every short sequence of operations, compared with a list.

use super::*;
use crate::inbox::header::Envelope;

/// Opens an envelope of a number.
///
/// # Safety
/// The caller owns it.
unsafe fn number(header: NonNull<Header>) -> u32 {
    // SAFETY: by the contract.
    unsafe { Envelope::<u32>::open(header) }.0
}

#[test]
fn spilled_signals_stay_in_order_when_the_oldest_messages_are_removed() {
    const LENGTH: u32 = 8;
    for sequence in 0..3_u32.pow(LENGTH) {
        let (mut spilled, mut list) = (Spilled::new(), Vec::new());
        for n in 0..LENGTH {
            let class = match sequence / 3_u32.pow(n) % 3 {
                0 => Class::Message,
                1 => Class::Signal,
                _ => {
                    let oldest = list.iter().position(|(class, _)| *class == Class::Message);
                    let oldest = oldest.map(|oldest| list.remove(oldest).1);
                    // SAFETY: the message has left the list.
                    assert_eq!(spilled.pop_message().map(|it| unsafe { number(it) }), oldest);
                    continue;
                }
            };
            let header = Envelope::seal(class, n);
            match class {
                Class::Message => spilled.push_message(header),
                Class::Signal => spilled.push_signal(header),
            }
            list.push((class, n));
        }
        assert_eq!((spilled.is_empty(), spilled.signals.len), (list.is_empty(), list.len()));
        for (class, n) in list {
            // SAFETY: a null pointer is no header, and each header leaves the list.
            let header = unsafe { spilled.signals.take_after(ptr::null_mut()) }.expect("as many");
            // SAFETY: the header is owned here.
            assert_eq!(unsafe { (header.as_ref().class(), number(header)) }, (class, n));
        }
        assert!(spilled.is_empty() && spilled.signals.newest.is_null());
    }
}
