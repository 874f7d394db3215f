//! Serialization of compound values, whose element count is written at the end.

use serde::Serialize;
use serde::ser;

use super::serializer::{Serializer, put_atom};
use crate::value::error::ValueError;
use crate::value::options::Options;
use crate::{put, tag};

/// Placeholder for a count.
struct Count {
    at: usize,
    counted: usize,
}

impl Count {
    /// Writes the tag and reserves space for the count.
    fn new(bytes: &mut Vec<u8>, tag: u8) -> Self {
        bytes.extend([tag, 0, 0, 0, 0]);
        Self { at: bytes.len() - 4, counted: 0 }
    }

    fn put(&self, bytes: &mut [u8]) -> Result<(), ValueError> {
        let count = put::count(self.counted)?;
        bytes[self.at..self.at + 4].copy_from_slice(&count.to_be_bytes());
        Ok(())
    }

    /// Ends a list; an empty list is one byte.
    fn end_list(&self, bytes: &mut Vec<u8>) -> Result<(), ValueError> {
        if self.counted == 0 {
            bytes.truncate(self.at - 1);
        } else {
            self.put(bytes)?;
        }
        bytes.push(tag::NIL);
        Ok(())
    }
}

/// Elements of a list, pairs of a map, or elements of a tuple whose length has been written.
pub(in crate::value) struct Elements<'b> {
    bytes: &'b mut Vec<u8>,
    options: Options,
    count: Option<Count>,
    is_list: bool,
}

impl<'b> Elements<'b> {
    pub(super) fn of_list(bytes: &'b mut Vec<u8>, options: Options) -> Self {
        let count = Some(Count::new(bytes, tag::LIST));
        Self { bytes, options, count, is_list: true }
    }

    pub(super) fn of_map(bytes: &'b mut Vec<u8>, options: Options) -> Self {
        let count = Some(Count::new(bytes, tag::MAP));
        Self { bytes, options, count, is_list: false }
    }

    pub(super) fn of_tuple(bytes: &'b mut Vec<u8>, options: Options) -> Self {
        Self { bytes, options, count: None, is_list: false }
    }

    fn element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), ValueError> {
        if let Some(count) = &mut self.count {
            count.counted += 1;
        }
        value.serialize(Serializer::new(self.bytes, self.options))
    }

    fn finish(self) -> Result<(), ValueError> {
        match self.count {
            Some(count) if self.is_list => count.end_list(self.bytes),
            Some(count) => count.put(self.bytes),
            None => Ok(()),
        }
    }
}

macro_rules! elements {
    ($($kind:ident $element:ident $($value:ident)?;)*) => {
        $(impl ser::$kind for Elements<'_> {
            type Ok = ();
            type Error = ValueError;

            fn $element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), ValueError> {
                self.element(value)
            }

            $(fn $value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), ValueError> {
                value.serialize(Serializer::new(self.bytes, self.options))
            })?

            fn end(self) -> Result<(), ValueError> {
                self.finish()
            }
        })*
    };
}

elements! {
    SerializeSeq serialize_element;
    SerializeTuple serialize_element;
    SerializeTupleStruct serialize_field;
    SerializeTupleVariant serialize_field;
    SerializeMap serialize_key serialize_value;
}

/// Form of a struct.
pub(super) enum Form {
    /// With the name of an Elixir struct, if it is one.
    Map(Option<&'static str>),
    MapOfBinaries,
    Keyword,
    /// With a tag, if it is a record.
    Tuple(Option<&'static str>),
}

/// Fields of a struct.
pub(in crate::value) struct Compound<'b> {
    bytes: &'b mut Vec<u8>,
    options: Options,
    form: Form,
    count: Count,
}

impl<'b> Compound<'b> {
    pub(super) fn new(
        bytes: &'b mut Vec<u8>,
        options: Options,
        form: Form,
    ) -> Result<Self, ValueError> {
        let count = match form {
            Form::Map(_) | Form::MapOfBinaries => Count::new(bytes, tag::MAP),
            Form::Keyword => Count::new(bytes, tag::LIST),
            Form::Tuple(_) => Count::new(bytes, tag::LARGE_TUPLE),
        };
        let mut compound = Self { bytes, options, form, count };
        match compound.form {
            Form::Map(Some(name)) => {
                compound.count.counted += 1;
                put_atom(compound.bytes, "__struct__")?;
                put_atom(compound.bytes, &format!("Elixir.{name}"))?;
            }
            Form::Tuple(Some(name)) => {
                compound.count.counted += 1;
                put_atom(compound.bytes, name)?;
            }
            _ => (),
        }
        Ok(compound)
    }

    fn field<T: Serialize + ?Sized>(
        &mut self,
        key: &'static str,
        value: &T,
    ) -> Result<(), ValueError> {
        self.count.counted += 1;
        match self.form {
            Form::Map(_) => put_atom(self.bytes, key)?,
            Form::MapOfBinaries => {
                ser::Serializer::serialize_bytes(
                    Serializer::new(self.bytes, self.options),
                    key.as_bytes(),
                )?;
            }
            Form::Keyword => {
                put::put_tuple(self.bytes, 2)?;
                put_atom(self.bytes, key)?;
            }
            Form::Tuple(_) => (),
        }
        value.serialize(Serializer::new(self.bytes, self.options))
    }

    /// Handles a skipped field: a tuple needs a placeholder for it.
    fn skip(&mut self) {
        if let Form::Tuple(_) = self.form {
            self.count.counted += 1;
            put::put_atom(self.bytes, self.options.absent.atom().as_str());
        }
    }

    fn finish(self) -> Result<(), ValueError> {
        match self.form {
            Form::Map(_) | Form::MapOfBinaries => self.count.put(self.bytes),
            Form::Keyword => self.count.end_list(self.bytes),
            Form::Tuple(_) => {
                self.count.put(self.bytes)?;
                // A tuple of up to 255 elements has a shorter head, which a BEAM would write.
                if let Ok(few) = u8::try_from(self.count.counted) {
                    let head = [tag::SMALL_TUPLE, few];
                    self.bytes.splice(self.count.at - 1..self.count.at + 4, head);
                }
                Ok(())
            }
        }
    }
}

macro_rules! fields {
    ($($kind:ident)*) => {
        $(impl ser::$kind for Compound<'_> {
            type Ok = ();
            type Error = ValueError;

            fn serialize_field<T: Serialize + ?Sized>(
                &mut self,
                key: &'static str,
                value: &T,
            ) -> Result<(), ValueError> {
                self.field(key, value)
            }

            fn skip_field(&mut self, _key: &'static str) -> Result<(), ValueError> {
                self.skip();
                Ok(())
            }

            fn end(self) -> Result<(), ValueError> {
                self.finish()
            }
        })*
    };
}

fields! { SerializeStruct SerializeStructVariant }
