# int sprintf(char *to, const char *format, ...)
#
# Makes an argument list of what it was given and calls vsprintf:
#
#   rsp+0x00  va_list: gp_offset, fp_offset, overflow_arg_area, reg_save_area
#   rsp+0x20  the registers that may hold arguments: rdi rsi rdx rcx r8 r9 xmm0 ... xmm7
#   rsp+0xe0  arguments on the stack
    .globl sprintf
    .type sprintf, @function
    .balign 16
sprintf:
    .cfi_startproc
    sub rsp, 0xd8
    .cfi_adjust_cfa_offset 0xd8
    mov [rsp + 0x30], rdx
    mov [rsp + 0x38], rcx
    mov [rsp + 0x40], r8
    mov [rsp + 0x48], r9
    test al, al
    je 1f
    movaps [rsp + 0x50], xmm0
    movaps [rsp + 0x60], xmm1
    movaps [rsp + 0x70], xmm2
    movaps [rsp + 0x80], xmm3
    movaps [rsp + 0x90], xmm4
    movaps [rsp + 0xa0], xmm5
    movaps [rsp + 0xb0], xmm6
    movaps [rsp + 0xc0], xmm7
1:
    mov dword ptr [rsp], 16
    mov dword ptr [rsp + 4], 48
    lea rax, [rsp + 0xe0]
    mov [rsp + 8], rax
    lea rax, [rsp + 0x20]
    mov [rsp + 16], rax
    mov rdx, rsp
    call {vsprintf}
    add rsp, 0xd8
    .cfi_adjust_cfa_offset -0xd8
    ret
    .cfi_endproc
    .size sprintf, . - sprintf
