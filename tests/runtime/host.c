/* A host in C: loads the C++ plug-in that its argument names, for itself alone, and runs it. Without
 * an argument it calls operator new by its linker name, with no C++ runtime anywhere. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>

void *_Znwm(size_t size) __attribute__((weak));

int main(int count, char **arguments) {
    int (*try_failing_new)(void);
    if (count < 2) return _Znwm == NULL || _Znwm((size_t)PTRDIFF_MAX) != NULL;
    void *plugin = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
    if (plugin == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        return 10;
    }
    *(void **)&try_failing_new = dlsym(plugin, "try_failing_new");
    return try_failing_new();
}
