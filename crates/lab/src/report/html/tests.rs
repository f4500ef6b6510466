//! The page as text; how it looks is seen by tests/reports.sh in a browser.

use super::page;
use crate::model::{Series, metric};
use crate::report::Given;
use crate::report::tests::{given, report};
use crate::views::tests as made_up;

const NASTY: &str = "</style><script>alert(\"1\")</script>&amp;";

fn full() -> Vec<Given> {
    let mut all = given();
    let mut second = report();
    second.series.push(Series {
        suite: "replay".into(),
        workload: NASTY.into(),
        arm: NASTY.into(),
        metric: metric::RESIDENT,
        along: "calls".into(),
        points: vec![[1e3, 100.0], [2e3, 5000.0], [3e3, 400.0]],
    });
    made_up::fail(&mut second, "lifo", NASTY, NASTY);
    all.push(Given { label: NASTY.into(), report: second });
    all
}

/// The names of tags that are opened and of those that are closed, in order.
fn tags(page: &str) -> Vec<&str> {
    let body = page.split_once("</head>").expect("there is a head").1;
    let tags = body.split('<').skip(1).filter(|tag| !tag.starts_with('!'));
    let whole = tags.filter(|tag| !tag.split('>').next().unwrap_or_default().ends_with('/'));
    whole.map(|tag| tag.split([' ', '>', '\n']).next().unwrap_or_default()).collect()
}

#[test]
fn a_page_has_every_section() {
    let page = page(&full());
    for id in ["scorecard", "ratios", "distributions", "memory", "history", "provenance"] {
        assert!(page.contains(&format!("<section id=\"{id}\">")), "{id}");
        assert!(page.contains(&format!("href=\"#{id}\"")), "{id}");
    }
    assert!(page.starts_with("<!DOCTYPE html><html lang=\"en\">"));
}

#[test]
fn every_tag_is_closed_in_its_place() {
    let page = page(&full());
    let mut open = Vec::new();
    for tag in tags(&page) {
        match tag.strip_prefix('/') {
            // It was opened before the head.
            Some("html") => assert!(open.is_empty(), "{open:?}"),
            Some(name) => assert_eq!(open.pop(), Some(name), "{open:?}"),
            None => open.push(tag),
        }
    }
    assert!(open.is_empty(), "{open:?}");
}

#[test]
fn names_stay_names() {
    let page = page(&full());
    assert!(!page.contains("<script") && !page.contains("alert(\"1\")"), "nothing gets out");
    assert!(page.contains("&lt;/style&gt;&lt;script&gt;"), "and everything is shown");
}

#[test]
fn a_page_loads_nothing() {
    let page = page(&full());
    for word in ["http:", "https:", "src=", "url(", "@import", "<link", "<script"] {
        assert!(!page.contains(word), "{word}");
    }
    assert!(page.contains("default-src 'none'"));
}

#[test]
fn a_run_alone_has_no_history_and_one_without_observations_no_distributions() {
    let mut all = given();
    assert!(!page(&all).contains("id=\"history\""));
    all[0].report.observations.clear();
    assert!(!page(&all).contains("id=\"distributions\""));
}
