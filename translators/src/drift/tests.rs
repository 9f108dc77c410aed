//! Drift that is cached for a shape equals the result of a full comparison.

use super::*;
use crate::framing::{Limits, Reader, Unit};
use crate::json::Json;
use crate::records::{UnitPart, read};
use crate::runners::RUNNERS;
use serde_json::{Value, json};

/// All recordings of a runner.
fn recordings(runner: &Runner) -> Vec<Vec<u8>> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/fixtures/").to_owned() + runner.name;
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let is_one = |path: &std::path::Path| path.is_file() && !path.ends_with("MANIFEST.json");
    paths.iter().filter(|path| is_one(path)).map(|path| std::fs::read(path).unwrap()).collect()
}

fn records(bytes: &[u8]) -> Vec<String> {
    let mut found = Vec::new();
    let mut sink = |unit: Unit<'_>| {
        read(&unit, &mut |part| {
            if let UnitPart::Value { json, .. } = part {
                found.push(json.text().to_owned());
            }
        });
    };
    let mut reader = Reader::sniffing(Limits::default());
    reader.feed(bytes, &mut sink);
    reader.finish(&mut sink);
    found
}

/// A pseudorandom generator with a fixed sequence.
struct Chance(u64);

impl Chance {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound.max(1)
    }
}

/// Changes a value somewhere: adds, removes or renames a field, or replaces a value.
fn change(value: &mut Value, chance: &mut Chance) {
    let at = |chance: &mut Chance, len: usize| (len > 0).then(|| chance.below(len));
    match value {
        Value::Object(map) => {
            let key = at(chance, map.len()).and_then(|at| map.keys().nth(at)).cloned();
            match (key, chance.below(7)) {
                (Some(key), 0) => drop(map.remove(&key)),
                (Some(key), 1) => {
                    let value = map.remove(&key).unwrap_or_default();
                    map.insert(format!("{key}2"), value);
                }
                (_, 2) | (None, _) => drop(map.insert(format!("new{}", chance.below(3)), json!(chance.below(2)))),
                (Some(key), _) => {
                    if let Some(inner) = map.get_mut(&key) {
                        change(inner, chance);
                    }
                }
            }
        }
        Value::Array(list) => match (at(chance, list.len()), chance.below(4)) {
            (Some(at), 0) => drop(list.remove(at)),
            (Some(at), 1) => {
                let again = list.get(at).cloned().unwrap_or_default();
                list.push(again);
            }
            (Some(at), _) => {
                if let Some(item) = list.get_mut(at) {
                    change(item, chance);
                }
            }
            (None, _) => list.push(json!({"type": "text"})),
        },
        other => {
            let values = [json!(null), json!(true), json!(7), json!(0.5), json!("word"), json!([]), json!({})];
            *other = values.get(chance.below(values.len())).cloned().unwrap_or_default();
        }
    }
}

fn without_cache(runner: &Runner, surface: &'static Surface) -> SurfaceSchemas {
    let SurfaceSchemas { surface, schemas } = SurfaceSchemas::new(runner, surface).unwrap();
    SurfaceSchemas { surface, schemas: Arc::new(Arc::into_inner(schemas).unwrap().caching(0)) }
}

/// A runner with no more recordings than this may have few records.
const FEW: usize = 20;

#[test]
fn a_cached_shape_gives_the_same_drift_as_a_full_comparison() {
    let mut chance = Chance(1);
    for runner in RUNNERS {
        let (mut remembered, mut drifting) = (0, 0);
        let surfaces = runner.surfaces.iter().filter(|surface| !surface.schemas.is_empty());
        let known: Vec<[SurfaceSchemas; 2]> = surfaces
            .map(|surface| [SurfaceSchemas::new(runner, surface).unwrap(), without_cache(runner, surface)])
            .collect();
        for text in recordings(runner).iter().flat_map(|bytes| records(bytes)) {
            // A text with half a surrogate pair stays unchanged.
            let (mut value, times) = serde_json::from_str(&text).map_or((Value::Null, 0), |value| (value, 4));
            let mut texts = vec![text];
            for _ in 0..times {
                change(&mut value, &mut chance);
                // Twice, so that the second one may use what the first one cached.
                texts.extend([value.to_string(), value.to_string()]);
            }
            for text in &texts {
                let json = Json::parse(text).unwrap();
                let Some(fields) = json.object() else { continue };
                let record = Record { json, fields, event_name: None, index: 0, offset: 0 };
                for [known, uncached] in &known {
                    let Some(kind) = (known.surface.kind_of)(&record).filter(|kind| known.schemas.knows(kind)) else {
                        continue;
                    };
                    let is_remembered = known.schemas.is_cached(&kind, record.fields.fields());
                    let drifts = |schemas: &SurfaceSchemas| {
                        let mut drifts = Vec::new();
                        schemas.compare(&record, &mut |key, expected| drifts.push((key.clone(), expected.to_owned())));
                        drifts
                    };
                    let found = drifts(known);
                    assert_eq!(found, drifts(uncached), "{} {kind}: {text}", runner.name);
                    let value = crate::json::value(text.as_bytes()).unwrap();
                    let is_valid = known.schemas.check_value(&kind, &value).is_ok();
                    assert_eq!(found.is_empty(), is_valid, "{} {kind}: {text}", runner.name);
                    remembered += usize::from(is_remembered);
                    drifting += usize::from(is_remembered && !found.is_empty());
                }
            }
        }
        let has_many = recordings(runner).len() > FEW;
        assert!(!has_many || (remembered > 500 && drifting > 100), "{}: {remembered}, {drifting}", runner.name);
    }
}

#[test]
fn nearly_every_record_is_compared_without_a_dom() {
    for runner in RUNNERS {
        let surfaces = runner.surfaces.iter().filter(|surface| !surface.schemas.is_empty());
        let known: Vec<SurfaceSchemas> =
            surfaces.map(|surface| SurfaceSchemas::new(runner, surface).unwrap()).collect();
        let texts: Vec<String> = recordings(runner).iter().flat_map(|bytes| records(bytes)).collect();
        let (mut quick, mut all) = (0, 0);
        for is_second in [false, true] {
            for text in &texts {
                let json = Json::parse(text).unwrap();
                let Some(fields) = json.object() else { continue };
                let record = Record { json, fields, event_name: None, index: 0, offset: 0 };
                for known in &known {
                    let kind = (known.surface.kind_of)(&record).filter(|kind| known.schemas.knows(kind));
                    let Some(kind) = kind else { continue };
                    // A frame of one version has the types of the other one, but not its fields.
                    let value = || crate::json::value(text.as_bytes()).unwrap();
                    if runner.is_of_frames && known.schemas.check_value(&kind, &value()).is_err() {
                        continue;
                    }
                    if is_second {
                        all += 1;
                        let is_remembered = known.schemas.is_cached(&kind, record.fields.fields());
                        quick += usize::from(is_remembered || known.schemas.accepts(&kind, text));
                    } else {
                        known.compare(&record, &mut |_, _| {});
                    }
                }
            }
        }
        let has_many = recordings(runner).len() > FEW;
        // Not every runner has so many records, but nearly all of them have a schema.
        let is_enough = all > 1000 || all * 10 >= texts.len() * 9;
        assert!(quick * 10 >= all * 9 && (is_enough || !has_many), "{}: {quick} of {all}", runner.name);
    }
}
