//! The lines of the server that `docs/frames-for-tasks.md` shows are lines of the server.

#[test]
fn what_the_page_shows_is_in_the_sources() {
    let page = include_str!("../../../docs/frames-for-tasks.md");
    let sources = [include_str!("../src/serve.rs"), include_str!("../src/memory.rs")].concat();
    let shown = page.split("```text\n/// Routes").nth(1).and_then(|rest| rest.split("```").next());
    let lines = shown.expect("the page shows the server").lines().skip(1).map(str::trim);
    let mut code = lines.filter(|line| !line.is_empty() && !line.starts_with("//")).peekable();
    assert!(code.peek().is_some());
    for line in code {
        assert!(sources.contains(line), "not in the sources any more: {line}");
    }
}
