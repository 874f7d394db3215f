//! The `impl` block as parsed: type, generics, handlers.

use proc_macro2::TokenStream as Tokens;
use quote::{ToTokens as _, format_ident, quote};
use syn::spanned::Spanned as _;
use syn::{Error, Generics, Ident, ImplItem, ImplItemFn, ItemImpl, Type};

use super::handler::{Handler, Mark, replace_self};

/// Methods of `ServerRef`, which hide a client method of the same name.
pub(super) const METHODS_OF_SERVER_REF: [&str; 15] = [
    "call",
    "call_blocking",
    "call_timeout",
    "cast",
    "clone",
    "id",
    "inspect",
    "inspect_timeout",
    "pid",
    "request_stop",
    "send",
    "send_request",
    "state",
    "stop",
    "stop_with",
];

/// Declaration of a server.
pub(super) struct Declaration {
    /// Name of the type, from which the names of the generated items are made.
    pub(super) name: Ident,
    /// The type.
    pub(super) this: Type,
    pub(super) generics: Generics,
    pub(super) calls: Vec<Handler>,
    pub(super) casts: Vec<Handler>,
    pub(super) infos: Vec<Handler>,
    pub(super) init: Option<Handler>,
    pub(super) resume: Option<Handler>,
    pub(super) timeout: Option<Handler>,
    pub(super) terminate: Option<Handler>,
}

impl Declaration {
    /// Parses the block and removes the marks from it.
    pub(super) fn take(item: &mut ItemImpl) -> syn::Result<Self> {
        // The marks are removed first: with an error, the rest of the block compiles.
        let marked: Vec<_> = item.items.iter_mut().filter_map(take_marks).collect();
        if let Some((_, path, _)) = &item.trait_ {
            let message = "`#[purlin::server]` belongs before an `impl` block without a trait";
            return Err(Error::new_spanned(path, message));
        }
        let this = (*item.self_ty).clone();
        let name = match &this {
            Type::Path(path) => path.path.segments.last().map(|last| last.ident.clone()),
            _ => None,
        };
        let Some(name) = name else {
            return Err(Error::new_spanned(&this, "a server is a struct or an enum"));
        };
        if let Some(lifetime) = item.generics.lifetimes().next() {
            let message = "a server owns its state: its type has no lifetime parameter";
            return Err(Error::new_spanned(lifetime, message));
        }
        let generics = replace_self(generics(&item.generics), &this.to_token_stream());
        let mut declaration = Self {
            name,
            generics: parse_generics(generics)?,
            this,
            calls: Vec::new(),
            casts: Vec::new(),
            infos: Vec::new(),
            init: None,
            resume: None,
            timeout: None,
            terminate: None,
        };
        if marked.is_empty() {
            let message = "no method is marked `#[call]`, `#[cast]` or `#[info]`";
            return Err(Error::new(item.impl_token.span(), message));
        }
        // Every handler is checked: one compilation reports all errors.
        let mut errors: Option<Error> = None;
        for (marks, function) in &marked {
            if let Err(error) = declaration.add(marks, function) {
                match &mut errors {
                    Some(errors) => errors.combine(error),
                    None => errors = Some(error),
                }
            }
        }
        errors.map_or(Ok(declaration), Err)
    }

    /// Adds a method with its marks.
    fn add(&mut self, marks: &[syn::Attribute], function: &ImplItemFn) -> syn::Result<()> {
        let [attribute] = marks else {
            let message = "a method is one handler: it has one mark";
            return Err(Error::new_spanned(&marks[1], message));
        };
        let Some(mark) = Mark::of(attribute) else { return Ok(()) };
        let handler = Handler::parse(mark, attribute, function, &self.this)?;
        let method = handler.method.clone();
        let only = match mark {
            Mark::Call | Mark::Cast => {
                if METHODS_OF_SERVER_REF.iter().any(|name| method == name) {
                    let message = format!("`ServerRef` has a method `{method}`: use another name");
                    return Err(Error::new(method.span(), message));
                }
                let handlers = if mark == Mark::Call { &mut self.calls } else { &mut self.casts };
                handlers.push(handler);
                return Ok(());
            }
            Mark::Info => {
                self.infos.push(handler);
                return Ok(());
            }
            Mark::Init => &mut self.init,
            Mark::Continue => &mut self.resume,
            Mark::Timeout => &mut self.timeout,
            Mark::Terminate => &mut self.terminate,
        };
        match only.replace(handler) {
            None => Ok(()),
            Some(first) => {
                let message = format!("`{}` has this mark already", first.method);
                Err(Error::new_spanned(attribute, message))
            }
        }
    }

    /// Returns the name of a generated item.
    pub(super) fn item(&self, suffix: &str) -> Ident {
        format_ident!("{}{suffix}", self.name)
    }

    /// Returns the message type of these handlers.
    pub(super) fn message_type(&self, suffix: &str, handlers: &[Handler]) -> Tokens {
        if handlers.is_empty() {
            return quote!(::core::convert::Infallible);
        }
        let (name, (_, arguments, _)) = (self.item(suffix), self.generics.split_for_impl());
        quote!(#name #arguments)
    }

    /// Returns the type parameters.
    pub(super) fn type_parameters(&self) -> Vec<&Ident> {
        self.generics.type_params().map(|parameter| &parameter.ident).collect()
    }
}

/// Removes the marks of a method and returns them with it.
fn take_marks(item: &mut ImplItem) -> Option<(Vec<syn::Attribute>, ImplItemFn)> {
    let ImplItem::Fn(function) = item else { return None };
    let marks = function.attrs.extract_if(.., |attribute| Mark::of(attribute).is_some());
    let marks: Vec<_> = marks.collect();
    (!marks.is_empty()).then(|| (marks, function.clone()))
}

/// Returns the parameters and the `where` clause as one token stream.
fn generics(generics: &Generics) -> Tokens {
    let clause = &generics.where_clause;
    quote!(#generics #clause)
}

fn parse_generics(tokens: Tokens) -> syn::Result<Generics> {
    let parse = |input: syn::parse::ParseStream<'_>| {
        let mut generics: Generics = input.parse()?;
        generics.where_clause = input.parse()?;
        Ok(generics)
    };
    syn::parse::Parser::parse2(parse, tokens)
}
