//! Lexer of Erlang's syntax.

use num_bigint::BigInt;

use super::atom::{begins_atom, goes_on, is_reserved};
use super::error::ParseError;
use crate::{Atom, Float};

/// A token of Erlang's term syntax.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Lexeme {
    Integer(BigInt),
    Float(Float),
    /// The reserved word `fun`.
    Fun,
    Atom(Atom),
    String(String),
    Sign(&'static str),
    End,
}

/// Signs; a sign precedes its prefixes.
const SIGNS: [&str; 20] = [
    "=>", "=", "<<", ">>", "#{", "{", "}", "[", "]", "(", ")", "|", ",", ":", "/", "-", "+", ".",
    "<", "#",
];

/// Tokenizer: the text and the position in it.
#[derive(Clone)]
pub(super) struct Scanner<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Scanner<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { text, at: 0 }
    }

    pub(super) fn position(&self) -> usize {
        self.at
    }

    /// Returns the next lexeme, after whitespace and comments.
    pub(super) fn next(&mut self) -> Result<Lexeme, ParseError> {
        self.blanks();
        let start = self.at;
        let Some(first) = self.peek() else { return Ok(Lexeme::End) };
        match first {
            '0'..='9' => self.number(),
            '$' => {
                self.bump();
                self.character().map(|c| Lexeme::Integer(u32::from(c).into()))
            }
            '"' => self.quoted('"').map(Lexeme::String),
            '\'' => {
                let text = self.quoted('\'')?;
                atom(start, &text)
            }
            c if begins_atom(c) => {
                let word = self.while_(goes_on);
                if word == "fun" {
                    return Ok(Lexeme::Fun);
                }
                if is_reserved(word) {
                    return Err(ParseError::new(start, "a word that is no atom without quotes"));
                }
                atom(start, word)
            }
            c if goes_on(c) => Err(ParseError::new(start, "a variable, which has no value here")),
            _ => {
                let rest = &self.text[self.at..];
                let sign = SIGNS.into_iter().find(|sign| rest.starts_with(sign));
                let sign = sign.ok_or(ParseError::new(start, "a character that cannot be here"))?;
                self.at += sign.len();
                Ok(Lexeme::Sign(sign))
            }
        }
    }

    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn bump(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        Some(c)
    }

    fn while_(&mut self, wanted: impl Fn(char) -> bool) -> &'t str {
        let rest = &self.text[self.at..];
        let length = rest.find(|c| !wanted(c)).unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }

    fn blanks(&mut self) {
        loop {
            self.while_(|c| matches!(c, '\0'..=' ' | '\u{80}'..='\u{a0}'));
            if self.peek() != Some('%') {
                return;
            }
            self.while_(|c| c != '\n');
        }
    }

    fn number(&mut self) -> Result<Lexeme, ParseError> {
        let start = self.at;
        let digits = self.digits(10);
        match (self.peek(), self.text[self.at..].chars().nth(1)) {
            (Some('#'), _) => {
                let base = digits.parse().ok().filter(|base| (2..=36).contains(base));
                let base = base.ok_or(ParseError::new(start, "a base that is not 2 to 36"))?;
                self.bump();
                let digits = self.digits(base);
                integer(start, &digits, base)
            }
            (Some('.'), Some('0'..='9')) => {
                self.bump();
                let fraction = self.digits(10);
                let exponent = self.exponent();
                let value = format!("{digits}.{fraction}{exponent}").parse().ok();
                let float = value.and_then(Float::new);
                float.map(Lexeme::Float).ok_or(ParseError::new(start, "a float that is too large"))
            }
            _ => integer(start, &digits, 10),
        }
    }

    /// Consumes digits, without the underscores between them.
    fn digits(&mut self, base: u32) -> String {
        let mut digits = self.while_(|c| c.is_digit(base)).to_owned();
        while self.peek() == Some('_')
            && self.text[self.at + 1..].starts_with(|c: char| c.is_digit(base))
        {
            self.bump();
            digits.push_str(self.while_(|c| c.is_digit(base)));
        }
        digits
    }

    fn exponent(&mut self) -> &'t str {
        let rest = &self.text[self.at..];
        let Some(digits) = rest.strip_prefix(['e', 'E']) else { return "" };
        let digits = digits.strip_prefix(['+', '-']).unwrap_or(digits);
        let length = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
        if length == 0 {
            return "";
        }
        let all = rest.len() - digits.len() + length;
        self.at += all;
        &rest[..all]
    }

    fn quoted(&mut self, quote: char) -> Result<String, ParseError> {
        let start = self.at;
        self.bump();
        let mut text = String::new();
        loop {
            match self.peek() {
                Some(c) if c == quote => {
                    self.bump();
                    return Ok(text);
                }
                Some(_) => text.push(self.character()?),
                None => return Err(ParseError::new(start, "a quote that is not closed")),
            }
        }
    }

    /// Consumes a character, which may be escaped.
    fn character(&mut self) -> Result<char, ParseError> {
        let start = self.at;
        let wrong = ParseError::new(start, "an escape that is no character");
        if self.peek() != Some('\\') {
            return self.bump().ok_or(wrong);
        }
        self.bump();
        let value = match self.bump().ok_or(wrong)? {
            'n' => 10,
            't' => 9,
            'r' => 13,
            'v' => 11,
            'b' => 8,
            'f' => 12,
            'e' => 27,
            's' => 32,
            'd' => 127,
            '^' => u32::from(self.bump().ok_or(wrong)?) & 31,
            'x' => {
                let braced = self.peek() == Some('{');
                let digits = if braced {
                    self.bump();
                    let digits = self.while_(|c| c.is_ascii_hexdigit());
                    if self.bump() != Some('}') {
                        return Err(wrong);
                    }
                    digits
                } else {
                    self.at_most(2, 16)
                };
                u32::from_str_radix(digits, 16).map_err(|_| wrong)?
            }
            '0'..='7' => {
                self.at -= 1;
                let digits = self.at_most(3, 8);
                u32::from_str_radix(digits, 8).map_err(|_| wrong)?
            }
            c => c.into(),
        };
        char::from_u32(value).ok_or(wrong)
    }

    fn at_most(&mut self, count: usize, base: u32) -> &'t str {
        let start = self.at;
        while self.at < start + count && self.peek().is_some_and(|c| c.is_digit(base)) {
            self.bump();
        }
        &self.text[start..self.at]
    }
}

fn atom(start: usize, text: &str) -> Result<Lexeme, ParseError> {
    let atom = Atom::new(text).map(Lexeme::Atom);
    atom.map_err(|_| ParseError::new(start, "an atom of more than 255 characters"))
}

fn integer(start: usize, digits: &str, base: u32) -> Result<Lexeme, ParseError> {
    let value = BigInt::parse_bytes(digits.as_bytes(), base);
    value.map(Lexeme::Integer).ok_or(ParseError::new(start, "a number without digits"))
}
