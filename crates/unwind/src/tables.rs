//! How the frame at an instruction is left, by the tables that compilers write for exceptions.

use crate::Step;
use allod_os::loader::Code;
use core::slice;
use gimli::{
    BaseAddresses, CfaRule, EhFrame, EhFrameHdr, EndianSlice, NativeEndian, Register, RegisterRule,
    UnwindContext, UnwindContextStorage, UnwindSection, UnwindTableRow,
};

type Bytes = EndianSlice<'static, NativeEndian>;

/// Room for the rules of a function, on the stack.
struct Room;

/// States that a function's instructions remember inside one another.
const DEPTH: usize = 3;

impl UnwindContextStorage<usize> for Room {
    type Rules = [(Register, RegisterRule<usize>); number::RULES];
    type Stack = [UnwindTableRow<usize, Self>; DEPTH];
}

/// The numbers that the tables give the registers, and how many rules are kept: the room is on a program's stack, which may
/// be short. A function preserves six registers; the system's frame of a signal, which has a rule for each, is found by
/// its frame pointer.
#[cfg(target_arch = "x86_64")]
mod number {
    pub const RULES: usize = 12;
    pub const FP: u16 = 6;
    pub const SP: u16 = 7;
    pub const RA: u16 = 16;
}
/// The same: here a function preserves twelve registers, and eight for floating point.
#[cfg(not(target_arch = "x86_64"))]
mod number {
    pub const RULES: usize = 24;
    pub const FP: u16 = 29;
    pub const SP: u16 = 31;
    pub const RA: u16 = 30;
}

/// How the frame at an instruction of a library is left; `None` where its tables do not say.
pub fn step(pc: usize, code: &Code) -> Option<Step> {
    // SAFETY: the linker has mapped the library up to its end, with its tables inside, and does not unload it
    // while the calling thread runs in it.
    let from = |start: usize| unsafe {
        slice::from_raw_parts(start as *const u8, code.end.saturating_sub(start))
    };
    let bases = BaseAddresses::default().set_eh_frame_hdr(code.tables as u64);
    let header = EhFrameHdr::new(from(code.tables), NativeEndian).parse(&bases, 8).ok()?;
    let gimli::Pointer::Direct(frames) = header.eh_frame_ptr() else { return None };
    let bases = bases.set_eh_frame(frames);
    let section = EhFrame::new(from(frames as usize), NativeEndian);
    let function = header
        .table()?
        .fde_for_address(&section, &bases, pc as u64, EhFrame::<Bytes>::cie_from_offset)
        .ok()?;
    let mut context = UnwindContext::<usize, Room>::new_in();
    let row = function.unwind_info_for_address(&section, &bases, &mut context, pc as u64).ok()?;
    read(row)
}

/// What a row says, where it says it by offsets.
fn read(row: &UnwindTableRow<usize, Room>) -> Option<Step> {
    let CfaRule::RegisterAndOffset { register, offset } = row.cfa() else { return None };
    let saved = |number| match row.register(Register(number)) {
        None | Some(RegisterRule::SameValue) => Some(None),
        Some(RegisterRule::Offset(offset)) => Some(Some(i32::try_from(offset).ok()?)),
        _ => None,
    };
    if matches!(row.register(Register(number::RA)), Some(RegisterRule::Undefined)) {
        return Some(Step::Last);
    }
    let from_fp = match register.0 {
        number::FP => true,
        number::SP => false,
        _ => return None,
    };
    Some(Step::Saved {
        from_fp,
        frame: i32::try_from(*offset).ok()?,
        fp: saved(number::FP)?,
        ra: saved(number::RA)?,
    })
}
