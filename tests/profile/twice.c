/* Runs the second argument, a program without arguments, with the library that is named first preloaded and ALLOD_PROFILE
 * twice in its environment: the third argument and the fourth. */
#include <stdio.h>
#include <unistd.h>

int main(int count, char **words) {
    static char preload[4096], first[4096], last[4096];
    if (count != 5) return 2;
    snprintf(preload, sizeof preload, "LD_PRELOAD=%s", words[1]);
    snprintf(first, sizeof first, "ALLOD_PROFILE=%s", words[3]);
    snprintf(last, sizeof last, "ALLOD_PROFILE=%s", words[4]);
    execve(words[2], (char *[]){words[2], NULL}, (char *[]){preload, first, last, NULL});
    return 3;
}
