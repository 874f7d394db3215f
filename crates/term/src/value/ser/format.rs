//! `serde::Serializer` for the external term format.

use serde::Serialize;
use serde::ser;

use super::compound::{Compound, Elements, Form};
use super::serializer::{Serializer, put_atom};
use crate::value::error::ValueError;
use crate::value::options::{Absent, Options, Strings, Structs};
use crate::value::with::{RAW, names};
use crate::{put, tag};

impl<'b> Serializer<'b> {
    fn atom(self, text: &str) -> Result<(), ValueError> {
        put_atom(self.bytes, text)
    }

    fn big(self, value: num_bigint::BigInt) -> Result<(), ValueError> {
        Ok(put::put_integer(self.bytes, &value)?)
    }

    /// Writes the head of a tuple.
    fn tuple(self, length: usize) -> Result<Elements<'b>, ValueError> {
        put::put_tuple(self.bytes, length)?;
        Ok(Elements::of_tuple(self.bytes, self.options))
    }
}

/// Returns the options inside of a newtype of this name.
fn chosen(name: &str, options: Options) -> Options {
    let structs = |structs| Options { structs, ..options };
    let absent = |absent| Options { absent, ..options };
    let strings = |strings| Options { strings, ..options };
    match name {
        names::map => structs(Structs::Map),
        names::map_of_binaries => structs(Structs::MapOfBinaries),
        names::tuple => structs(Structs::Tuple),
        names::record => structs(Structs::Record),
        names::keyword => structs(Structs::Keyword),
        names::elixir => structs(Structs::Elixir),
        names::undefined => absent(Absent::Undefined),
        names::nil => absent(Absent::Nil),
        names::binary => strings(Strings::Binary),
        names::list => strings(Strings::List),
        names::atom => strings(Strings::Atom),
        _ => options,
    }
}

/// Numbers that are serialized by another method.
macro_rules! serialize_numbers {
    ($($name:ident: $type:ident => $by:ident)*) => {
        $(fn $name(self, value: $type) -> Result<(), ValueError> {
            self.$by(value.into())
        })*
    };
}

impl<'b> ser::Serializer for Serializer<'b> {
    type Ok = ();
    type Error = ValueError;
    type SerializeSeq = Elements<'b>;
    type SerializeTuple = Elements<'b>;
    type SerializeTupleStruct = Elements<'b>;
    type SerializeTupleVariant = Elements<'b>;
    type SerializeMap = Elements<'b>;
    type SerializeStruct = Compound<'b>;
    type SerializeStructVariant = Compound<'b>;

    fn serialize_bool(self, value: bool) -> Result<(), ValueError> {
        self.atom(if value { "true" } else { "false" })
    }

    fn serialize_i64(self, value: i64) -> Result<(), ValueError> {
        put::put_small(self.bytes, value);
        Ok(())
    }

    fn serialize_u64(self, value: u64) -> Result<(), ValueError> {
        match i64::try_from(value) {
            Ok(value) => self.serialize_i64(value),
            Err(_) => self.big(value.into()),
        }
    }

    fn serialize_f64(self, value: f64) -> Result<(), ValueError> {
        if !value.is_finite() {
            return Err(ValueError::mismatch(crate::NotFinite.to_string()));
        }
        self.bytes.push(tag::NEW_FLOAT);
        self.bytes.extend(value.to_be_bytes());
        Ok(())
    }

    fn serialize_str(self, text: &str) -> Result<(), ValueError> {
        match self.options.strings {
            Strings::Binary => self.serialize_bytes(text.as_bytes()),
            Strings::List => self.collect_seq(text.chars().map(u32::from)),
            Strings::Atom => self.atom(text),
        }
    }

    fn serialize_bytes(self, bytes: &[u8]) -> Result<(), ValueError> {
        if !self.raw {
            self.bytes.push(tag::BINARY);
            self.bytes.extend(put::count(bytes.len())?.to_be_bytes());
        }
        self.bytes.extend(bytes);
        Ok(())
    }

    fn serialize_none(self) -> Result<(), ValueError> {
        put::put_atom(self.bytes, self.options.absent.atom().as_str());
        Ok(())
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), ValueError> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), ValueError> {
        self.tuple(0).map(drop)
    }

    fn serialize_unit_struct(self, name: &'static str) -> Result<(), ValueError> {
        self.atom(name)
    }

    fn serialize_unit_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
    ) -> Result<(), ValueError> {
        self.atom(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        value: &T,
    ) -> Result<(), ValueError> {
        let options = chosen(name, self.options);
        value.serialize(Self { options, raw: name == RAW, ..self })
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), ValueError> {
        put::put_tuple(self.bytes, 2)?;
        put_atom(self.bytes, variant)?;
        value.serialize(self)
    }

    fn serialize_seq(self, _length: Option<usize>) -> Result<Elements<'b>, ValueError> {
        Ok(Elements::of_list(self.bytes, self.options))
    }

    fn serialize_tuple(self, length: usize) -> Result<Elements<'b>, ValueError> {
        self.tuple(length)
    }

    fn serialize_tuple_struct(
        self,
        _name: &'static str,
        length: usize,
    ) -> Result<Elements<'b>, ValueError> {
        self.tuple(length)
    }

    fn serialize_tuple_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        length: usize,
    ) -> Result<Elements<'b>, ValueError> {
        put::put_tuple(self.bytes, length + 1)?;
        put_atom(self.bytes, variant)?;
        Ok(Elements::of_tuple(self.bytes, self.options))
    }

    fn serialize_map(self, _length: Option<usize>) -> Result<Elements<'b>, ValueError> {
        Ok(Elements::of_map(self.bytes, self.options))
    }

    fn serialize_struct(
        self,
        name: &'static str,
        _length: usize,
    ) -> Result<Compound<'b>, ValueError> {
        let form = match self.options.structs {
            Structs::Map => Form::Map(None),
            Structs::MapOfBinaries => Form::MapOfBinaries,
            Structs::Tuple => Form::Tuple(None),
            Structs::Record => Form::Tuple(Some(name)),
            Structs::Keyword => Form::Keyword,
            Structs::Elixir => Form::Map(Some(name)),
        };
        Compound::new(self.bytes, self.options, form)
    }

    fn serialize_struct_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        _length: usize,
    ) -> Result<Compound<'b>, ValueError> {
        let form = match self.options.structs {
            Structs::Map | Structs::Elixir => Form::Map(None),
            Structs::MapOfBinaries => Form::MapOfBinaries,
            Structs::Keyword => Form::Keyword,
            // A tagged tuple is already a record.
            Structs::Tuple | Structs::Record => {
                return Compound::new(self.bytes, self.options, Form::Tuple(Some(variant)));
            }
        };
        put::put_tuple(self.bytes, 2)?;
        put_atom(self.bytes, variant)?;
        Compound::new(self.bytes, self.options, form)
    }

    serialize_numbers! {
        serialize_i8: i8 => serialize_i64
        serialize_i16: i16 => serialize_i64
        serialize_i32: i32 => serialize_i64
        serialize_u8: u8 => serialize_i64
        serialize_u16: u16 => serialize_i64
        serialize_u32: u32 => serialize_i64
        serialize_char: char => serialize_u32
        serialize_f32: f32 => serialize_f64
        serialize_i128: i128 => big
        serialize_u128: u128 => big
    }

    fn is_human_readable(&self) -> bool {
        false
    }
}
