//! One handler: its mark, parameters and return type.

use proc_macro2::{Group, Span, TokenStream as Tokens, TokenTree};
use quote::{ToTokens, format_ident, quote};
use syn::ext::IdentExt as _;
use syn::spanned::Spanned as _;
use syn::{
    Attribute, Error, Expr, FnArg, GenericArgument, Ident, ImplItemFn, Meta, Pat, PathArguments,
    ReturnType, Type,
};

/// Mark of a handler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    Init,
    Call,
    Cast,
    Info,
    Continue,
    Timeout,
    Terminate,
}

impl Mark {
    const ALL: [(&str, Self); 7] = [
        ("init", Self::Init),
        ("call", Self::Call),
        ("cast", Self::Cast),
        ("info", Self::Info),
        ("handle_continue", Self::Continue),
        ("timeout", Self::Timeout),
        ("terminate", Self::Terminate),
    ];

    /// Returns the mark that an attribute is, if it is one.
    pub(super) fn of(attribute: &Attribute) -> Option<Self> {
        Self::ALL.iter().find(|(name, _)| attribute.path().is_ident(name)).map(|(_, mark)| *mark)
    }

    fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, mark)| *mark == self).map_or("", |(name, _)| name)
    }
}

/// Argument of a request.
pub(super) struct Argument {
    pub(super) name: Ident,
    pub(super) kind: Type,
}

/// Value of a parameter of the handler.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Parameter {
    Argument,
    Process,
    Reply,
    Reason,
}

/// A method with a mark.
pub(super) struct Handler {
    pub(super) mark: Mark,
    pub(super) method: Ident,
    /// Attributes that decide whether the handler exists: `#[cfg]`.
    pub(super) cfgs: Vec<Attribute>,
    /// Documentation and `#[deprecated]`.
    pub(super) docs: Vec<Attribute>,
    pub(super) arguments: Vec<Argument>,
    parameters: Vec<Parameter>,
    /// Type in `Reply<T>`, if the handler takes one.
    pub(super) deferred: Option<Type>,
    /// Return type; `None` stands for `()`.
    pub(super) output: Option<Type>,
    /// Expression in the mark: `#[timeout(…)]`, `#[call(timeout = …)]`.
    pub(super) time: Option<Expr>,
    is_async: bool,
}

impl Handler {
    /// Parses a method whose marks have been removed. `this` replaces `Self` in the types of
    /// messages.
    pub(super) fn parse(
        mark: Mark,
        attribute: &Attribute,
        function: &ImplItemFn,
        this: &Type,
    ) -> syn::Result<Self> {
        let signature = &function.sig;
        let refuse = |span: Span, message: &str| Err(Error::new(span, message));
        if let Some(unsafety) = &signature.unsafety {
            return refuse(unsafety.span(), "a handler cannot be `unsafe`");
        }
        if !signature.generics.params.is_empty() {
            let message = "a handler cannot be generic: a message has one type";
            return refuse(signature.generics.span(), message);
        }
        let (mut inputs, mut receiver) = (Vec::new(), None);
        for input in &signature.inputs {
            match input {
                FnArg::Receiver(own) => receiver = Some(own),
                FnArg::Typed(input) => inputs.push(input),
            }
        }
        match (mark, receiver) {
            (Mark::Init, Some(own)) => {
                return refuse(own.span(), "an `init` creates the state: it takes no `self`");
            }
            (Mark::Init, None) => {}
            (_, Some(own)) if own.reference.is_some() && own.colon_token.is_none() => {}
            (_, Some(own)) => {
                return refuse(own.span(), "a handler takes `&mut self` or `&self`");
            }
            (_, None) => {
                return refuse(signature.ident.span(), "a handler takes `&mut self` or `&self`");
            }
        }
        let mut handler = Self {
            mark,
            method: signature.ident.clone(),
            cfgs: select(function, &["cfg"]),
            docs: select(function, &["doc", "deprecated"]),
            arguments: Vec::new(),
            parameters: Vec::new(),
            deferred: None,
            output: output(&signature.output, this),
            time: time(mark, attribute)?,
            is_async: signature.asyncness.is_some(),
        };
        for input in inputs {
            handler.parameter(&input.pat, &input.ty, this)?;
        }
        if let (Mark::Call, ReturnType::Type(_, output)) = (mark, &signature.output) {
            let message = match **output {
                Type::Reference(_) => "a reply owns its value: it cannot be a reference",
                Type::ImplTrait(_) => "a reply has one type, not `impl Trait`",
                _ => return Ok(handler),
            };
            return Err(Error::new_spanned(output, message));
        }
        Ok(handler)
    }

    /// Adds a parameter.
    fn parameter(&mut self, pattern: &Pat, kind: &Type, this: &Type) -> syn::Result<()> {
        let parameter = match kind {
            Type::Reference(to) if is_named(&to.elem, "Process") => Parameter::Process,
            Type::Reference(to)
                if self.mark == Mark::Terminate && is_named(&to.elem, "ExitReason") =>
            {
                Parameter::Reason
            }
            Type::Reference(_) => {
                let message = "a message owns its arguments: it cannot hold a reference";
                return Err(Error::new_spanned(kind, message));
            }
            Type::ImplTrait(_) => {
                let message = "an argument of a message has one type, not `impl Trait`";
                return Err(Error::new_spanned(kind, message));
            }
            Type::Path(_) if is_named(kind, "Reply") && self.mark == Mark::Call => Parameter::Reply,
            Type::Path(_) if is_named(kind, "Reply") && self.mark == Mark::Cast => {
                let message = "a cast has no reply: mark the method `#[call]`";
                return Err(Error::new_spanned(kind, message));
            }
            _ => Parameter::Argument,
        };
        match (self.mark, parameter) {
            (Mark::Timeout | Mark::Terminate, Parameter::Argument) => {
                let mark = self.mark.name();
                let takes = if self.mark == Mark::Timeout { "" } else { "`&ExitReason` and " };
                let message =
                    format!("`#[{mark}]` takes {takes}`me: &mut Process<Mail<Self>>` alone");
                return Err(Error::new_spanned(kind, message));
            }
            (_, Parameter::Argument) => {
                let number = self.arguments.len();
                let name = match pattern {
                    Pat::Ident(pattern) => pattern.ident.clone(),
                    _ => format_ident!("argument_{number}"),
                };
                self.arguments.push(Argument { name, kind: without_self(kind, this) });
            }
            (_, one) if self.parameters.contains(&one) => {
                return Err(Error::new_spanned(kind, "the handler takes this already"));
            }
            (_, Parameter::Reply) => {
                let Some(reply) = reply_type(kind) else {
                    return Err(Error::new_spanned(
                        kind,
                        "the type of the reply is missing: `Reply<T>`",
                    ));
                };
                self.deferred = Some(without_self(reply, this));
            }
            _ => {}
        }
        self.parameters.push(parameter);
        Ok(())
    }

    /// Returns the name of the request's variant: `add_score` becomes `AddScore`.
    pub(super) fn variant(&self) -> Ident {
        let method = self.method.unraw().to_string();
        let mut name = String::new();
        for word in method.split('_') {
            let mut letters = word.chars();
            name.extend(letters.next().into_iter().flat_map(char::to_uppercase));
            name.push_str(letters.as_str());
        }
        if name == "Self"
            || name.starts_with(|first: char| first.is_ascii_digit())
            || name.is_empty()
        {
            name.insert(0, '_');
        }
        Ident::new(&name, self.method.span())
    }

    /// Returns the type of the reply of a call.
    pub(super) fn reply(&self) -> Tokens {
        match self.deferred.as_ref().or(self.output.as_ref()) {
            Some(reply) => reply.to_token_stream(),
            None => quote!(()),
        }
    }

    /// Returns the types of the arguments.
    pub(super) fn kinds(&self) -> impl Iterator<Item = &Type> {
        self.arguments.iter().map(|argument| &argument.kind)
    }

    /// Returns the names by which generated code binds the arguments. They cannot collide with the
    /// user's.
    pub(super) fn bindings(&self) -> Vec<Ident> {
        let name = |n| Ident::new(&format!("argument_{n}"), Span::mixed_site());
        (0..self.arguments.len()).map(name).collect()
    }

    /// Returns the expression that calls the method with the bound arguments and `me`, `reply` and
    /// `reason`, where it takes them.
    pub(super) fn invoke(&self) -> Tokens {
        let method = &self.method;
        let mut arguments = self.bindings().into_iter();
        let own = (self.mark != Mark::Init).then(|| quote!(self));
        let parameters = self.parameters.iter().map(|parameter| match parameter {
            Parameter::Argument => arguments.next().to_token_stream(),
            Parameter::Process => internal("me").to_token_stream(),
            Parameter::Reply => internal("reply").to_token_stream(),
            Parameter::Reason => internal("reason").to_token_stream(),
        });
        let inputs = own.into_iter().chain(parameters);
        let awaited = self.is_async.then(|| quote!(.await));
        quote!(Self::#method(#(#inputs),*) #awaited)
    }

    /// Returns the span at which an unsuitable return type is reported.
    pub(super) fn output_span(&self) -> Span {
        self.output.as_ref().map_or(self.method.span(), |output| output.span())
    }
}

/// Returns an identifier of generated code that the user's code cannot refer to.
pub(super) fn internal(name: &str) -> Ident {
    Ident::new(name, Span::mixed_site())
}

fn select(function: &ImplItemFn, names: &[&str]) -> Vec<Attribute> {
    let wanted = |attribute: &&Attribute| names.iter().any(|name| attribute.path().is_ident(name));
    function.attrs.iter().filter(wanted).cloned().collect()
}

/// Returns the declared return type, or `None` for `()`.
fn output(output: &ReturnType, this: &Type) -> Option<Type> {
    match output {
        ReturnType::Default => None,
        ReturnType::Type(_, kind) => match &**kind {
            Type::Tuple(tuple) if tuple.elems.is_empty() => None,
            kind => Some(without_self(kind, this)),
        },
    }
}

/// Parses the arguments of a mark.
fn time(mark: Mark, attribute: &Attribute) -> syn::Result<Option<Expr>> {
    match (&attribute.meta, mark) {
        (Meta::Path(_), _) => Ok(None),
        (Meta::List(list), Mark::Timeout) => list.parse_args().map(Some),
        (Meta::List(list), Mark::Call) => {
            let assignment: syn::MetaNameValue = list.parse_args()?;
            if assignment.path.is_ident("timeout") {
                return Ok(Some(assignment.value));
            }
            Err(Error::new_spanned(assignment.path, "unknown option: there is `timeout`"))
        }
        _ => {
            let message = format!("`#[{}]` takes no arguments", mark.name());
            Err(Error::new_spanned(attribute, message))
        }
    }
}

/// Returns whether the last segment of a type's path is `name`.
fn is_named(kind: &Type, name: &str) -> bool {
    matches!(kind, Type::Path(path) if path.path.segments.last().is_some_and(|last| last.ident == name))
}

/// Returns `T` of `Reply<T>`.
fn reply_type(kind: &Type) -> Option<&Type> {
    let Type::Path(path) = kind else { return None };
    let PathArguments::AngleBracketed(arguments) = &path.path.segments.last()?.arguments else {
        return None;
    };
    match arguments.args.first()? {
        GenericArgument::Type(kind) => Some(kind),
        _ => None,
    }
}

/// Replaces `Self`, which would be the message type, by the server's type.
fn without_self(kind: &Type, this: &Type) -> Type {
    Type::Verbatim(replace_self(kind.to_token_stream(), &this.to_token_stream()))
}

/// Replaces the token `Self`.
pub(super) fn replace_self(tokens: Tokens, this: &Tokens) -> Tokens {
    let replace = |token| match token {
        TokenTree::Ident(ident) if ident == "Self" => quote!(#this),
        TokenTree::Group(group) => {
            let mut replaced = Group::new(group.delimiter(), replace_self(group.stream(), this));
            replaced.set_span(group.span());
            TokenTree::from(replaced).into()
        }
        other => other.into(),
    };
    tokens.into_iter().flat_map(|token| -> Tokens { replace(token) }).collect()
}
