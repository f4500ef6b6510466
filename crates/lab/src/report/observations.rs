//! Every single observation as CSV, in long form: one value per line, for statistics programs.

use super::Given;

/// The columns, in order.
pub const COLUMNS: [&str; 12] = [
    "run",
    "time",
    "suite",
    "workload",
    "arm",
    "metric",
    "unit",
    "round",
    "position",
    "value",
    "counts",
    "disturbed",
];

/// The observations of all runs, with a line of names at the top.
pub fn csv(all: &[Given]) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(COLUMNS).expect(IN_MEMORY);
    for given in all {
        let time = given.time();
        for o in &given.report.observations {
            let numbers = [o.round.to_string(), o.position.to_string(), o.value.to_string()];
            let [round, position, value] = numbers.each_ref().map(String::as_str);
            let yes = |b: bool| if b { "true" } else { "false" };
            let record = [
                &given.label,
                &time,
                &o.suite,
                &o.workload,
                &o.arm,
                &*o.metric.name,
                &o.metric.unit,
                round,
                position,
                value,
                yes(o.counts),
                yes(o.disturbed),
            ];
            writer.write_record(record).expect(IN_MEMORY);
        }
    }
    let bytes = writer.into_inner().expect(IN_MEMORY);
    String::from_utf8(bytes).expect("names are UTF-8")
}

const IN_MEMORY: &str = "memory takes whatever is written";
