/* Counts the lines of a file on all cores, chunk by chunk, in bounded memory.
 *   cc scan.c $(pkg-config --cflags --libs swath) -o scan && ./scan [FILE] */
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <swath.h>

/* Called by several threads at a time. */
static int32_t count_lines(const swath_chunk *chunk, void *user_data) {
    uint64_t lines = 0;
    for (size_t index = 0; index < chunk->len; index++) {
        lines += chunk->data[index] == '\n';
    }
    atomic_fetch_add((_Atomic uint64_t *)user_data, lines);
    return 0; /* any other value stops the scan */
}

int main(int count, char **words) {
    const char *path = count > 1 ? words[1] : "/etc/passwd";
    _Atomic uint64_t lines = 0;
    if (swath_scan(path, NULL, count_lines, &lines, NULL) != SWATH_STATUS_OK) {
        fprintf(stderr, "%s\n", swath_last_error_message());
        return 1;
    }
    printf("%" PRIu64 " lines\n", lines);
    return 0;
}
