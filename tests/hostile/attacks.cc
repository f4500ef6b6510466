// Attacks on a heap, one a run: attacks KIND SIZE here|there now|later.
//
//   here    the block is the attacking thread's own; there: another thread allocated it
//   now     at once; later: a thousand frees of others' blocks in between
//
// Ends with 0 when the attack went through, with 1 when it gained nothing, and by a signal when the heap stopped
// it. `attacks list` prints every run there is, one a line.
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <malloc.h>
#include <new>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

namespace {

enum { DEFEATED = 1, USAGE = 2, OTHERS = 1000 };

struct Attack {
    size_t size;
    bool there;
    bool later;
};

// Hides a value from the optimiser and its warnings.
template <class T> T *opaque(T *p) {
    __asm__ volatile("" : "+r"(p) : : "memory");
    return p;
}

size_t opaque(size_t n) {
    __asm__ volatile("" : "+r"(n) : : "memory");
    return n;
}

void *start(void *out) {
    size_t *size = static_cast<size_t *>(out);
    char *p = static_cast<char *>(malloc(*size));
    if (p != nullptr) memset(p, 'x', *size);
    return p;
}

char *allocate(const Attack &a, size_t size) {
    if (!a.there) return opaque(static_cast<char *>(start(&size)));
    pthread_t thread;
    void *p = nullptr;
    if (pthread_create(&thread, nullptr, start, &size) != 0) exit(USAGE);
    pthread_join(thread, &p);
    return opaque(static_cast<char *>(p));
}

char *allocate(const Attack &a) { return allocate(a, a.size); }

// A thousand blocks of a size come and go.
void others(size_t size) {
    static void *blocks[OTHERS];
    for (int round = 0; round < 2; round++) {
        for (void *&block : blocks) block = opaque(malloc(size));
        for (void *block : blocks) free(block);
    }
}

void wait(const Attack &a) {
    if (!a.later) return;
    for (int i = 0; i < OTHERS; i++) free(opaque(malloc(a.size)));
}

// --- double free -----------------------------------------------------------------------------------------

int double_free(const Attack &a) {
    char *p = allocate(a);
    free(p);
    wait(a);
    free(opaque(p));
    others(a.size);
    return 0;
}

int double_free_interleaved(const Attack &a) {
    char *p = allocate(a), *q = allocate(a);
    free(p);
    wait(a);
    free(q);
    free(opaque(p));
    others(a.size);
    return 0;
}

// The second free of a block that somebody else may have been given by then.
int double_free_after_reuse(const Attack &a) {
    char *p = allocate(a);
    free(p);
    wait(a);
    void *next[16];
    for (void *&block : next) block = opaque(malloc(a.size));
    free(opaque(p));
    for (void *block : next) free(block);
    others(a.size);
    return 0;
}

int double_free_by_realloc(const Attack &a) {
    char *p = allocate(a);
    free(p);
    wait(a);
    free(realloc(opaque(p), a.size * 2));
    return 0;
}

// --- invalid free ----------------------------------------------------------------------------------------

int free_inside(const Attack &a, size_t offset) {
    char *p = allocate(a);
    wait(a);
    free(opaque(p + offset));
    others(a.size);
    return 0;
}

int free_inside_by_1(const Attack &a) { return free_inside(a, 1); }
int free_inside_by_16(const Attack &a) { return free_inside(a, 16); }
int free_inside_by_page(const Attack &a) { return free_inside(a, 4096); }
int free_far_beyond(const Attack &a) { return free_inside(a, 64 << 20); }

int free_stack(const Attack &a) {
    alignas(16) char bytes[256];
    wait(a);
    free(opaque(bytes + 64));
    others(a.size);
    return 0;
}

int free_static(const Attack &a) {
    alignas(16) static char bytes[256];
    wait(a);
    free(opaque(bytes + 64));
    others(a.size);
    return 0;
}

int free_mapping(const Attack &a) {
    void *p = mmap(nullptr, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    wait(a);
    free(opaque(static_cast<char *>(p) + 4096));
    others(a.size);
    return 0;
}

int realloc_inside(const Attack &a) {
    char *p = allocate(a);
    wait(a);
    return realloc(opaque(p + 16), a.size * 2) == nullptr;
}

int usable_size_of_freed(const Attack &a) {
    char *p = allocate(a);
    free(p);
    wait(a);
    return malloc_usable_size(opaque(p)) == 0;
}

int delete_of_array(const Attack &a) {
    void *p = opaque(operator new[](a.size));
    wait(a);
    operator delete(opaque(p));
    return 0;
}

int delete_of_malloc(const Attack &a) {
    char *p = allocate(a);
    wait(a);
    operator delete(opaque(p));
    return 0;
}

int free_of_new(const Attack &a) {
    void *p = opaque(operator new(a.size));
    wait(a);
    free(opaque(p));
    return 0;
}

int delete_too_large(const Attack &a) {
    void *p = opaque(operator new(a.size));
    wait(a);
    operator delete(opaque(p), opaque(a.size * 4));
    return 0;
}

int delete_too_small(const Attack &a) {
    void *p = opaque(operator new(a.size * 8));
    wait(a);
    operator delete(opaque(p), opaque(a.size));
    return 0;
}

int delete_misaligned(const Attack &a) {
    void *p = opaque(operator new(a.size));
    wait(a);
    operator delete(opaque(p), a.size, std::align_val_t(1 << 20));
    return 0;
}

// --- overflow and underflow ------------------------------------------------------------------------------

// The neighbours that an attacker arranges.
struct Row {
    char *blocks[32];
};

Row arrange(const Attack &a) {
    Row row;
    for (char *&block : row.blocks) block = allocate(a);
    return row;
}

int finish(const Attack &a, Row &row) {
    wait(a);
    for (char *block : row.blocks) free(block);
    others(a.size);
    return 0;
}

int overflow(const Attack &a, size_t bytes) {
    Row row = arrange(a);
    char *p = row.blocks[16];
    volatile char *at = opaque(p) + a.size;
    for (size_t i = 0; i < bytes; i++) at[i] = 'A';
    return finish(a, row);
}

int underflow(const Attack &a, size_t bytes) {
    Row row = arrange(a);
    volatile char *at = opaque(row.blocks[16]);
    for (size_t i = 1; i <= bytes; i++) at[-static_cast<ptrdiff_t>(i)] = 'A';
    return finish(a, row);
}

int overflow_1(const Attack &a) { return overflow(a, 1); }
int overflow_32(const Attack &a) { return overflow(a, 32); }
int overflow_1M(const Attack &a) { return overflow(a, 1 << 20); }
int underflow_1(const Attack &a) { return underflow(a, 1); }
int underflow_32(const Attack &a) { return underflow(a, 32); }
int underflow_1M(const Attack &a) { return underflow(a, 1 << 20); }

// One zero byte too many, as a string's end.
int overflow_nul(const Attack &a) {
    Row row = arrange(a);
    opaque(row.blocks[16])[a.size] = 0;
    return finish(a, row);
}

// The library's functions, called as such.
char source[2 << 20];

template <class Copy> int overflow_by(const Attack &a, size_t bytes, Copy copy) {
    Row row = arrange(a);
    memset(source, 'A', sizeof source - 1);
    copy(opaque(row.blocks[16]), opaque(a.size + bytes));
    return finish(a, row);
}

auto with_memcpy = [](char *p, size_t n) { memcpy(p, opaque(source), n); };
auto with_memmove = [](char *p, size_t n) { memmove(p, opaque(source), n); };
auto with_memset = [](char *p, size_t n) { memset(p, 'A', n); };
auto with_strcpy = [](char *p, size_t n) {
    source[n - 1] = 0;
    strcpy(p, opaque(source));
};
auto with_strcat = [](char *p, size_t n) {
    source[n - 3] = 0;
    p[0] = 'A', p[1] = 'A', p[2] = 0;
    strcat(p, opaque(source));
};
auto with_strncpy = [](char *p, size_t n) { strncpy(p, opaque(source), n); };

int memcpy_1(const Attack &a) { return overflow_by(a, 1, with_memcpy); }
int memcpy_32(const Attack &a) { return overflow_by(a, 32, with_memcpy); }
int memcpy_1M(const Attack &a) { return overflow_by(a, 1 << 20, with_memcpy); }
int memmove_1(const Attack &a) { return overflow_by(a, 1, with_memmove); }
int memmove_32(const Attack &a) { return overflow_by(a, 32, with_memmove); }
int memset_1(const Attack &a) { return overflow_by(a, 1, with_memset); }
int memset_32(const Attack &a) { return overflow_by(a, 32, with_memset); }
int strcpy_1(const Attack &a) { return overflow_by(a, 1, with_strcpy); }
int strcpy_32(const Attack &a) { return overflow_by(a, 32, with_strcpy); }
int strcat_32(const Attack &a) { return overflow_by(a, 32, with_strcat); }
int strncpy_32(const Attack &a) { return overflow_by(a, 32, with_strncpy); }

// A copy that reads what lies behind the block, as one that leaks it would.
int memcpy_reads_beyond(const Attack &a) {
    char *p = allocate(a);
    wait(a);
    memcpy(source, opaque(p), opaque(a.size + 64));
    return 0;
}

int overflow_usable(const Attack &a) {
    Row row = arrange(a);
    char *p = opaque(row.blocks[16]);
    p[malloc_usable_size(p)] = 'A';
    return finish(a, row);
}

// --- use after free --------------------------------------------------------------------------------------

int read_after_free(const Attack &a) {
    char *p = allocate(a);
    free(p);
    wait(a);
    size_t kept = 0;
    for (size_t i = 0; i < a.size; i++) kept += static_cast<volatile char *>(opaque(p))[i] == 'x';
    return kept > 0 ? 0 : DEFEATED;
}

int write_after_free(const Attack &a) {
    char *p = allocate(a);
    free(p);
    wait(a);
    static_cast<volatile char *>(opaque(p))[a.size / 2] = 'A';
    others(a.size);
    return 0;
}

// Written through a stale pointer while the block belongs to somebody else: reuse must be late.
int write_into_next_owner(const Attack &a) {
    char *p = allocate(a);
    free(p);
    wait(a);
    char *next[16];
    for (char *&block : next) block = opaque(static_cast<char *>(start(const_cast<size_t *>(&a.size))));
    static_cast<volatile char *>(opaque(p))[0] = 'A';
    size_t hit = 0;
    for (char *block : next) hit += opaque(block)[0] == 'A';
    return hit > 0 ? 0 : DEFEATED;
}

// --- size zero -------------------------------------------------------------------------------------------

int zero_read(const Attack &) {
    volatile char *p = static_cast<char *>(opaque(malloc(opaque(size_t(0)))));
    (void)p[0];
    return 0;
}

int zero_write(const Attack &) {
    volatile char *p = static_cast<char *>(opaque(malloc(opaque(size_t(0)))));
    p[0] = 'A';
    return 0;
}

// --- secrets and prediction ------------------------------------------------------------------------------

int old_contents(const Attack &a) {
    for (int i = 0; i < 64; i++) {
        free(allocate(a));
        wait(a);
        char *p = static_cast<char *>(opaque(malloc(a.size)));
        for (size_t at = 0; at < a.size; at++)
            if (opaque(p)[at] == 'x') return 0;
    }
    return DEFEATED;
}

int next_block_is_last_freed(const Attack &a) {
    char *p = allocate(a), *q = allocate(a);
    free(p);
    free(q);
    wait(a);
    char *next = static_cast<char *>(opaque(malloc(a.size)));
    return next == p || next == q ? 0 : DEFEATED;
}

int blocks_stand_in_a_row(const Attack &a) {
    Row row = arrange(a);
    int alike = 0;
    for (int i = 2; i < 32; i++)
        alike += row.blocks[i] - row.blocks[i - 1] == row.blocks[i - 1] - row.blocks[i - 2];
    return alike >= 24 ? 0 : DEFEATED;
}

int heap_is_executable(const Attack &a) {
    char *p = allocate(a);
    wait(a);
#if defined(__x86_64__)
    *opaque(p) = static_cast<char>(0xC3); // ret
#else
    memcpy(p, "\xC0\x03\x5F\xD6", 4); // ret
#endif
    reinterpret_cast<void (*)()>(reinterpret_cast<uintptr_t>(opaque(p)))();
    return 0;
}

// --- the table -------------------------------------------------------------------------------------------

enum Only { ANY, SMALL = 8, PAGE = 4096, ONCE, HERE };

struct Kind {
    const char *group;
    const char *name;
    int (*attack)(const Attack &);
    Only from = ANY; // the least size that it makes sense for; ONCE: no block of a size, HERE: of this thread only
};

const Kind KINDS[] = {
    {"double free", "double-free", double_free},
    {"double free", "double-free-interleaved", double_free_interleaved},
    {"double free", "double-free-after-reuse", double_free_after_reuse},
    {"double free", "double-free-by-realloc", double_free_by_realloc},
    {"invalid free", "free-inside-by-1", free_inside_by_1},
    {"invalid free", "free-inside-by-16", free_inside_by_16},
    {"invalid free", "free-inside-by-page", free_inside_by_page, PAGE},
    {"invalid free", "free-far-beyond", free_far_beyond},
    {"invalid free", "free-stack", free_stack, ONCE},
    {"invalid free", "free-static", free_static, ONCE},
    {"invalid free", "free-mapping", free_mapping, ONCE},
    {"invalid free", "realloc-inside", realloc_inside},
    {"invalid free", "usable-size-of-freed", usable_size_of_freed},
    {"mismatched delete", "delete-of-array", delete_of_array, HERE},
    {"mismatched delete", "delete-of-malloc", delete_of_malloc},
    {"mismatched delete", "free-of-new", free_of_new, HERE},
    {"mismatched delete", "delete-too-large", delete_too_large, HERE},
    {"mismatched delete", "delete-too-small", delete_too_small, HERE},
    {"mismatched delete", "delete-misaligned", delete_misaligned, HERE},
    {"overflow", "overflow-1", overflow_1},
    {"overflow", "overflow-32", overflow_32},
    {"overflow", "overflow-1M", overflow_1M},
    {"overflow", "overflow-nul", overflow_nul},
    {"overflow", "overflow-usable", overflow_usable},
    {"underflow", "underflow-1", underflow_1},
    {"underflow", "underflow-32", underflow_32},
    {"underflow", "underflow-1M", underflow_1M},
    {"overflow by the C library", "memcpy-1", memcpy_1},
    {"overflow by the C library", "memcpy-32", memcpy_32},
    {"overflow by the C library", "memcpy-1M", memcpy_1M},
    {"overflow by the C library", "memmove-1", memmove_1},
    {"overflow by the C library", "memmove-32", memmove_32},
    {"overflow by the C library", "memset-1", memset_1},
    {"overflow by the C library", "memset-32", memset_32},
    {"overflow by the C library", "strcpy-1", strcpy_1},
    {"overflow by the C library", "strcpy-32", strcpy_32},
    {"overflow by the C library", "strcat-32", strcat_32},
    {"overflow by the C library", "strncpy-32", strncpy_32},
    {"overflow by the C library", "memcpy-reads-beyond", memcpy_reads_beyond},
    {"use after free", "read-after-free", read_after_free},
    {"use after free", "write-after-free", write_after_free},
    {"use after free", "write-into-next-owner", write_into_next_owner},
    {"size zero", "zero-read", zero_read, ONCE},
    {"size zero", "zero-write", zero_write, ONCE},
    {"secrets and prediction", "old-contents", old_contents},
    {"secrets and prediction", "next-block-is-last-freed", next_block_is_last_freed},
    {"secrets and prediction", "blocks-stand-in-a-row", blocks_stand_in_a_row},
    {"secrets and prediction", "heap-is-executable", heap_is_executable},
};

const size_t SIZES[] = {8, 4096, 256 << 10};

void list() {
    for (const Kind &kind : KINDS)
        for (size_t size : SIZES)
            for (const char *where : {"here", "there"})
                for (const char *when : {"now", "later"}) {
                    if (kind.from == PAGE && size <= PAGE) continue;
                    if (kind.from == ONCE && size != SIZES[0]) continue;
                    if (kind.from >= ONCE && where[0] == 't') continue;
                    printf("%s\t%s %zu %s %s\n", kind.group, kind.name, size, where, when);
                }
}

} // namespace

int main(int count, char **words) {
    if (count == 2 && strcmp(words[1], "list") == 0) return list(), 0;
    if (count != 5) return USAGE;
    Attack attack = {strtoul(words[2], nullptr, 10), strcmp(words[3], "there") == 0, strcmp(words[4], "later") == 0};
    for (const Kind &kind : KINDS)
        if (strcmp(kind.name, words[1]) == 0) return kind.attack(attack);
    return USAGE;
}
