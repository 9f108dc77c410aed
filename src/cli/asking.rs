//! The questions that wait, and what a key means for the first of them.
//!
//! Input: frames about questions, and keys. Output: the lines that ask, and answers. Never: an answer by a key
//! that was pressed before its question could be read; an approval of a question that wants a choice without one; more than
//! [`QUESTIONS`] questions held.

use crate::clock::Moment;
use crate::render::terminal::label;
use crate::render::{Question, question_of};
use framegate_translators::frame::{Body, Decision, Frame, SharedStr};
use framegate_translators::host::Answer;
use std::collections::VecDeque;
use std::time::Duration;
use uuid::Uuid;

/// How many questions are held. Further ones are left to other clients.
const QUESTIONS: usize = 256;

/// How long a question must have been shown before a key answers it.
const READABLE: Duration = Duration::from_millis(300);

/// A question that waits.
#[derive(Debug)]
struct Open {
    run: Uuid,
    question: Question,
    /// Since when it is shown.
    shown: Option<Moment>,
    /// The answer is on its way.
    is_sent: bool,
    /// What was chosen for the questions to the user that are answered.
    answers: Vec<Vec<String>>,
    /// What is chosen for the next one, if it takes several.
    chosen: Vec<usize>,
}

/// The questions that wait, oldest first.
#[derive(Debug, Default)]
pub(super) struct Asking(VecDeque<Open>);

/// What to do after a key.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Act {
    /// The key has no meaning now.
    Nothing,
    /// Ask again, because something was chosen.
    Redraw,
    /// The question is left to other clients.
    Skip(String),
    /// Send this answer.
    Send { run: Uuid, approval: SharedStr, answer: Answer },
}

impl Asking {
    /// Takes a frame. Returns whether it asks a question that is left to other clients, because too many wait.
    pub(super) fn frame(&mut self, frame: &Frame) -> bool {
        let run = frame.stream.id;
        match &frame.body {
            Body::ApprovalRequested(request) => {
                let question = question_of(request);
                let is_known = |open: &Open| open.run == run && open.question.approval_id == question.approval_id;
                if self.0.iter().any(is_known) {
                    return false;
                }
                if self.0.len() >= QUESTIONS {
                    return true;
                }
                let (answers, chosen) = (Vec::new(), Vec::new());
                self.0.push_back(Open { run, question, shown: None, is_sent: false, answers, chosen });
            }
            Body::ApprovalResolved(answer) => self.settled(run, &answer.approval_id),
            Body::SessionEnded(_) => self.0.retain(|open| open.run != run),
            _ => {}
        }
        false
    }

    /// The question is over.
    pub(super) fn settled(&mut self, run: Uuid, approval: &str) {
        self.0.retain(|open| open.run != run || &*open.question.approval_id != approval);
    }

    /// The answer was not taken: the question still waits.
    pub(super) fn not_sent(&mut self, run: Uuid, approval: &str) {
        let is_it = |open: &&mut Open| open.run == run && &*open.question.approval_id == approval;
        if let Some(open) = self.0.iter_mut().find(is_it) {
            open.is_sent = false;
            open.answers.clear();
            open.chosen.clear();
        }
    }

    /// The lines that ask the first question. From now on, it counts as shown.
    pub(super) fn lines(&mut self) -> Vec<String> {
        let waiting = self.0.len();
        let Some(open) = self.0.front_mut() else { return Vec::new() };
        open.shown.get_or_insert_with(Moment::now);
        let more = if waiting > 1 { format!(" ({} more wait)", waiting - 1) } else { String::new() };
        let run = label(open.run);
        if open.is_sent {
            return vec![format!("? {run}: the answer is on its way{more}")];
        }
        let question = &open.question;
        let Some(asked) = question.asked.get(open.answers.len()) else {
            let subject = question.subject.lines().next().unwrap_or_default();
            let tool = if question.tool.is_empty() { "the agent" } else { &question.tool };
            return vec![
                format!("? {run}: {tool} {subject}{more}"),
                "  y approve · n reject · a approve for the session · s skip".to_owned(),
            ];
        };
        let choices: Vec<String> = asked
            .choices
            .iter()
            .enumerate()
            .map(|(nth, choice)| {
                let mark = if open.chosen.contains(&nth) { "✓" } else { "" };
                format!("{}{mark} {choice}", nth + 1)
            })
            .collect();
        let keys = match (asked.choices.len(), asked.takes_several) {
            (0, _) => "it wants a text, which other clients can send · n reject · s skip".to_owned(),
            (count, false) => format!("1-{count} choose · n reject · s skip"),
            (count, true) => format!("1-{count} choose, then Enter · n reject · s skip"),
        };
        vec![format!("? {run}: {} {}{more}", asked.text, choices.join(" · ")), format!("  {keys}")]
    }

    /// What a key means.
    pub(super) fn key(&mut self, key: u8) -> Act {
        self.key_after(key, READABLE)
    }

    fn key_after(&mut self, key: u8, readable: Duration) -> Act {
        let Some(open) = self.0.front_mut() else { return Act::Nothing };
        if open.is_sent || open.shown.is_none_or(|shown| shown.elapsed() < readable) {
            return Act::Nothing;
        }
        let wants_choice = !open.question.asked.is_empty();
        match key {
            b's' => {
                let tool = open.question.tool.to_string();
                self.0.pop_front();
                Act::Skip(tool)
            }
            b'n' => open.send(decided(Decision::Rejected)),
            b'y' if !wants_choice => open.send(decided(Decision::Approved)),
            b'a' if !wants_choice => open.send(Answer { scope: Some("session".into()), ..decided(Decision::Approved) }),
            b'1'..=b'9' if wants_choice => open.choose(usize::from(key - b'1')),
            b'\r' | b'\n' if wants_choice && !open.chosen.is_empty() => open.next(),
            _ => Act::Nothing,
        }
    }
}

/// An answer that is only a decision.
fn decided(decision: Decision) -> Answer {
    Answer { decision, reason: None, scope: None, answers: Vec::new() }
}

impl Open {
    fn send(&mut self, answer: Answer) -> Act {
        self.is_sent = true;
        Act::Send { run: self.run, approval: self.question.approval_id.clone(), answer }
    }

    fn choose(&mut self, choice: usize) -> Act {
        let Some(asked) = self.question.asked.get(self.answers.len()).filter(|asked| choice < asked.choices.len())
        else {
            return Act::Nothing;
        };
        match self.chosen.iter().position(|chosen| *chosen == choice) {
            Some(at) => drop(self.chosen.remove(at)),
            None => self.chosen.push(choice),
        }
        if asked.takes_several { Act::Redraw } else { self.next() }
    }

    /// The next question to the user; the answers if there is none.
    fn next(&mut self) -> Act {
        let Some(asked) = self.question.asked.get(self.answers.len()) else { return Act::Nothing };
        self.chosen.sort_unstable();
        let chosen = std::mem::take(&mut self.chosen);
        self.answers.push(chosen.iter().filter_map(|nth| asked.choices.get(*nth).cloned()).collect());
        if self.answers.len() < self.question.asked.len() {
            // The next one must be read first too.
            self.shown = None;
            return Act::Redraw;
        }
        let answers = std::mem::take(&mut self.answers);
        self.send(Answer { answers, ..decided(Decision::Approved) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use framegate_translators::frame::{ApprovalRequested, Provider, Session, Stream, StreamKind};
    use framegate_translators::json::to_raw;
    use serde_json::{Value, json};
    use std::sync::Arc;

    fn asked(id: &str, args: &Value) -> Frame {
        let session = Arc::new(Session { id: Uuid::from_u128(1), name: "".into() });
        let provider = Provider { name: "", title: "" };
        let stream = Stream { kind: StreamKind::Session, id: Uuid::from_u128(1), session, origin_run: None, provider };
        let request = ApprovalRequested {
            approval_id: id.into(),
            tool_id: None,
            tool_name: "Bash".into(),
            args: to_raw(args),
            reason: None,
        };
        let body = Body::ApprovalRequested(Box::new(request));
        Frame { stream: Arc::new(stream), seq: 1, timestamp_ms: 0, parent_tool_id: None, given_id: None, body }
    }

    fn press(asking: &mut Asking, keys: &str) -> Vec<Act> {
        let mut press = |key| {
            asking.lines();
            asking.key_after(key, Duration::ZERO)
        };
        keys.bytes().map(&mut press).collect()
    }

    fn answer(act: &Act) -> Answer {
        match act {
            Act::Send { answer, .. } => answer.clone(),
            _ => panic!("{act:?}"),
        }
    }

    #[test]
    fn keys_answer_the_first_question() {
        for (key, expected) in [
            ("y", decided(Decision::Approved)),
            ("n", decided(Decision::Rejected)),
            ("a", Answer { scope: Some("session".into()), ..decided(Decision::Approved) }),
        ] {
            let mut asking = Asking::default();
            asking.frame(&asked("1", &json!({"command": "ls"})));
            asking.frame(&asked("1", &json!({"command": "ls"})));
            assert!(asking.lines()[0].contains("Bash ls") && !asking.lines()[0].contains("more"));
            assert_eq!(press(&mut asking, "1x")[0], Act::Nothing);
            assert_eq!(answer(&press(&mut asking, key)[0]), expected);
            // Not twice.
            assert_eq!(press(&mut asking, key)[0], Act::Nothing);
            asking.not_sent(Uuid::from_u128(1), "1");
            assert_eq!(answer(&press(&mut asking, key)[0]), expected);
            asking.settled(Uuid::from_u128(1), "1");
            assert!(asking.lines().is_empty());
        }
    }

    #[test]
    fn a_question_must_be_shown_before_it_can_be_answered() {
        let mut asking = Asking::default();
        asking.frame(&asked("1", &json!({})));
        assert_eq!(asking.key_after(b'y', Duration::ZERO), Act::Nothing);
        asking.lines();
        assert_eq!(asking.key(b'y'), Act::Nothing);
        std::thread::sleep(READABLE);
        assert!(matches!(asking.key(b'y'), Act::Send { .. }));
    }

    #[test]
    fn choices_are_made_one_question_after_the_other() {
        let options = json!([{"label": "Red"}, {"label": "Blue"}]);
        let args = json!({"questions": [
            {"question": "Which?", "options": options},
            {"question": "All?", "options": options, "multiSelect": true},
        ]});
        let mut asking = Asking::default();
        asking.frame(&asked("1", &args));
        assert!(asking.lines()[0].contains("Which? 1 Red · 2 Blue"));
        assert_eq!(press(&mut asking, "y3")[..], [Act::Nothing, Act::Nothing]);
        let acts = press(&mut asking, "2\r21");
        assert_eq!(acts[..3], [Act::Redraw, Act::Nothing, Act::Redraw]);
        assert!(asking.lines()[0].contains("All? 1✓ Red · 2✓ Blue"));
        let sent = press(&mut asking, "\r");
        assert_eq!(answer(&sent[0]).answers, [vec!["Blue"], vec!["Red", "Blue"]]);
    }

    #[test]
    fn questions_beyond_the_limit_are_left_to_other_clients() {
        let mut asking = Asking::default();
        let mut ask = |nth: usize| asking.frame(&asked(&nth.to_string(), &json!({"command": nth.to_string()})));
        assert!((0..QUESTIONS).all(|nth| !ask(nth)));
        assert!(ask(QUESTIONS) && !ask(0));
        assert!(asking.lines()[0].contains("Bash 0 (255 more wait)"));
    }

    #[test]
    fn a_skipped_question_makes_room_for_the_next() {
        let mut asking = Asking::default();
        asking.frame(&asked("1", &json!({"command": "one"})));
        asking.frame(&asked("2", &json!({"command": "two"})));
        assert!(asking.lines()[0].contains("one (1 more wait)"));
        assert_eq!(press(&mut asking, "s")[0], Act::Skip("Bash".to_owned()));
        assert!(asking.lines()[0].contains("two"));
    }
}
