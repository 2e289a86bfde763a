/* What every test in C needs: checks that say where they failed, files, and plain stdio. */
#ifndef CHECK_H
#define CHECK_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <swath.h>

/* Ends the program unless `condition` holds. */
#define CHECK(condition) check_that((condition), #condition, __FILE__, __LINE__)
/* Ends the program unless `call` returns OK, with its message. */
#define OK(call) check_status((call), SWATH_STATUS_OK, #call, __FILE__, __LINE__)
/* Ends the program unless `call` returns `status`, with a message if it is a failure. */
#define FAILS(call, status) check_status((call), (status), #call, __FILE__, __LINE__)
/* Ends the program unless the last message contains `part`. */
#define SAYS(part) check_said((part), __FILE__, __LINE__)

static inline void check_that(int holds, const char *text, const char *file, int line) {
    if (!holds) {
        fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, text);
        fprintf(stderr, "  last message: %s\n", swath_last_error_message());
        exit(1);
    }
}

static inline void check_status(swath_status is, swath_status should, const char *text,
                                const char *file, int line) {
    if (is != should) {
        fprintf(stderr, "%s:%d: %s\n  is: %s\n  should be: %s\n  message: %s\n", file, line, text,
                swath_status_text(is), swath_status_text(should), swath_last_error_message());
        exit(1);
    }
    check_that((*swath_last_error_message() == '\0') == (is == SWATH_STATUS_OK),
               "a failure has a message, and a success has none", file, line);
}

static inline void check_said(const char *part, const char *file, int line) {
    if (strstr(swath_last_error_message(), part) == NULL) {
        fprintf(stderr, "%s:%d: `%s` is not in: %s\n", file, line, part,
                swath_last_error_message());
        exit(1);
    }
}

/* How many bytes a large input has: more than two workers take at one time, and not much more
 * under valgrind, which is some fifty times slower. */
static inline size_t large(void) {
    return getenv("SWATH_TEST_SMALL") != NULL ? (size_t)6 << 20 : (size_t)9 << 20;
}

/* A byte that tells where it stands. */
static inline uint8_t byte_at(size_t place) {
    return (uint8_t)((place * 2654435761u) >> 7);
}

/* Writes a file of `len` bytes by plain stdio. */
static inline void make_file(const char *path, size_t len) {
    FILE *file = fopen(path, "wb");
    CHECK(file != NULL);
    uint8_t block[4096];
    for (size_t done = 0; done < len;) {
        size_t now = len - done < sizeof block ? len - done : sizeof block;
        for (size_t index = 0; index < now; index++) {
            block[index] = byte_at(done + index);
        }
        CHECK(fwrite(block, 1, now, file) == now);
        done += now;
    }
    CHECK(fclose(file) == 0);
}

static inline void make_text(const char *path, const char *text) {
    FILE *file = fopen(path, "wb");
    CHECK(file != NULL);
    CHECK(fwrite(text, 1, strlen(text), file) == strlen(text));
    CHECK(fclose(file) == 0);
}

/* Reads a file by plain stdio; to be freed. */
static inline uint8_t *stdio_read(const char *path, size_t *len) {
    FILE *file = fopen(path, "rb");
    CHECK(file != NULL);
    CHECK(fseek(file, 0, SEEK_END) == 0);
    long end = ftell(file);
    CHECK(end >= 0);
    rewind(file);
    *len = (size_t)end;
    uint8_t *bytes = (uint8_t *)malloc(*len + 1);
    CHECK(bytes != NULL);
    CHECK(fread(bytes, 1, *len, file) == *len);
    bytes[*len] = 0;
    CHECK(fclose(file) == 0);
    return bytes;
}

/* A file has just this text, says plain stdio. */
static inline void check_text(const char *path, const char *text) {
    size_t len = 0;
    uint8_t *bytes = stdio_read(path, &len);
    if (len != strlen(text) || memcmp(bytes, text, len) != 0) {
        fprintf(stderr, "%s has: %s\n  should have: %s\n", path, (const char *)bytes, text);
        exit(1);
    }
    free(bytes);
}

#endif
