//! Every example runs and ends well; they check their own results.

macro_rules! examples {
    ($($name:ident, $file:literal, $promise:ident;)*) => {
        $(
            #[path = $file]
            mod $name;

            #[test]
            fn $promise() -> Result<(), Box<dyn std::error::Error>> {
                self::Ends::result($name::main())
            }
        )*
    };
}

/// What `main` may return.
trait Ends {
    fn result(self) -> Result<(), Box<dyn std::error::Error>>;
}

impl Ends for () {
    fn result(self) -> Result<(), Box<dyn std::error::Error>> {
        Ok(())
    }
}

impl Ends for std::io::Result<()> {
    fn result(self) -> Result<(), Box<dyn std::error::Error>> {
        Ok(self?)
    }
}

examples! {
    particles, "../examples/particles.rs", the_particle_system_uses_its_slots_again;
    ui_tree, "../examples/ui_tree.rs", the_ui_tree_finds_what_changed;
    request_server, "../examples/request_server.rs", the_request_server_answers;
    tasks, "../examples/tasks.rs", the_tasks_share_two_arenas;
}

#[cfg(feature = "allocator-api2")]
examples! {
    game_loop, "../examples/game_loop.rs", the_game_loop_draws_the_same_on_frames_and_on_malloc;
}
