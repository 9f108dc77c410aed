//! What the scripted agent says and does for a prompt.
//!
//! Input: a prompt, and the decisions about its calls. Output: stages, each with a message and perhaps a call, and the pretended results of calls.
//! Never: anything but pretence: the only file exists in this value.

use super::super::dialogue::QUESTIONS;
use serde_json::{Value, json};

/// The file that exists only here.
const NOTES: &str = "/pretend/notes.md";
/// The maximum number of lines in it.
const MAX_LINES: usize = 40;
/// The maximum number of remembered prompts.
const MAX_PROMPTS: usize = 20;
/// The maximum length of a quoted prompt in characters.
const MAX_QUOTE: usize = 80;

const CHANGES: &[&str] = &[
    "add", "change", "create", "delete", "edit", "fix", "modify", "refactor", "remove", "rename", "replace", "save",
    "update", "write",
];
const CHOICES: &[&str] = &["ask", "choose", "pick"];
const COMMANDS: &[&str] = &["build", "command", "execute", "install", "run", "shell"];
const MEMORIES: &[&str] = &["earlier", "recall", "remember", "remind", "repeat"];

/// The question with choices, and the choices.
const QUESTION: &str = "Which colour do you like best?";
const COLOURS: &[(&str, &str)] = &[("Red", "warm"), ("Blue", "cold"), ("Green", "in between")];

/// One call of a pretended tool.
#[derive(Clone, Debug)]
pub(super) struct Call {
    pub(super) id: String,
    pub(super) name: &'static str,
    pub(super) input: Value,
}

impl Call {
    fn argument(&self, name: &str) -> Option<&Value> {
        self.input.get(name)
    }
}

/// One message of the agent, by what it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// Reads the file.
    Read,
    /// Writes the plan; at the end, with every step done.
    Plan { is_done: bool },
    /// Asks for a choice.
    Choose,
    /// Changes the file, if that is allowed.
    Change,
    /// Runs a command, if that is allowed.
    Run,
    /// Says its answer word by word.
    Slow,
    /// Reports a failure of the provider.
    Fail,
    /// Says its answer.
    Answer,
}

impl Stage {
    /// Why the call of this stage needs a permission; `None` if it needs none.
    pub(super) fn question(self) -> Option<&'static str> {
        match self {
            Self::Choose => Some(QUESTION),
            Self::Change => Some("The demo wants to pretend to change a file."),
            Self::Run => Some("The demo wants to pretend to run a command."),
            _ => None,
        }
    }
}

/// A permission mode that the agent knows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Mode {
    /// It asks before it changes the file and runs commands.
    #[default]
    Default,
    /// It only asks before it runs commands.
    AcceptEdits,
    /// It changes nothing.
    Plan,
    /// It does nothing for which it would have to ask.
    DontAsk,
}

impl Mode {
    /// The mode of this name. Unknown ones are the usual one.
    pub(super) fn named(name: &str) -> Self {
        [Self::AcceptEdits, Self::Plan, Self::DontAsk].into_iter().find(|mode| mode.name() == name).unwrap_or_default()
    }

    /// Its name.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::AcceptEdits => "acceptEdits",
            Self::Plan => "plan",
            Self::DontAsk => "dontAsk",
        }
    }
}

/// The decision about a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Decision {
    Allowed,
    Chosen(String),
    Denied(String),
}

/// What a session knows, and what the current prompt asks for.
#[derive(Debug)]
pub(super) struct Script {
    /// The lines of the file.
    notes: Vec<String>,
    /// The earlier prompts of this process, shortened.
    earlier: Vec<String>,
    /// The session that this process continues.
    continued: Option<String>,
    model: Option<String>,
    mode: Mode,
    prompt: String,
    words: u64,
    decisions: Vec<(&'static str, Decision)>,
    recalls: bool,
    is_hint_due: bool,
}

impl Script {
    pub(super) fn new(continued: Option<String>, model: Option<String>, mode: Mode) -> Self {
        Self {
            notes: vec!["# Notes".to_owned()],
            earlier: Vec::new(),
            continued,
            model,
            mode,
            prompt: String::new(),
            words: 0,
            decisions: Vec::new(),
            recalls: false,
            is_hint_due: false,
        }
    }

    /// Takes the next prompt. Returns the stages of its turn.
    pub(super) fn begin(&mut self, prompt: &str) -> Vec<Stage> {
        if !self.prompt.is_empty() {
            if self.earlier.len() == MAX_PROMPTS {
                self.earlier.remove(0);
            }
            self.earlier.push(std::mem::take(&mut self.prompt));
        }
        self.prompt = quoted(prompt);
        self.words = words(prompt);
        self.decisions.clear();
        let lower = prompt.to_lowercase();
        let asks_for =
            |known: &[&str]| lower.split(|letter: char| !letter.is_alphanumeric()).any(|word| known.contains(&word));
        self.recalls = asks_for(MEMORIES);
        let only_plans = self.mode == Mode::Plan;
        let (plans, changes, runs) =
            (only_plans || asks_for(&["plan"]), asks_for(CHANGES) && !only_plans, asks_for(COMMANDS) && !only_plans);
        let mut stages = vec![Stage::Read];
        if plans {
            stages.push(Stage::Plan { is_done: false });
        }
        let chooses = asks_for(CHOICES);
        if chooses {
            stages.push(Stage::Choose);
        }
        if changes {
            stages.push(Stage::Change);
        }
        if runs {
            stages.push(Stage::Run);
        }
        if plans && !only_plans {
            stages.push(Stage::Plan { is_done: true });
        }
        let (is_slow, fails) = (asks_for(&["slow", "slowly"]), asks_for(&["fail"]));
        stages.push(match (fails, is_slow) {
            (true, _) => Stage::Fail,
            (false, true) => Stage::Slow,
            (false, false) => Stage::Answer,
        });
        self.is_hint_due = !(plans || chooses || changes || runs || self.recalls || is_slow);
        stages
    }

    /// Notes that a call was allowed.
    pub(super) fn allowed(&mut self, stage: Stage, call: &Call) {
        let decision = match stage {
            Stage::Choose => Decision::Chosen(quoted(choice_in(&call.input))),
            _ => Decision::Allowed,
        };
        self.decided(call.name, decision);
    }

    /// Notes the decision about a call.
    pub(super) fn decided(&mut self, tool: &'static str, decision: Decision) {
        self.decisions.push((tool, decision));
    }

    /// What the agent thinks in this stage; empty for nothing.
    pub(super) fn thought(&self, stage: Stage) -> String {
        match stage {
            Stage::Read => format!(
                "The prompt has {} {}. I am a script: certain words in it decide what I do.",
                self.words,
                if self.words == 1 { "word" } else { "words" }
            ),
            _ => String::new(),
        }
    }

    /// What the agent says in this stage; empty for nothing.
    pub(super) fn text(&self, stage: Stage) -> String {
        match stage {
            Stage::Read => {
                "This is framegate's demo agent. No model is asked, and every tool only pretends: I read my notes."
                    .to_owned()
            }
            Stage::Plan { is_done: false } => "Here is my plan.".to_owned(),
            Stage::Choose => "First I have a question.".to_owned(),
            Stage::Change => "I would add a line to my notes. May I?".to_owned(),
            Stage::Run => "I would run a command. May I?".to_owned(),
            Stage::Plan { is_done: true } | Stage::Fail => String::new(),
            Stage::Slow => self.slow_answer(),
            Stage::Answer => self.answer(),
        }
    }

    fn slow_answer(&self) -> String {
        let count = |number: u32| number.to_string();
        let numbers: Vec<String> = (1..=60).map(count).collect();
        format!("I count slowly, so that you can interrupt me: {}. {}", numbers.join(" "), self.answer())
    }

    fn answer(&self) -> String {
        let mut all = vec![format!("You said: {}.", self.prompt)];
        for (tool, decision) in &self.decisions {
            all.push(match decision {
                Decision::Allowed => format!("You allowed {tool}, so I pretended to use it."),
                Decision::Chosen(choice) => format!("You chose {choice}."),
                Decision::Denied(why) if why.is_empty() => format!("You did not allow {tool}, so I left it out."),
                Decision::Denied(why) => format!("You did not allow {tool} ({why}), so I left it out."),
            });
        }
        if self.recalls {
            all.push(self.memory());
        }
        if let Some(model) = &self.model {
            all.push(format!("You asked for the model {model}, but the demo has none."));
        }
        if self.is_hint_due {
            all.push(
                "Try a prompt with one of these words: plan, choose, write, run, slow, fail, remember.".to_owned(),
            );
        }
        all.push("This answer is a script's: no model was asked.".to_owned());
        all.join(" ")
    }

    fn memory(&self) -> String {
        let mut all = Vec::new();
        if let Some(session) = &self.continued {
            all.push(format!(
                "A new process continues the session {session}; of what was said before, it only knows that id."
            ));
        }
        if self.earlier.is_empty() {
            all.push("This is the first prompt that I see in this process.".to_owned());
        } else {
            all.push(format!("Earlier you said: {}.", self.earlier.join("; ")));
        }
        all.join(" ")
    }

    /// The call of this stage.
    pub(super) fn call(&self, stage: Stage, id: String) -> Option<Call> {
        let (name, input) = match stage {
            Stage::Read => ("Read", json!({"file_path": NOTES})),
            Stage::Plan { is_done } => ("TodoWrite", json!({"todos": self.plan(is_done)})),
            Stage::Choose => {
                let option = |(label, about): &(&str, &str)| json!({"label": label, "description": about});
                let options: Value = COLOURS.iter().map(option).collect();
                let question =
                    json!({"question": QUESTION, "header": "Colour", "options": options, "multiSelect": false});
                (QUESTIONS, json!({"questions": [question]}))
            }
            Stage::Change => {
                let last = self.notes.last().cloned().unwrap_or_default();
                let new = format!("{last}\n{}", self.new_line());
                ("Edit", json!({"file_path": NOTES, "old_string": last, "new_string": new}))
            }
            Stage::Run => (
                "Bash",
                json!({"command": format!("pretend {}", self.prompt), "description": "Pretend to run a command"}),
            ),
            Stage::Slow | Stage::Fail | Stage::Answer => return None,
        };
        Some(Call { id, name, input })
    }

    fn new_line(&self) -> String {
        format!("- asked for {}", self.prompt)
    }

    fn plan(&self, is_done: bool) -> Value {
        let asked = format!("Do what is asked: {}", self.prompt);
        let steps =
            [("Read the notes", "Reading the notes"), (asked.as_str(), "Doing what is asked"), ("Answer", "Answering")];
        let status = |at: usize| match (is_done, at) {
            (_, 0) | (true, 1) => "completed",
            (false, 1) | (true, 2) => "in_progress",
            _ => "pending",
        };
        let entry = |(at, (content, active)): (usize, &(&str, &str))| json!({"content": content, "status": status(at), "activeForm": active});
        steps.iter().enumerate().map(entry).collect()
    }

    /// Pretends to run the call of this stage. Returns the text for the model and the result as data.
    pub(super) fn pretend(&mut self, stage: Stage, call: &Call) -> (String, Value) {
        match stage {
            Stage::Read => {
                let numbered = self.notes.iter().zip(1..).map(|(line, number)| format!("{number}\t{line}\n"));
                let file = json!({"filePath": NOTES, "content": self.content(), "numLines": self.notes.len(),
                    "startLine": 1, "totalLines": self.notes.len()});
                (numbered.collect(), json!({"type": "text", "file": file}))
            }
            Stage::Choose => {
                let choice = quoted(choice_in(&call.input));
                let result = json!({"questions": call.argument("questions"), "answers": call.argument("answers")});
                (format!("The user chose {choice}."), result)
            }
            Stage::Change => self.change(call),
            Stage::Run => {
                let output = format!(
                    "pretended to run: {}",
                    call.argument("command").and_then(Value::as_str).unwrap_or_default()
                );
                let result = json!({"stdout": output, "stderr": "", "interrupted": false, "isImage": false,
                    "noOutputExpected": false});
                (output, result)
            }
            Stage::Plan { .. } => {
                let todos = call.argument("todos");
                ("The plan is written.".to_owned(), json!({"oldTodos": [], "newTodos": todos}))
            }
            Stage::Slow | Stage::Fail | Stage::Answer => (String::new(), Value::Null),
        }
    }

    fn change(&mut self, call: &Call) -> (String, Value) {
        let (original, at) = (self.content(), self.notes.len());
        let (last, new) = (self.notes.last().cloned().unwrap_or_default(), self.new_line());
        let patch = json!([{"oldStart": at, "oldLines": 1, "newStart": at, "newLines": 2,
            "lines": [format!(" {last}"), format!("+{new}")]}]);
        let result = json!({"filePath": NOTES, "oldString": call.argument("old_string"),
            "newString": call.argument("new_string"), "originalFile": original, "structuredPatch": patch,
            "userModified": false, "replaceAll": false});
        self.notes.push(new);
        if self.notes.len() > MAX_LINES {
            self.notes.remove(1);
        }
        (format!("{NOTES} exists only in the demo; it has the line now."), result)
    }

    fn content(&self) -> String {
        self.notes.iter().flat_map(|line| [line.as_str(), "\n"]).collect()
    }
}

/// The answer to the question with choices, in the input as the host returned it.
fn choice_in(input: &Value) -> &str {
    let answer = input.get("answers").and_then(|answers| answers.get(QUESTION));
    answer.and_then(Value::as_str).unwrap_or("nothing")
}

/// The number of words in a text.
pub(super) fn words(text: &str) -> u64 {
    text.split_whitespace().count() as u64
}

/// A prompt in quotation marks, on one line, shortened.
fn quoted(prompt: &str) -> String {
    let line = prompt.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut short: String = line.chars().take(MAX_QUOTE).collect();
    if short.len() < line.len() {
        short.push('…');
    }
    format!("“{short}”")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_a_prompt_choose_the_stages() {
        let mut script = Script::new(None, None, Mode::Default);
        assert_eq!(script.begin("Hello there"), [Stage::Read, Stage::Answer]);
        assert!(script.text(Stage::Answer).contains("Try a prompt"));
        assert_eq!(script.begin("Fix it, please"), [Stage::Read, Stage::Change, Stage::Answer]);
        assert_eq!(script.begin("Why do failures slow people down? Fail."), [Stage::Read, Stage::Fail]);
        assert_eq!(script.begin("slowly"), [Stage::Read, Stage::Slow]);
        let plan = |is_done| Stage::Plan { is_done };
        let all = [Stage::Read, plan(false), Stage::Choose, Stage::Change, Stage::Run, plan(true), Stage::Answer];
        assert_eq!(script.begin("PLAN, choose, write and run"), all);
        assert_eq!(script.begin("planned rewriting, prefixed runs"), [Stage::Read, Stage::Answer]);
        let mut planner = Script::new(None, None, Mode::named("plan"));
        assert_eq!(planner.begin("Write and run"), [Stage::Read, plan(false), Stage::Answer]);
    }

    #[test]
    fn a_session_remembers_its_prompts_and_its_notes_within_bounds() {
        let mut script = Script::new(None, None, Mode::Default);
        script.begin("remember");
        assert!(script.text(Stage::Answer).contains("the first prompt that I see"));
        for nth in 0..100 {
            script.begin(&format!("write {nth} {}", "x".repeat(200)));
            let call = script.call(Stage::Change, "c".to_owned()).unwrap();
            let (_, result) = script.pretend(Stage::Change, &call);
            assert_eq!(result["structuredPatch"][0]["lines"].as_array().unwrap().len(), 2);
        }
        script.begin("What did I say earlier?");
        let answer = script.text(Stage::Answer);
        assert!(answer.contains("“write 99 xxx") && !answer.contains("“write 79 "), "{answer}");
        assert!(answer.len() < 4096 && script.notes.len() == MAX_LINES);
        let mut continued = Script::new(Some("s-1".to_owned()), Some("opus".to_owned()), Mode::Default);
        continued.begin("remember");
        let answer = continued.text(Stage::Answer);
        assert!(answer.contains("session s-1") && answer.contains("the model opus"), "{answer}");
    }
}
