//! Elixir structs, keyword lists and `nil`, written and read by Elixir itself.

use std::process::Command;

use purlin_term::{Options, from_bytes};
use serde::{Deserialize, Serialize};

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/elixir.exs");

#[derive(Serialize, Deserialize, Debug, PartialEq)]
#[serde(rename = "Shop.Order")]
struct Order {
    item: String,
    count: u32,
    note: Option<String>,
}

#[derive(Deserialize, Debug, PartialEq)]
#[serde(rename_all = "snake_case")]
enum Answer {
    Error(Order),
}

fn order(item: &str, count: u32, note: Option<&str>) -> Order {
    Order { item: item.into(), count, note: note.map(String::from) }
}

fn from_hex(line: &str) -> Vec<u8> {
    let digits: Vec<u8> = line.chars().filter_map(|c| c.to_digit(16)).map(|d| d as u8).collect();
    digits.chunks(2).map(|two| two[0] << 4 | two[1]).collect()
}

#[test]
fn structs_are_exchanged_with_elixir_in_both_directions() {
    let bytes = Options::ELIXIR.to_bytes(&order("tea", 2, None)).unwrap();
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let output = Command::new("elixir")
        .args([SCRIPT, &hex])
        .env("ELIXIR_ERL_OPTIONS", "+fnu")
        .output()
        .expect("elixir can be started");
    let said = String::from_utf8_lossy(&output.stderr);
    let lines = String::from_utf8(output.stdout).unwrap();
    let [is_struct, terms @ ..] = &lines.lines().collect::<Vec<_>>()[..] else {
        panic!("Elixir said nothing, but: {said}")
    };
    assert_eq!(*is_struct, "true");

    let terms: Vec<_> = terms.iter().map(|line| from_hex(line)).collect();
    assert_eq!(terms.len(), 4, "{said}");
    assert_eq!(from_bytes(&terms[0]), Ok(order("tea", 2, None)));
    assert_eq!(from_bytes(&terms[1]), Ok(order("tea", 2, None)));
    assert_eq!(from_bytes(&terms[2]), Ok((order("åäö", 1, Some("list")), None::<u8>)));
    assert_eq!(from_bytes(&terms[3]), Ok(Answer::Error(order("tea", 2, Some("n")))));
}
