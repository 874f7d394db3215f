//! Procedural macros of purlin: `#[purlin::main]`, `#[purlin::test]`, `#[purlin::server]` and
//! `#[derive(purlin::Message)]`.

mod fits;
mod message;
mod server;

use proc_macro::TokenStream;
use proc_macro2::TokenStream as Tokens;
use quote::quote;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Error, FnArg, ItemFn, LitInt, LitStr, Token, parse_macro_input};

/// Runs an `async fn main` as the first process of a node, and stops the node when it returns.
///
/// The function may take its process handle, `me: Process<M>`, or no argument. `main` returns its
/// result, so `Result` works. Settings of the node can be given: `#[purlin::main(workers = 2, name
/// = "shop")]`.
///
/// If the process ends before its function returns, the program exits:
///
/// - with status 0 if the process called `purlin::exit` with the reason `normal`, `shutdown` or
///   `{shutdown, _}`, or stopped its node;
/// - otherwise with a line on standard error and status 101, as it does after a panic without
///   purlin: a panic, another reason, or an exit signal, such as the `shutdown` of a linked
///   supervisor that has given up.
#[proc_macro_attribute]
pub fn main(settings: TokenStream, item: TokenStream) -> TokenStream {
    let settings = parse_macro_input!(settings as Settings);
    let item = parse_macro_input!(item as ItemFn);
    expand(&settings, item, &quote!(run_main), &quote!()).into()
}

/// Part of the expansion of `receive!`: whether a message may match one of its patterns.
#[doc(hidden)]
#[proc_macro]
pub fn fits(input: TokenStream) -> TokenStream {
    fits::expand(parse_macro_input!(input as fits::Fits)).into()
}

/// Runs an `async fn` as a test: the first process of a node with two workers.
///
/// The function may take its process handle, `me: Process<M>`, or no argument. The test fails if
/// the process panics or returns an error, or if a process does not end when the node stops. The
/// settings are those of `main`.
#[proc_macro_attribute]
pub fn test(settings: TokenStream, item: TokenStream) -> TokenStream {
    let settings = parse_macro_input!(settings as Settings);
    let item = parse_macro_input!(item as ItemFn);
    let settings = Settings { workers: settings.workers.or(Some(2)), ..settings };
    expand(&settings, item, &quote!(run_test), &quote!(#[::core::prelude::v1::test])).into()
}

/// Derives the conversions that deliver signals as messages of a mailbox: a variant marked
/// `#[from]` is made from its one field.
///
/// A process that monitors needs a mailbox that implements `From<Down>`, and one that traps exits a
/// mailbox that implements `From<Exit>`; the same applies to a server's `Info`.
///
/// ```
/// # struct Down; struct Exit { from: u32 }
/// # use purlin_macros::Message;
/// #[derive(Message)]
/// enum Mail {
///     Work(u32),
///     #[from]
///     Down(Down),
///     #[from]
///     Exit { signal: Exit },
/// }
///
/// assert!(matches!(Mail::from(Down), Mail::Down(_)));
/// assert!(matches!(Exit { from: 7 }.into(), Mail::Exit { signal: Exit { from: 7 } }));
/// # let _ = Mail::Work(1);
/// ```
///
/// The macro only generates `impl From<Down> for Mail`, which may be written by hand.
///
/// # Errors
/// Invalid input does not compile; the error points at the place. A marked variant has one field:
///
/// ```compile_fail
/// # struct Down;
/// #[derive(purlin_macros::Message)]
/// enum Mail {
///     #[from]
///     Gone(Down, u64),
/// }
/// ```
///
/// Two variants must not be made from one type:
///
/// ```compile_fail
/// # struct Down;
/// #[derive(purlin_macros::Message)]
/// enum Mail {
///     #[from]
///     Gone(Down),
///     #[from]
///     Lost(Down),
/// }
/// ```
#[proc_macro_derive(Message, attributes(from))]
pub fn message(item: TokenStream) -> TokenStream {
    let item = parse_macro_input!(item as syn::DeriveInput);
    message::expand(&item).unwrap_or_else(Error::into_compile_error).into()
}

/// Declares a server, OTP's `gen_server`, as an `impl` block: each method with a mark handles one
/// request.
///
/// ```
/// #[derive(Debug)]
/// struct Counter(i64);
///
/// #[purlin::server]
/// impl Counter {
///     /// Adds a number.
///     #[cast]
///     fn add(&mut self, number: i64) {
///         self.0 += number;
///     }
///
///     /// Returns the sum.
///     #[call]
///     fn total(&self) -> i64 {
///         self.0
///     }
/// }
///
/// #[purlin::main]
/// async fn main() -> purlin::server::Result<()> {
///     let counter = purlin::server::start::<Counter>(Counter(40)).await?;
///     counter.add(2);
///     assert_eq!(counter.total().await?, 42);
///     Ok(())
/// }
/// ```
///
/// # Generated items
///
/// | item | content |
/// |---|---|
/// | `enum CounterCall`, `CounterCast`, `CounterInfo` | a variant for each call, cast and info; `add_all(a, b)` is `AddAll(A, B)`, and a call ends with its `Reply` |
/// | `impl Server for Counter` | handlers that are not declared keep the trait's defaults |
/// | `trait CounterClient`, for `ServerRef<Counter>` | a method for each call and cast; import the trait where the server is used from another module |
/// | `Counter::protocol()` | a static table of the requests: names, arguments, types, documentation |
///
/// The methods stay in the `impl` block, so a test can call them without a process. An enum without
/// variants is not generated. Doc comments, `#[cfg]` and `#[deprecated]` are passed on.
///
/// # Marks
///
/// | mark | the method | returns |
/// |---|---|---|
/// | `#[init]` | makes the state from its arguments, which are `Args`: none is `()`, several are a tuple. Without it, `Args` is the state | `Self` or `Init<Self>` |
/// | `#[call]` | answers a request | the reply |
/// | `#[call]` with a parameter `Reply<T>` | answers a request now or later | a step |
/// | `#[cast]` | handles a message without a reply | a step |
/// | `#[info]` | handles a message of other origin. If it has one argument, as `down: Down`, the info is made from it (`From<Down>`), unless another info has the same | a step |
/// | `#[timeout]` | runs after `Next::Timeout`. `#[timeout(TIME)]` also runs after `Next::Wait` and after a handler that returns no step, if no message arrives within `TIME`, an expression that may use `self` (`Server::idle_timeout`) | a step |
/// | `#[handle_continue]` | runs after `Next::Continue(arguments)` | a step |
/// | `#[terminate]` | cleans up; may take `&ExitReason` | nothing |
///
/// A step is `()` or `Next<Self>`. Where a step, `Self` or `Init<Self>` is returned, a `Result` of
/// it may be too: an error stops the server and becomes its exit reason. A `Result` that is the
/// reply of a call is sent to the caller.
///
/// Every method may be `async` and may take its process, `me: &mut Process<Mail<Self>>`. An `async`
/// method with `&self` needs a state that is `Sync`. `Process` and `Reply` are recognized by these
/// names.
///
/// A client's call waits at most five seconds; `#[call(timeout = TIME)]` sets another limit.
///
/// `#[purlin::server(dist)]` also implements `purlin_dist::cluster::Serve`: a cluster then serves
/// `gen_server:call(Counter, total)` and `gen_server:cast(Counter, {add, 5})` of other nodes. The
/// arguments implement `Deserialize` and the replies `Serialize`, and the package has
/// `purlin-dist` as a dependency.
///
/// # Errors
/// Invalid input does not compile; the error points at the place. A message owns its arguments:
///
/// ```compile_fail
/// # #[derive(Debug)] struct Counter;
/// #[purlin::server]
/// impl Counter {
///     #[cast]
///     fn rename(&mut self, name: &str) {}
/// }
/// ```
#[proc_macro_attribute]
pub fn server(options: TokenStream, item: TokenStream) -> TokenStream {
    let options = parse_macro_input!(options as server::Options);
    let item = parse_macro_input!(item as syn::Item);
    server::expand(&options, item).into()
}

/// Settings such as `workers = 2, name = "shop"`.
struct Settings {
    workers: Option<usize>,
    name: Option<String>,
}

/// One setting.
enum Setting {
    Workers(usize),
    Name(String),
}

impl Parse for Setting {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let key: syn::Ident = input.parse()?;
        input.parse::<Token![=]>()?;
        match key.to_string().as_str() {
            "workers" => Ok(Self::Workers(input.parse::<LitInt>()?.base10_parse()?)),
            "name" => Ok(Self::Name(input.parse::<LitStr>()?.value())),
            other => {
                let message = format!("unknown setting `{other}`: there are `workers` and `name`");
                Err(Error::new(key.span(), message))
            }
        }
    }
}

impl Parse for Settings {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let mut settings = Self { workers: None, name: None };
        for setting in Punctuated::<Setting, Token![,]>::parse_terminated(input)? {
            match setting {
                Setting::Workers(workers) => settings.workers = Some(workers),
                Setting::Name(name) => settings.name = Some(name),
            }
        }
        Ok(settings)
    }
}

fn expand(settings: &Settings, item: ItemFn, runner: &Tokens, attribute: &Tokens) -> Tokens {
    let ItemFn { attrs, vis, sig, block } = item;
    let refuse = |span, message: &str| Error::new(span, message).to_compile_error();
    if sig.asyncness.is_none() {
        return refuse(sig.fn_token.span(), "the function must be `async`");
    }
    if !sig.generics.params.is_empty() {
        return refuse(sig.generics.span(), "the function cannot be generic");
    }
    let me = match sig.inputs.first() {
        None => quote!(_: ::purlin::Process<()>),
        Some(FnArg::Typed(me)) if sig.inputs.len() == 1 => quote!(#me),
        Some(_) => {
            let message = "the function takes its own handle, `me: Process<M>`, or nothing";
            return refuse(sig.inputs.span(), message);
        }
    };
    let (name, output) = (&sig.ident, &sig.output);
    let workers = settings.workers.map(|workers| quote!(.workers(#workers)));
    let title = settings.name.as_ref().map(|title| quote!(.name(#title)));
    quote! {
        #attribute
        #(#attrs)*
        #vis fn #name() #output {
            async fn __purlin_process(#me) #output #block
            ::purlin::__private::#runner(::purlin::Node::builder() #workers #title, __purlin_process)
        }
    }
}
