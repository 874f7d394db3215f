//! Modules: those with an exported function. ETS tables: always empty.

use purlin_term::{Atom, Term};

use crate::cluster::core::Core;
use crate::cluster::rpc::export::ANY;
use crate::cluster::rpc::offer::{Offer, badarg};

pub(super) fn export(offer: &Offer<'_>) {
    offer.at_once("code", "which", 1, |core, arguments| {
        Ok(Term::atom(if is_known(core, &arguments[0]) { "preloaded" } else { "non_existing" }))
    });
    offer.at_once("code", "ensure_loaded", 1, |core, arguments| {
        Ok(if is_known(core, &arguments[0]) {
            tagged!("module", arguments[0].clone())
        } else {
            tagged!("error", Term::atom("nofile"))
        })
    });
    offer.at_once("code", "is_loaded", 1, |core, arguments| {
        let file = tagged!("file", Term::atom("preloaded"));
        Ok(if is_known(core, &arguments[0]) { file } else { Term::from(false) })
    });
    offer.at_once("code", "all_loaded", 0, |core, _| {
        let all = core.exports.modules().into_iter();
        let loaded = |module| Term::tuple([Term::Atom(module), Term::atom("preloaded")]);
        Ok(Term::list(all.map(loaded)))
    });
    offer.at_once("erlang", "function_exported", 3, |core, arguments| {
        let [Term::Atom(module), Term::Atom(name), arity] = arguments else { return badarg() };
        let Some(arity) = arity.as_integer() else { return badarg() };
        let arity = usize::try_from(arity).unwrap_or(usize::MAX);
        Ok(Term::from(core.exports.find(module, name, arity).is_some()))
    });
    // Processes run Rust functions, whose modules have no `module_info`.
    offer.at_once(ANY, "module_info", 1, |_, _| Ok(Term::NIL));
    // There are no ETS tables.
    offer.at_once("ets", "all", 0, |_, _| Ok(Term::NIL));
    for arity in [1, 2] {
        offer.at_once("ets", "info", arity, |_, _| Ok(Term::atom("undefined")));
    }
    // No OTP event handlers exist.
    offer.at_once("gen_event", "which_handlers", 1, |_, _| Ok(Term::NIL));
}

fn is_known(core: &Core, module: &Term) -> bool {
    module.as_atom().is_some_and(|module: &Atom| core.exports.modules().contains(module))
}
