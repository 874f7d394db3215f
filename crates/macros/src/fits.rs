//! Patterns without bindings, for the scan of `receive!`.
//!
//! `receive!` tests each message behind a reference before it moves one out of its envelope, to which
//! a message that matches no arm would have to be written back. A pattern that binds by value cannot
//! be tested behind a reference, so each binding is replaced by `_`. The result matches all that the
//! pattern matches; what it cannot express matches everything.

use proc_macro2::TokenStream as Tokens;
use quote::quote;
use syn::ext::IdentExt as _;
use syn::parse::{Parse, ParseStream};
use syn::{Expr, Pat, PatIdent, Token, bracketed, parse_quote};

/// Input: a reference to the message, and the pattern of each arm in brackets.
pub(crate) struct Fits {
    message: Expr,
    patterns: Vec<Pat>,
}

impl Parse for Fits {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let message = input.parse()?;
        input.parse::<Token![,]>()?;
        let mut patterns = Vec::new();
        while !input.is_empty() {
            let pattern;
            bracketed!(pattern in input);
            patterns.push(Pat::parse_multi_with_leading_vert(&pattern)?);
        }
        Ok(Self { message, patterns })
    }
}

/// Returns an expression that is `true` if a message may match one of the patterns.
pub(crate) fn expand(Fits { message, patterns }: Fits) -> Tokens {
    let patterns = patterns.into_iter().map(without_bindings);
    quote! {{
        #[allow(unreachable_patterns, unused_parens, clippy::all)]
        match *#message {
            #(#patterns => true,)*
            _ => false,
        }
    }}
}

fn without_bindings(mut pattern: Pat) -> Pat {
    match &mut pattern {
        Pat::Ident(binding) => match binding.subpat.take() {
            Some((_, inner)) => return without_bindings(*inner),
            None if may_be_constant(binding) => {}
            None => return parse_quote!(_),
        },
        Pat::Or(or) => or.cases.iter_mut().for_each(strip),
        Pat::Paren(paren) => strip(&mut paren.pat),
        Pat::Reference(reference) => {
            strip(&mut reference.pat);
            // `&1..=9` is ambiguous.
            if let range @ Pat::Range(_) = &*reference.pat {
                *reference.pat = parse_quote!((#range));
            }
        }
        Pat::Slice(slice) => slice.elems.iter_mut().for_each(strip),
        Pat::Tuple(tuple) => tuple.elems.iter_mut().for_each(strip),
        Pat::TupleStruct(tuple) => tuple.elems.iter_mut().for_each(strip),
        Pat::Struct(fields) => {
            for field in &mut fields.fields {
                field.colon_token.get_or_insert_default();
                strip(&mut field.pat);
            }
        }
        Pat::Const(_) | Pat::Lit(_) | Pat::Path(_) | Pat::Range(_) | Pat::Rest(_) => {}
        _ => return parse_quote!(_),
    }
    pattern
}

fn strip(pattern: &mut Pat) {
    *pattern = without_bindings(std::mem::replace(pattern, parse_quote!(_)));
}

/// Returns whether a name in a pattern is taken for a constant or a variant, and not for a binding.
///
/// A constant in lower case is taken for a binding: the result then matches more. A binding in upper
/// case is taken for a constant, and does not compile if its value is not `Copy`.
fn may_be_constant(name: &PatIdent) -> bool {
    name.by_ref.is_none()
        && name.mutability.is_none()
        && name.ident.unraw().to_string().starts_with(char::is_uppercase)
}

#[cfg(test)]
mod tests {
    use quote::ToTokens as _;
    use syn::parse::Parser as _;

    use super::*;

    fn stripped(pattern: &str) -> String {
        let parsed = Pat::parse_multi_with_leading_vert.parse_str(pattern).expect("a pattern");
        without_bindings(parsed).into_token_stream().to_string().replace(' ', "")
    }

    #[test]
    fn bindings_become_wildcards_and_the_rest_of_a_pattern_stays() {
        for (pattern, due) in [
            ("message", "_"),
            ("Msg::Number(mut n)", "Msg::Number(_)"),
            ("Msg::Text(ref text) | Msg::Other(text)", "Msg::Text(_)|Msg::Other(_)"),
            ("Stop | LIMIT | 1..=9 | -3 | \"one\"", "Stop|LIMIT|1..=9|-3|\"one\""),
            ("Msg::Pair { id, value: Some(n), .. }", "Msg::Pair{id:_,value:Some(_),..}"),
            ("all @ (Some(&n @ 3), [first, rest @ .., None])", "(Some(&3),[_,..,None])"),
            ("&mut r#type", "&mut_"),
            ("Some(&n @ 1..=9)", "Some(&(1..=9))"),
            ("Msg::Text(mut T) | Msg::Text(ref T)", "Msg::Text(_)|Msg::Text(_)"),
            ("Msg::Made(pattern!(x))", "Msg::Made(_)"),
        ] {
            assert_eq!(stripped(pattern), due);
        }
    }
}
