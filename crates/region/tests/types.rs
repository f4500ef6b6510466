//! Types by the thousand. Alone in its process, whose table of types it fills.

use allod_region::types::{self, FIRST_ALIGNED, FIRST_USER, MOST, Refused, Type};

#[test]
fn a_type_whose_alignment_is_above_8_is_known_by_its_id() {
    let plain = Type::fixed(c"plain", 1, 0);
    let aligned = Type { align: 16, ..Type::fixed(c"aligned", 1, 0) };
    let (mut ids, mut ids_aligned) = (FIRST_USER..FIRST_ALIGNED, FIRST_ALIGNED..MOST);
    for _ in 0..100 {
        assert_eq!(types::register(&plain).ok(), ids.next());
        assert_eq!(types::register(&aligned).ok(), ids_aligned.next());
    }
    // One kind is full without the other.
    ids_aligned.for_each(|id| assert_eq!(types::register(&aligned), Ok(id)));
    assert_eq!(types::register(&aligned), Err(Refused::Full));
    ids.for_each(|id| assert_eq!(types::register(&plain), Ok(id)));
    assert_eq!(types::register(&plain), Err(Refused::Full));
    // SAFETY: both are registered.
    let aligns = unsafe { [types::record(FIRST_ALIGNED - 1), types::record(MOST - 1)] };
    assert_eq!(aligns.map(|t| (t.name(), t.align)), [("plain", 8), ("aligned", 16)]);
}
