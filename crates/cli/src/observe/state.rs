//! Key handling: sorting, filtering, scrolling. Pure: neither reads keys nor sends requests.

use clap::ValueEnum;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use super::ask::Query;

/// Longest search text in bytes, which is the API's limit.
const LONGEST_TEXT: usize = 256;

/// Sort columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Column {
    Pid,
    Name,
    State,
    Mailbox,
    Received,
    Sent,
    Reductions,
    Memory,
    Function,
}

/// Query parameters and the state of the user interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct State {
    pub(super) sort: Column,
    pub(super) descending: bool,
    pub(super) filter: String,
    /// While the filter is edited: its previous value.
    typing: Option<String>,
    pub(super) paused: bool,
    offset: usize,
}

/// Action after a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// Redraw only.
    Draw,
    /// Send a request immediately.
    Ask,
    Leave,
}

impl Column {
    /// Returns the column's name in the API.
    fn word(self) -> &'static str {
        match self {
            Self::Pid => "pid",
            Self::Name => "name",
            Self::State => "state",
            Self::Mailbox => "mailbox",
            Self::Received => "messages_in",
            Self::Sent => "messages_out",
            Self::Reductions => "reductions",
            Self::Memory => "memory",
            Self::Function => "function",
        }
    }

    /// Returns the column `by` positions further, cyclically.
    fn further(self, by: usize) -> Self {
        let all = Self::value_variants();
        let at = all.iter().position(|column| *column == self).unwrap_or_default();
        all[(at + by) % all.len()]
    }
}

impl State {
    pub(super) fn new(sort: Column, descending: bool, filter: String) -> Self {
        Self { sort, descending, filter, typing: None, paused: false, offset: 0 }
    }

    /// Returns the query for `rows` rows.
    pub(super) fn query(&self, rows: usize) -> Query {
        Query {
            sort: self.sort.word(),
            descending: self.descending,
            text: self.filter.clone(),
            offset: self.offset,
            limit: rows.clamp(1, 500),
        }
    }

    pub(super) fn is_typing(&self) -> bool {
        self.typing.is_some()
    }

    /// Handles a key; `shown` of `total` rows are visible.
    pub(super) fn press(&mut self, key: KeyEvent, shown: usize, total: usize) -> Next {
        if key.kind == KeyEventKind::Release {
            return Next::Draw;
        }
        if key.modifiers.contains(KeyModifiers::CONTROL) {
            return if key.code == KeyCode::Char('c') { Next::Leave } else { Next::Draw };
        }
        if self.is_typing() {
            return self.edit(key.code);
        }
        let end = total.saturating_sub(shown);
        match key.code {
            KeyCode::Char('q') | KeyCode::Esc => return Next::Leave,
            KeyCode::Char('p' | ' ') => self.paused = !self.paused,
            KeyCode::Char('s') => self.sort = self.sort.further(1),
            KeyCode::Char('S') => self.sort = self.sort.further(Column::value_variants().len() - 1),
            KeyCode::Char('r') => self.descending = !self.descending,
            KeyCode::Char('/') => {
                self.typing = Some(self.filter.clone());
                return Next::Draw;
            }
            KeyCode::Up => self.offset = self.offset.saturating_sub(1),
            KeyCode::Down => self.offset = (self.offset + 1).min(end),
            KeyCode::PageUp => self.offset = self.offset.saturating_sub(shown),
            KeyCode::PageDown => self.offset = (self.offset + shown).min(end),
            KeyCode::Home => self.offset = 0,
            KeyCode::End => self.offset = end,
            _ => return Next::Draw,
        }
        Next::Ask
    }

    fn edit(&mut self, key: KeyCode) -> Next {
        match key {
            KeyCode::Enter => {
                self.typing = None;
                return Next::Draw;
            }
            KeyCode::Esc => self.filter = self.typing.take().unwrap_or_default(),
            KeyCode::Backspace => drop(self.filter.pop()),
            KeyCode::Char(character)
                if self.filter.len() + character.len_utf8() <= LONGEST_TEXT =>
            {
                self.filter.push(character);
            }
            _ => return Next::Draw,
        }
        self.offset = 0;
        Next::Ask
    }

    /// Adjusts the offset to a table that has become shorter.
    pub(super) fn clamp_offset(&mut self, shown: usize, total: usize) {
        self.offset = self.offset.min(total.saturating_sub(shown));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

    use super::{Column, LONGEST_TEXT, Next, State};

    fn state() -> State {
        State::new(Column::Reductions, true, String::new())
    }

    fn press(state: &mut State, code: KeyCode) -> Next {
        state.press(KeyEvent::from(code), 10, 95)
    }

    fn typed(state: &mut State, text: &str) {
        text.chars().for_each(|character| {
            press(state, KeyCode::Char(character));
        });
    }

    #[test]
    fn s_cycles_through_the_columns_and_r_reverses_the_order() {
        let mut state = state();
        assert_eq!(press(&mut state, KeyCode::Char('s')), Next::Ask);
        assert_eq!(state.query(10).sort, "memory");
        typed(&mut state, "ss");
        assert_eq!(state.query(10).sort, "pid");
        typed(&mut state, "Sr");
        assert_eq!((state.query(10).sort, state.query(10).descending), ("function", false));
    }

    #[test]
    fn a_filter_is_edited_accepted_and_cancelled_and_its_letters_are_no_commands() {
        let mut state = state();
        typed(&mut state, "/qps");
        assert_eq!(state.query(10).text, "qps");
        press(&mut state, KeyCode::Backspace);
        press(&mut state, KeyCode::Enter);
        typed(&mut state, "/x");
        assert_eq!(state.query(10).text, "qpx");
        assert_eq!(press(&mut state, KeyCode::Esc), Next::Ask);
        assert_eq!((state.filter.as_str(), state.is_typing()), ("qp", false));
    }

    #[test]
    fn scrolling_stops_at_both_ends_of_the_table() {
        let mut state = state();
        let mut offset = |code| {
            press(&mut state, code);
            state.query(10).offset
        };
        let keys = [KeyCode::Up, KeyCode::Down, KeyCode::PageDown, KeyCode::End, KeyCode::Down];
        assert_eq!(keys.map(&mut offset), [0, 1, 11, 85, 85]);
        assert_eq!([KeyCode::PageUp, KeyCode::Home].map(&mut offset), [75, 0]);
    }

    #[test]
    fn q_escape_and_ctrl_c_quit() {
        for code in [KeyCode::Char('q'), KeyCode::Esc] {
            assert_eq!(press(&mut state(), code), Next::Leave);
        }
        let mut state = state();
        typed(&mut state, "/");
        let ctrl_c = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
        assert_eq!(state.press(ctrl_c, 10, 95), Next::Leave);
    }

    proptest! {
        #[test]
        fn every_typed_text_gives_a_valid_query(text in ".{0,400}", rows in 0_usize..2000) {
            let mut state = state();
            typed(&mut state, "/");
            typed(&mut state, &text);
            let query = state.query(rows);
            prop_assert!(query.text.len() <= LONGEST_TEXT && (1..=500).contains(&query.limit));
        }
    }
}
