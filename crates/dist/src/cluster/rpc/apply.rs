//! Application of a function, as by `erlang:apply`: which function runs, with which arguments.

use purlin_term::{Atom, Term};

/// Module, name and arity of a function.
pub(crate) type Called = (Atom, Atom, usize);

/// An application that no function can run: the function that fails, the reason of its error, and its stack trace.
pub(crate) struct NoFunction {
    pub(crate) called: Called,
    pub(crate) why: Term,
    pub(crate) stack: Term,
}

impl NoFunction {
    /// The function does not exist.
    pub(crate) fn undef(module: Atom, name: Atom, arguments: Vec<Term>) -> Self {
        Self::new(Term::atom("undef"), module, name, arguments)
    }

    /// `erlang:apply` refuses its arguments.
    fn refused(why: Term, arguments: impl Into<Vec<Term>>) -> Self {
        let [module, name] = ["erlang", "apply"].map(Atom::from_static);
        Self::new(why, module, name, arguments.into())
    }

    fn new(why: Term, module: Atom, name: Atom, arguments: Vec<Term>) -> Self {
        let called = (module.clone(), name.clone(), arguments.len());
        let call = [module.into(), name.into(), Term::List(arguments), Term::NIL];
        Self { called, why, stack: Term::list([Term::tuple(call)]) }
    }
}

/// Resolves `[Module, Function, Arguments]`: `erlang:apply` of an external fun, or of a module and a function, is
/// replaced by the function that it applies.
///
/// # Errors
/// `erlang:apply` refuses the arguments.
pub(crate) fn resolve(mut call: [Term; 3]) -> Result<(Atom, Atom, Vec<Term>), NoFunction> {
    loop {
        let (module, name, arguments) = match call {
            [Term::Atom(module), Term::Atom(name), Term::List(arguments)] => {
                (module, name, arguments)
            }
            invalid => return Err(NoFunction::refused(Term::atom("badarg"), invalid)),
        };
        if !(module == *"erlang" && name == *"apply") {
            return Ok((module, name, arguments));
        }
        let applied = match <[Term; 3]>::try_from(arguments) {
            Ok(applied) => {
                call = applied;
                continue;
            }
            Err(arguments) => <[Term; 2]>::try_from(arguments),
        };
        call = match applied {
            Ok([Term::Export(export), Term::List(arguments)])
                if usize::from(export.arity) == arguments.len() =>
            {
                [export.module.into(), export.function.into(), Term::List(arguments)]
            }
            // No node but its own can run a local fun.
            Ok([Term::Fun(fun), Term::List(arguments)]) => {
                return Ok((module, name, vec![Term::Fun(fun), Term::List(arguments)]));
            }
            Ok([fun, Term::List(arguments)]) => {
                let why = match &fun {
                    Term::Export(_) => {
                        let applied = [fun.clone(), Term::List(arguments.clone())];
                        tagged!("badarity", Term::tuple(applied))
                    }
                    _ => tagged!("badfun", fun.clone()),
                };
                return Err(NoFunction::refused(why, [fun, Term::List(arguments)]));
            }
            Ok(invalid) => return Err(NoFunction::refused(Term::atom("badarg"), invalid)),
            Err(arguments) => return Ok((module, name, arguments)),
        };
    }
}
