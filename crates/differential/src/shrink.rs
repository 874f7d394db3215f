//! Makes a program that fails smaller, as long as it fails.

use crate::language::{Op, Program};

/// The smallest program that still fails and is made of this one by leaving operations out.
pub fn shrink(program: Program, fails: &mut dyn FnMut(&Program) -> bool) -> Program {
    let mut smallest = program;
    while let Some(smaller) = smaller(&smallest).into_iter().find(|program| fails(program)) {
        smallest = smaller;
    }
    smallest
}

/// Every valid program with one script or one operation less, the boldest cuts first.
fn smaller(program: &Program) -> Vec<Program> {
    let mut all = Vec::new();
    for who in 0..program.scripts.len() {
        let steps = program.scripts[who].len();
        if steps > 1 {
            all.push(without(program, who, 0..steps));
        }
    }
    for who in 0..program.scripts.len() {
        all.extend((0..program.scripts[who].len()).map(|at| without(program, who, at..at + 1)));
    }
    all.retain(Program::is_valid);
    all
}

fn without(program: &Program, who: usize, steps: std::ops::Range<usize>) -> Program {
    let mut smaller = program.clone();
    for op in smaller.scripts[who].drain(steps).collect::<Vec<_>>() {
        forget(&mut smaller, op);
    }
    // The last ones are not missed if they do nothing and nobody names them.
    while let Some([]) = smaller.scripts.last().map(Vec::as_slice) {
        let mut shorter = smaller.clone();
        shorter.scripts.pop();
        shorter.bases = shorter.bases.min(shorter.scripts.len() as u8);
        if !shorter.is_valid() {
            break;
        }
        smaller = shorter;
    }
    smaller
}

/// A child that is not spawned does nothing, and neither do its children.
fn forget(program: &mut Program, op: Op) {
    if let Op::Spawn(child, _) = op {
        for op in std::mem::take(&mut program.scripts[usize::from(child)]) {
            forget(program, op);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::shrink;
    use crate::generate::generate;
    use crate::language::{Op, Program};

    fn links(program: &Program) -> usize {
        program.scripts.iter().flatten().filter(|op| matches!(op, Op::Link(_))).count()
    }

    #[test]
    fn a_program_that_fails_by_two_links_is_two_links_in_the_end() {
        let program = (0..).map(generate).find(|program| links(program) > 3).unwrap();
        let small = shrink(program, &mut |program| links(program) >= 2);
        assert_eq!((links(&small), small.len()), (2, 2), "{small}");
    }

    proptest! {
        #[test]
        fn what_is_left_is_valid_and_still_fails(seed: u64, least in 1..6_usize) {
            let program = generate(seed);
            prop_assume!(program.len() >= least);
            let small = shrink(program, &mut |program| program.len() >= least);
            prop_assert!(small.is_valid());
            prop_assert!(small.len() >= least);
        }
    }
}
