//! Contacts of a physics world, gathered in a frame, for rapier3d 0.36.
//!
//! A step of a few thousand bodies yields thousands of contacts, which sounds, damage and
//! particles read once. They are one slice in the frame, and are freed with it.
//! `examples/physics_world.rs` steps 2,000 bodies.

use allod_frame::{Frame, OutOfMemory};
use rapier3d::geometry::{ColliderHandle, ContactPair, NarrowPhase};
use rapier3d::math::{Real, Vector};

/// One point where two colliders touch or nearly do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contact {
    /// The first collider.
    pub first: ColliderHandle,
    /// The second collider.
    pub second: ColliderHandle,
    /// The point, in the space of the first collider.
    pub point: Vector,
    /// The direction from the first to the second collider, in the space of the world.
    pub normal: Vector,
    /// The distance along the normal: negative where they overlap.
    pub distance: Real,
}

/// Gathers all contact points of rigid bodies in a frame, in the order of the narrow phase.
///
/// One slice of [`Contact`]s, which grows in place while it is filled; nothing else is allocated.
///
/// # Panics
/// When memory is out.
///
/// ```
/// use allod_frame::Arena;
/// use allod_frame_rapier::contacts;
/// use rapier3d::prelude::*;
/// let mut world = PhysicsWorld::new();
/// world.insert(RigidBodyBuilder::fixed(), ColliderBuilder::cuboid(5.0, 0.5, 5.0));
/// let ball = RigidBodyBuilder::dynamic().translation(Vector::Y * 0.99);
/// world.insert(ball, ColliderBuilder::ball(0.5));
/// world.step();
/// Arena::new().frame(|frame| {
///     let found = contacts(frame, &world.narrow_phase);
///     assert_eq!(found.len(), 1);
///     assert!(found[0].distance < 0.0 && found[0].normal.y.abs() > 0.99);
/// });
/// ```
pub fn contacts<'f>(frame: &Frame<'f>, narrow_phase: &NarrowPhase) -> &'f mut [Contact] {
    frame.alloc_slice_from_iter(each(narrow_phase))
}

/// [`contacts`] that returns an error when memory is out.
///
/// # Errors
/// When memory is out.
pub fn try_contacts<'f>(
    frame: &Frame<'f>,
    narrow_phase: &NarrowPhase,
) -> Result<&'f mut [Contact], OutOfMemory> {
    frame.try_alloc_slice_from_iter(each(narrow_phase))
}

/// An iterator over all contact points of rigid bodies, for your own collections.
pub fn each(narrow_phase: &NarrowPhase) -> impl Iterator<Item = Contact> {
    narrow_phase.contact_pairs().flat_map(of_pair)
}

fn of_pair(pair: &ContactPair) -> impl Iterator<Item = Contact> {
    pair.manifolds().iter().flat_map(|manifold| {
        manifold.points.iter().map(|point| Contact {
            first: pair.collider1,
            second: pair.collider2,
            point: point.local_p1,
            normal: manifold.data.normal,
            distance: point.dist,
        })
    })
}

/// The programs on this crate's page are compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod page_of_the_crate {}
