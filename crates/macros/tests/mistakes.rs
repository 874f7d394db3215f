//! Typical mistakes, and what the compiler says about each.
//!
//! The texts are those of the current stable compiler. `TRYBUILD=overwrite` writes them anew.

#[test]
fn each_mistake_is_reported_at_its_place_with_a_fix() {
    trybuild::TestCases::new().compile_fail("tests/mistakes/*.rs");
}
