/* Reads a file into memory and prints how it was read; then sums its bytes without keeping them.
 *   cc read_and_sum.c $(pkg-config --cflags --libs swath) -o read_and_sum && ./read_and_sum [FILE] */
#include <inttypes.h>
#include <stdio.h>
#include <swath.h>

static int failed(const char *what) {
    fprintf(stderr, "%s: %s\n", what, swath_last_error_message());
    return 1;
}

int main(int count, char **words) {
    const char *path = count > 1 ? words[1] : "/etc/passwd";
    swath_buffer *buffer = NULL;
    swath_report *report = NULL;
    if (swath_read(path, NULL, &buffer, &report) != SWATH_STATUS_OK) {
        return failed("read");
    }
    uint64_t kept = 0, passed = 0;
    const uint8_t *bytes = swath_buffer_data(buffer);
    for (size_t index = 0; index < swath_buffer_len(buffer); index++) {
        kept += bytes[index];
    }
    printf("%zu bytes: %s\n", swath_buffer_len(buffer), swath_report_reason(report));
    swath_buffer_free(buffer);
    swath_report_free(report);

    if (swath_sum(path, NULL, &passed, NULL) != SWATH_STATUS_OK) {
        return failed("sum");
    }
    printf("sum %" PRIu64 "\n", passed);
    return kept == passed ? 0 : 1;
}
