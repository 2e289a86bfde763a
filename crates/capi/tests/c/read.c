/* Reading gives the bytes that stdio gives, with every engine, and respects the caller's memory. */
#include <pthread.h>

#include "check.h"

static size_t len;
static uint8_t *expected;

static void whole(const char *path) {
    const char *engines[] = {"auto", "serial", "pool",
                                    "ring"};
    for (size_t index = 0; index < 4; index++) {
        swath_options *options = NULL;
        swath_buffer *buffer = NULL;
        swath_report *report = NULL;
        OK(swath_options_new(SWATH_VERB_READ, &options));
        OK(swath_options_set(options, "engine", engines[index]));
        OK(swath_options_set(options, "workers", "3"));
        OK(swath_options_set_number(options, "chunk_size", 64 << 10));
        OK(swath_options_set(options, "page_cache", "keep"));
        OK(swath_read(path, options, &buffer, &report));
        CHECK(swath_buffer_len(buffer) == len);
    CHECK(swath_buffer_bytes(buffer) == swath_buffer_data(buffer));
        CHECK(memcmp(swath_buffer_data(buffer), expected, len) == 0);
        CHECK((uintptr_t)swath_buffer_data(buffer) % 4096 == 0);
        CHECK(swath_report_bytes(report) == len);
        CHECK(swath_report_elapsed_ns(report) > 0 && swath_report_calls(report) > 0);
        CHECK(swath_report_chunk_size(report) == 64 << 10);
        CHECK(swath_report_workers(report) >= 1 && swath_report_queue_depth(report) >= 1);
        CHECK(swath_report_engine(report) != SWATH_ENGINE_AUTO);
        CHECK(swath_report_page_cache(report) == SWATH_PAGE_CACHE_KEEP);
        CHECK(strlen(swath_report_reason(report)) > 0);
        CHECK(swath_report_profile(report) == NULL);
        CHECK(swath_report_mirror_count(report) == 0);
        size_t fallbacks = swath_report_fallback_count(report);
        CHECK(swath_report_fallback(report, fallbacks) == NULL);
        CHECK(fallbacks == 0 || strlen(swath_report_fallback(report, 0)) > 0);
        /* The caller may write to it, and frees it in any order. */
        swath_buffer_data(buffer)[len - 1] ^= 1;
        swath_options_free(options);
        swath_report_free(report);
        swath_buffer_free(buffer);
    }
}

static void parts(const char *path) {
    swath_options *options = NULL;
    OK(swath_options_new(SWATH_VERB_READ, &options));
    const size_t offsets[] = {0, 1, 4095, 4096, len / 2, len - 1, len};
    for (size_t index = 0; index < 7; index++) {
        swath_buffer *buffer = NULL;
        size_t offset = offsets[index];
        OK(swath_options_set_number(options, "offset", offset));
        OK(swath_options_set(options, "len", NULL));
        OK(swath_read(path, options, &buffer, NULL));
        CHECK(swath_buffer_len(buffer) == len - offset);
        CHECK(memcmp(swath_buffer_data(buffer), expected + offset, len - offset) == 0);
        swath_buffer_free(buffer);
        OK(swath_options_set(options, "len", "0"));
        OK(swath_read(path, options, &buffer, NULL));
        CHECK(swath_buffer_len(buffer) == 0 && swath_buffer_data(buffer) != NULL);
        swath_buffer_free(buffer);
    }
    swath_options_free(options);
}

static void into(const char *path) {
    /* Of the very size, so that a byte too much is seen. */
    uint8_t *target = malloc(len);
    CHECK(target != NULL);
    memset(target, 0, len);
    swath_report *report = NULL;
    OK(swath_read_into(path, NULL, target, len, &report));
    CHECK(memcmp(target, expected, len) == 0);
    CHECK(swath_report_bytes(report) == len);
    swath_report_free(report);
    swath_options *options = NULL;
    OK(swath_options_new(SWATH_VERB_READ, &options));
    OK(swath_options_set(options, "offset", "77"));
    OK(swath_options_set(options, "len", "3"));
    memset(target, 0xee, len);
    OK(swath_read_into(path, options, target + 1, 1000, NULL));
    CHECK(target[0] == 0xee && target[1001] == 0xee);
    CHECK(memcmp(target + 1, expected + 77, 1000) == 0);
    OK(swath_read_into(path, options, NULL, 0, NULL));
    FAILS(swath_read_into(path, options, target, len, &report), SWATH_STATUS_TRUNCATED);
    CHECK(report == NULL);
    swath_options_free(options);
    free(target);
}

static void mapped_if_promised(const char *path) {
    swath_options *options = NULL;
    swath_buffer *buffer = NULL;
    swath_report *report = NULL;
    OK(swath_options_new(SWATH_VERB_READ, &options));
    OK(swath_options_set(options, "engine", "map"));
    FAILS(swath_read(path, options, &buffer, NULL), SWATH_STATUS_INVALID_ARGUMENT);
    SAYS("promise");
    OK(swath_options_promise_frozen(options));
    OK(swath_read(path, options, &buffer, &report));
    CHECK(swath_report_engine(report) == SWATH_ENGINE_MAP);
    CHECK(swath_buffer_len(buffer) == len);
    CHECK(memcmp(swath_buffer_data(buffer), expected, len) == 0);
    swath_buffer_free(buffer);
    swath_report_free(report);
    uint64_t sum = 0, should = 0;
    for (size_t index = 0; index < len; index++) {
        should += expected[index];
    }
    OK(swath_sum(path, options, &sum, &report));
    CHECK(sum == should && swath_report_engine(report) == SWATH_ENGINE_MAP);
    swath_report_free(report);
    FAILS(swath_read("missing", options, &buffer, NULL), SWATH_STATUS_NOT_FOUND);
    SAYS("missing");
    /* What was promised is not asked for again by calls that never map. */
    uint8_t *target = malloc(len);
    CHECK(target != NULL);
    FAILS(swath_read_into(path, options, target, len, NULL), SWATH_STATUS_INVALID_ARGUMENT);
    SAYS("this call never maps");
    free(target);
    FAILS(swath_hash(path, options, SWATH_HASH_KIND_CRC32C, (uint8_t[4]){0}, 4),
          SWATH_STATUS_INVALID_ARGUMENT);
    SAYS("this call never maps");
    OK(swath_options_set(options, "mirrors", path));
    FAILS(swath_sum(path, options, &sum, NULL), SWATH_STATUS_INVALID_ARGUMENT);
    SAYS("with mirrors");
    swath_options_free(options);
}

static void *read_with(void *options) {
    for (int round = 0; round < 5; round++) {
        swath_buffer *buffer = NULL;
        OK(swath_read("large", options, &buffer, NULL));
        CHECK(swath_buffer_len(buffer) == len);
        CHECK(memcmp(swath_buffer_data(buffer), expected, len) == 0);
        swath_buffer_free(buffer);
    }
    return NULL;
}

/* One set of options, many threads. */
static void options_are_shared(void) {
    swath_options *options = NULL;
    pthread_t threads[4];
    OK(swath_options_new(SWATH_VERB_READ, &options));
    OK(swath_options_set(options, "workers", "2"));
    for (size_t index = 0; index < 4; index++) {
        CHECK(pthread_create(&threads[index], NULL, read_with, options) == 0);
    }
    for (size_t index = 0; index < 4; index++) {
        CHECK(pthread_join(threads[index], NULL) == 0);
    }
    swath_options_free(options);
}

static void the_other_setters(const char *path) {
    swath_options *options = NULL;
    swath_buffer *buffer = NULL;
    OK(swath_options_new(SWATH_VERB_READ, &options));
    OK(swath_options_set(options, "reuse", "once"));
    OK(swath_options_set(options, "growth", "ignored"));
    OK(swath_options_set(options, "queue_depth", "4"));
    OK(swath_options_set_number(options, "rate", (uint64_t)1 << 40));
    OK(swath_options_set(options, "profile", "user"));
    OK(swath_options_set(options, "page_cache", "drop"));
    OK(swath_read(path, options, &buffer, NULL));
    CHECK(swath_buffer_len(buffer) == len);
    CHECK(memcmp(swath_buffer_data(buffer), expected, len) == 0);
    swath_buffer_free(buffer);
    swath_options_free(options);
}

int main(void) {
    make_file("large", large() + 123);
    make_file("empty", 0);
    expected = stdio_read("large", &len);
    CHECK(len == large() + 123);
    whole("large");
    parts("large");
    into("large");
    mapped_if_promised("large");
    options_are_shared();
    the_other_setters("large");
    swath_buffer *buffer = NULL;
    OK(swath_read("empty", NULL, &buffer, NULL));
    CHECK(swath_buffer_len(buffer) == 0);
    swath_buffer_free(buffer);
    free(expected);
    return 0;
}
