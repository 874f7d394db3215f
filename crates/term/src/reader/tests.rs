use std::borrow::Cow;

use super::Reader;
use crate::error::{DecodeError, Reason};
use crate::token::Token;

#[test]
fn tokens_are_read_in_order_and_borrow_from_the_input() {
    // {ok, <<"x">>}
    let bytes = [104, 2, 119, 2, b'o', b'k', 109, 0, 0, 0, 1, b'x'];
    let mut reader = Reader::new(&bytes);
    assert_eq!(reader.token(), Ok(Token::Tuple(2)));
    assert_eq!(reader.token(), Ok(Token::Atom(Cow::Borrowed("ok"))));
    let Ok(Token::Binary(binary)) = reader.token() else { panic!("no binary") };
    assert_eq!(binary.as_ptr(), bytes[11..].as_ptr());
    assert!(reader.rest().is_empty());
}

#[test]
fn a_term_of_any_depth_is_skipped_without_a_stack() {
    let mut bytes = [104, 1].repeat(1_000_000);
    bytes.extend([97, 7, 97, 8]);
    let mut reader = Reader::new(&bytes);
    assert_eq!(reader.skip().map(<[u8]>::len), Ok(2_000_002));
    assert_eq!(reader.token(), Ok(Token::Integer(8)));
}

#[test]
fn an_announced_length_beyond_the_input_is_rejected_immediately() {
    let ended = Err(DecodeError { offset: 0, reason: Reason::Ended });
    assert_eq!(Reader::new(&[108, 255, 255, 255, 255, 106]).token(), ended);
    assert_eq!(Reader::new(&[116, 0, 0, 0, 2, 106, 106, 106]).token(), ended);
    // Each list alone could be filled from the remaining bytes, both could not.
    let mut nested = Reader::new(&[104, 3, 104, 3, 106, 106, 106]);
    assert_eq!(nested.token(), Ok(Token::Tuple(3)));
    assert_eq!(nested.token(), Err(DecodeError { offset: 2, reason: Reason::Ended }));
}

#[test]
fn a_native_record_is_skipped_with_its_names_and_values() {
    // Two records of a field each in a tuple, and an integer behind it.
    let record = [67, 0, 0, 0, 1, 0, 119, 1, b'm', 119, 1, b'n', 119, 1, b'f', 97, 1];
    let bytes = [&[104, 2][..], &record, &record, &[97, 8]].concat();
    let mut reader = Reader::new(&bytes);
    assert_eq!(reader.skip(), Ok(&bytes[..36]));
    assert_eq!(reader.token(), Ok(Token::Integer(8)));
    // A value is missing.
    let ended = Err(DecodeError { offset: 0, reason: Reason::Ended });
    assert_eq!(Reader::new(&record[..15]).skip(), ended);
}
