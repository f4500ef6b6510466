/* support.h - the part of the run-time library that is compiled with each program: its stacks, calls with
 * lists of arguments, continuations.
 *
 * A program runs on two stacks of its own: C's, for frames, and the stack of roots. Both are reserved when it
 * starts and filled by the system as they are used; a page behind each that cannot be used tells when one has
 * come to its end.
 *
 * A continuation is a copy of both stacks, put back where it was. That is sound because emitted code reads
 * every value that is alive over a call from the stack of roots after it: the values in the copied C frames
 * are stale and never used.
 *
 * As long as a call of call/cc has not returned, nothing changes the frames and roots of its callers. So a
 * continuation that is taken meanwhile copies only what is newer, and leads to the older one for the rest.
 */
#ifndef SCHEME_SUPPORT_H
#define SCHEME_SUPPORT_H

#include <alloca.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

static struct {
    char *low, *high;      /* C's stack, the page at its end included */
    V *roots, *roots_end;
    struct sch_program *program;
    struct sch_call *active;
    uint64_t serial;
    V carried;             /* what a continuation is given */
    ucontext_t back, here;
} sch_stacks;

/* One call of call/cc that has not returned. */
struct sch_call {
    jmp_buf place;
    struct sch_call *outer;
    struct sch_call *copied; /* the nearest with copies of the stacks: this one, or one further out */
    V *sp;                   /* its roots: exception handlers and parameters, then the continuation  */
    char *frames;            /* where its caller's frames begin                                      */
    uint64_t serial;
};

/* ---- Calls with lists of arguments ------------------------------------------------------------ */

/* (apply f a … list) */
SCH_U static V sch_proc_apply_code(V *sp, V self SCH_U, V argc, V a0, V a1, V a2) {
    if (argc < 2) return sch_wrong_args(sp, "apply", argc, "at least 2 arguments");
    sch_spread(sp, argc, a0, a1, a2);
    V f = sp[0], list = sp[argc - 1];
    size_t n = argc - 2;
    memmove(sp, sp + 1, 8 * n);
    V rest = list;
    for (; sch_pair_p(rest); rest = SCH_CDR(rest)) {
        if (SCH_UNLIKELY(sp + n + 64 > sch_stacks.roots_end)) sch_stack_end();
        sp[n++] = SCH_CAR(rest);
    }
    if (rest != ALLOD_NIL) return sch_type_error(sp, "apply", (int)argc, "a list", list);
    a0 = n > 0 ? sp[0] : 0;
    a1 = n > 1 ? sp[1] : 0;
    a2 = n > 2 ? sp[2] : 0;
    if (n > 3) memmove(sp, sp + 3, 8 * (n - 3));
    SCH_TAIL sch_code_of(sp, f)(sp, f, n, a0, a1, a2);
}
SCH_U static uint64_t pc_apply[2] = {ALLOD_HEADER(ALLOD_CLOSURE, 0), (uint64_t)sch_proc_apply_code};

/* ---- Continuations ------------------------------------------------------------------------------ */

static struct sch_call *sch_find_active(uint64_t serial) {
    struct sch_call *call = sch_stacks.active;
    while (call && call->serial > serial) call = call->outer;
    return call && call->serial == serial ? call : NULL;
}

static void sch_carry(V *sp, V argc, V a0, V a1, V a2) {
    sch_spread(sp, argc, a0, a1, a2);
    sch_stacks.carried = sch_values(argc, sp);
}

/* What a continuation captures. Addresses are multiples of 8, and 1 is added. */
enum {
    SCH_SERIAL, /* number of the call                                                            */
    SCH_PLACE,  /* its address                                                                   */
    SCH_ROOTS,  /* a copy of roots, a vector; #f where the continuation can only be left through */
    SCH_FRAMES, /* a copy of frames, bytes                                                       */
    SCH_FROM,   /* where these roots begin                                                       */
    SCH_TO,     /* where these frames end                                                        */
    SCH_OLDER,  /* the continuation that has what is older than both, or #f                      */
    SCH_PARTS
};
static inline char *sch_address(V k, int part) { return (char *)(uintptr_t)(SCH_CAPTURED(k, part) - 1); }

/* Puts copied stacks back and goes there. The frame must lie below what it overwrites. */
__attribute__((noreturn, noinline)) static void sch_put_back(char *low, V k) {
    char here;
    if ((uintptr_t)&here > (uintptr_t)low - 4096) {
        volatile char *room = (volatile char *)alloca((uintptr_t)&here - (uintptr_t)low + 16384);
        room[0] = 0;
        sch_put_back(low, k);
    }
    struct sch_call *call = (struct sch_call *)sch_address(k, SCH_PLACE);
    /* Of an older continuation, what is older than what has been put back. */
    V *roots_end = (V *)sch_address(k, SCH_FROM) + sch_len(SCH_CAPTURED(k, SCH_ROOTS));
    for (char *from = low; k != ALLOD_FALSE; k = SCH_CAPTURED(k, SCH_OLDER)) {
        V *roots = (V *)sch_address(k, SCH_FROM);
        memcpy(roots, sch_object(SCH_CAPTURED(k, SCH_ROOTS)) + 1, (size_t)((char *)roots_end - (char *)roots));
        roots_end = roots;
        V bytes = SCH_CAPTURED(k, SCH_FRAMES);
        char *to = sch_address(k, SCH_TO), *copied = (char *)(sch_object(bytes) + 1);
        memcpy(from, copied + (from - (to - sch_len(bytes))), (size_t)(to - from));
        from = to;
    }
    longjmp(call->place, 1);
}

/* A continuation as a procedure. */
static V sch_throw_code(V *sp, V self, V argc, V a0, V a1, V a2) {
    uint64_t serial = SCH_CAPTURED(self, SCH_SERIAL) >> 3;
    sch_carry(sp, argc, a0, a1, a2);
    struct sch_call *call = sch_find_active(serial);
    if (call) longjmp(call->place, 1);
    if (SCH_CAPTURED(self, SCH_ROOTS) == ALLOD_FALSE) return sch_continuation_gone(sp);
    sch_put_back(sch_address(self, SCH_TO) - sch_len(SCH_CAPTURED(self, SCH_FRAMES)), self);
}

/* Copies the stacks up to here, as far as no outer call has copied them. */
__attribute__((noinline)) static void sch_copy_stacks(V k, V *sp, struct sch_call *outer) {
    char *low = (char *)__builtin_frame_address(0), *to = outer ? outer->frames : sch_stacks.high;
    V *from = outer ? outer->sp : sch_stacks.roots;
    size_t roots = (size_t)(sp - from), n = (size_t)(to - low);
    uint64_t *values = sch_alloc(ALLOD_ARRAY, roots, roots);
    memcpy(values + 1, from, 8 * roots);
    uint64_t *bytes = sch_alloc(ALLOD_BYTES, (n + 7) / 8, n);
    memcpy(bytes + 1, low, n);
    SCH_CAPTURED(k, SCH_ROOTS) = (V)values;
    SCH_CAPTURED(k, SCH_FRAMES) = (V)bytes;
    SCH_CAPTURED(k, SCH_FROM) = (V)(uintptr_t)from + 1;
    SCH_CAPTURED(k, SCH_TO) = (V)(uintptr_t)to + 1;
    SCH_CAPTURED(k, SCH_OLDER) = outer ? outer->sp[1] : ALLOD_FALSE;
}

/* Calls f with its continuation. What must outlast the call lies at sp[0] and sp[1]. */
__attribute__((noinline)) static V sch_call_with(V *sp, V f, bool whole) {
    struct sch_call call;
    sch_code code = sch_code_of(sp, f);
    struct sch_call *copied = sch_stacks.active ? sch_stacks.active->copied : NULL;
    call.outer = sch_stacks.active;
    call.copied = whole ? &call : copied;
    call.sp = sp;
    call.frames = (char *)__builtin_dwarf_cfa();
    call.serial = ++sch_stacks.serial;
    V k = sch_closure(sch_throw_code, whole ? SCH_PARTS : SCH_ROOTS + 1);
    SCH_CAPTURED(k, SCH_SERIAL) = call.serial << 3 | 1;
    SCH_CAPTURED(k, SCH_PLACE) = (V)(uintptr_t)&call + 1;
    SCH_CAPTURED(k, SCH_ROOTS) = ALLOD_FALSE;
    sp[0] = sch_rt.dynamic;
    sp[1] = k;
    V result;
    if (setjmp(call.place) == 0) {
        if (whole) sch_copy_stacks(k, sp + 2, copied);
        sch_stacks.active = &call;
        result = code(sp + 2, f, 1, k, 0, 0);
    } else {
        sch_rt.dynamic = sp[0];
        result = sch_stacks.carried;
    }
    sch_stacks.active = call.outer;
    return result;
}

SCH_U static V sch_proc_callcc_code(V *sp, V self SCH_U, V argc, V a0, V a1 SCH_U, V a2 SCH_U) {
    if (argc != 1) return sch_wrong_args(sp, "call/cc", argc, "1 argument");
    return sch_call_with(sp, a0, true);
}
SCH_U static uint64_t pc_callcc[2] = {ALLOD_HEADER(ALLOD_CLOSURE, 0), (uint64_t)sch_proc_callcc_code};

SCH_U static V sch_proc_callec_code(V *sp, V self SCH_U, V argc, V a0, V a1 SCH_U, V a2 SCH_U) {
    if (argc != 1) return sch_wrong_args(sp, "call/ec", argc, "1 argument");
    return sch_call_with(sp, a0, false);
}
SCH_U static uint64_t pc_callec[2] = {ALLOD_HEADER(ALLOD_CLOSURE, 0), (uint64_t)sch_proc_callec_code};

/* What the library calls when a primitive fails. */
V sch_raise(V *sp, V condition) {
    V hook = sch_stacks.program->raise;
    return sch_code_of(sp, hook)(sp, hook, 1, condition, 0, 0);
}

const char *sch_procedure_name(V f) {
    const struct sch_proc *proc = sch_stacks.program->procs;
    for (; proc->code; proc++)
        if (proc->code == (sch_code)sch_object(f)[1]) return proc->name;
    return (sch_code)sch_object(f)[1] == sch_throw_code ? "continuation" : "primitive";
}

/* ---- The program --------------------------------------------------------------------------------- */

static void sch_on_fault(int number, siginfo_t *info, void *context SCH_U) {
    char *at = (char *)info->si_addr;
    bool frames = at >= sch_stacks.low - 65536 && at < sch_stacks.low + 65536;
    bool roots = at >= (char *)sch_stacks.roots_end && at < (char *)sch_stacks.roots_end + 65536;
    if (frames || roots) sch_stack_end();
    signal(number, SIG_DFL);
    raise(number);
}

/* Address space for a stack; its size is in *bytes, halved until the system has that much. */
static char *sch_reserve(size_t *bytes) {
    for (;; *bytes /= 2) {
        char *p = (char *)mmap(NULL, *bytes, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (p != MAP_FAILED) return p;
        if (*bytes < (size_t)1 << 20) {
            fputs("error: no memory for a stack\n", stderr);
            exit(70);
        }
    }
}

static void sch_enter(void) {
    struct sch_program *program = sch_stacks.program;
    (void)program->code(sch_stacks.roots, 0, 0, 0, 0, 0);
    V hook = program->exit;
    (void)sch_code_of(sch_stacks.roots, hook)(sch_stacks.roots, hook, 0, 0, 0, 0);
    sch_end();
}

static int sch_main(struct sch_program *program, int argc, char **argv) {
    static char signal_stack[65536];
    size_t memory = (size_t)sysconf(_SC_PHYS_PAGES) * 4096, page = 65536;
    size_t frames = memory / 4 & ~(page - 1), roots = memory / 4 & ~(page - 1);
    sch_stacks.low = sch_reserve(&frames);
    sch_stacks.high = sch_stacks.low + frames;
    mprotect(sch_stacks.low, page, PROT_NONE);
    sch_stacks.roots = (V *)sch_reserve(&roots);
    sch_stacks.roots_end = (V *)((char *)sch_stacks.roots + roots - page);
    mprotect(sch_stacks.roots_end, page, PROT_NONE);
    stack_t on = {.ss_sp = signal_stack, .ss_size = sizeof signal_stack};
    sigaltstack(&on, NULL);
    struct sigaction action = {.sa_sigaction = sch_on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGBUS, &action, NULL);
    sch_stacks.program = program;
#ifdef SCH_CHECKED
    sch_rt.always = sch_rt.poll = 1;
#endif
    sch_start(program, sch_stacks.roots, argc, argv);
    getcontext(&sch_stacks.here);
    sch_stacks.here.uc_stack.ss_sp = sch_stacks.low;
    sch_stacks.here.uc_stack.ss_size = frames;
    sch_stacks.here.uc_link = &sch_stacks.back;
    makecontext(&sch_stacks.here, sch_enter, 0);
    swapcontext(&sch_stacks.back, &sch_stacks.here);
    return 0;
}

#endif
