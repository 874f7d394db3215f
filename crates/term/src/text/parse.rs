//! Parser of Erlang's term syntax, for commands, settings and tests.
//!
//! It accepts everything that [`Display`](fmt::Display) prints except identifiers and funs, whose
//! text is incomplete. The parser uses an explicit stack; the depth is limited to
//! [`Deep::LEVELS`].

use std::str::FromStr;

use num_bigint::BigInt;

use super::error::ParseError;
use super::scan::{Lexeme, Scanner};
use super::segment::Bits;
use crate::{Atom, Deep, Export, Map, NativeRecord, Term};

impl FromStr for Term {
    type Err = ParseError;

    /// Parses a term in Erlang's syntax, with an optional full stop at the end.
    ///
    /// ```
    /// use purlin_term::Term;
    ///
    /// let term: Term = r#"{ok, [1, 2 | x], #{a => <<1, 2>>}, "str", 'Elixir.Foo'}"#.parse()?;
    /// assert_eq!(term.to_string(), r#"{ok,[1,2|x],#{a => <<1,2>>},"str",'Elixir.Foo'}"#);
    ///
    /// let error = "{ok, [1, 2}".parse::<Term>().unwrap_err();
    /// assert_eq!(error.to_string(), "no Erlang term: not , or | or ] at byte 10");
    /// # Ok::<(), purlin_term::ParseError>(())
    /// ```
    fn from_str(text: &str) -> Result<Self, ParseError> {
        Parser { scanner: Scanner::new(text), open: Vec::new() }.parse()
    }
}

/// Parser state: the position in the text, and the terms that are open there.
struct Parser<'t> {
    scanner: Scanner<'t>,
    open: Vec<Open>,
}

/// A term some of whose parts are missing.
enum Open {
    Tuple(Vec<Term>),
    List(Vec<Term>),
    /// A list and its tail.
    Tail(Vec<Term>, Term),
    /// A map, and the key that waits for its value.
    Map(Vec<(Term, Term)>, Option<Term>),
    /// A native record, and the name of the field that waits for its value.
    NativeRecord(NativeRecord, Atom),
}

impl Parser<'_> {
    fn parse(mut self) -> Result<Term, ParseError> {
        loop {
            if let Some(term) = self.begin()?
                && let Some(whole) = self.close(term)?
            {
                return Ok(whole);
            }
        }
    }

    /// Parses a simple term, or the beginning of a compound one.
    fn begin(&mut self) -> Result<Option<Term>, ParseError> {
        let start = self.scanner.position();
        let open = match self.scanner.next()? {
            Lexeme::Sign("{") if self.takes("}") => return Ok(Some(Term::Tuple(Vec::new()))),
            Lexeme::Sign("{") => Open::Tuple(Vec::new()),
            Lexeme::Sign("[") if self.takes("]") => return Ok(Some(Term::NIL)),
            Lexeme::Sign("[") => Open::List(Vec::new()),
            Lexeme::Sign("#{") if self.takes("}") => return Ok(Some(Term::Map(Map::new()))),
            Lexeme::Sign("#{") => Open::Map(Vec::new(), None),
            Lexeme::Sign("<<") => return self.binary().map(Some),
            Lexeme::Sign(sign @ ("-" | "+")) => return self.number(sign == "-").map(Some),
            Lexeme::Sign("#") if self.is_atom() => {
                let (module, _, name) = (self.atom()?, self.expect(":", "not :")?, self.atom()?);
                self.expect("{", "not {")?;
                let record = NativeRecord { module, name, exported: false, fields: Vec::new() };
                if self.takes("}") {
                    return Ok(Some(record.into()));
                }
                Open::NativeRecord(record, self.field()?)
            }
            Lexeme::Sign("<" | "#") => {
                return Err(ParseError::new(start, "an identifier, which no text can name"));
            }
            Lexeme::Integer(value) => return Ok(Some(value.into())),
            Lexeme::Float(value) => return Ok(Some(value.into())),
            Lexeme::Atom(atom) => return Ok(Some(atom.into())),
            Lexeme::String(text) => return self.string(&text).map(Some),
            Lexeme::Fun => return self.export().map(Some),
            Lexeme::Sign(_) | Lexeme::End => return Err(ParseError::new(start, "not a term")),
        };
        if self.open.len() == Deep::LEVELS {
            return Err(ParseError::new(start, "a term deeper than allowed"));
        }
        self.open.push(open);
        Ok(None)
    }

    /// Adds a term to its parent, and the parent to the next one while parents become complete.
    fn close(&mut self, mut term: Term) -> Result<Option<Term>, ParseError> {
        while let Some(mut open) = self.open.pop() {
            let (end, reason) = match &open {
                Open::List(_) => ("]", "not , or | or ]"),
                Open::Tail(..) => ("]", "not ]"),
                Open::Map(_, None) => ("=>", "not =>"),
                _ => ("}", "not , or }"),
            };
            match &mut open {
                Open::Tuple(elements) | Open::List(elements) => elements.push(term),
                Open::Tail(_, tail) => *tail = term,
                Open::Map(pairs, key) => match key.take() {
                    Some(key) => pairs.push((key, term)),
                    None => *key = Some(term),
                },
                Open::NativeRecord(record, field) => record.fields.push((field.clone(), term)),
            }
            if end == "=>" {
                self.expect(end, reason)?;
                self.open.push(open);
                return Ok(None);
            }
            if !matches!(open, Open::Tail(..)) && self.takes(",") {
                if let Open::NativeRecord(_, field) = &mut open {
                    *field = self.field()?;
                }
                self.open.push(open);
                return Ok(None);
            }
            open = match open {
                Open::List(elements) if self.takes("|") => {
                    self.open.push(Open::Tail(elements, Term::NIL));
                    return Ok(None);
                }
                open => open,
            };
            self.expect(end, reason)?;
            term = match open {
                Open::Tuple(elements) => Term::Tuple(elements),
                Open::List(elements) => Term::List(elements),
                Open::Tail(elements, tail) => Term::list_with_tail(elements, tail),
                Open::Map(pairs, _) => Term::map(pairs),
                Open::NativeRecord(record, _) => record.into(),
            };
        }
        self.takes(".");
        match self.scanner.clone().next()? {
            Lexeme::End => Ok(Some(term)),
            _ => Err(self.wrong("more than one term")),
        }
    }

    fn number(&mut self, negative: bool) -> Result<Term, ParseError> {
        let wrong = self.wrong("not a number");
        match self.scanner.next()? {
            Lexeme::Integer(value) => Ok(Term::from(if negative { -value } else { value })),
            Lexeme::Float(value) => {
                let value = if negative { -value.get() } else { value.get() };
                Term::try_from(value).map_err(|_| wrong)
            }
            _ => Err(wrong),
        }
    }

    /// Parses adjacent string literals as one string.
    fn string(&mut self, first: &str) -> Result<Term, ParseError> {
        let mut text = first.to_owned();
        let mut ahead = self.scanner.clone();
        while let Ok(Lexeme::String(more)) = ahead.next() {
            text.push_str(&more);
            self.scanner = ahead.clone();
        }
        Ok(Term::string(&text))
    }

    fn export(&mut self) -> Result<Term, ParseError> {
        let module = self.atom()?;
        self.expect(":", "not :")?;
        let function = self.atom()?;
        self.expect("/", "not /")?;
        let arity = self.integer()?;
        let arity = u8::try_from(arity).map_err(|_| self.wrong("not a number of arguments"))?;
        Ok(Export { module, function, arity }.into())
    }

    fn binary(&mut self) -> Result<Term, ParseError> {
        let mut bits = Bits::default();
        if self.takes(">>") {
            return Ok(bits.into_term());
        }
        loop {
            self.segment(&mut bits)?;
            if !self.takes(",") {
                self.expect(">>", "not , or >>")?;
                return Ok(bits.into_term());
            }
        }
    }

    /// Parses a binary segment: an integer with an optional size, or a string.
    fn segment(&mut self, bits: &mut Bits) -> Result<(), ParseError> {
        let negative = self.takes("-");
        match self.scanner.next()? {
            Lexeme::Integer(value) => {
                let value = if negative { -value } else { value };
                let size = if self.takes(":") { self.integer()? } else { BigInt::from(8) };
                if self.takes_utf8()? {
                    let c = u32::try_from(value).ok().and_then(char::from_u32);
                    bits.push_text([c.ok_or_else(|| self.wrong("not a character"))?]);
                } else {
                    let size = u64::try_from(size).ok().filter(|size| *size <= Bits::MOST);
                    let size = size.ok_or_else(|| self.wrong("a size that is too large"))?;
                    bits.push_integer(&value, size);
                }
            }
            Lexeme::String(text) if !negative => {
                if self.takes_utf8()? {
                    bits.push_text(text.chars());
                } else {
                    text.chars().for_each(|c| bits.push_integer(&u32::from(c).into(), 8));
                }
            }
            _ => return Err(self.wrong("not an integer or a string")),
        }
        Ok(())
    }

    fn takes_utf8(&mut self) -> Result<bool, ParseError> {
        if !self.takes("/") {
            return Ok(false);
        }
        match self.atom()?.as_str() {
            "utf8" => Ok(true),
            "integer" => Ok(false),
            _ => Err(self.wrong("a type that is not integer or utf8")),
        }
    }

    /// Parses the name of a field and the sign before its value.
    fn field(&mut self) -> Result<Atom, ParseError> {
        let name = self.atom()?;
        self.expect("=", "not =")?;
        Ok(name)
    }

    fn is_atom(&self) -> bool {
        matches!(self.scanner.clone().next(), Ok(Lexeme::Atom(_)))
    }

    fn atom(&mut self) -> Result<Atom, ParseError> {
        match self.scanner.next()? {
            Lexeme::Atom(atom) => Ok(atom),
            _ => Err(self.wrong("not an atom")),
        }
    }

    fn integer(&mut self) -> Result<BigInt, ParseError> {
        match self.scanner.next()? {
            Lexeme::Integer(value) => Ok(value),
            _ => Err(self.wrong("not an integer")),
        }
    }

    /// Consumes a sign. Returns `false` if the next lexeme is not that sign.
    fn takes(&mut self, sign: &'static str) -> bool {
        let mut ahead = self.scanner.clone();
        let taken = ahead.next() == Ok(Lexeme::Sign(sign));
        if taken {
            self.scanner = ahead;
        }
        taken
    }

    fn expect(&mut self, sign: &'static str, reason: &'static str) -> Result<(), ParseError> {
        if self.takes(sign) { Ok(()) } else { Err(self.wrong(reason)) }
    }

    fn wrong(&self, reason: &'static str) -> ParseError {
        ParseError::new(self.scanner.position(), reason)
    }
}

#[cfg(test)]
mod tests {
    use super::ParseError;
    use crate::{Deep, Term};

    fn parse(text: &str) -> Term {
        text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    #[test]
    fn terms_are_read_as_erlang_writes_them() {
        for (text, printed) in [
            ("16#fF", "255"),
            ("1_000", "1000"),
            ("- 5", "-5"),
            ("+0", "0"),
            ("$a", "97"),
            (r"$\n", "10"),
            ("2#101", "5"),
            ("123456789012345678901234567890", "123456789012345678901234567890"),
            ("-1.5e3", "-1.5e3"),
            ("1.0E-5", "1.0e-5"),
            (r"'a\'b\x41\x{3c0}\101\^A'", r"'a\'bAπA\001'"),
            ("\"ab\" \"cd\" % and so on", "\"abcd\""),
            ("\"\"", "[]"),
            ("[a|[b|[c]]]", "[a,b,c]"),
            ("[a|b]", "[a|b]"),
            ("{ }", "{}"),
            ("#{ a => 1, a => 2 }", "#{a => 2}"),
            ("<<1, 300, -1>>", "<<1,44,255>>"),
            ("<<1:3>>", "<<1:3>>"),
            ("<<16#0102:16>>", "<<1,2>>"),
            ("<<-8:4, 1:4>>", "<<129>>"),
            ("<<\"å\">>", "<<\"å\">>"),
            ("<<\"åπ\"/utf8>>", "<<195,165,207,128>>"),
            ("<<960/utf8>>", "<<207,128>>"),
            ("fun lists:map/2", "fun lists:map/2"),
            ("#m:'a b' { x = 1, 'if' = [2] }", "#m:'a b'{x = 1,'if' = [2]}"),
            ("#m:n{}", "#m:n{}"),
            ("ok.", "ok"),
            (" % nothing\n ok ", "ok"),
        ] {
            assert_eq!(parse(text).to_string(), printed, "{text}");
        }
    }

    #[test]
    fn invalid_text_is_rejected_with_its_offset() {
        for (text, offset, reason) in [
            ("", 0, "not a term"),
            ("{a,}", 3, "not a term"),
            ("[1 2]", 2, "not , or | or ]"),
            ("[a|b,c]", 4, "not ]"),
            ("#{a}", 3, "not =>"),
            ("#{a:=1}", 3, "not =>"),
            ("X", 0, "a variable, which has no value here"),
            ("[if]", 1, "a word that is no atom without quotes"),
            ("{a", 2, "not , or }"),
            ("a b", 1, "more than one term"),
            ("\"ab", 0, "a quote that is not closed"),
            ("37#1", 0, "a base that is not 2 to 36"),
            ("16#", 0, "a number without digits"),
            ("1.0e999", 0, "a float that is too large"),
            (r#""\x{d800}""#, 1, "an escape that is no character"),
            ("<<1:99999999>>", 12, "a size that is too large"),
            ("<<1/float>>", 9, "a type that is not integer or utf8"),
            ("#m:n{x}", 6, "not ="),
            ("#m{}", 2, "not :"),
            ("#Ref<0.1.2.3>", 0, "an identifier, which no text can name"),
            ("<0.1.2>", 0, "an identifier, which no text can name"),
            ("-a", 1, "not a number"),
        ] {
            let refused = text.parse::<Term>();
            assert_eq!(refused, Err(ParseError { offset, reason }), "{text}");
        }
    }

    #[test]
    fn depth_has_a_limit() {
        let nested = |depth| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert_eq!(parse(&nested(Deep::LEVELS + 1)).to_string(), nested(Deep::LEVELS + 1));
        assert!(nested(Deep::LEVELS + 2).parse::<Term>().is_err());
        assert!("{".repeat(1_000_000).parse::<Term>().is_err());
    }
}
