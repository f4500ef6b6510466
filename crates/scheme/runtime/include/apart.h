/* apart.h - calls of slow paths that leave their caller all registers but the result's.
 *
 * A value that is alive over a call lies in memory or in a register that the call leaves as it was, which a procedure
 * must save at its entry before it uses it. Procedures would save some for calls that they hardly
 * ever make. gcc looks at what a static function changes (-fipa-ra, from -O2 on): here it sees one instruction that changes
 * the result's register, and that calls what saves the others. Elsewhere these are calls as usual.
 */
#ifndef SCHEME_APART_H
#define SCHEME_APART_H

#if defined(__x86_64__) && !defined(__AVX__) && defined(__GNUC__) && !defined(__clang__) && defined(__OPTIMIZE__) \
    && !defined(SCH_CHECKED)
/* Calls what rax leads to. It is called by what uses no memory below the stack pointer. */
__asm__(".pushsection .text.unlikely, \"ax\", @progbits\n"
        ".type sch_keeping, @function\n"
        "sch_keeping:\n"
        "    .cfi_startproc\n"
        "    push %rbp\n"
        "    .cfi_adjust_cfa_offset 8\n"
        "    .cfi_rel_offset %rbp, 0\n"
        "    mov %rsp, %rbp\n"
        "    .cfi_def_cfa_register %rbp\n"
        "    push %rcx; push %rdx; push %rsi; push %rdi; push %r8; push %r9; push %r10; push %r11\n"
        "    sub $256, %rsp\n"
        "    and $-16, %rsp\n"
        "    .irp i, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15\n"
        "    movaps %xmm\\i, 16*\\i(%rsp)\n"
        "    .endr\n"
        "    call *%rax\n"
        "    .irp i, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15\n"
        "    movaps 16*\\i(%rsp), %xmm\\i\n"
        "    .endr\n"
        "    lea -64(%rbp), %rsp\n"
        "    pop %r11; pop %r10; pop %r9; pop %r8; pop %rdi; pop %rsi; pop %rdx; pop %rcx\n"
        "    pop %rbp\n"
        "    .cfi_def_cfa %rsp, 8\n"
        "    ret\n"
        "    .cfi_endproc\n"
        ".size sch_keeping, . - sch_keeping\n"
        ".popsection\n");
__attribute__((always_inline)) static inline V sch_call_apart(void *of, V a, V b, V c) {
    V result;
    __asm__ volatile("call sch_keeping" : "=a"(result) : "a"(of), "D"(a), "S"(b), "d"(c) : "memory", "cc");
    return result;
}
#define SCH_APART1(type, name, of, A) \
    SCH_U SCH_COLD static type name(A a) { return (type)sch_call_apart((void *)of, (V)a, 0, 0); }
#define SCH_APART2(type, name, of, A, B) \
    SCH_U SCH_COLD static type name(A a, B b) { return (type)sch_call_apart((void *)of, (V)a, (V)b, 0); }
#define SCH_APART3(type, name, of, A, B, C) \
    SCH_U SCH_COLD static type name(A a, B b, C c) { return (type)sch_call_apart((void *)of, (V)a, (V)b, (V)c); }
#else
#define SCH_APART1(type, name, of, A) SCH_U SCH_COLD static type name(A a) { return (type)of(a); }
#define SCH_APART2(type, name, of, A, B) SCH_U SCH_COLD static type name(A a, B b) { return (type)of(a, b); }
#define SCH_APART3(type, name, of, A, B, C) \
    SCH_U SCH_COLD static type name(A a, B b, C c) { return (type)of(a, b, c); }
#endif
/* Of truth values only the lowest byte is one. */
typedef unsigned char sch_truth;

#endif
