//! Shrinks a failing program as long as it fails.

use std::io;

use crate::language::{Op, Program};
use crate::outcome::Outcome;
use crate::tree::Tree;

/// Shrinks a program as long as `run` returns a refused outcome. Returns the smallest program with
/// its outcome, or `None` if the program does not fail again.
pub(crate) fn shrink_refused(
    program: &Program,
    run: &mut dyn FnMut(&Program) -> io::Result<Option<Outcome>>,
) -> io::Result<Option<(Program, Outcome)>> {
    let mut result = Ok(None);
    let mut fails = |program: &Program| match run(program) {
        _ if result.is_err() => false,
        Ok(seen) => seen.is_some_and(|seen| {
            result = Ok(Some((program.clone(), seen)));
            true
        }),
        Err(error) => {
            result = Err(error);
            false
        }
    };
    if fails(program) {
        shrink(program.clone(), &mut fails);
    }
    result
}

/// Returns a smallest failing value obtained from this one by removing parts.
pub(crate) fn shrink<T: Smaller>(failing: T, fails: &mut dyn FnMut(&T) -> bool) -> T {
    let mut smallest = failing;
    while let Some(smaller) = smallest.smaller().into_iter().find(|one| fails(one)) {
        smallest = smaller;
    }
    smallest
}

/// A value that can be shrunk.
pub(crate) trait Smaller: Sized {
    /// Returns every valid value that is this one with a part removed, largest parts first.
    fn smaller(&self) -> Vec<Self>;
}

impl Smaller for Program {
    fn smaller(&self) -> Vec<Self> {
        let mut all = Vec::new();
        for (who, script) in self.scripts.iter().enumerate() {
            if script.len() > 1 {
                all.push(without(self, who, 0..script.len()));
            }
        }
        for (who, script) in self.scripts.iter().enumerate() {
            all.extend((0..script.len()).map(|at| without(self, who, at..at + 1)));
        }
        all.retain(Self::is_valid);
        all
    }
}

impl Smaller for Tree {
    fn smaller(&self) -> Vec<Self> {
        let mut all = Vec::new();
        for at in 0..self.orders.len() {
            let mut smaller = self.clone();
            smaller.orders.remove(at);
            all.push(smaller);
        }
        for at in 0..self.top.children.len() {
            let mut smaller = self.clone();
            smaller.top.children.remove(at);
            all.push(smaller);
        }
        all
    }
}

fn without(program: &Program, who: usize, steps: std::ops::Range<usize>) -> Program {
    let mut smaller = program.clone();
    for op in smaller.scripts[who].drain(steps).collect::<Vec<_>>() {
        forget(&mut smaller, op);
    }
    // Trailing processes are dropped if they have no script and are not referred to.
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

/// Clears the script of a child that is no longer spawned, and those of its children.
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
    use crate::tree;

    fn length(program: &Program) -> usize {
        program.scripts.iter().map(Vec::len).sum()
    }

    fn links(program: &Program) -> usize {
        program.scripts.iter().flatten().filter(|op| matches!(op, Op::Link(_))).count()
    }

    #[test]
    fn a_program_that_fails_with_two_links_is_shrunk_to_two_links() {
        let program =
            (0..).map(|seed| generate(seed, false)).find(|program| links(program) > 3).unwrap();
        let small = shrink(program, &mut |program| links(program) >= 2);
        assert_eq!((links(&small), length(&small)), (2, 2), "{small}");
    }

    #[test]
    fn a_tree_that_fails_with_an_order_is_shrunk_to_one_order_without_children() {
        let tree = (0..).map(tree::generate::generate).find(|tree| tree.orders.len() > 4).unwrap();
        let small = shrink(tree, &mut |tree| !tree.orders.is_empty());
        assert_eq!((small.orders.len(), small.top.children.len()), (1, 0), "{small}");
    }

    proptest! {
        #[test]
        fn a_shrunk_program_is_valid_and_still_fails(seed: u64, least in 1..6_usize) {
            let program = generate(seed, true);
            prop_assume!(length(&program) >= least);
            let small = shrink(program, &mut |program| length(program) >= least);
            prop_assert!(small.is_valid());
            prop_assert!(length(&small) >= least);
        }
    }
}
