//! `#[derive(Message)]`: conversions from signals to the messages of a mailbox.

use proc_macro2::TokenStream as Tokens;
use quote::{ToTokens, quote};
use syn::{Attribute, Data, DeriveInput, Error, Field, Fields, Meta, Type, Variant};

/// Generates `impl From<Field> for Enum` for every variant marked `#[from]`.
pub(crate) fn expand(item: &DeriveInput) -> syn::Result<Tokens> {
    let Data::Enum(data) = &item.data else {
        let message = "`Message` is derived for an enum: a mailbox receives one of its variants";
        return Err(Error::new_spanned(&item.ident, message));
    };
    let name = &item.ident;
    let (generics, arguments, bounds) = item.generics.split_for_impl();
    let mut sources: Vec<&Type> = Vec::new();
    let mut conversions = Tokens::new();
    for variant in &data.variants {
        let Some(field) = source(variant)? else { continue };
        let from = &field.ty;
        if sources.contains(&from) {
            let from = from.to_token_stream();
            let message = format!("`{from}` is the `#[from]` of another variant already");
            return Err(Error::new_spanned(&field.ty, message));
        }
        sources.push(from);
        let variant = &variant.ident;
        let made = match &field.ident {
            Some(field) => quote!(Self::#variant { #field: value }),
            None => quote!(Self::#variant(value)),
        };
        conversions.extend(quote! {
            #[automatically_derived]
            impl #generics ::core::convert::From<#from> for #name #arguments #bounds {
                fn from(value: #from) -> Self {
                    #made
                }
            }
        });
    }
    Ok(conversions)
}

/// Returns the field that a variant is made from, or `None` if the variant is not marked.
fn source(variant: &Variant) -> syn::Result<Option<&Field>> {
    let misplaced = variant.fields.iter().flat_map(|field| &field.attrs).find(|a| is_from(a));
    if let Some(misplaced) = misplaced {
        let message = "`#[from]` stands before the variant, not before its field";
        return Err(Error::new_spanned(misplaced, message));
    }
    let mut marks = variant.attrs.iter().filter(|attribute| is_from(attribute));
    let Some(mark) = marks.next() else { return Ok(None) };
    if !matches!(mark.meta, Meta::Path(_)) {
        return Err(Error::new_spanned(mark, "`#[from]` takes no arguments"));
    }
    if let Some(second) = marks.next() {
        return Err(Error::new_spanned(second, "`#[from]` is there already"));
    }
    let mut fields = variant.fields.iter();
    match (&variant.fields, fields.next(), fields.next()) {
        (Fields::Named(_) | Fields::Unnamed(_), Some(field), None) => Ok(Some(field)),
        _ => {
            let message =
                format!("`#[from]` needs a variant with one field, as `{}(Down)`", variant.ident);
            Err(Error::new_spanned(variant, message))
        }
    }
}

fn is_from(attribute: &Attribute) -> bool {
    attribute.path().is_ident("from")
}

#[cfg(test)]
mod tests {
    use syn::parse_quote;

    /// Returns the error for an invalid item.
    fn refused(item: syn::DeriveInput) -> String {
        match super::expand(&item) {
            Ok(expanded) => panic!("it was accepted: {expanded}"),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn only_an_enum_can_be_derived() {
        let error = refused(parse_quote! { struct Mail(Down); });
        assert_eq!(
            error,
            "`Message` is derived for an enum: a mailbox receives one of its variants"
        );
    }

    #[test]
    fn a_marked_variant_has_one_field() {
        for item in [
            parse_quote! { enum Mail { #[from] Stop } },
            parse_quote! { enum Mail { #[from] Stop() } },
            parse_quote! { enum Mail { #[from] Stop(Down, u8) } },
            parse_quote! { enum Mail { #[from] Stop { down: Down, when: u8 } } },
        ] {
            assert_eq!(refused(item), "`#[from]` needs a variant with one field, as `Stop(Down)`");
        }
    }

    #[test]
    fn two_variants_cannot_be_made_from_one_type() {
        let error = refused(parse_quote! { enum Mail { #[from] A(Down), #[from] B(Down) } });
        assert_eq!(error, "`Down` is the `#[from]` of another variant already");
    }

    #[test]
    fn a_mark_is_bare_and_single_and_before_the_variant() {
        let error = refused(parse_quote! { enum Mail { #[from(Down)] Gone(Down) } });
        assert_eq!(error, "`#[from]` takes no arguments");
        let error = refused(parse_quote! { enum Mail { #[from] #[from] Gone(Down) } });
        assert_eq!(error, "`#[from]` is there already");
        let error = refused(parse_quote! { enum Mail { Gone(#[from] Down) } });
        assert_eq!(error, "`#[from]` stands before the variant, not before its field");
    }
}
