//! The page as text; tests/reports.sh checks its appearance in a browser.

use super::page;
use crate::experiment::{Advice, Effect, Experiment, Matrix, Measured};
use crate::model::{Series, metric};
use crate::report::Given;
use crate::report::tests::{given, report};
use crate::stats::{Ratio, Verdict};
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
    second.experiment = Some(experiment());
    made_up::fail(&mut second, "lifo", NASTY, NASTY);
    all.push(Given { label: NASTY.into(), report: second });
    all
}

fn experiment() -> Experiment {
    let ratio = Ratio { ratio: 1.5, ci95: [1.2, 1.8], verdict: Verdict::Go };
    let names = ["none", "x", NASTY, "both"];
    let point = |name: &str| format!(r#"{{"name": {name:?}, "on": [], "origin": ""}}"#);
    let points: Vec<String> = names.iter().map(|name| point(name)).collect();
    let text = format!(
        r#"{{"factors": [{{"name": "x", "off": "", "on": ""}}, {{"name": {NASTY:?}, "off": "", "on": ""}}],
            "shared": "", "metric": "time", "unit": "ns/op", "threshold": 0.01,
            "points": [{}], "matrices": []}}"#,
        points.join(",")
    );
    let measured =
        |name: &&str| Measured { point: (*name).into(), median: None, stddev: None, ratio };
    let matrix = Matrix {
        workload: NASTY.into(),
        rounds: 6,
        points: names.iter().map(measured).collect(),
        effects: vec![Effect { factors: vec![NASTY.into()], ratio }],
        additivity: Vec::new(),
        advice: Advice { choose: Some("x".into()), reasons: vec![NASTY.into()], warnings: vec![] },
    };
    Experiment { matrices: vec![matrix], ..serde_json::from_str(&text).unwrap() }
}

#[test]
fn an_experiment_has_a_chart_for_each_pair_of_factors_and_its_advice() {
    let page = page(&full());
    assert_eq!(page.matches("aria-label=\"Interaction of").count(), 1);
    assert!(page.contains("if gains added up") && page.contains("Recommended: x."));
}

/// The names of opened and of closed tags, in order.
fn tags(page: &str) -> Vec<&str> {
    let body = page.split_once("</head>").expect("there is a head").1;
    let tags = body.split('<').skip(1).filter(|tag| !tag.starts_with('!'));
    let whole = tags.filter(|tag| !tag.split('>').next().unwrap_or_default().ends_with('/'));
    whole.map(|tag| tag.split([' ', '>', '\n']).next().unwrap_or_default()).collect()
}

#[test]
fn a_page_has_every_section() {
    let page = page(&full());
    for id in
        ["experiments", "scorecard", "ratios", "distributions", "memory", "history", "provenance"]
    {
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
