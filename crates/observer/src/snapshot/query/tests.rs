//! Property test: a page equals filtering and sorting all rows one by one.

use std::cmp::Ordering;
use std::time::Duration;

use proptest::prelude::*;
use purlin::{Name, ProcessId, ProcessState};

use super::{Column, Filter, MOST_ROWS_A_PAGE, Query, business};
use crate::snapshot::{Age, Row, Table, fixture};

const STATES: [ProcessState; 4] =
    [ProcessState::Running, ProcessState::Runnable, ProcessState::Receiving, ProcessState::Waiting];
const FUNCTIONS: [&str; 4] = ["a::Run", "a::run", "b::serve", "c::sérve"];
const TYPES: [&str; 3] = ["u64", "a::Msg", "()"];
const COLUMNS: [Column; 15] = [
    Column::Pid,
    Column::Name,
    Column::Function,
    Column::MessageType,
    Column::State,
    Column::Mailbox,
    Column::MessagesIn,
    Column::MessagesInRate,
    Column::MessagesOut,
    Column::MessagesOutRate,
    Column::Reductions,
    Column::ReductionsRate,
    Column::Memory,
    Column::Parent,
    Column::Age,
];

fn pid(number: u32) -> ProcessId {
    ProcessId::from_parts(number, number / 3, 1).expect("there can be such a pid")
}

type Made = (Row<'static>, Option<Name>);

fn row() -> impl Strategy<Value = Made> {
    let numbers = (0..4u64, 0..1000u64, 0..3u64, 0..100u64);
    let kinds = (0..4usize, 0..4usize, 0..3usize, any::<bool>());
    let others = (prop::option::of(0..3u32), 0..5u64, prop::option::of("[a-cA-C]{1,2}"));
    (numbers, kinds, others).prop_map(|((mailbox, received, reductions, memory), kind, other)| {
        let (state, function, message_type, serves) = kind;
        let (parent, age, name) = other;
        let row = Row {
            id: pid(0),
            name: None,
            state: STATES[state],
            function: FUNCTIONS[function],
            message_type: TYPES[message_type],
            parent: parent.map(pid),
            serves,
            supervises: false,
            mailbox_len: mailbox,
            messages_in: received,
            messages_in_per_second: received as f32 / 7.0,
            messages_out: received % 7,
            messages_out_per_second: (received % 5) as f32,
            reductions: u64::MAX - 1 - reductions,
            reductions_per_second: reductions as f32,
            memory,
            age: Age::About(Duration::from_secs(age)),
        };
        (row, name.map(|name| Name::from(&*name)))
    })
}

fn query() -> impl Strategy<Value = Query> {
    let text =
        prop_oneof![Just(String::new()), "[a-cA-C]{1,2}", "[0-9<.]{1,2}", Just("SÉR".into())];
    let filter = (text, 0..6usize, 0..4u64, prop::option::of(0..3u32), any::<bool>()).prop_map(
        |(text, state, mailbox_at_least, parent, services)| Filter {
            text,
            states: STATES.get(state).copied().into_iter().collect(),
            mailbox_at_least,
            parent: parent.map(pid),
            services,
        },
    );
    let place = (0..30usize, prop_oneof![0..20usize, Just(usize::MAX)]);
    (filter, 0..COLUMNS.len(), any::<bool>(), place).prop_map(
        |(filter, column, descending, (offset, limit))| Query {
            filter,
            sort: COLUMNS[column],
            descending,
            offset,
            limit,
        },
    )
}

/// Reference implementation of [`Filter`].
fn matches(filter: &Filter, row: &Row<'_>) -> bool {
    let text = filter.text.to_lowercase();
    let says = |it: &str| it.to_lowercase().contains(&text);
    (filter.services || !row.serves)
        && row.mailbox_len >= filter.mailbox_at_least
        && (filter.states.is_empty() || filter.states.contains(&row.state))
        && (filter.parent.is_none() || filter.parent == row.parent)
        && (says(row.function)
            || says(row.message_type)
            || says(&row.id.to_string())
            || row.name.is_some_and(|name| says(name)))
}

/// Reference implementation of [`Column`].
fn order(query: &Query, a: &Row<'_>, b: &Row<'_>) -> Ordering {
    let directed = |order: Ordering| if query.descending { order.reverse() } else { order };
    let by = match query.sort {
        Column::Pid => directed(a.id.id().cmp(&b.id.id())),
        Column::Name => match (a.name, b.name) {
            (Some(a), Some(b)) => directed(a.cmp(b)),
            (a, b) => b.is_some().cmp(&a.is_some()),
        },
        Column::Function => directed(a.function.cmp(b.function)),
        Column::MessageType => directed(a.message_type.cmp(b.message_type)),
        Column::State => directed(business(a.state).cmp(&business(b.state))),
        Column::Mailbox => directed(a.mailbox_len.cmp(&b.mailbox_len)),
        Column::MessagesIn => directed(a.messages_in.cmp(&b.messages_in)),
        Column::MessagesInRate => {
            directed(a.messages_in_per_second.total_cmp(&b.messages_in_per_second))
        }
        Column::MessagesOut => directed(a.messages_out.cmp(&b.messages_out)),
        Column::MessagesOutRate => {
            directed(a.messages_out_per_second.total_cmp(&b.messages_out_per_second))
        }
        Column::Reductions => directed(a.reductions.cmp(&b.reductions)),
        Column::ReductionsRate => {
            directed(a.reductions_per_second.total_cmp(&b.reductions_per_second))
        }
        Column::Memory => directed(a.memory.cmp(&b.memory)),
        Column::Parent => directed(a.parent.map(|it| it.id()).cmp(&b.parent.map(|it| it.id()))),
        Column::Age => directed(a.age.time().cmp(&b.age.time())),
    };
    by.then(a.id.id().cmp(&b.id.id()))
}

proptest! {
    #[test]
    fn a_page_equals_filtering_and_sorting_all_rows(mut made in prop::collection::vec(row(), 0..60), query in query()) {
        let numbered = |(number, made): (u32, &mut Made)| made.0.id = pid(2 * number);
        (0..).zip(&mut made).for_each(numbered);
        let rows: Vec<_> =
            made.iter().map(|(row, name)| Row { name: name.as_ref(), ..*row }).collect();
        let table = Table::made_up(&rows, Duration::from_secs(100));
        let page = query.ask(&table);
        let mut wanted: Vec<_> = rows.iter().filter(|row| matches(&query.filter, row)).collect();
        prop_assert_eq!(page.matching, wanted.len());
        wanted.sort_by(|a, b| order(&query, a, b));
        let limit = query.limit.min(MOST_ROWS_A_PAGE);
        let wanted = wanted.iter().skip(query.offset).take(limit).map(|row| row.id);
        let found = page.rows.iter().filter_map(|&row| table.row(row)).map(|row| row.id);
        prop_assert!(found.eq(wanted));
    }
}

#[test]
fn a_page_never_exceeds_the_row_limit() {
    let rows: Vec<_> = (0..2000).map(|number| fixture::row(pid(number))).collect();
    let table = Table::made_up(&rows, Duration::ZERO);
    let query = Query { limit: usize::MAX, offset: 300, ..Query::default() };
    let page = query.ask(&table);
    assert_eq!((page.rows.len(), page.rows[0], page.matching), (MOST_ROWS_A_PAGE, 300, 2000));
}
