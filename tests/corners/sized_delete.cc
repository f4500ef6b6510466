// operator delete with a size.
//
// Promised: a size of the block's own class is taken; for a small block of the calling thread a size
// of another class is named as misuse. (Blocks of other threads and large ones are not looked at.)
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

static void *opaque(void *p) {
    __asm__ volatile("" : "+r"(p) : : "memory");
    return p;
}

static void allocate_and_delete(std::size_t size, std::size_t said) {
    ::operator delete(opaque(::operator new(size)), said);
}

int main(int count, char **arguments) {
    if (count != 2) return 2;
    const char *kind = arguments[1];
    if (std::strcmp(kind, "right") == 0) {
        for (std::size_t size = 1; size < 5000000; size += size / 7 + 1) {
            allocate_and_delete(size, size);
            ::operator delete[](opaque(::operator new[](size)), size);
            ::operator delete(opaque(::operator new(size, std::align_val_t(64))), size,
                              std::align_val_t(64));
        }
    } else if (std::strcmp(kind, "smaller") == 0) {
        allocate_and_delete(1000, 24);
    } else if (std::strcmp(kind, "larger") == 0) {
        allocate_and_delete(100, 2000);
    } else if (std::strcmp(kind, "array") == 0) {
        ::operator delete[](opaque(::operator new[](640)), std::size_t(64));
    } else {
        return 2;
    }
    std::puts("went on");
    return 0;
}
