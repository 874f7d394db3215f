//! `#[purlin::server]`: a server declared as an `impl` block.
//!
//! | file | role |
//! |---|---|
//! | `declaration.rs` | the `impl` block as parsed: type, generics, handlers |
//! | `handler.rs` | one handler: its mark, parameters and return type |
//! | `messages.rs` | generates the message types and the protocol table |
//! | `behaviour.rs` | generates `impl Server` |
//! | `client.rs` | generates the client trait |
//! | `dist.rs` | generates the registration for Erlang callers |

mod behaviour;
mod client;
mod declaration;
mod dist;
mod handler;
mod messages;
#[cfg(test)]
mod tests;

use declaration::Declaration;
use proc_macro2::{Span, TokenStream as Tokens};
use quote::quote;
use syn::parse::{Parse, ParseStream};
use syn::{Error, Ident, Item};

/// Options of the attribute.
#[derive(Default)]
pub(crate) struct Options {
    /// Generates `purlin_dist::cluster::Serve`.
    dist: bool,
}

impl Parse for Options {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        if input.is_empty() {
            return Ok(Self::default());
        }
        let option: Ident = input.parse()?;
        if option != "dist" {
            let message = format!("unknown option `{option}`: there is `dist`");
            return Err(Error::new(option.span(), message));
        }
        Ok(Self { dist: true })
    }
}

/// Generates the message types, `impl Server` and the client of a server.
///
/// With an error in the declaration, the `impl` block is kept without its marks, so that the
/// compiler reports the error alone.
pub(crate) fn expand(options: &Options, item: Item) -> Tokens {
    let Item::Impl(mut item) = item else {
        let message = "`#[purlin::server]` belongs before an `impl` block of the server's type";
        let error = Error::new(Span::call_site(), message).into_compile_error();
        return quote!(#item #error);
    };
    let declaration = match Declaration::take(&mut item) {
        Ok(declaration) => declaration,
        Err(error) => {
            let error = error.into_compile_error();
            return quote!(#item #error);
        }
    };
    let messages = messages::messages(&declaration);
    let server = behaviour::server(&declaration);
    let client = client::client(&declaration);
    let dist = options.dist.then(|| dist::serve(&declaration));
    quote! {
        #item
        #messages
        #server
        #client
        #dist
    }
}
