//! Builds of a small repository made for the test.

use super::*;

/// A repository with two commits of a file, and a cache; both are removed after the test.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("lab-builds-{}-{name}", std::process::id()));
        fs::create_dir_all(folder.join("repository")).unwrap();
        let scratch = Self(folder);
        scratch.git(&["init", "--quiet"]);
        for text in ["one", "two"] {
            fs::write(scratch.0.join("repository/file"), text).unwrap();
            scratch.git(&["add", "file"]);
            scratch.git(&[
                "-c",
                "user.name=t",
                "-c",
                "user.email=t@t",
                "commit",
                "--quiet",
                "-m",
                text,
            ]);
        }
        scratch
    }

    fn git(&self, arguments: &[&str]) {
        let repository = self.0.join("repository");
        let status = Command::new("git").arg("-C").arg(repository).args(arguments).status();
        assert!(status.is_ok_and(|s| s.success()), "git {arguments:?}");
    }

    fn builds(&self, command: &str) -> Builds {
        Builds {
            repository: self.0.join("repository"),
            cache: self.0.join("cache"),
            goal: Goal::Tree(command.into()),
        }
    }

    fn wanted(&self, name: &str) -> Wanted {
        let commit = git::commit(&self.0.join("repository"), name).unwrap();
        Wanted { commit: Some(commit), features: vec!["fast".into()] }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn tree(built: &Built) -> &Path {
    match &built.product {
        Product::Tree(tree) => tree,
        other => panic!("{other:?}"),
    }
}

#[test]
fn each_commit_is_built_once_in_a_worktree_of_its_own() {
    let scratch = Scratch::new("once");
    let builds = scratch.builds("cat file > made; echo $FEATURES >> made; echo x >> ../count");
    for (name, text) in [("HEAD~1", "onefast\n"), ("HEAD", "twofast\n"), ("HEAD", "twofast\n")] {
        let built = builds.make(&scratch.wanted(name)).unwrap();
        assert_eq!(fs::read_to_string(tree(&built).join("made")).unwrap(), text);
        assert_eq!(fs::read_to_string(built.place.join("count")).unwrap(), "x\n", "built once");
        assert!(built.origin.ends_with("with fast"), "{}", built.origin);
    }
    assert!(
        !scratch.0.join("repository/made").exists(),
        "the repository's own files are left alone"
    );
}

#[test]
fn a_build_that_fails_says_why_and_leaves_nothing_behind() {
    let scratch = Scratch::new("fails");
    let builds = scratch.builds("echo no such header; exit 3");
    for _ in 0..2 {
        let why = builds.make(&scratch.wanted("HEAD")).unwrap_err();
        assert!(why.starts_with("the build failed: built from "), "{why}");
        assert!(why.ends_with("no such header"), "{why}");
    }
    let place = builds.cache.join(builds.key(&scratch.wanted("HEAD")));
    assert_eq!(fs::read_dir(place).unwrap().count(), 0);
    let listed = git::git(&scratch.0.join("repository"), ["worktree", "list"]).unwrap();
    assert_eq!(listed.lines().count(), 1, "{listed}");
}

#[test]
fn a_discarded_build_is_gone_for_git_too() {
    let scratch = Scratch::new("discarded");
    let builds = scratch.builds("true");
    let built = builds.make(&scratch.wanted("HEAD")).unwrap();
    assert!(tree(&built).join("file").is_file());
    builds.discard(&built);
    assert_eq!(fs::read_dir(&builds.cache).unwrap().count(), 0);
    let listed = git::git(&scratch.0.join("repository"), ["worktree", "list"]).unwrap();
    assert_eq!(listed.lines().count(), 1, "{listed}");
}

#[test]
fn a_worktree_that_was_left_half_made_is_made_anew() {
    let scratch = Scratch::new("half");
    let builds = scratch.builds("test -e file");
    let wanted = scratch.wanted("HEAD");
    fs::create_dir_all(builds.cache.join(builds.key(&wanted)).join("tree/left")).unwrap();
    let built = builds.make(&wanted).unwrap();
    assert!(!tree(&built).join("left").exists());
}

#[test]
fn what_decides_what_is_built_decides_where_it_is_kept() {
    let scratch = Scratch::new("keys");
    let (one, other) = (scratch.builds("true"), scratch.builds("false"));
    let (old, new) = (scratch.wanted("HEAD~1"), scratch.wanted("HEAD"));
    let plain = Wanted { features: vec![], ..new.clone() };
    let sources = Wanted { commit: None, ..new.clone() };
    let [library, command] =
        [Goal::Library, Goal::Command].map(|goal| Builds { goal, ..one.clone() }.key(&new));
    let mut keys = vec![library, command];
    keys.extend([&old, &new, &plain, &sources].map(|wanted| one.key(wanted)));
    keys.push(other.key(&new));
    for (i, key) in keys.iter().enumerate() {
        assert!(!keys[..i].contains(key), "{keys:?}");
    }
    assert_eq!(one.key(&new), one.key(&new));
}

#[test]
fn a_commit_that_does_not_exist_and_a_folder_without_repository_are_named() {
    let scratch = Scratch::new("names");
    let repository = scratch.0.join("repository");
    let why = git::commit(&repository, "no-such").unwrap_err();
    assert!(why.starts_with("no commit \"no-such\" in "), "{why}");
    assert!(git::commit(&repository, "--all").is_err());
    assert!(git::repository(Path::new("/")).unwrap_err().contains("not a git repository"));
    assert!(!git::state(&repository).ends_with("+changes"));
    fs::write(repository.join("file"), "three").unwrap();
    assert!(git::state(&repository).ends_with("+changes"));
}
