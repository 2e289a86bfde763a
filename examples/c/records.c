/* Adds up the third field of every line of a table of words, on all cores.
 *
 * cc records.c -o records $(pkg-config --cflags --libs swath) */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <swath.h>

/* Called by several threads at one time, each with whole lines. */
static int32_t add_up(swath_block *block, void *user_data) {
    const uint8_t *line = NULL;
    size_t len = 0;
    uint64_t sum = 0;
    while (swath_block_next(block, &line, &len)) {
        const uint8_t *field = line, *end = line + len;
        for (int skipped = 0; skipped < 2 && field != NULL; skipped++) {
            field = (const uint8_t *)memchr(field, ':', (size_t)(end - field));
            field = field == NULL ? NULL : field + 1;
        }
        if (field == NULL) {
            return 1; /* a line without three fields: stop */
        }
        for (; field < end && *field >= '0' && *field <= '9'; field++) {
            sum += (uint64_t)(*field - '0'); /* digits will do for an example */
        }
    }
    __atomic_fetch_add((uint64_t *)user_data, sum, __ATOMIC_RELAXED); /* of GCC and Clang, in any standard */
    return 0;
}

int main(int count, char **words) {
    uint64_t sum = 0;
    const char *path = count > 1 ? words[1] : "/etc/passwd";
    if (swath_records(path, NULL, add_up, &sum, NULL) != SWATH_STATUS_OK) {
        fprintf(stderr, "%s\n", swath_last_error_message());
        return 1;
    }
    printf("%" PRIu64 "\n", sum);
    return 0;
}
