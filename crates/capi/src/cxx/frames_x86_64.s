# operator new after a first failure (see failure.rs). Both frames carry unwind tables, so that a
# C++ exception thrown below them passes through.

# void *allod_cxx_new(size_t size, size_t align): a block, or std::bad_alloc is thrown.
    .text
    .globl  allod_cxx_new
    .hidden allod_cxx_new
    .type   allod_cxx_new, @function
allod_cxx_new:
    .cfi_startproc
    push    rbx
    .cfi_def_cfa_offset 16
    .cfi_offset rbx, -16
    push    r12
    .cfi_def_cfa_offset 24
    .cfi_offset r12, -24
    sub     rsp, 8
    .cfi_def_cfa_offset 32
    mov     rbx, rdi
    mov     r12, rsi
2:  mov     rdi, rbx
    mov     rsi, r12
    call    {attempt}
    test    rax, rax
    jne     3f
    call    {handler_or_thrower}
    call    rax
    jmp     2b
3:  add     rsp, 8
    .cfi_def_cfa_offset 24
    pop     r12
    .cfi_def_cfa_offset 16
    pop     rbx
    .cfi_def_cfa_offset 8
    ret
    .cfi_endproc
    .size   allod_cxx_new, . - allod_cxx_new

# void *allod_cxx_new_nothrow(size_t size, size_t align): a block, or null.
# An exception that the new-handler throws ends at the landing pad below: the personality routine
# catch_all sends it there with the exception in rax.
    .globl  allod_cxx_new_nothrow
    .hidden allod_cxx_new_nothrow
    .type   allod_cxx_new_nothrow, @function
allod_cxx_new_nothrow:
    .cfi_startproc
    .cfi_personality 0x1b, {catch_all}
    push    rbx
    .cfi_def_cfa_offset 16
    .cfi_offset rbx, -16
    push    r12
    .cfi_def_cfa_offset 24
    .cfi_offset r12, -24
    sub     rsp, 8
    .cfi_def_cfa_offset 32
    mov     rbx, rdi
    mov     r12, rsi
2:  mov     rdi, rbx
    mov     rsi, r12
    call    {attempt}
    test    rax, rax
    jne     3f
    call    {handler_or_null}
    test    rax, rax
    je      3f
    call    rax
    jmp     2b
    .globl  allod_cxx_landing_pad
    .hidden allod_cxx_landing_pad
allod_cxx_landing_pad:
    mov     rdi, rax
    call    {discard}
    xor     eax, eax
3:  add     rsp, 8
    .cfi_def_cfa_offset 24
    pop     r12
    .cfi_def_cfa_offset 16
    pop     rbx
    .cfi_def_cfa_offset 8
    ret
    .cfi_endproc
    .size   allod_cxx_new_nothrow, . - allod_cxx_new_nothrow
