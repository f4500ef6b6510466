// allod/heap.h from C++17: the same tests as from C. modes: shared archive static
#include "../c/heap_h.c"
