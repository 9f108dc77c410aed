//! Appends whose answers are lost.

use crate::proxy::{Proxy, frames};
use crate::servers::{Costs, Servers};
use crate::simulate;
use framegate::log::LogError;
use std::time::Duration;

#[test]
fn frames_that_are_sent_again_with_other_times_have_the_status_with_which_they_were_stored() {
    simulate(async {
        let servers = Servers::new(Costs::MEASURED);
        let lease = Duration::from_secs(15);
        let proxies = [Proxy::start(&servers, 0, lease).await, Proxy::start(&servers, 1, lease).await];
        let (first, second) = (frames(1_000), frames(6_000));
        servers.lose_answer(Duration::from_secs(2));
        let lost = proxies[0].runs.append(&first).await;
        assert!(matches!(lost, Err(LogError::Unreachable { .. })));
        // The frames are heard while they are sent again.
        servers.delay(Duration::from_secs(5));
        let refused = proxies[0].runs.append(&second).await;
        assert!(matches!(refused, Err(LogError::Sequence { .. })), "they are stored already");
        let statuses = proxies.map(|proxy| {
            let entries = proxy.runs.newest_first();
            serde_json::to_value(entries[0].status().clone()).unwrap()
        });
        assert_eq!(statuses[0], statuses[1], "both proxies say the same");
        assert_eq!((&statuses[0]["updated_at_ms"], &statuses[0]["state"]), (&1_000.into(), &"completed".into()));
    });
}
