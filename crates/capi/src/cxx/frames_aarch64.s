// operator new after a first failure (see failure.rs). Both frames carry unwind tables, so that a
// C++ exception thrown below them passes through.

// void *allod_cxx_new(size_t size, size_t align): a block, or std::bad_alloc is thrown.
    .text
    .globl  allod_cxx_new
    .hidden allod_cxx_new
    .type   allod_cxx_new, %function
allod_cxx_new:
    .cfi_startproc
    stp     x29, x30, [sp, #-32]!
    .cfi_def_cfa_offset 32
    .cfi_offset x29, -32
    .cfi_offset x30, -24
    stp     x19, x20, [sp, #16]
    .cfi_offset x19, -16
    .cfi_offset x20, -8
    mov     x29, sp
    mov     x19, x0
    mov     x20, x1
2:  mov     x0, x19
    mov     x1, x20
    bl      {attempt}
    cbnz    x0, 3f
    bl      {handler_or_thrower}
    blr     x0
    b       2b
3:  ldp     x19, x20, [sp, #16]
    ldp     x29, x30, [sp], #32
    .cfi_restore x19
    .cfi_restore x20
    .cfi_restore x29
    .cfi_restore x30
    .cfi_def_cfa_offset 0
    ret
    .cfi_endproc
    .size   allod_cxx_new, . - allod_cxx_new

// void *allod_cxx_new_nothrow(size_t size, size_t align): a block, or null.
// An exception that the new-handler throws ends at the landing pad below: the personality routine
// catch_all sends it there with the exception in x0.
    .globl  allod_cxx_new_nothrow
    .hidden allod_cxx_new_nothrow
    .type   allod_cxx_new_nothrow, %function
allod_cxx_new_nothrow:
    .cfi_startproc
    .cfi_personality 0x1b, {catch_all}
    stp     x29, x30, [sp, #-32]!
    .cfi_def_cfa_offset 32
    .cfi_offset x29, -32
    .cfi_offset x30, -24
    stp     x19, x20, [sp, #16]
    .cfi_offset x19, -16
    .cfi_offset x20, -8
    mov     x29, sp
    mov     x19, x0
    mov     x20, x1
2:  mov     x0, x19
    mov     x1, x20
    bl      {attempt}
    cbnz    x0, 3f
    bl      {handler_or_null}
    cbz     x0, 3f
    blr     x0
    b       2b
    .globl  allod_cxx_landing_pad
    .hidden allod_cxx_landing_pad
allod_cxx_landing_pad:
    bl      {discard}
    mov     x0, #0
3:  ldp     x19, x20, [sp, #16]
    ldp     x29, x30, [sp], #32
    .cfi_restore x19
    .cfi_restore x20
    .cfi_restore x29
    .cfi_restore x30
    .cfi_def_cfa_offset 0
    ret
    .cfi_endproc
    .size   allod_cxx_new_nothrow, . - allod_cxx_new_nothrow
