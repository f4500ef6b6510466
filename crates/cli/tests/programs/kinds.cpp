// Every function that gives or takes a block, each as often as its number says.
#include <malloc.h>
#include <new>
#include <stdlib.h>

template <typename F> static void times(int n, F f) {
    for (int i = 0; i < n; i++) f();
}

int main() {
    times(101, [] { free(malloc(10)); });
    times(102, [] { free(calloc(3, 11)); });
    times(103, [] { free(aligned_alloc(64, 128)); });
    times(104, [] { void *p; if (posix_memalign(&p, 256, 100) == 0) free(p); });
    times(105, [] { free(memalign(32, 100)); });
    times(106, [] { free(valloc(5000)); });
    times(107, [] { free(realloc(realloc(nullptr, 20), 40)); });
    times(108, [] { free(reallocarray(malloc(20), 4, 20)); });
    times(109, [] { operator delete(operator new(160)); });
    times(110, [] { free(nullptr); });
    times(111, [] { void *volatile p = malloc(size_t(-1) / 2 - 4096 * 111); free(p); });
    times(112, [] { void *volatile p = realloc(malloc(30), 0); (void)p; });
}
