//! Client of a declared server: a trait that `ServerRef` implements, with a method for each call
//! and cast.

use proc_macro2::TokenStream as Tokens;
use quote::{ToTokens as _, quote};
use syn::{PathArguments, Type};

use super::declaration::Declaration;
use super::handler::{Handler, Mark, internal, replace_self};
use super::messages;

/// Generates the trait and its implementation.
pub(super) fn client(declaration: &Declaration) -> Tokens {
    let Declaration { this, name, calls, casts, .. } = declaration;
    if calls.is_empty() && casts.is_empty() {
        return Tokens::new();
    }
    let client = declaration.item("Client");
    let all_generics = &declaration.generics;
    let (generics, arguments, clause) = all_generics.split_for_impl();
    let doc = format!("Client of [`{name}`]: its calls and casts, as methods of its `ServerRef`.");
    let handlers = || calls.iter().chain(casts);
    let declared = handlers().map(|handler| {
        let (cfgs, docs) = (&handler.cfgs, messages::docs(declaration, handler));
        let signature = signature(handler, false);
        quote!(#(#cfgs)* #docs #signature;)
    });
    let implemented = handlers().map(|handler| {
        let cfgs = &handler.cfgs;
        let (signature, body) = (signature(handler, true), body(declaration, handler));
        quote!(#(#cfgs)* #signature { #body })
    });
    quote! {
        #[doc = #doc]
        #[allow(dead_code, private_bounds, private_interfaces, unreachable_pub)]
        pub trait #client #all_generics #clause {
            #(#declared)*
        }

        #[automatically_derived]
        #[allow(deprecated)]
        impl #generics #client #arguments for ::purlin::server::ServerRef<#this> #clause {
            #(#implemented)*
        }
    }
}

/// Generates a method's signature, with the user's names of the arguments or, in the
/// implementation, with internal ones.
fn signature(handler: &Handler, internally: bool) -> Tokens {
    let method = &handler.method;
    let names: Vec<_> = match internally {
        true => handler.bindings(),
        false => handler.arguments.iter().map(|argument| argument.name.clone()).collect(),
    };
    let kinds = handler.kinds();
    let output = (handler.mark == Mark::Call).then(|| {
        let reply = handler.reply();
        quote! {
            -> impl ::core::future::Future<
                Output = ::core::result::Result<#reply, ::purlin::CallError>,
            > + ::core::marker::Send
        }
    });
    quote!(fn #method(&self #(, #names: #kinds)*) #output)
}

/// Generates a method's body.
fn body(declaration: &Declaration, handler: &Handler) -> Tokens {
    let (variant, bindings) = (handler.variant(), handler.bindings());
    if handler.mark == Mark::Cast {
        let name = declaration.item("Cast");
        let fields = (!bindings.is_empty()).then(|| quote!((#(#bindings),*)));
        return quote!(::purlin::server::ServerRef::cast(self, #name::#variant #fields));
    }
    let (name, reply) = (declaration.item("Call"), internal("reply"));
    let make = match &bindings[..] {
        [] => quote!(#name::#variant),
        _ => quote!(move |#reply| #name::#variant(#(#bindings,)* #reply)),
    };
    match &handler.time {
        None => quote!(::purlin::server::ServerRef::call(self, #make)),
        Some(time) => {
            let time = replace_self(time.to_token_stream(), &in_expression(&declaration.this));
            quote!(::purlin::server::ServerRef::call_timeout(self, #make, #time))
        }
    }
}

/// Returns a type as expressions name it: `Server::<T>` for `Server<T>`.
fn in_expression(this: &Type) -> Tokens {
    let mut this = this.clone();
    if let Type::Path(path) = &mut this {
        for segment in &mut path.path.segments {
            if let PathArguments::AngleBracketed(arguments) = &mut segment.arguments {
                arguments.colon2_token.get_or_insert_default();
            }
        }
    }
    this.into_token_stream()
}
