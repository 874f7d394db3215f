//! `impl Server` of a declared server.

use proc_macro2::TokenStream as Tokens;
use quote::{quote, quote_spanned};
use syn::Ident;

use super::declaration::Declaration;
use super::handler::{Handler, Mark, internal};
use super::messages;

/// Generates the implementation. A handler that is not declared is the trait's default.
pub(super) fn server(declaration: &Declaration) -> Tokens {
    let Declaration { this, calls, casts, infos, .. } = declaration;
    let (generics, _, clause) = declaration.generics.split_for_impl();
    let call = declaration.message_type("Call", calls);
    let cast = declaration.message_type("Cast", casts);
    let info = declaration.message_type("Info", infos);
    let (args, init) = init(declaration);
    let (continues, resume) = resume(declaration);
    let handle_call = dispatch(declaration, "Call", calls);
    let handle_cast = dispatch(declaration, "Cast", casts);
    let handle_info = dispatch(declaration, "Info", infos);
    let timeout = timeout(declaration);
    let terminate = terminate(declaration);
    let idle = idle_timeout(declaration);
    let protocol = messages::protocol(declaration);
    quote! {
        #[automatically_derived]
        #[allow(deprecated)]
        impl #generics ::purlin::server::Server for #this #clause {
            type Args = #args;
            type Call = #call;
            type Cast = #cast;
            type Info = #info;
            type Continue = #continues;
            #init
            #handle_call
            #handle_cast
            #handle_info
            #resume
            #idle
            #timeout
            #terminate
            fn protocol() -> ::core::option::Option<&'static ::purlin::server::Protocol> {
                const PROTOCOL: ::purlin::server::Protocol = #protocol;
                ::core::option::Option::Some(&PROTOCOL)
            }
        }
    }
}

/// Generates `idle_timeout`, for a timeout with a time.
fn idle_timeout(declaration: &Declaration) -> Option<Tokens> {
    let time = declaration.timeout.as_ref()?.time.as_ref()?;
    Some(quote! {
        fn idle_timeout(&self) -> ::core::option::Option<::core::time::Duration> {
            ::core::option::Option::Some(#time)
        }
    })
}

/// Generates the expression that invokes a handler and gives the result of the callback.
fn step(handler: &Handler) -> Tokens {
    let invoke = handler.invoke();
    let next = quote!(::purlin::server::Next::Wait);
    let reply = internal("reply");
    if handler.mark == Mark::Call && handler.deferred.is_none() {
        let answer = match &handler.output {
            Some(_) => quote!(#reply.send(#invoke);),
            None => quote!(#invoke; #reply.send(());),
        };
        return quote!({ #answer ::core::result::Result::Ok(#next) });
    }
    if handler.output.is_none() {
        return quote!({ #invoke; ::core::result::Result::Ok(#next) });
    }
    // WHY not an internal name: an unsuitable value is reported where its type is written.
    let result = Ident::new("result", handler.output_span());
    let convert = quote_spanned! { handler.output_span() =>
        ::purlin::__private::HandlerResult::<Self>::into_next(#result)
    };
    quote!({ let #result = #invoke; #convert })
}

/// Generates `handle_call`, `handle_cast` or `handle_info`.
fn dispatch(declaration: &Declaration, suffix: &str, handlers: &[Handler]) -> Option<Tokens> {
    let first = handlers.first()?;
    let message = declaration.message_type(suffix, handlers);
    let name = declaration.item(suffix);
    let method = match first.mark {
        Mark::Call => quote!(handle_call),
        Mark::Cast => quote!(handle_cast),
        _ => quote!(handle_info),
    };
    let (me, reply, received) = (internal("me"), internal("reply"), internal("message"));
    let arms = handlers.iter().map(|handler| {
        let (cfgs, variant) = (&handler.cfgs, handler.variant());
        let reply = (handler.mark == Mark::Call).then_some(&reply);
        let mut fields = handler.bindings().into_iter().chain(reply.cloned()).peekable();
        let fields = fields.peek().is_some().then(|| quote!((#(#fields),*)));
        let step = step(handler);
        quote!(#(#cfgs)* #name::#variant #fields => #step)
    });
    let unused = (!declaration.type_parameters().is_empty())
        .then(|| quote!(#name::__Parameters(never, _) => match never {},));
    Some(quote! {
        async fn #method(
            &mut self,
            #received: #message,
            #me: &mut ::purlin::Process<::purlin::server::Mail<Self>>,
        ) -> ::purlin::server::Result<::purlin::server::Next<Self>> {
            let _ = &#me;
            match #received {
                #(#arms)*
                #unused
            }
        }
    })
}

/// Returns the type of the arguments of `init` or `handle_continue`, and the statement that binds
/// them.
fn arguments(handler: &Handler) -> (Tokens, Tokens) {
    let (kinds, bindings) = (handler.kinds(), handler.bindings());
    let args = internal("args");
    match &bindings[..] {
        [only] => (quote!(#(#kinds)*), quote!(let #only = #args;)),
        _ => (quote!((#(#kinds),*)), quote!(let (#(#bindings),*) = #args;)),
    }
}

/// Generates `init`. Without one, the state itself is the argument.
fn init(declaration: &Declaration) -> (Tokens, Tokens) {
    let (me, args) = (internal("me"), internal("args"));
    let (kind, made) = match &declaration.init {
        None => (quote!(Self), quote!(::purlin::server::Init::Ready(#args))),
        Some(init) => {
            let (kind, bind) = arguments(init);
            let invoke = init.invoke();
            let convert = quote_spanned! { init.output_span() =>
                ::purlin::__private::InitResult::<Self>::into_init(made)?
            };
            (kind, quote!({ #bind let made = #invoke; #convert }))
        }
    };
    let function = quote! {
        async fn init(
            #args: Self::Args,
            #me: &mut ::purlin::Process<::purlin::server::Mail<Self>>,
        ) -> ::purlin::server::Result<::purlin::server::Init<Self>> {
            let _ = &#me;
            ::core::result::Result::Ok(#made)
        }
    };
    (kind, function)
}

/// Generates `handle_continue`.
fn resume(declaration: &Declaration) -> (Tokens, Option<Tokens>) {
    let Some(handler) = &declaration.resume else {
        return (quote!(::core::convert::Infallible), None);
    };
    let (me, args) = (internal("me"), internal("args"));
    let (kind, bind) = arguments(handler);
    let step = step(handler);
    let function = quote! {
        async fn handle_continue(
            &mut self,
            #args: Self::Continue,
            #me: &mut ::purlin::Process<::purlin::server::Mail<Self>>,
        ) -> ::purlin::server::Result<::purlin::server::Next<Self>> {
            let _ = &#me;
            #bind
            #step
        }
    };
    (kind, Some(function))
}

/// Generates `handle_timeout`.
fn timeout(declaration: &Declaration) -> Option<Tokens> {
    let step = step(declaration.timeout.as_ref()?);
    let me = internal("me");
    Some(quote! {
        async fn handle_timeout(
            &mut self,
            #me: &mut ::purlin::Process<::purlin::server::Mail<Self>>,
        ) -> ::purlin::server::Result<::purlin::server::Next<Self>> {
            let _ = &#me;
            #step
        }
    })
}

/// Generates `terminate`.
fn terminate(declaration: &Declaration) -> Option<Tokens> {
    let invoke = declaration.terminate.as_ref()?.invoke();
    let (me, reason) = (internal("me"), internal("reason"));
    Some(quote! {
        async fn terminate(
            &mut self,
            #reason: &::purlin::ExitReason,
            #me: &mut ::purlin::Process<::purlin::server::Mail<Self>>,
        ) {
            let _ = (#reason, &#me);
            #invoke
        }
    })
}
