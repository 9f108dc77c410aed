//! Which literals are looked for together.
//!
//! In: literals. Out: groups, each with the bytes that its literals have in each place of a window. Two literals of one group open
//! windows that neither of them has, so the groups are made such that as few windows as possible are left over in the
//! bytes that records have. Never: a literal in no group, a window of a literal that its group is not open to.

use super::Wanted;

/// How many bytes a window has, and how many groups there are.
pub(super) const PLACES: usize = 8;
pub(super) const GROUPS: usize = 16;

/// How often the literals may be shared out anew, one by one.
const ROUNDS: usize = 2;

/// Literals that are looked for together.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Group {
    pub(super) classes: [Class; PLACES],
}

/// The bytes that a place is open to: those of which both halves are among these.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Class {
    low: u16,
    high: u16,
    /// Any byte may stand here, and none: a literal is shorter than the window.
    pub(super) is_open: bool,
    /// About what share of all bytes they are.
    share: f64,
}

/// The end of a literal: for each place the byte in both its cases, or none where the literal is shorter.
type Window = [Option<(u8, u8)>; PLACES];

/// Shares the literals out.
pub(super) fn of(literals: &[Wanted]) -> [Group; GROUPS] {
    let mut windows: Vec<Window> = literals.iter().map(window).collect();
    windows.sort_unstable();
    windows.dedup();
    // Those that are found most often first: they need a group for themselves.
    windows.sort_by(|one, other| Group::of(&[*other]).share().total_cmp(&Group::of(&[*one]).share()));
    let mut members: [Vec<Window>; GROUPS] = Default::default();
    let mut groups = [Group::default(); GROUPS];
    for window in windows {
        add(&mut groups, &mut members, window);
    }
    for _ in 0..ROUNDS {
        let before: f64 = groups.iter().map(Group::share).sum();
        for from in 0..GROUPS {
            for window in members.get(from).cloned().unwrap_or_default() {
                // It goes where it costs least, which mostly is where it was.
                if let (Some(members), Some(group)) = (members.get_mut(from), groups.get_mut(from)) {
                    members.retain(|member| *member != window);
                    *group = Group::of(members);
                }
                add(&mut groups, &mut members, window);
            }
        }
        if groups.iter().map(Group::share).sum::<f64>() >= before * 0.99 {
            break;
        }
    }
    groups
}

/// Adds a window where it costs least.
fn add(groups: &mut [Group; GROUPS], members: &mut [Vec<Window>; GROUPS], window: Window) {
    let cost = |group: &Group| group.with(&window).share() - group.share();
    let best = groups.iter_mut().zip(members).min_by(|(one, _), (other, _)| cost(one).total_cmp(&cost(other)));
    if let Some((group, members)) = best {
        *group = group.with(&window);
        members.push(window);
    }
}

fn window(wanted: &Wanted) -> Window {
    let mut window = Window::default();
    for (place, byte) in window.iter_mut().rev().zip(wanted.text.iter().rev()) {
        *place =
            Some(if wanted.is_exact { (*byte, *byte) } else { (byte.to_ascii_lowercase(), byte.to_ascii_uppercase()) });
    }
    window
}

impl Group {
    fn of(windows: &[Window]) -> Self {
        windows.iter().fold(Self::default(), |group, window| group.with(window))
    }

    /// The group with one more window.
    fn with(&self, window: &Window) -> Self {
        let mut group = *self;
        for (class, bytes) in group.classes.iter_mut().zip(window) {
            match bytes {
                Some((lower, upper)) => {
                    class.add(*lower);
                    class.add(*upper);
                }
                None => (class.is_open, class.share) = (true, 1.0),
            }
        }
        group
    }

    /// About what share of all places it is left over at.
    fn share(&self) -> f64 {
        self.classes.iter().map(|class| class.share).product()
    }
}

impl Class {
    pub(super) fn has(&self, byte: u8) -> bool {
        self.is_open || (self.low & 1 << (byte & 0xF) != 0 && self.high & 1 << (byte >> 4) != 0)
    }

    fn add(&mut self, byte: u8) {
        if self.has(byte) {
            return;
        }
        let (low, high) = (byte & 0xF, byte >> 4);
        if self.low & 1 << low == 0 {
            self.low |= 1 << low;
            self.share +=
                (0..16).filter(|high| self.high & 1 << high != 0).map(|high| share(high << 4 | low)).sum::<f64>();
        }
        if self.high & 1 << high == 0 {
            self.high |= 1 << high;
            self.share += (0..16).filter(|low| self.low & 1 << low != 0).map(|low| share(high << 4 | low)).sum::<f64>();
        }
    }
}

/// About what share of the bytes of records a byte is.
fn share(byte: u8) -> f64 {
    match byte {
        b'"' | b'e' | b't' => 0.06,
        b' ' | b'a' | b'i' | b'n' | b'o' | b'r' | b's' | b'_' => 0.04,
        b'd' | b'l' | b'p' | b'u' | b'c' | b'm' | b',' | b':' | b'0'..=b'9' => 0.02,
        b'a'..=b'z' | b'-' | b'.' | b'/' | b'\\' => 0.01,
        b'A'..=b'Z' | 0x21..=0x7E => 0.003,
        _ => 0.001,
    }
}
