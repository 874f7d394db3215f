//! Printer of terms on one line, as Erlang prints them.
//!
//! [`Display`](fmt::Display) is `io_lib:format("~0tp")`: lists and binaries of printable characters
//! are shown as text. [`Term::written`] is `~tw`: they are not. Printable are the visible
//! characters of Latin-1, as on a node started without `+pc unicode`. An identifier is printed with
//! the name of its node, `<a@b.1.2>`, where a node prints a number that is valid only there; maps
//! are printed in the order of their keys; integers of more than 4 KiB are printed in hexadecimal,
//! `16#...`.
//!
//! COST: allocates only a stack, and the digits of floats and big integers; no recursion.

use std::fmt::{self, Write};
use std::slice::Iter;

use super::atom::{escaped, is_printable};
use crate::{Atom, Fun, NativeRecord, Pid, Port, Reference, Term};

impl fmt::Display for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        print(f, self, true)
    }
}

impl fmt::Debug for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        print(f, self, true)
    }
}

/// Term that prints as `~tw` does: strings as lists of numbers.
#[derive(Clone, Copy)]
pub struct Written<'t>(&'t Term);

impl fmt::Display for Written<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        print(f, self.0, false)
    }
}

impl Term {
    /// Returns the term in the form that prints as `~tw` does.
    ///
    /// ```
    /// # use purlin_term::Term;
    /// let term = Term::tuple([Term::string("ab"), Term::from("ab")]);
    /// assert_eq!(term.to_string(), r#"{"ab",<<"ab">>}"#);
    /// assert_eq!(term.written().to_string(), "{[97,98],<<97,98>>}");
    /// ```
    pub fn written(&self) -> Written<'_> {
        Written(self)
    }
}

/// Work item of the stack.
enum Left<'t> {
    Text(&'static str),
    One(&'t Term),
    /// Elements, and what precedes the next one, here and below.
    Terms(Iter<'t, Term>, &'static str),
    Pairs(Iter<'t, (Term, Term)>, &'static str),
    Fields(Iter<'t, (Atom, Term)>, &'static str),
}

fn print(f: &mut fmt::Formatter<'_>, term: &Term, strings: bool) -> fmt::Result {
    let mut stack = vec![Left::One(term)];
    while let Some(left) = stack.pop() {
        match left {
            Left::Text(text) => f.write_str(text)?,
            Left::One(term) => one(f, term, strings, &mut stack)?,
            Left::Terms(mut terms, before) => {
                if let Some(term) = terms.next() {
                    f.write_str(before)?;
                    stack.extend([Left::Terms(terms, ","), Left::One(term)]);
                }
            }
            Left::Pairs(mut pairs, before) => {
                if let Some((key, value)) = pairs.next() {
                    f.write_str(before)?;
                    stack.extend([Left::Pairs(pairs, ","), Left::One(value)]);
                    stack.extend([Left::Text(" => "), Left::One(key)]);
                }
            }
            Left::Fields(mut fields, before) => {
                if let Some((name, value)) = fields.next() {
                    write!(f, "{before}{name} = ")?;
                    stack.extend([Left::Fields(fields, ","), Left::One(value)]);
                }
            }
        }
    }
    Ok(())
}

/// Prints a simple term, or the beginning of a compound one and pushes its parts to the stack in
/// reverse order.
fn one<'t>(
    f: &mut fmt::Formatter<'_>,
    term: &'t Term,
    strings: bool,
    stack: &mut Vec<Left<'t>>,
) -> fmt::Result {
    match term {
        Term::Deep(deep) => one(f, deep.get(), strings, stack),
        Term::Integer(value) => write!(f, "{value}"),
        Term::BigInteger(value) => write!(f, "{value:?}"),
        Term::Float(value) => write!(f, "{value}"),
        Term::Atom(atom) => write!(f, "{atom}"),
        Term::Binary(bytes) => binary(f, bytes, strings),
        Term::BitString(bits) => {
            f.write_str("<<")?;
            if let Some((last, whole)) = bits.bytes().split_last() {
                for byte in whole {
                    write!(f, "{byte},")?;
                }
                write!(f, "{}:{}>>", last >> (8 - bits.last()), bits.last())?;
            }
            Ok(())
        }
        Term::Tuple(elements) => {
            stack.extend([Left::Text("}"), Left::Terms(elements.iter(), "")]);
            f.write_char('{')
        }
        Term::List(elements) if strings && is_string(elements) => {
            let chars = elements.iter().filter_map(character).filter_map(char::from_u32);
            quoted(f, chars)
        }
        Term::List(elements) => {
            stack.extend([Left::Text("]"), Left::Terms(elements.iter(), "")]);
            f.write_char('[')
        }
        Term::ImproperList(list) => {
            stack.extend([Left::Text("]"), Left::One(list.tail()), Left::Text("|")]);
            stack.push(Left::Terms(list.elements().iter(), ""));
            f.write_char('[')
        }
        Term::Map(map) => {
            stack.extend([Left::Text("}"), Left::Pairs(map.pairs().iter(), "")]);
            f.write_str("#{")
        }
        Term::NativeRecord(record) => {
            let NativeRecord { module, name, fields, .. } = &**record;
            stack.extend([Left::Text("}"), Left::Fields(fields.iter(), "")]);
            write!(f, "#{module}:{name}{{")
        }
        Term::Pid(pid) => write!(f, "{pid}"),
        Term::Port(port) => write!(f, "{port}"),
        Term::Reference(reference) => write!(f, "{reference}"),
        Term::Fun(fun) => write!(f, "{fun}"),
        Term::Export(export) => {
            write!(f, "fun {}:{}/{}", export.module, export.function, export.arity)
        }
        Term::Local(bytes) => write!(f, "#Local<{} bytes>", bytes.len()),
    }
}

fn is_string(elements: &[Term]) -> bool {
    !elements.is_empty() && elements.iter().all(|e| character(e).is_some_and(is_printable))
}

fn character(term: &Term) -> Option<u32> {
    u32::try_from(term.as_integer()?).ok()
}

fn binary(f: &mut fmt::Formatter<'_>, bytes: &[u8], strings: bool) -> fmt::Result {
    f.write_str("<<")?;
    if strings && !bytes.is_empty() {
        match std::str::from_utf8(bytes) {
            Ok(text) if text.chars().all(|c| is_printable(c.into())) => {
                quoted(f, text.chars())?;
                return f.write_str(if text.is_ascii() { ">>" } else { "/utf8>>" });
            }
            // Bytes that are not UTF-8 may be Latin-1.
            Err(_) if bytes.iter().all(|byte| is_printable((*byte).into())) => {
                quoted(f, bytes.iter().map(|byte| char::from(*byte)))?;
                return f.write_str(">>");
            }
            _ => (),
        }
    }
    for (at, byte) in bytes.iter().enumerate() {
        let comma = if at == 0 { "" } else { "," };
        write!(f, "{comma}{byte}")?;
    }
    f.write_str(">>")
}

fn quoted(f: &mut fmt::Formatter<'_>, mut chars: impl Iterator<Item = char>) -> fmt::Result {
    f.write_char('"')?;
    chars.try_for_each(|c| escaped(f, c, '"'))?;
    f.write_char('"')
}

/// Prints the name of a node, without quotes but escaped, so that it stays on one line.
fn node(f: &mut fmt::Formatter<'_>, name: &Atom) -> fmt::Result {
    name.as_str().chars().try_for_each(|c| escaped(f, c, '>'))
}

impl fmt::Display for Pid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('<')?;
        node(f, &self.node)?;
        write!(f, ".{}.{}>", self.id, self.serial)
    }
}

impl fmt::Display for Port {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("#Port<")?;
        node(f, &self.node)?;
        write!(f, ".{}>", self.id)
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("#Ref<")?;
        node(f, &self.node)?;
        self.words().iter().rev().try_for_each(|word| write!(f, ".{word}"))?;
        f.write_char('>')
    }
}

impl fmt::Display for Fun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#Fun<{}.{}.{}>", self.module, self.old_index, self.old_uniq)
    }
}

#[cfg(test)]
mod tests {
    use crate::{Atom, Pid, Port, Reference, Term};

    #[test]
    fn an_identifier_carries_the_name_of_its_node_on_one_line() {
        let node = Atom::from_static("a@b.c");
        let pid = Pid { node: node.clone(), id: 1, serial: 2, creation: 3 };
        assert_eq!(Term::from(pid).to_string(), "<a@b.c.1.2>");
        let port = Port { node: node.clone(), id: 7, creation: 3 };
        assert_eq!(Term::from(port).to_string(), "#Port<a@b.c.7>");
        let reference = Reference::new(node, 3, &[1, 2, 3]).unwrap();
        assert_eq!(Term::from(reference).to_string(), "#Ref<a@b.c.3.2.1>");
        let odd = Pid { node: Atom::from_static("a\n>"), id: 1, serial: 2, creation: 3 };
        assert_eq!(odd.to_string(), "<a\\n\\>.1.2>");
    }
}
