//! Whether two runs can be compared at all.

use super::pair::is_own;
use crate::machine::Machine;
use crate::model::{ArmRecord, Provenance, Report};
use crate::shard::Shard;

/// What rules a comparison out: another machine, another amount of work, another baseline. A ratio between
/// two programs depends on these. Instruction counts are the same on every machine of an architecture.
pub(super) fn obstacles(then: &Report, now: &Report, counted: bool) -> Vec<String> {
    let mut found = Vec::new();
    let here = &now.machine;
    for machine in machines(then, now.provenance.shard) {
        let facts = [
            ("architecture", &machine.arch, &here.arch),
            ("processor", &machine.cpu, &here.cpu),
            ("number of processors", &machine.cores.to_string(), &here.cores.to_string()),
            ("huge pages", &machine.huge_pages, &here.huge_pages),
        ];
        let those = if counted { &facts[..1] } else { &facts };
        found.extend(those.iter().filter_map(|(name, then, now)| differs(name, then, now)));
    }
    for (name, value) in &now.provenance.settings {
        if let Some(old) = then.provenance.settings.get(name) {
            found.extend(differs(name, old, value));
        }
    }
    for baseline in now.views.iter().map(|shown| &shown.baseline) {
        let origin = |p: &Provenance| {
            p.arms.iter().find(|arm| arm.name == *baseline).map(|arm| arm.origin.clone())
        };
        if let (Some(old), Some(new)) = (origin(&then.provenance), origin(&now.provenance)) {
            found.extend(differs(baseline, &old, &new));
        }
    }
    each_once(found)
}

/// Differences that may explain a change, but do not rule a comparison out.
pub(super) fn differences(then: &Report, now: &Report) -> Vec<String> {
    let (old, new) = (&then.provenance, &now.provenance);
    let mut found = Vec::new();
    for machine in machines(then, new.shard) {
        found.extend(differs("system", &machine.os, &now.machine.os));
        found.extend(differs("governor", &machine.governor, &now.machine.governor));
    }
    found.extend(differs("compiler", &old.compiler, &new.compiler));
    found.extend(differs("flags", &old.flags, &new.flags));
    let same = |arm: &&ArmRecord| {
        let is_it =
            |other: &ArmRecord| other.name == arm.name && other.fingerprint == arm.fingerprint;
        is_own(&arm.name) && !arm.fingerprint.is_empty() && old.arms.iter().any(is_it)
    };
    found.extend(new.arms.iter().filter(same).map(|arm| {
        format!("{} is the very same build as then: whatever changed, its code did not", arm.name)
    }));
    each_once(found)
}

/// The machines that measured the counterparts of this share.
fn machines(then: &Report, shard: Option<Shard>) -> Vec<&Machine> {
    let same = then.parts.iter().filter(|part| part.provenance.shard == shard);
    let same: Vec<&Machine> = same.map(|part| &part.machine).collect();
    match (then.parts.is_empty(), same.is_empty()) {
        (true, _) => vec![&then.machine],
        (false, false) => same,
        (false, true) => then.parts.iter().map(|part| &part.machine).collect(),
    }
}

/// A sentence if both are known and differ.
fn differs(name: &str, then: &str, now: &str) -> Option<String> {
    let known = !then.is_empty() && !now.is_empty();
    (known && then != now).then(|| format!("{name}: {then} then, {now} now"))
}

fn each_once(mut sentences: Vec<String>) -> Vec<String> {
    sentences.dedup();
    sentences
}
