//! A design: the factors of an experiment, and the arm of each point.

use super::factor::{FACTORS, Factor, independent};
use super::level::{Level, Library};
use super::point::Points;
use super::settings;
use crate::builds::{Builds, Built, Goal, Product, Wanted, git};
use crate::model::Arm;
use crate::process::preloadable;
use crate::program;
use crate::subject::{self, SYSTEM, Subject};
use std::path::{Path, PathBuf};

/// The factors, and what all points have in common.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Design {
    /// What all points have in common.
    pub shared: Level,
    /// What is varied.
    pub factors: Vec<Factor>,
    /// The combinations and their names.
    pub points: Points,
}

/// What the points of a design are made of.
#[derive(Clone, Debug)]
pub struct Parts<'a> {
    /// The allocators that a level may name.
    pub subjects: &'a [Subject],
    /// Where builds come from, if a point is built.
    pub builds: Option<&'a Builds>,
    /// The workload's program; none for workloads that come with the laboratory.
    pub program: Option<&'a Path>,
    /// Whether the workloads are rows within the command.
    pub within: bool,
}

/// A point that is ready except for its build.
#[derive(Clone, Debug)]
pub struct Prepared {
    arm: Arm,
    wanted: Option<Wanted>,
    program: Option<PathBuf>,
}

impl Design {
    /// All combinations of two to six factors.
    ///
    /// # Errors
    /// When there are fewer or more, one is named twice, or two set the same thing.
    pub fn matrix(shared: Level, factors: Vec<Factor>) -> Result<Self, String> {
        if !FACTORS.contains(&factors.len()) {
            let (least, most) = (FACTORS.start(), FACTORS.end());
            let hint = if factors.len() == 1 { "; one factor is `allod ab`" } else { "" };
            return Err(format!(
                "a matrix has {least} to {most} factors, but {} given{hint}",
                match factors.len() {
                    0 => "none is".into(),
                    1 => "one is".into(),
                    n => format!("{n} are"),
                }
            ));
        }
        independent(&factors)?;
        let names: Vec<&str> = factors.iter().map(|f| f.name.as_str()).collect();
        Ok(Self { points: Points::of(&names), shared, factors })
    }

    /// Two variants; the second is compared with the first.
    ///
    /// # Errors
    /// When they are the same.
    pub fn pair(shared: Level, a: Level, b: Level) -> Result<Self, String> {
        let factor = Factor::new("b", a, b).map_err(|_| "--a and --b are the same".to_owned())?;
        Ok(Self { shared, factors: vec![factor], points: Points::pair("a", "b") })
    }

    /// What is changed at a point.
    pub fn level(&self, point: usize) -> Level {
        self.factors.iter().enumerate().fold(self.shared.clone(), |level, (i, factor)| {
            level.with(if point >> i & 1 == 1 { &factor.on } else { &factor.off })
        })
    }

    fn levels(&self) -> Vec<Level> {
        (0..self.points.count()).map(|point| self.level(point)).collect()
    }

    /// Whether something has to be built.
    pub fn is_built(&self) -> bool {
        self.levels().iter().any(Level::is_built)
    }

    /// Whether a commit is named, which needs a repository.
    pub fn names_commit(&self) -> bool {
        self.levels().iter().any(|level| level.commit.is_some())
    }

    /// Prepares an arm for each point, without building.
    ///
    /// # Errors
    /// When a level names something that does not exist, or that has no meaning here.
    pub fn prepare(&self, parts: &Parts) -> Result<Vec<Prepared>, String> {
        let levels = self.levels();
        // Programs are measured as they are, unless a level has something that only Allod
        // understands.
        let settings = levels.iter().flat_map(|l| &l.variables);
        let on_allod = parts.program.is_none()
            || settings.into_iter().any(|(name, _)| name.starts_with(settings::PREFIX));
        let allocator = if on_allod { "allod" } else { SYSTEM };
        let named = levels.iter().zip(&self.points.names);
        named.map(|(level, name)| prepare(name, level, allocator, parts)).collect()
    }
}

fn prepare(name: &str, level: &Level, allocator: &str, parts: &Parts) -> Result<Prepared, String> {
    let builds_tree = builds_tree(parts);
    if parts.within && (level.library.is_some() || level.features.is_some()) {
        return Err(format!(
            "{name}: rows of frames and regions are part of the command: NAME=VALUE and commit: can change them, \
             allocator:, preload: and features: cannot"
        ));
    }
    if parts.program.is_none()
        && (level.program.is_some() || !level.arguments.is_empty() || builds_tree)
    {
        return Err(
            "program:, argument: and --build need your own program; name it at the end".into()
        );
    }
    if level.is_built() && !builds_tree && level.library.is_some() {
        return Err(format!(
            "{name}: features: and commit: build a library, but another one is named, too"
        ));
    }
    // A commit may know other settings than this version; its library is asked once it is built.
    if level.commit.is_none() {
        settings::check(level)?;
    }
    let wanted = wanted(name, level, parts)?;
    let mut arm = Arm {
        arguments: level.arguments.iter().map(Into::into).collect(),
        environment: level.variables.iter().map(|(n, v)| (n.into(), v.into())).collect(),
        ..Arm::new(name)
    };
    if parts.within {
        arm.origin = "this command".into();
    } else if wanted.is_none() || builds_tree {
        let (library, origin) = library(level, allocator, parts.subjects)?;
        (arm.preload, arm.origin) = (library, origin);
    }
    let mut program = level.program.clone().or_else(|| parts.program.map(Path::to_owned));
    if let Some(named) = program.as_mut().filter(|_| !builds_tree) {
        *named = program::find(named.as_os_str()).map_err(|why| why.message)?;
        let preloads = arm.preload.is_some() || wanted.is_some();
        if let Some(why) = program::out_of_reach(named).filter(|_| preloads) {
            return Err(why);
        }
    }
    Ok(Prepared { arm, wanted, program })
}

fn builds_tree(parts: &Parts) -> bool {
    parts.builds.is_some_and(|builds| matches!(builds.goal, Goal::Tree(_)))
}

/// What is to be built for a level.
fn wanted(name: &str, level: &Level, parts: &Parts) -> Result<Option<Wanted>, String> {
    let Some(builds) = parts.builds else { return Ok(None) };
    if builds_tree(parts) && level.commit.is_none() {
        return Err(format!("{name}: --build needs a commit: at every point, such as commit:HEAD"));
    }
    if !level.is_built() {
        return Ok(None);
    }
    let commit =
        level.commit.as_ref().map(|name| git::commit(&builds.repository, name)).transpose()?;
    Ok(Some(Wanted { commit, features: level.features.clone().unwrap_or_default() }))
}

/// The library that a level preloads, with its description.
fn library(
    level: &Level,
    allocator: &str,
    subjects: &[Subject],
) -> Result<(Option<PathBuf>, String), String> {
    let name = match &level.library {
        Some(Library::File(file)) => {
            let whole =
                file.canonicalize().map_err(|e| format!("preload:{}: {e}", file.display()))?;
            preloadable(&whole)?;
            let origin = whole.display().to_string();
            return Ok((Some(whole), origin));
        }
        Some(Library::Allocator(name)) => name,
        None => allocator,
    };
    let subject = subject::find(subjects, name)?;
    Ok((subject.library.clone(), subject.origin.clone()))
}

impl Prepared {
    /// The point's name.
    pub fn name(&self) -> &str {
        &self.arm.name
    }

    /// The arm, with its build.
    ///
    /// # Errors
    /// When the build fails, leaves no program, or does not know a setting.
    pub fn arm(self, builds: Option<&Builds>) -> Result<(Arm, Option<Built>), String> {
        let Self { mut arm, wanted, program } = self;
        arm.program = program;
        let built = match (builds, wanted) {
            (Some(builds), Some(wanted)) => Some(builds.make(&wanted)?),
            _ => None,
        };
        if let Some(built) = &built {
            arm.commit = Some(built.commit.clone());
            match &built.product {
                Product::Library(library) => {
                    arm.origin = format!("Allod {}", built.origin);
                    preloadable(library)?;
                    arm.preload = Some(library.clone());
                }
                Product::Command(program) => {
                    arm.origin = format!("Allod {}", built.origin);
                    arm.program = Some(program.clone());
                }
                Product::Tree(tree) => {
                    arm.origin = format!("{}; {}", built.origin, arm.origin);
                    arm.folder = Some(tree.clone());
                    let own = arm.program.take().map(|program| tree.join(program));
                    if let Some(missing) = own.as_ref().filter(|program| !program.is_file()) {
                        return Err(format!("the build did not make {}", missing.display()));
                    }
                    arm.program = own;
                }
            }
        }
        settings::taken(&arm)?;
        Ok((arm, built))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn level(text: &str) -> Level {
        Level::parse(text).unwrap()
    }

    fn factors(texts: &[&str]) -> Vec<Factor> {
        texts.iter().map(|t| Factor::parse(t).unwrap()).collect()
    }

    fn subjects() -> Vec<Subject> {
        let subject = |(name, library): (&str, Option<&str>)| Subject {
            name: name.into(),
            library: library.map(Into::into),
            origin: name.into(),
        };
        [("allod", Some("/allod.so")), (SYSTEM, None), ("other", Some("/other.so"))]
            .map(subject)
            .into()
    }

    fn arms(design: &Design, program: Option<&Path>) -> Result<Vec<Arm>, String> {
        let parts = Parts { subjects: &subjects(), builds: None, program, within: false };
        Ok(design.prepare(&parts)?.into_iter().map(|p| p.arm).collect())
    }

    #[test]
    fn a_matrix_has_two_to_six_factors() {
        let of = |n: usize| {
            let texts: Vec<String> = (0..n).map(|i| format!("f{i}=X{i}=0|X{i}=1")).collect();
            let all = texts.iter().map(|t| Factor::parse(t).unwrap()).collect();
            Design::matrix(Level::default(), all).map(|d| d.points.count())
        };
        assert_eq!((of(2), of(6)), (Ok(4), Ok(64)));
        assert!(of(0).unwrap_err().contains("none is given"));
        assert!(of(1).unwrap_err().contains("`allod ab`"));
        assert!(of(7).unwrap_err().contains("7 are given"));
    }

    #[test]
    fn every_point_is_what_its_levels_say_on_top_of_what_is_shared() {
        let shared = level("A=1 ALLOD_ABORT=1");
        let design =
            Design::matrix(shared, factors(&["x=|A=2", "y=allocator:allod|allocator:other"]))
                .unwrap();
        let arms = arms(&design, None).unwrap();
        let of = |arm: &Arm| {
            let a = arm.environment.iter().find(|(name, _)| name == "A").unwrap().1.clone();
            (arm.name.clone(), a.into_string().unwrap(), arm.preload.clone().unwrap())
        };
        let wanted = [
            ("none", "1", "/allod.so"),
            ("x", "2", "/allod.so"),
            ("y", "1", "/other.so"),
            ("x,y", "2", "/other.so"),
        ];
        let wanted = wanted.map(|(n, a, l)| (n.to_owned(), a.to_owned(), PathBuf::from(l)));
        assert_eq!(arms.iter().map(of).collect::<Vec<_>>(), wanted);
    }

    #[test]
    fn a_program_runs_as_it_is_unless_a_setting_is_allods() {
        let program = Some(Path::new("/bin/sh"));
        let preload = |a, b| {
            let design = Design::pair(Level::default(), level(a), level(b)).unwrap();
            let arms = arms(&design, program).unwrap();
            arms.into_iter().map(|a| a.preload).collect::<Vec<_>>()
        };
        assert_eq!(preload("A=1", "A=2"), [None, None]);
        let allod = Some(PathBuf::from("/allod.so"));
        assert_eq!(preload("", "ALLOD_HUGEPAGES=0"), [allod.clone(), allod.clone()]);
        assert_eq!(preload("", "allocator:allod"), [None, allod]);
    }

    #[test]
    fn rows_within_the_command_change_by_variables_and_commits_only() {
        let parts = Parts { subjects: &subjects(), builds: None, program: None, within: true };
        let prepare = |a| {
            let design = Design::pair(Level::default(), level(a), level("A=1")).unwrap();
            design.prepare(&parts)
        };
        for prepared in prepare("ALLOD_HUGEPAGES=0").unwrap() {
            assert_eq!(
                (prepared.arm.preload, prepared.arm.origin.as_str()),
                (None, "this command")
            );
        }
        for wrong in ["allocator:other", "preload:/l.so", "features:"] {
            let why = prepare(wrong).err().unwrap();
            assert!(why.contains("are part of the command"), "{wrong}: {why}");
        }
        assert!(prepare("program:/bin/ls").is_err() && prepare("argument:-v").is_err());
    }

    #[test]
    fn what_does_not_exist_or_has_no_meaning_is_refused() {
        let why = |a: &str, program: Option<&Path>| {
            let design = Design::pair(Level::default(), level(a), level("A=1")).unwrap();
            arms(&design, program).unwrap_err()
        };
        let sh = Some(Path::new("/bin/sh"));
        assert!(why("allocator:alod", None).contains("did you mean allod?"));
        assert!(why("preload:/no/lib.so", None).contains("preload:/no/lib.so: No such file"));
        assert!(why("program:/bin/ls", None).contains("name it at the end"));
        assert!(why("program:/no/such", sh).contains("cannot run /no/such"));
        assert!(why("ALLOD_HUGEPAGES=9", None).contains("expected 0, 1 or 2"));
        assert!(why("features: allocator:system", None).contains("build a library"));
        let same = Design::pair(Level::default(), level("A=1"), level(" A=1")).unwrap_err();
        assert_eq!(same, "--a and --b are the same");
    }
}
