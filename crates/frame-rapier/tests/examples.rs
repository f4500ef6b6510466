//! The example runs and ends well; it checks its own results.

#[path = "../examples/physics_world.rs"]
mod physics_world;

#[test]
fn the_physics_world_gathers_the_same_on_frames_and_on_vectors() {
    physics_world::main();
}
