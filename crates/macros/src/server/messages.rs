//! Message types of a server: an enum each for calls, casts and infos; and the protocol table.

use proc_macro2::TokenStream as Tokens;
use quote::{ToTokens as _, quote};
use syn::ext::IdentExt as _;
use syn::{Attribute, Expr, ExprLit, Lit, Meta};

use super::declaration::Declaration;
use super::handler::{Handler, Mark};

/// Generates the enums and the conversions of infos.
pub(super) fn messages(declaration: &Declaration) -> Tokens {
    let calls = message(declaration, "Call", "Calls", &declaration.calls);
    let casts = message(declaration, "Cast", "Casts", &declaration.casts);
    let infos = message(declaration, "Info", "Infos", &declaration.infos);
    let conversions = conversions(declaration);
    quote!(#calls #casts #infos #conversions)
}

/// Generates one enum.
fn message(declaration: &Declaration, suffix: &str, kind: &str, handlers: &[Handler]) -> Tokens {
    if handlers.is_empty() {
        return Tokens::new();
    }
    let (name, generics) = (declaration.item(suffix), &declaration.generics);
    let clause = &generics.where_clause;
    let doc = format!("{kind} of [`{}`].", declaration.name);
    let variants = handlers.iter().map(|handler| {
        let Handler { cfgs, .. } = handler;
        let (variant, docs) = (handler.variant(), docs(declaration, handler));
        let reply = (handler.mark == Mark::Call).then(|| {
            let reply = handler.reply();
            quote!(::purlin::Reply<#reply>)
        });
        let mut fields = handler.kinds().map(|kind| quote!(#kind)).chain(reply).peekable();
        let fields = fields.peek().is_some().then(|| quote!((#(#fields),*)));
        quote!(#(#cfgs)* #docs #variant #fields,)
    });
    let parameters = declaration.type_parameters();
    // Uses every parameter, which an enum must.
    let unused = (!parameters.is_empty()).then(|| {
        quote! {
            #[doc(hidden)]
            __Parameters(
                ::core::convert::Infallible,
                ::core::marker::PhantomData<fn() -> (#(#parameters,)*)>,
            ),
        }
    });
    quote! {
        #[doc = #doc]
        #[derive(Debug)]
        #[allow(
            clippy::enum_variant_names,
            dead_code,
            deprecated,
            private_bounds,
            private_interfaces,
            unreachable_pub,
        )]
        pub enum #name #generics #clause {
            #(#variants)*
            #unused
        }
    }
}

/// Returns the documentation of a handler, or a line in its place.
pub(super) fn docs(declaration: &Declaration, handler: &Handler) -> Tokens {
    let docs = &handler.docs;
    if docs.iter().any(|attribute| attribute.path().is_ident("doc")) {
        return quote!(#(#docs)*);
    }
    let doc = format!("Handled by `{}::{}`.", declaration.name, handler.method);
    quote!(#[doc = #doc] #(#docs)*)
}

/// Generates `From<T>` for each info whose only argument is a `T`, except for a type that
/// two infos have and for a type parameter, which could be the info itself.
fn conversions(declaration: &Declaration) -> Tokens {
    let name = declaration.item("Info");
    let (generics, arguments, clause) = declaration.generics.split_for_impl();
    let source = |handler: &Handler| match &handler.arguments[..] {
        [only] => Some(only.kind.to_token_stream().to_string()),
        _ => None,
    };
    let sources: Vec<_> = declaration.infos.iter().filter_map(source).collect();
    let parameters = declaration.type_parameters();
    let mut conversions = Tokens::new();
    for handler in &declaration.infos {
        let [only] = &handler.arguments[..] else { continue };
        let text = only.kind.to_token_stream().to_string();
        let is_parameter = parameters.iter().any(|parameter| text == parameter.to_string());
        if is_parameter || sources.iter().filter(|source| **source == text).count() > 1 {
            continue;
        }
        let (from, cfgs, variant) = (&only.kind, &handler.cfgs, handler.variant());
        conversions.extend(quote! {
            #(#cfgs)*
            #[automatically_derived]
            #[allow(deprecated)]
            impl #generics ::core::convert::From<#from> for #name #arguments #clause {
                fn from(value: #from) -> Self {
                    Self::#variant(value)
                }
            }
        });
    }
    conversions
}

/// Generates the protocol table, an expression.
pub(super) fn protocol(declaration: &Declaration) -> Tokens {
    let Declaration { calls, casts, infos, .. } = declaration;
    let name = declaration.name.to_string();
    let requests = calls.iter().chain(casts).chain(infos).map(|handler| {
        let (cfgs, name) = (&handler.cfgs, handler.method.unraw().to_string());
        let docs = doc_text(&handler.docs);
        let kind = match handler.mark {
            Mark::Call => quote!(Call),
            Mark::Cast => quote!(Cast),
            _ => quote!(Info),
        };
        let reply = match handler.mark {
            Mark::Call => {
                let reply = type_text(&handler.reply());
                quote!(::core::option::Option::Some(#reply))
            }
            _ => quote!(::core::option::Option::None),
        };
        let arguments = handler.arguments.iter().map(|argument| {
            let name = argument.name.unraw().to_string();
            let kind = type_text(&argument.kind.to_token_stream());
            quote!(::purlin::server::Argument { name: #name, type_name: #kind })
        });
        quote! {
            #(#cfgs)*
            ::purlin::server::Request {
                kind: ::purlin::server::RequestKind::#kind,
                name: #name,
                arguments: &[#(#arguments),*],
                reply: #reply,
                docs: #docs,
            }
        }
    });
    quote! {
        ::purlin::server::Protocol { name: #name, requests: &[#(#requests),*] }
    }
}

/// Returns the text of a type, with the spaces of rustfmt.
fn type_text(kind: &Tokens) -> String {
    const SPACES: [(&str, &str); 10] = [
        (" :: ", "::"),
        (":: ", "::"),
        (" < ", "<"),
        ("< ", "<"),
        (" >", ">"),
        (" ,", ","),
        (" ;", ";"),
        ("& ", "&"),
        ("( ", "("),
        (" )", ")"),
    ];
    let text = kind.to_string();
    SPACES.iter().fold(text, |text, (spaced, plain)| text.replace(spaced, plain))
}

/// Returns the text of doc comments.
fn doc_text(attributes: &[Attribute]) -> String {
    let line = |attribute: &Attribute| match &attribute.meta {
        Meta::NameValue(meta) if meta.path.is_ident("doc") => match &meta.value {
            Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => {
                let text = text.value();
                Some(text.strip_prefix(' ').unwrap_or(&text).to_owned())
            }
            _ => None,
        },
        _ => None,
    };
    attributes.iter().filter_map(line).collect::<Vec<_>>().join("\n")
}
