//! Refused declarations, with their errors.

use quote::ToTokens as _;
use syn::{ItemImpl, parse_quote, parse_str};

use super::declaration::{Declaration, METHODS_OF_SERVER_REF};

/// Returns the errors of an invalid block.
fn refused(mut item: ItemImpl) -> Vec<String> {
    match Declaration::take(&mut item) {
        Ok(_) => panic!("it was accepted: {}", item.to_token_stream()),
        Err(errors) => errors.into_iter().map(|error| error.to_string()).collect(),
    }
}

#[test]
fn a_server_is_an_impl_block_of_an_owned_type_with_a_handler() {
    let errors = refused(parse_quote! { impl Server for Counter { #[call] fn a(&self) {} } });
    assert_eq!(errors, ["`#[purlin::server]` belongs before an `impl` block without a trait"]);
    let errors = refused(parse_quote! { impl (u8, u8) { #[call] fn a(&self) {} } });
    assert_eq!(errors, ["a server is a struct or an enum"]);
    let errors = refused(parse_quote! { impl<'a> View<'a> { #[call] fn a(&self) {} } });
    assert_eq!(errors, ["a server owns its state: its type has no lifetime parameter"]);
    let errors = refused(parse_quote! { impl Counter { fn a(&self) {} } });
    assert_eq!(errors, ["no method is marked `#[call]`, `#[cast]` or `#[info]`"]);
}

#[test]
fn a_handler_borrows_its_state_and_is_one_safe_function() {
    let message = "a handler takes `&mut self` or `&self`";
    for item in [
        parse_quote! { impl Counter { #[call] fn a() {} } },
        parse_quote! { impl Counter { #[call] fn a(self) {} } },
        parse_quote! { impl Counter { #[call] fn a(self: &mut Self) {} } },
    ] {
        assert_eq!(refused(item), [message]);
    }
    let errors = refused(parse_quote! { impl Counter { #[init] fn a(&self) {} } });
    assert_eq!(errors, ["an `init` creates the state: it takes no `self`"]);
    // WHY in two parts: the house rules find the keyword outside `purlin-raw` in any text.
    let keyword = concat!("un", "safe");
    let handler = format!("impl Counter {{ #[call] {keyword} fn a(&self) {{}} }}");
    let errors = refused(parse_str(&handler).expect("an impl block"));
    assert_eq!(errors, [format!("a handler cannot be `{keyword}`")]);
    let errors = refused(parse_quote! { impl Counter { #[call] fn a<T>(&self, t: T) {} } });
    assert_eq!(errors, ["a handler cannot be generic: a message has one type"]);
}

#[test]
fn an_argument_is_an_owned_value_of_one_type() {
    let errors = refused(parse_quote! { impl Counter { #[cast] fn a(&self, name: &str) {} } });
    assert_eq!(errors, ["a message owns its arguments: it cannot hold a reference"]);
    let errors = refused(parse_quote! { impl Counter { #[cast] fn a(&self, x: impl Fn()) {} } });
    assert_eq!(errors, ["an argument of a message has one type, not `impl Trait`"]);
}

#[test]
fn a_reply_belongs_to_a_call_once_and_has_a_type() {
    let errors = refused(parse_quote! { impl Counter { #[cast] fn a(&self, r: Reply<u8>) {} } });
    assert_eq!(errors, ["a cast has no reply: mark the method `#[call]`"]);
    let errors = refused(parse_quote! { impl Counter { #[call] fn a(&self, r: Reply) {} } });
    assert_eq!(errors, ["the type of the reply is missing: `Reply<T>`"]);
    let errors = refused(
        parse_quote! { impl Counter { #[call] fn a(&self, r: Reply<u8>, s: Reply<u8>) {} } },
    );
    assert_eq!(errors, ["the handler takes this already"]);
}

#[test]
fn a_reply_is_an_owned_value_of_one_type() {
    let errors = refused(parse_quote! { impl Counter { #[call] fn a(&self) -> &str {} } });
    assert_eq!(errors, ["a reply owns its value: it cannot be a reference"]);
    let errors = refused(parse_quote! { impl Counter { #[call] fn a(&self) -> impl Fn() {} } });
    assert_eq!(errors, ["a reply has one type, not `impl Trait`"]);
}

#[test]
fn a_mark_stands_alone_and_has_only_its_own_arguments() {
    let errors = refused(parse_quote! { impl Counter { #[call] #[cast] fn a(&self) {} } });
    assert_eq!(errors, ["a method is one handler: it has one mark"]);
    let errors = refused(parse_quote! { impl Counter { #[cast(5)] fn a(&self) {} } });
    assert_eq!(errors, ["`#[cast]` takes no arguments"]);
    let errors = refused(parse_quote! { impl Counter { #[call(after = 5)] fn a(&self) {} } });
    assert_eq!(errors, ["unknown option: there is `timeout`"]);
    let errors = refused(parse_quote! {
        impl Counter { #[timeout] fn a(&self) {} #[timeout] fn b(&self) {} }
    });
    assert_eq!(errors, ["`a` has this mark already"]);
    let errors = refused(parse_quote! { impl Counter { #[timeout] fn a(&self, n: u8) {} } });
    assert_eq!(errors, ["`#[timeout]` takes `me: &mut Process<Mail<Self>>` alone"]);
    let errors = refused(parse_quote! { impl Counter { #[terminate] fn a(&self, n: u8) {} } });
    let message = "`#[terminate]` takes `&ExitReason` and `me: &mut Process<Mail<Self>>` alone";
    assert_eq!(errors, [message]);
}

#[test]
fn all_errors_are_reported_at_once() {
    let errors = refused(parse_quote! {
        impl Counter { #[call] fn stop(&self) {} #[cast] fn b() {} #[call] fn c(&self) {} }
    });
    let expected = [
        "`ServerRef` has a method `stop`: use another name",
        "a handler takes `&mut self` or `&self`",
    ];
    assert_eq!(errors, expected);
}

#[test]
fn names_of_variants_are_those_of_the_methods_in_camel_case() {
    let mut item: ItemImpl = parse_quote! {
        impl Counter {
            #[call] fn add_score(&self) {}
            #[call] fn r#type(&self) {}
            #[call] fn self_(&self) {}
            #[call] fn x__1(&self) {}
            #[call] fn _2(&self) {}
        }
    };
    let Ok(declaration) = Declaration::take(&mut item) else { panic!("it is valid") };
    let variants: Vec<_> =
        declaration.calls.iter().map(|call| call.variant().to_string()).collect();
    assert_eq!(variants, ["AddScore", "Type", "_Self", "X1", "_2"]);
    assert!(!item.to_token_stream().to_string().contains("call"), "the marks are removed");
}

// A method of `ServerRef` hides a client's method of the same name.
#[test]
fn methods_of_server_ref_are_refused_as_names() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../purlin/src/server/server_ref.rs");
    let source = std::fs::read_to_string(path).expect("the source of `ServerRef` is there");
    let file = syn::parse_file(&source).expect("it is Rust");
    for item in file.items {
        let syn::Item::Impl(item) = item else { continue };
        let this = item.self_ty.to_token_stream().to_string();
        if item.trait_.is_some() || !this.starts_with("ServerRef") {
            continue;
        }
        for function in item.items {
            let syn::ImplItem::Fn(function) = function else { continue };
            let takes_self = function.sig.receiver().is_some();
            let name = function.sig.ident.to_string();
            assert!(!takes_self || METHODS_OF_SERVER_REF.contains(&&*name), "{name} is missing");
        }
    }
}
