//! Parser of Prometheus' text format.

use std::collections::BTreeMap;

/// A sample line.
#[derive(Debug, PartialEq)]
pub(crate) struct Sample {
    pub(crate) name: String,
    pub(crate) labels: BTreeMap<String, String>,
    pub(crate) value: f64,
}

/// A parsed scrape.
#[derive(Debug, Default)]
pub(crate) struct Scrape {
    /// Type of each metric: `gauge` or `counter`.
    pub(crate) types: BTreeMap<String, String>,
    pub(crate) helps: BTreeMap<String, String>,
    pub(crate) samples: Vec<Sample>,
}

impl Scrape {
    /// Parses a scrape. Panics if a line is malformed.
    pub(crate) fn read(text: &str) -> Self {
        let mut scrape = Self::default();
        for line in text.lines().filter(|line| !line.is_empty()) {
            if let Some(said) = line.strip_prefix("# TYPE ") {
                let (name, of) = said.split_once(' ').expect(line);
                assert!(scrape.types.insert(name.into(), of.into()).is_none(), "twice: {line}");
            } else if let Some(said) = line.strip_prefix("# HELP ") {
                let (name, help) = said.split_once(' ').expect(line);
                scrape.helps.insert(name.into(), help.into());
            } else {
                scrape.samples.push(sample(line));
            }
        }
        for sample in &scrape.samples {
            assert!(scrape.types.contains_key(&sample.name), "no type: {sample:?}");
        }
        scrape
    }

    /// Returns all samples with that name.
    pub(crate) fn of<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Sample> {
        self.samples.iter().filter(move |sample| sample.name == name)
    }

    /// Returns the value of the only sample with that name.
    pub(crate) fn value(&self, name: &str) -> f64 {
        let mut found = self.of(name);
        let value = found.next().unwrap_or_else(|| panic!("no {name}")).value;
        assert!(found.next().is_none(), "several {name}");
        value
    }
}

/// `name{label="value",…} 1`
fn sample(line: &str) -> Sample {
    let (series, value) = line.rsplit_once(' ').expect(line);
    let value = value.parse().expect(line);
    let Some((name, labels)) = series.split_once('{') else {
        return Sample { name: series.into(), labels: BTreeMap::new(), value };
    };
    let mut rest = labels.strip_suffix('}').expect(line);
    let mut labels = BTreeMap::new();
    while !rest.is_empty() {
        let (key, after) = rest.split_once("=\"").expect(line);
        let (text, after) = quoted(after);
        assert!(labels.insert(key.into(), text).is_none(), "{line}");
        rest = after.strip_prefix(',').unwrap_or(after);
    }
    Sample { name: name.into(), labels, value }
}

/// Returns the text up to the closing quote, and the rest.
fn quoted(text: &str) -> (String, &str) {
    let mut value = String::new();
    let mut characters = text.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => return (value, &text[at + 1..]),
            '\\' => match characters.next().expect("something is escaped").1 {
                'n' => value.push('\n'),
                other => value.push(other),
            },
            other => value.push(other),
        }
    }
    panic!("it does not end: {text}")
}
