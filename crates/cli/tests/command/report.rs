//! `allod report`: earlier measurements, in every form.

use crate::{Scratch, run, stderr, stdout};

fn measured(name: &str) -> Scratch {
    let file = Scratch::new(name);
    let output = run(&["compare", "--quick", "--only", "allod", "--json", file.name(), "true"]);
    assert!(output.status.success(), "{}", stderr(&output));
    file
}

#[test]
fn a_file_is_shown_as_tables_as_markdown_as_csv_and_as_itself() {
    let file = measured("report.json");
    let report = |options: &[&str]| {
        let output = run(&[&["report", file.name()], options].concat());
        assert!(output.status.success(), "{options:?}: {}", stderr(&output));
        stdout(&output)
    };
    assert!(report(&[]).contains("compare: ratios"), "{}", report(&[]));
    assert!(report(&["--markdown"]).contains("## compare: ratios"));
    assert!(report(&["--scorecard"]).contains("Scorecard: compare"));
    assert!(report(&["--scorecard", "--json"]).contains("\"milestones\""));
    assert!(report(&["--csv", "-"]).starts_with("run,time,suite,"));
    assert!(report(&["--html", "-"]).starts_with("<!DOCTYPE html>"));
    assert_eq!(report(&["--json"]), std::fs::read_to_string(&file.0).unwrap());
}

#[test]
fn a_run_of_the_store_is_shown_by_its_number() {
    let (store, file) = (Scratch::new("report.sqlite"), Scratch::new("kept-run.json"));
    let measured = ["compare", "--quick", "--only", "allod", "--store", store.name()];
    let output = run(&[&measured[..], &["--json", file.name(), "true"]].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    let output = run(&["report", "--json", "--store", store.name(), "1"]);
    assert_eq!(stdout(&output), std::fs::read_to_string(&file.0).unwrap(), "{}", stderr(&output));
    let output = run(&["report", "--store", store.name(), "7"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains('7'), "{}", stderr(&output));
}

#[test]
fn what_measures_writes_a_page_itself() {
    let page = Scratch::new("measured.html");
    let output = run(&["compare", "--quick", "--only", "allod", "--html", page.name(), "true"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let text = std::fs::read_to_string(&page.0).unwrap();
    assert!(text.contains("Observations of true") && text.ends_with("</html>\n"), "{text}");
}

#[test]
fn two_files_are_a_list_in_json() {
    let file = measured("list.json");
    let text = stdout(&run(&["report", "--json", file.name(), file.name()]));
    let list: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(list.as_array().map(Vec::len), Some(2));
}

#[test]
fn what_cannot_be_read_or_written_is_said() {
    let file = measured("refused.json");
    let page = Scratch::new("page.md");
    std::fs::write(&page.0, "no table here\n").unwrap();
    for (arguments, words) in [
        (&["report"][..], "FILE"),
        (&["report", "/no/such.json"], "/no/such.json"),
        (&["report", "/dev/null"], "not a report written by --json"),
        (&["report", "--json", "--markdown", file.name()], "cannot be used with"),
        (&["report", "--csv", "/no/folder/x.csv", file.name()], "/no/folder/x.csv"),
        (
            &["report", "--into", page.name(), file.name()],
            "there is no line <!-- compare table -->",
        ),
    ] {
        let output = run(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(words), "{arguments:?}: {}", stderr(&output));
    }
    assert_eq!(std::fs::read_to_string(&page.0).unwrap(), "no table here\n");
}
