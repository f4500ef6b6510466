//! `#[derive(Trace)]`: writes the type record of a struct whose objects lie in Allod regions.
//!
//! The struct may have named or unnamed fields and at most one lifetime, and it cannot be packed: values
//! are read and written as aligned words. Every field must be a `Field`: plain data, `Value<'r>`,
//! `Slot<'r>`, `Ref<'r, T>`, `Option<Ref<'r, T>>`, or an array of these. Where the values are follows from
//! the fields' types and offsets.
//!
//! There are two forms of the macro, which differ in the path that the code they write begins with: [`Trace`]
//! says `allod_region`, [`TraceOfAllod`] says `::allod::region`. The crate `allod` exports the latter as
//! `allod::region::Trace`, so its users need no other crate.

use proc_macro::TokenStream;
use proc_macro2::TokenStream as Tokens;
use quote::quote;
use syn::{Data, DeriveInput, Error, GenericParam, Index, Lifetime, Member, spanned::Spanned};

/// Implements `allod_region::Trace` for a struct. See the crate's page.
#[proc_macro_derive(Trace)]
pub fn derive_trace(input: TokenStream) -> TokenStream {
    derive(input, &quote!(allod_region))
}

/// The same for users of the crate `allod`, which exports it as `allod::region::Trace`.
#[proc_macro_derive(TraceOfAllod)]
pub fn derive_trace_of_allod(input: TokenStream) -> TokenStream {
    derive(input, &quote!(::allod::region))
}

fn derive(input: TokenStream, regions: &Tokens) -> TokenStream {
    let input = syn::parse_macro_input!(input as DeriveInput);
    expand(&input, regions).unwrap_or_else(|error| error.into_compile_error()).into()
}

/// The implementation; `regions` is the path of the module that has the trait.
fn expand(input: &DeriveInput, regions: &Tokens) -> Result<Tokens, Error> {
    let Data::Struct(data) = &input.data else {
        return Err(Error::new(
            input.span(),
            "only structs can lie in a region; wrap the enum's data in one",
        ));
    };
    refuse_packed(input)?;
    let lifetime = only_lifetime(input)?;
    let name = &input.ident;
    let label = std::ffi::CString::new(name.to_string()).unwrap_or_default();
    let label = proc_macro2::Literal::c_string(&label);
    let (at, itself) = match &lifetime {
        Some(_) => (quote!(#name<'at>), quote!(#name<#lifetime>)),
        None => (quote!(#name), quote!(#name)),
    };
    let anywhere = lifetime.as_ref().map_or(quote!(#name), |_| quote!(#name<'static>));
    let generics = lifetime.as_ref().map(|l| quote!(<#l>));
    let members: Vec<_> = data.fields.iter().enumerate().map(member).collect();
    let types = data.fields.iter().map(|field| &field.ty);
    let maps = data.fields.iter().enumerate().map(|(i, field)| {
        let member = member((i, field));
        let ty = &field.ty;
        let map = match &lifetime {
            Some(lifetime) => quote!(<#ty as #regions::Field<#lifetime>>::MAP),
            None => quote!(#regions::plain_map::<#ty>()),
        };
        quote! {
            {
                let field = #map;
                let offset = ::core::mem::offset_of!(#itself, #member);
                assert!(
                    field == 0 || offset + ::core::mem::size_of::<#ty>() <= 62 * 8,
                    "values must lie in the first 62 words"
                );
                // A field less aligned than its type: the struct is packed, however that is spelt.
                assert!(
                    ::core::mem::align_of::<#itself>() >= ::core::mem::align_of::<#ty>(),
                    "values must be aligned; the struct cannot be packed"
                );
                if field != 0 {
                    map |= field << (offset / 8);
                }
            }
        }
    });
    Ok(quote! {
        // SAFETY: each field says which of its words are values; offsets are the compiler's.
        unsafe impl #generics #regions::Trace for #itself {
            type At<'at> = #at;
            const MAP: u64 = {
                let mut map = 0u64;
                #(#maps)*
                map
            };
            const NAME: &'static ::core::ffi::CStr = #label;
            fn id_cell() -> &'static ::core::sync::atomic::AtomicU32 {
                static ID: ::core::sync::atomic::AtomicU32 =
                    ::core::sync::atomic::AtomicU32::new(0);
                &ID
            }
            #[inline(always)]
            unsafe fn place(from: *const Self, to: *mut Self) {
                // SAFETY: the caller's contract; each field is moved once.
                unsafe {
                    if const { 0 #(+ ::core::mem::size_of::<#types>())* < ::core::mem::size_of::<Self>() } {
                        to.cast::<u8>().write_bytes(0, ::core::mem::size_of::<Self>());
                    }
                    #((&raw mut (*to).#members)
                        .write_unaligned((&raw const (*from).#members).read_unaligned());)*
                }
            }
        }
        // A map that cannot be is an error where the struct stands, and not where it is first allocated.
        const _: u64 = <#anywhere as #regions::Trace>::MAP;
    })
}

/// How a field is named in an expression.
fn member((i, field): (usize, &syn::Field)) -> Member {
    match &field.ident {
        Some(ident) => Member::Named(ident.clone()),
        None => Member::Unnamed(Index::from(i)),
    }
}

/// Refuses `repr(packed)` and `repr(packed(n))`, whatever the fields.
fn refuse_packed(input: &DeriveInput) -> Result<(), Error> {
    for attribute in input.attrs.iter().filter(|a| a.path().is_ident("repr")) {
        attribute.parse_nested_meta(|hint| {
            if hint.path.is_ident("packed") {
                return Err(hint.error("a struct in a region cannot be packed"));
            }
            if hint.input.peek(syn::token::Paren) {
                let argument;
                syn::parenthesized!(argument in hint.input);
                argument.parse::<Tokens>()?;
            }
            Ok(())
        })?;
    }
    Ok(())
}

/// The struct's one lifetime, if it has one; other parameters are refused.
fn only_lifetime(input: &DeriveInput) -> Result<Option<Lifetime>, Error> {
    let mut lifetime = None;
    for param in &input.generics.params {
        match param {
            GenericParam::Lifetime(l) if lifetime.is_none() => lifetime = Some(l.lifetime.clone()),
            other => {
                return Err(Error::new(
                    other.span(),
                    "a struct in a region has at most one lifetime and no other parameters",
                ));
            }
        }
    }
    Ok(lifetime)
}
