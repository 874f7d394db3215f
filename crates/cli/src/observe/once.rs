//! One table, for pipes and scripts. Pure.

use unicode_width::UnicodeWidthStr;

use super::ask::Seen;
use super::lines::{HEADS, NUMBERS, cells, head, warning};

/// Returns the node's lines, the warnings, and a table of processes with fitted column widths.
pub(super) fn table(seen: &Seen) -> String {
    let mut text = head(seen).join("\n") + "\n";
    for found in &seen.warnings {
        text += &format!("warning: {}\n", warning(found));
    }
    text.push('\n');
    let rows: Vec<_> = seen.processes.rows.iter().map(cells).collect();
    let mut widths = HEADS.map(str::len);
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.width());
        }
    }
    text += &line(HEADS.map(str::to_owned), &widths);
    for row in rows {
        text += &line(row, &widths);
    }
    let shown = seen.processes.rows.len();
    if shown < seen.processes.total {
        text += &format!("and {} more\n", seen.processes.total - shown);
    }
    text
}

fn line(cells: [String; 9], widths: &[usize; 9]) -> String {
    let mut line = String::new();
    for (at, cell) in cells.iter().enumerate() {
        let space = " ".repeat(widths[at].saturating_sub(cell.width()));
        let (before, after) =
            if NUMBERS[at] { (space, String::new()) } else { (String::new(), space) };
        line += &format!("{before}{cell}{after}  ");
    }
    line.trim_end().to_owned() + "\n"
}
