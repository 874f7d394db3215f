//! Interactive mode in a terminal.
//!
//! A separate thread sends the requests, so keys are handled while a request is pending. The screen shows the last
//! response; if the node stops responding, an error in red is shown above it.

use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use purlin_lab::error::Problem;
use purlin_lab::interrupt::Interrupt;
use ratatui::crossterm::event::{self, Event};
use ratatui::layout::{Constraint, Layout};
use ratatui::style::{Style, Stylize};
use ratatui::text::Line;
use ratatui::widgets::{Cell, Paragraph, Row, Table};
use ratatui::{DefaultTerminal, Frame};

use super::ask::{Observer, Query, Seen};
use super::lines::{HEADS, NUMBERS, WIDTHS, cells, head, warning};
use super::state::{Next, State};

/// Request interval, which is the node's default sampling period.
const PERIOD: Duration = Duration::from_secs(1);
/// Interval at which keys and responses are polled.
const BEAT: Duration = Duration::from_millis(50);
/// Exit status after a signal.
const INTERRUPTED: u8 = 130;
/// Largest number of warnings shown.
const MOST_WARNINGS: usize = 5;
/// Lines other than rows and warnings: the node, the table's heading, the keys.
const OTHER_LINES: usize = 5;

/// Content of the screen.
struct Shown {
    host: String,
    state: State,
    seen: Option<Seen>,
    /// Why the data are not up to date.
    trouble: Option<Problem>,
    /// Number of rows that fit.
    room: usize,
}

/// Runs until the user quits or a signal arrives. The first response is awaited before the screen is switched, so that
/// an error is printed as one line and stays visible. Returns the exit status.
pub(super) fn follow(observer: Observer, state: State) -> Result<u8, Problem> {
    let seen = observer.ask(&state.query(1))?;
    let mut shown =
        Shown { host: observer.host().to_owned(), state, seen: Some(seen), trouble: None, room: 1 };
    let (queries, asked) = channel();
    let (answers, answered) = channel();
    thread::spawn(move || ask(&observer, &asked, &answers));
    // WHY before the screen is switched: a signal that ends the program would leave the terminal as it is then.
    let interrupt = Interrupt::default();
    interrupt.at_signals()?;
    let mut terminal = ratatui::try_init().map_err(trouble)?;
    let ended = run(&mut terminal, &mut shown, &queries, &answered, &interrupt);
    ratatui::restore();
    ended.map_err(trouble)
}

fn trouble(error: io::Error) -> Problem {
    Problem::new(format!("the terminal cannot be used: {error}"))
}

/// Repeats the most recent query, and sends a new one immediately.
fn ask(
    observer: &Observer,
    asked: &Receiver<Option<Query>>,
    answers: &Sender<Result<Seen, Problem>>,
) {
    let mut query = None;
    loop {
        let next = match &query {
            Some(_) => asked.recv_timeout(PERIOD),
            None => asked.recv().map_err(|_| RecvTimeoutError::Disconnected),
        };
        match next {
            Ok(newer) => query = asked.try_iter().last().unwrap_or(newer),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
        if let Some(query) = &query
            && answers.send(observer.ask(query)).is_err()
        {
            return;
        }
    }
}

fn run(
    terminal: &mut DefaultTerminal,
    shown: &mut Shown,
    queries: &Sender<Option<Query>>,
    answered: &Receiver<Result<Seen, Problem>>,
    interrupt: &Interrupt,
) -> io::Result<u8> {
    let mut sent = None;
    while !interrupt.is_raised() {
        terminal.draw(|frame| draw(frame, shown))?;
        let query = shown.query();
        if sent.as_ref() != Some(&query) {
            // The requesting thread outlives this loop.
            let _ = queries.send(query.clone());
            sent = Some(query);
        }
        if event::poll(BEAT)?
            && let Event::Key(key) = event::read()?
            && shown.state.press(key, shown.room, shown.total()) == Next::Leave
        {
            return Ok(0);
        }
        answered.try_iter().for_each(|answer| shown.take(answer));
    }
    Ok(INTERRUPTED)
}

impl Shown {
    /// Returns the query to repeat, or `None` while paused.
    fn query(&self) -> Option<Query> {
        (!self.state.paused).then(|| self.state.query(self.room))
    }

    fn total(&self) -> usize {
        self.seen.as_ref().map_or(0, |seen| seen.processes.total)
    }

    fn take(&mut self, answer: Result<Seen, Problem>) {
        // A response to a request sent before the pause is dropped.
        if self.state.paused {
            return;
        }
        match answer {
            Ok(seen) => {
                self.state.clamp_offset(self.room, seen.processes.total);
                (self.seen, self.trouble) = (Some(seen), None);
            }
            Err(problem) => self.trouble = Some(problem),
        }
    }
}

fn draw(frame: &mut Frame<'_>, shown: &mut Shown) {
    let Some(seen) = &shown.seen else { return };
    let warnings: Vec<_> = seen.warnings.iter().take(MOST_WARNINGS).collect();
    let height = usize::from(frame.area().height);
    shown.room = height.saturating_sub(OTHER_LINES + warnings.len()).max(1);
    let lines = |count: usize| Constraint::Length(u16::try_from(count).unwrap_or(u16::MAX));
    let areas = Layout::vertical([lines(3), lines(warnings.len()), Constraint::Min(1), lines(1)]);
    let [top, middle, table, bottom] = areas.areas(frame.area());
    let mut heading: Vec<_> = head(seen).into_iter().map(Line::from).collect();
    heading[0] = match &shown.trouble {
        Some(problem) => Line::from(format!("{problem}; trying again")).red().bold(),
        None => heading[0].clone().bold(),
    };
    frame.render_widget(Paragraph::new(heading), top);
    let warnings: Vec<_> =
        warnings.into_iter().map(|found| Line::from(warning(found)).red()).collect();
    frame.render_widget(Paragraph::new(warnings), middle);
    frame.render_widget(processes(shown, seen), table);
    frame.render_widget(Paragraph::new(keys(shown, seen)), bottom);
}

fn processes<'a>(shown: &Shown, seen: &Seen) -> Table<'a> {
    let sorted = shown.state.sort as usize;
    let mark = if shown.state.descending { "▼" } else { "▲" };
    let cell = |at: usize, text: String| {
        let line = Line::from(text);
        Cell::from(if NUMBERS[at] { line.right_aligned() } else { line })
    };
    let heads = HEADS.iter().enumerate().map(|(at, name)| match at == sorted {
        true => cell(at, format!("{name}{mark}")),
        false => cell(at, (*name).to_owned()),
    });
    let rows = seen.processes.rows.iter().map(|row| {
        Row::new(
            cells(row).into_iter().enumerate().map(|(at, text)| cell(at, text)).collect::<Vec<_>>(),
        )
    });
    let mut widths =
        WIDTHS.map(|width| Constraint::Length(u16::try_from(width).unwrap_or(u16::MAX)));
    // The last column gets the remaining width.
    widths[HEADS.len() - 1] = Constraint::Fill(1);
    let head = Row::new(heads.collect::<Vec<_>>()).style(Style::new().reversed());
    Table::new(rows, widths).header(head)
}

fn keys(shown: &Shown, seen: &Seen) -> Line<'static> {
    let state = &shown.state;
    if state.is_typing() {
        return Line::from(format!("/{}▏", super::harmless::harmless(&state.filter, 100)));
    }
    let from = seen.processes.offset;
    let filter = match state.filter.as_str() {
        "" => String::new(),
        text => format!(" with \"{}\"", super::harmless::harmless(text, 40)),
    };
    let paused = if state.paused { "  PAUSED" } else { "" };
    Line::from(format!(
        "{} to {} of {}{filter}, of {} at {}{paused}  q quit  p pause  s sort  r reverse  / filter",
        from + usize::from(!seen.processes.rows.is_empty()),
        from + seen.processes.rows.len(),
        seen.processes.total,
        seen.processes.all,
        shown.host
    ))
    .dim()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use purlin_lab::error::Problem;
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;
    use serde_json::{Value, json};

    use super::{Shown, draw};
    use crate::observe::ask::Seen;
    use crate::observe::state::{Column, State};

    /// Returns a sample response.
    fn seen(name: &str, rows: usize) -> Seen {
        let row = json!({
            "pid": "<0.5.0>", "name": name, "function": "shop::till", "type": "u32", "state": "waiting",
            "waits_for": "<0.6.0>", "mailbox": 12, "messages_in": 345, "messages_out": 67, "reductions": 6789, "memory": 2048
        });
        let snapshot = json!({
            "workers": [{"utilization": 0.5}, {"utilization": null}], "ready": 3, "processes": rows,
            "messages_per_second": 1500.0, "reductions_per_second": 2.5e6, "resident_bytes": null,
            "process_bytes": 4096, "timers": 7
        });
        let drops = json!({"ended": 1, "alias": 0, "rejected": 0, "newest": 2, "oldest": 0});
        let overview = json!({
            "node": "shop", "uptime_ns": 61_000_000_000_u64, "snapshot": snapshot, "hogs": [{"pid": "<0.9.0>"}],
            "drops": drops, "sampler": {"share": 0.01, "left_out": 0}
        });
        let processes = json!({"all": rows, "total": rows, "offset": 0, "rows": vec![row; rows]});
        let warning =
            json!({"kind": "hog", "text": format!("{name} does not await"), "for_ns": 5e9 as u64});
        fn read<T: serde::de::DeserializeOwned>(value: Value) -> T {
            serde_json::from_value(value).expect("it is what is answered")
        }
        Seen { overview: read(overview), processes: read(processes), warnings: vec![read(warning)] }
    }

    fn shown(seen: Seen) -> Shown {
        let state = State::new(Column::Mailbox, true, String::new());
        let host = "127.0.0.1:4480".to_owned();
        Shown { host, state, seen: Some(seen), trouble: None, room: 1 }
    }

    /// Renders the screen as lines.
    fn drawn(shown: &mut Shown, width: u16, height: u16) -> Vec<String> {
        let mut terminal = Terminal::new(TestBackend::new(width, height)).expect("it is in memory");
        terminal.draw(|frame| draw(frame, shown)).expect("it is in memory");
        let buffer = terminal.backend().buffer().clone();
        let lines = buffer.content().chunks(usize::from(width.max(1)));
        lines.map(|line| line.iter().map(ratatui::buffer::Cell::symbol).collect()).collect()
    }

    #[test]
    fn the_screen_shows_the_node_warnings_processes_and_keys() {
        let mut shown = shown(seen("till", 2));
        let lines = drawn(&mut shown, 160, 10);
        let due = "shop  up 1 min 1 s  2 processes  1.50 k messages/s  2.50 M reductions/s";
        assert!(lines[0].starts_with(due), "{lines:#?}");
        assert!(
            lines[1].starts_with("workers 50 %  ?  ready 3  timers 7  hogs 1 (<0.9.0>)"),
            "{lines:#?}"
        );
        assert!(lines[2].starts_with("memory ?, of processes 4.00 KiB  dropped 3"), "{lines:#?}");
        assert!(lines[3].starts_with("hog for 5 s: till does not await"), "{lines:#?}");
        assert!(lines[4].contains("MAILBOX▼"), "{lines:#?}");
        assert!(
            lines[5].contains("till") && lines[5].contains("waiting for <0.6.0>"),
            "{lines:#?}"
        );
        assert!(lines[9].starts_with("1 to 2 of 2, of 2 at 127.0.0.1:4480  q quit"), "{lines:#?}");
        assert_eq!(shown.room, 4);
    }

    #[test]
    fn an_error_is_shown_above_the_last_data_and_a_pause_is_indicated() {
        let mut shown = shown(seen("till", 1));
        shown.take(Err(Problem::new("no node is there")));
        let lines = drawn(&mut shown, 100, 10);
        assert!(lines[0].starts_with("no node is there; trying again"), "{lines:#?}");
        assert!(lines[5].contains("till"), "{lines:#?}");
        shown.state.paused = true;
        shown.take(Ok(seen("late", 1)));
        let lines = drawn(&mut shown, 100, 10);
        assert!(lines[5].contains("till") && lines[9].contains("PAUSED"), "{lines:#?}");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn every_name_is_drawn_safely_at_every_terminal_size(
            name in any::<String>(), rows in 0_usize..5, width in 0_u16..120, height in 0_u16..30,
        ) {
            for line in drawn(&mut shown(seen(&name, rows)), width, height) {
                prop_assert!(!line.contains(char::is_control), "{:?}", line);
            }
        }
    }
}
