//! `allod completions` and `allod man`.

use crate::{Scratch, run, stderr, stdout};
use std::process::Command;

#[test]
fn every_shell_gets_a_script_and_another_one_is_refused() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let output = run(&["completions", shell]);
        assert!(output.status.success(), "{shell}: {}", stderr(&output));
        for word in ["compare", "replay", "threshold"] {
            assert!(stdout(&output).contains(word), "{word} for {shell}");
        }
    }
    let output = run(&["completions", "csh"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("possible values: bash"), "{}", stderr(&output));
}

#[test]
fn bash_completes_words_and_options() {
    let script = Scratch::new("completions.bash");
    std::fs::write(&script.0, run(&["completions", "bash"]).stdout).unwrap();
    for (words, expected) in
        [("allod ben", "bench"), ("allod bench re", "region"), ("allod run --to", "--top")]
    {
        let last = words.rsplit(' ').next().unwrap();
        let line = format!(
            "source {}; COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); \
             _allod allod {last} ''; echo ${{COMPREPLY[@]}}",
            script.name()
        );
        let output = Command::new("bash").args(["-c", &line]).output().expect("bash is there");
        assert_eq!(stdout(&output).trim(), expected, "{words}: {}", stderr(&output));
    }
}

#[test]
fn each_word_of_the_command_has_a_manual_page() {
    let folder = std::env::temp_dir().join(format!("allod-man-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let output = run(&["man", folder.to_str().unwrap()]);
    assert!(output.status.success(), "{}", stderr(&output));
    let page = |name: &str| std::fs::read_to_string(folder.join(name)).expect(name);
    assert!(page("allod.1").contains("compare"));
    assert!(page("allod-run.1").contains("children"));
    assert!(page("allod-bench-heap.1").contains("quick"));
    assert_eq!(stdout(&run(&["man"])), page("allod.1"));
    assert!(!folder.join("allod-parts.1").exists(), "what help does not show has no page");
    std::fs::remove_dir_all(&folder).unwrap();
    let output = run(&["man", folder.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("cannot write into"), "{}", stderr(&output));
}
