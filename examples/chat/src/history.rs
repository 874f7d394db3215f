//! History: the last lines of each room.

use std::collections::{BTreeMap, HashMap, VecDeque};

use crate::storage::Line;

/// Largest number of rooms. The room whose last line is the oldest is forgotten first.
const ROOMS: usize = 10_000;

/// The last lines of each room, at most `length` of each.
pub(crate) struct History {
    length: usize,
    rooms: HashMap<String, VecDeque<Line>>,
    /// Rooms by the number of their last line.
    order: BTreeMap<u64, String>,
    /// Number of lines of all rooms.
    lines: usize,
    /// Number of the last line.
    last: u64,
}

impl History {
    /// WHY at least a line of each: the number of the next line follows from the last one.
    pub(crate) fn new(length: usize) -> Self {
        let length = length.max(1);
        let (rooms, order) = (HashMap::new(), BTreeMap::new());
        Self { length, rooms, order, lines: 0, last: 0 }
    }

    /// Adds a line, whose number is larger than those before.
    pub(crate) fn add(&mut self, line: Line) {
        self.last = line.number;
        let lines = self.rooms.entry(line.room.clone()).or_default();
        if let Some(before) = lines.back() {
            self.order.remove(&before.number);
        }
        self.order.insert(line.number, line.room.clone());
        lines.push_back(line);
        self.lines += 1;
        if lines.len() > self.length {
            lines.pop_front();
            self.lines -= 1;
        }
        if self.rooms.len() > ROOMS
            && let Some((_, room)) = self.order.pop_first()
        {
            self.lines -= self.rooms.remove(&room).map_or(0, |lines| lines.len());
        }
    }

    /// Returns the lines of a room after a number.
    pub(crate) fn after(&self, room: &str, after: u64) -> Vec<Line> {
        let lines = self.rooms.get(room).into_iter().flatten();
        lines.filter(|line| line.number > after).cloned().collect()
    }

    /// Returns all lines, in their order.
    pub(crate) fn all(&self) -> Vec<&Line> {
        let mut lines: Vec<_> = self.rooms.values().flatten().collect();
        lines.sort_unstable_by_key(|line| line.number);
        lines
    }

    /// Number of lines of all rooms.
    pub(crate) fn len(&self) -> usize {
        self.lines
    }

    /// Number of the last line.
    pub(crate) fn last(&self) -> u64 {
        self.last
    }
}

#[cfg(test)]
mod tests {
    use super::{History, ROOMS};
    use crate::storage::Line;

    fn line(number: u64, room: &str) -> Line {
        Line { number, room: room.into(), who: "ann".into(), text: "hello".into() }
    }

    #[test]
    fn each_room_has_its_last_lines() {
        let mut history = History::new(2);
        for (number, room) in (1..).zip(["a", "b", "a", "a"]) {
            history.add(line(number, room));
        }
        assert_eq!(history.after("a", 0), [line(3, "a"), line(4, "a")]);
        assert_eq!(history.after("a", 3), [line(4, "a")]);
        assert!(history.after("c", 0).is_empty());
        assert_eq!(history.all(), [&line(2, "b"), &line(3, "a"), &line(4, "a")]);
        assert_eq!((history.len(), history.last()), (3, 4));
    }

    #[test]
    fn the_room_that_has_been_silent_for_longest_is_forgotten() {
        let mut history = History::new(2);
        let rooms = u64::try_from(ROOMS).expect("it fits");
        for number in 1..=rooms {
            history.add(line(number, &number.to_string()));
        }
        history.add(line(rooms + 1, "1"));
        history.add(line(rooms + 2, "new"));
        assert_eq!(history.len(), ROOMS + 1);
        assert!(history.after("2", 0).is_empty());
        assert_eq!(history.after("1", 0).len(), 2);
    }
}
