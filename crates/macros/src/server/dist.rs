//! Registration of a declared server for Erlang callers: `purlin_dist::cluster::Serve`.

use proc_macro2::TokenStream as Tokens;
use quote::quote;
use syn::Error;
use syn::ext::IdentExt as _;

use super::declaration::Declaration;
use super::handler::{Handler, Mark};

/// Generates the implementation. A request is an atom, or a tuple of an atom and the arguments.
pub(super) fn serve(declaration: &Declaration) -> Tokens {
    let Declaration { this, generics, calls, casts, .. } = declaration;
    if !generics.params.is_empty() {
        let message = "`dist` serves a type without parameters";
        return Error::new_spanned(this, message).into_compile_error();
    }
    let calls = requests(declaration, "Call", calls);
    let casts = requests(declaration, "Cast", casts);
    quote! {
        #[automatically_derived]
        #[allow(deprecated)]
        impl ::purlin_dist::cluster::Serve for #this {
            fn served() -> ::purlin_dist::cluster::Served<Self> {
                let served = ::purlin_dist::cluster::Served::new();
                #calls
                #casts
                served
            }
        }
    }
}

/// Generates the statement that registers calls or casts: an enum that `serde` decodes, and its
/// conversion to the message type.
fn requests(declaration: &Declaration, suffix: &str, handlers: &[Handler]) -> Option<Tokens> {
    let is_call = handlers.first()?.mark == Mark::Call;
    let message = declaration.item(suffix);
    let variants = handlers.iter().map(|handler| {
        let (cfgs, variant) = (&handler.cfgs, handler.variant());
        let (name, kinds) = (handler.method.unraw().to_string(), handler.kinds());
        let fields = (!handler.arguments.is_empty()).then(|| quote!((#(#kinds),*)));
        quote!(#(#cfgs)* #[serde(rename = #name)] #variant #fields,)
    });
    let arms = handlers.iter().map(|handler| {
        let (cfgs, variant, bindings) = (&handler.cfgs, handler.variant(), handler.bindings());
        let fields = (!bindings.is_empty()).then(|| quote!((#(#bindings),*)));
        let reply = is_call.then(|| quote!(caller.reply()));
        let mut made = bindings.iter().map(|binding| quote!(#binding)).chain(reply).peekable();
        let made = made.peek().is_some().then(|| quote!((#(#made),*)));
        quote!(#(#cfgs)* __PurlinRequest::#variant #fields => #message::#variant #made,)
    });
    let (register, caller) = match is_call {
        true => (quote!(calls), quote!(caller: ::purlin_dist::cluster::Caller)),
        false => (quote!(casts), quote!()),
    };
    Some(quote! {
        let served = {
            #[derive(::purlin_dist::__private::serde::Deserialize)]
            #[serde(crate = "::purlin_dist::__private::serde", expecting = "a request")]
            enum __PurlinRequest {
                #(#variants)*
            }
            served.#register(|request: __PurlinRequest, #caller| match request {
                #(#arms)*
            })
        };
    })
}
