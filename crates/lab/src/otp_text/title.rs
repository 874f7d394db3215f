//! Parser for scenario titles; titles merge only if they are equal byte for byte. Pure.

use super::records::{trim, whole};

/// Separates a graph's name from the receiver's options.
const BEFORE_OPTIONS: &str = ", Spawn Options=";

/// A title without `Scenario: `.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Title<'a> {
    /// The name of the graph: the title without the options.
    pub(super) graph: &'a str,
    /// The receiver's options, in brackets.
    pub(super) options: &'a str,
}

impl<'a> Title<'a> {
    /// Parses a title; returns `None` if it is not one of this suite's.
    pub(super) fn parse(title: &'a str) -> Option<(Self, Measure)> {
        let (graph, options) = title.rsplit_once(BEFORE_OPTIONS)?;
        let bracketed = options.len() >= 2 && options.starts_with('[') && options.ends_with(']');
        let measure = Measure::of(graph)?;
        bracketed.then_some((Self { graph, options }, measure))
    }

    /// Returns the variant: the value of `message_queue_data` if that is the only option, otherwise
    /// all options.
    pub(super) fn variant(&self) -> Option<&'a str> {
        let text = self.options.strip_prefix('[')?.strip_suffix(']')?;
        let queue =
            text.strip_prefix("{message_queue_data,").and_then(|rest| rest.strip_suffix('}'));
        let letter = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        let word = queue.filter(|word| word.bytes().all(letter));
        Some(word.unwrap_or(text)).filter(|variant| !variant.is_empty())
    }

    /// Returns the title as it is written.
    pub(super) fn text(&self) -> String {
        format!("{}{BEFORE_OPTIONS}{}", self.graph, self.options)
    }
}

/// Returns the options that a variant of the BEAM stands for; `None` for any other variant.
pub(super) fn options_of(variant: &str) -> Option<String> {
    matches!(variant, "off_heap" | "on_heap").then(|| format!("[{{message_queue_data,{variant}}}]"))
}

/// The measurement a graph shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Measure {
    /// `send` or `receive`.
    pub(super) mode: &'static str,
    /// Duration of sending, in ms.
    pub(super) ms: u64,
}

impl Measure {
    /// Parses the name of a graph; returns `None` if it is not one of this suite's.
    pub(super) fn of(graph: &str) -> Option<Self> {
        let (word, rest) = graph.split_once(" Throughput, send_duration=")?;
        let mode = match word {
            "Send" => "send",
            "Receive" => "receive",
            _ => return None,
        };
        let (ms, operations) = rest.split_once(" ms, ")?;
        let clean = !graph.contains(|letter: char| letter == '$' || letter.is_control());
        let ms = whole(ms).filter(|_| clean && !trim(operations).is_empty())?;
        Some(Self { mode, ms })
    }

    /// Returns the metric of the graph's figures.
    pub(super) fn metric(self) -> String {
        format!("{} throughput", self.mode)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn title_round_trips_byte_for_byte() {
        for (options, variant) in [
            ("[{message_queue_data,on_heap}]", Some("on_heap")),
            ("[]", None),
            ("[{priority,high}]", Some("{priority,high}")),
            ("[{message_queue_data,on_heap},link]", Some("{message_queue_data,on_heap},link")),
        ] {
            let written = format!(
                "Receive Throughput, send_duration=100 ms,  50.000000% {{a,1}},  50.000000% {{b,1}}, \
                 Spawn Options={options}"
            );
            let (title, measure) = Title::parse(&written).unwrap();
            assert_eq!(title.text(), written);
            assert_eq!((title.options, title.variant()), (options, variant));
            assert_eq!(measure, Measure { mode: "receive", ms: 100 });
        }
    }

    #[test]
    fn other_titles_are_rejected() {
        for written in [
            "50.0% insert, 50.0% delete | 8 keys",
            "Send Throughput, send_duration=500 ms,  100% x",
            "Send Throughput, send_duration=+5 ms,  100% x, Spawn Options=[]",
            "Send Throughput, send_duration=99999999999999999999 ms,  1% x, Spawn Options=[]",
            "Sent Throughput, send_duration=5 ms,  100% x, Spawn Options=[]",
            "Send Throughput, send_duration=5 ms, , Spawn Options=[]",
            "Send Throughput, send_duration=5 ms,  100% x, Spawn Options=[{message_queue_da",
            "Send Throughput, send_duration=5 ms,  100% x, Spawn Options=[",
        ] {
            assert_eq!(Title::parse(written), None, "{written}");
        }
    }
}
