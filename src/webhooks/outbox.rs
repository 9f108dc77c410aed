//! The deliveries of one endpoint that are not over.
//!
//! Input: deliveries, each with the moment at which it is due. Output: the next one that is due, while there are few enough requests. Never: more
//! deliveries than the bound; a delivery that is neither waiting, nor being sent, nor returned.

use super::event::Event;
use crate::clock::Moment;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// One event for one endpoint.
#[derive(Clone, Debug)]
pub(super) struct Delivery {
    pub(super) event: Arc<Event>,
    /// How many attempts have failed.
    pub(super) failed: u32,
    /// Why the last one failed.
    pub(super) error: String,
}

/// The bounds of an [`Outbox`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bounds {
    /// Deliveries, with those that are being sent.
    pub(super) deliveries: usize,
    /// Those that are being sent.
    pub(super) requests: usize,
}

/// The deliveries of one endpoint.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    waiting: BTreeMap<(Moment, u64), Delivery>,
    sending: HashMap<u64, Delivery>,
    next: u64,
}

impl Outbox {
    /// How many deliveries there are.
    pub(super) fn len(&self) -> usize {
        self.waiting.len() + self.sending.len()
    }

    /// Adds a delivery.
    ///
    /// # Errors
    /// There is no room; the delivery comes back.
    pub(super) fn push(&mut self, delivery: Delivery, due: Moment, bounds: Bounds) -> Result<(), Delivery> {
        if self.len() >= bounds.deliveries {
            return Err(delivery);
        }
        self.wait(delivery, due);
        Ok(())
    }

    fn wait(&mut self, delivery: Delivery, due: Moment) {
        self.next += 1;
        self.waiting.insert((due, self.next), delivery);
    }

    /// When the next delivery can be sent; `None` if there is none, or a request must end first.
    pub(super) fn next_due(&self, bounds: Bounds) -> Option<Moment> {
        let can_send = self.sending.len() < bounds.requests;
        self.waiting.keys().next().map(|(due, _)| *due).filter(|_| can_send)
    }

    /// Takes a delivery that is due. It counts as being sent until its key is settled.
    pub(super) fn take_due(&mut self, now: Moment, bounds: Bounds) -> Option<(u64, Delivery)> {
        self.next_due(bounds).filter(|due| *due <= now)?;
        let ((_, key), delivery) = self.waiting.pop_first()?;
        self.sending.insert(key, delivery.clone());
        Some((key, delivery))
    }

    /// Removes a delivery whose attempt is over. `None` if it was removed before.
    pub(super) fn settle(&mut self, key: u64) -> Option<Delivery> {
        self.sending.remove(&key)
    }

    /// Keeps a settled delivery for another attempt.
    pub(super) fn retry(&mut self, delivery: Delivery, due: Moment) {
        self.wait(delivery, due);
    }

    /// Makes all deliveries due.
    pub(super) fn hasten(&mut self, now: Moment) {
        let waiting = std::mem::take(&mut self.waiting);
        self.waiting = waiting.into_iter().map(|((due, key), delivery)| ((due.min(now), key), delivery)).collect();
    }

    /// Removes the deliveries that wait.
    pub(super) fn take_waiting(&mut self) -> Vec<Delivery> {
        std::mem::take(&mut self.waiting).into_values().collect()
    }

    /// Removes all deliveries.
    pub(super) fn take_all(&mut self) -> Vec<Delivery> {
        let sending = std::mem::take(&mut self.sending).into_values();
        let mut all = self.take_waiting();
        all.extend(sending);
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::webhooks::EventKind;
    use proptest::prelude::*;
    use std::collections::BTreeSet;
    use std::time::Duration;

    fn delivery(number: u64) -> Delivery {
        let event = Event {
            id: number.to_string(),
            kind: EventKind::RunCompleted,
            run: uuid::Uuid::nil(),
            at_ms: 0,
            approval: None,
            body: bytes::Bytes::new(),
        };
        Delivery { event: Arc::new(event), failed: 0, error: String::new() }
    }

    #[derive(Clone, Debug)]
    enum Step {
        Push(u64),
        Send,
        Deliver,
        Retry(u64),
        Pass(u64),
        Hasten,
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let step = prop_oneof![
            3 => (0u64..50).prop_map(Step::Push),
            3 => Just(Step::Send),
            1 => Just(Step::Deliver),
            2 => (0u64..50).prop_map(Step::Retry),
            2 => (0u64..50).prop_map(Step::Pass),
            1 => Just(Step::Hasten),
        ];
        proptest::collection::vec(step, 0..200)
    }

    proptest! {
        #[test]
        fn every_delivery_is_in_one_place_and_the_bounds_hold(steps in steps(), deliveries in 1usize..8, requests in 1usize..4) {
            let bounds = Bounds { deliveries, requests };
            let ms = Duration::from_millis;
            let mut now = Moment::now();
            let mut outbox = Outbox::default();
            let mut due: std::collections::HashMap<String, Moment> = Default::default();
            let (mut inside, mut sending) = (BTreeSet::new(), Vec::new());
            for (number, step) in steps.into_iter().enumerate() {
                match step {
                    Step::Push(after) => {
                        let id = number.to_string();
                        let at = now.after(ms(after));
                        let is_full = inside.len() == deliveries;
                        prop_assert_eq!(outbox.push(delivery(number as u64), at, bounds).is_err(), is_full);
                        if !is_full {
                            due.insert(id.clone(), at);
                            inside.insert(id);
                        }
                    }
                    Step::Send => {
                        if let Some((key, delivery)) = outbox.take_due(now, bounds) {
                            prop_assert!(due[&delivery.event.id] <= now, "a delivery is not sent before it is due");
                            sending.push(key);
                        } else {
                            prop_assert!(sending.len() == requests || outbox.next_due(bounds).is_none_or(|next| next > now));
                        }
                        prop_assert!(sending.len() <= requests);
                    }
                    Step::Deliver => {
                        if let Some(key) = sending.pop() {
                            let over = outbox.settle(key).unwrap();
                            prop_assert!(outbox.settle(key).is_none());
                            prop_assert!(inside.remove(&over.event.id));
                        }
                    }
                    Step::Retry(after) => {
                        if let Some(key) = sending.pop() {
                            let again = outbox.settle(key).unwrap();
                            due.insert(again.event.id.clone(), now.after(ms(after)));
                            outbox.retry(again, now.after(ms(after)));
                        }
                    }
                    Step::Pass(time) => now = now.after(ms(time)),
                    Step::Hasten => {
                        outbox.hasten(now);
                        due.values_mut().for_each(|at| *at = (*at).min(now));
                    }
                }
                prop_assert_eq!(outbox.len(), inside.len());
            }
            let left: BTreeSet<String> = outbox.take_all().into_iter().map(|delivery| delivery.event.id.clone()).collect();
            prop_assert_eq!(left, inside);
            prop_assert_eq!(outbox.len(), 0);
        }
    }
}
