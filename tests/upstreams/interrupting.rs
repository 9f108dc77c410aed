//! Interruption of runs, with fakes that react to it in different ways.

use crate::client::post;
use crate::started::Started;
use serde_json::json;

const SHORT: &str = "interrupt_grace_ms = 200\nsignal_grace_ms = 300\nexit_grace_ms = 300";

impl Started {
    pub fn interrupt(&self, run: &str) -> u16 {
        post(self.proxy.address, &format!("/v1/runs/{run}/interrupt"), &[], b"").status
    }
}

#[test]
fn a_runner_without_an_interrupt_message_gets_a_signal_and_is_then_killed() {
    for (script, how) in [("hang", "signal 2"), ("deaf", "signal 9")] {
        let started = Started::fake(script, SHORT);
        let run = started.run();
        assert_eq!(started.interrupt(&run), 202, "{script}");
        let status = started.wait_for_end(&run);
        assert_eq!(
            (&status["state"], &status["error_code"]),
            (&json!("interrupted"), &json!("interrupted")),
            "{status}"
        );
        assert!(status["message"].as_str().unwrap().contains(how), "{status}");
        started.wait_for_no_process();
        let frames = started.events(&run, "frames.v2");
        assert_eq!(frames.iter().filter(|frame| frame["type"] == json!("session_ended")).count(), 1);
        assert_eq!(started.interrupt(&run), 409, "the run has ended");
    }
}

#[test]
fn a_second_interruption_changes_nothing() {
    let started = Started::fake("deaf", "signal_grace_ms = 1000");
    let run = started.run();
    assert_eq!(started.interrupt(&run), 202);
    assert_eq!(started.interrupt(&run), 202);
    let status = started.wait_for_end(&run);
    assert!(status["message"].as_str().unwrap().contains("signal 9"), "{status}");
}
