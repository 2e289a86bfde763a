/* Classes: their bytes are there when the library says so, the most urgent first. */
#include <pthread.h>
#include <stdatomic.h>

#include "check.h"

static size_t len;
static uint8_t *expected;
static const char *large_file[] = {"large"};

struct seen {
    atomic_uint_fast64_t classes, chunks, bytes;
    swath_status from_callback;
    atomic_uintptr_t reading;
};

static void class_came(const swath_class *complete, void *user_data) {
    struct seen *seen = user_data;
    for (size_t index = 0; index < swath_class_chunk_count(complete); index++) {
        const swath_class_chunk *chunk = swath_class_chunk_at(complete, index);
        CHECK(memcmp(chunk->data, expected + chunk->offset, chunk->len) == 0);
        CHECK(chunk->class_number == swath_class_number(complete) && chunk->file == 0);
    }
    seen->bytes += swath_class_len(complete);
    seen->classes++;
}

static void chunk_came(const swath_class_chunk *chunk, void *user_data) {
    struct seen *seen = user_data;
    CHECK(memcmp(chunk->data, expected + chunk->offset, chunk->len) == 0);
    seen->chunks++;
}

static void *wait_for_the_last(void *reading) {
    swath_class *complete = NULL;
    OK(swath_prioritised_wait(reading, 9, SWATH_FOREVER, &complete));
    CHECK(swath_class_number(complete) == 9);
    swath_class_free(complete);
    return NULL;
}

static void a_whole_file(void) {
    struct seen seen = {0};
    swath_class_plan *plan = NULL;
    swath_prioritised *reading = NULL;
    swath_class *complete = NULL;
    swath_report *report = NULL;
    pthread_t thread;
    OK(swath_class_plan_of_whole(100, 10, &plan));
    OK(swath_class_plan_set_window(plan, 2));
    OK(swath_class_plan_set_class_callback(plan, class_came, &seen));
    OK(swath_class_plan_set_chunk_callback(plan, chunk_came, &seen));
    OK(swath_read_prioritised(large_file, 1, NULL, plan, &reading));
    swath_class_plan_free(plan);
    CHECK(pthread_create(&thread, NULL, wait_for_the_last, reading) == 0);
    OK(swath_prioritised_prioritise(reading, 7));
    OK(swath_prioritised_wait(reading, 0, SWATH_FOREVER, &complete));
    CHECK(swath_class_chunk_count(complete) == 10 && swath_class_elapsed_ns(complete) > 0);
    const swath_class_chunk *chunk = swath_class_chunk_at(complete, 0);
    CHECK(chunk->offset == 0 && memcmp(chunk->data, expected, chunk->len) == 0);
    CHECK(swath_class_chunk_at(complete, 10) == NULL);
    FAILS(swath_prioritised_wait(reading, 10, SWATH_FOREVER, &(swath_class *){NULL}),
          SWATH_STATUS_INVALID_ARGUMENT);
    CHECK(pthread_join(thread, NULL) == 0);
    const uint8_t *before = chunk->data, *data = NULL;
    OK(swath_prioritised_finish(reading, &report));
    /* What a class points to stays where it is. */
    OK(swath_prioritised_bytes(reading, 0, 0, len, &data));
    CHECK(data == before && memcmp(data, expected, len) == 0);
    CHECK(memcmp(chunk->data, expected, chunk->len) == 0);
    CHECK(swath_report_bytes(report) == len);
    CHECK(seen.classes == 10 && seen.chunks == 100 && seen.bytes == len);
    FAILS(swath_prioritised_finish(reading, NULL), SWATH_STATUS_INVALID_ARGUMENT);
    FAILS(swath_prioritised_cancel(reading), SWATH_STATUS_INVALID_ARGUMENT);
    FAILS(swath_prioritised_bytes(reading, 0, 0, len + 1, &data),
          SWATH_STATUS_INVALID_ARGUMENT);
    FAILS(swath_prioritised_bytes(reading, 1, 0, 1, &data), SWATH_STATUS_INVALID_ARGUMENT);
    CHECK(data == NULL);
    FAILS(swath_prioritised_bytes(reading, 0, 2, UINT64_MAX, &data),
          SWATH_STATUS_INVALID_ARGUMENT);
    swath_class_free(complete);
    OK(swath_prioritised_wait(reading, 3, 0, &complete));
    CHECK(swath_class_len(complete) > 0);
    swath_class_free(complete);
    swath_report_free(report);
    swath_prioritised_free(reading);
}

static void lines_of_two_files(void) {
    const char *paths[] = {"large", "other"};
    swath_class_plan *plan = NULL;
    swath_prioritised *reading = NULL;
    swath_class *complete = NULL;
    make_text("other", "0123456789");
    OK(swath_class_plan_new(&plan));
    OK(swath_class_plan_push(plan, 1, 2, 3, 5));
    OK(swath_class_plan_push(plan, 0, 4096, 10000, 1));
    FAILS(swath_class_plan_push(plan, 0, 2, UINT64_MAX, 1), SWATH_STATUS_INVALID_ARGUMENT);
    CHECK(swath_class_plan_len(plan) == 2);
    OK(swath_read_prioritised(paths, 2, NULL, plan, &reading));
    OK(swath_prioritised_wait(reading, 5, SWATH_FOREVER, &complete));
    const swath_class_chunk *chunk = swath_class_chunk_at(complete, 0);
    CHECK(chunk->file == 1 && chunk->offset == 2 && chunk->index == 0);
    CHECK(chunk->len == 3 && memcmp(chunk->data, "234", 3) == 0);
    swath_class_free(complete);
    swath_prioritised_free(reading);
    FAILS(swath_read_prioritised(paths, 1, NULL, plan, &reading), SWATH_STATUS_INVALID_ARGUMENT);
    CHECK(reading == NULL);
    OK(swath_class_plan_push(plan, 1, 8, 3, 5));
    FAILS(swath_read_prioritised(paths, 2, NULL, plan, &reading), SWATH_STATUS_TRUNCATED);
    SAYS("other");
    swath_class_plan_free(plan);
}

static void wait_within(const swath_class *complete, void *user_data) {
    struct seen *seen = user_data;
    swath_prioritised *reading = NULL;
    while ((reading = (swath_prioritised *)atomic_load(&seen->reading)) == NULL) {
    }
    swath_class *other = NULL;
    if (swath_class_number(complete) == 0) {
        seen->from_callback = swath_prioritised_wait(reading, 1, SWATH_FOREVER, &other);
        swath_class_free(other);
    }
}

/* A callback that waits for the read that calls it would wait for ever. */
static void a_callback_that_waits_is_refused(void) {
    struct seen seen = {0};
    swath_class_plan *plan = NULL;
    swath_prioritised *reading = NULL;
    swath_options *options = NULL;
    OK(swath_options_new(SWATH_VERB_READ, &options));
    /* Another worker might have brought the other class already. */
    OK(swath_options_set(options, "workers", "1"));
    OK(swath_class_plan_of_whole(4, 2, &plan));
    OK(swath_class_plan_set_window(plan, 1));
    OK(swath_class_plan_set_class_callback(plan, wait_within, &seen));
    OK(swath_read_prioritised(large_file, 1, options, plan, &reading));
    swath_options_free(options);
    atomic_store(&seen.reading, (uintptr_t)reading);
    swath_class *complete = NULL;
    OK(swath_prioritised_wait(reading, 1, SWATH_FOREVER, &complete));
    swath_class_free(complete);
    OK(swath_prioritised_finish(reading, NULL));
    CHECK(seen.from_callback == SWATH_STATUS_BUSY);
    swath_prioritised_free(reading);
    swath_class_plan_free(plan);
}

static void ending_early(void) {
    swath_class_plan *plan = NULL;
    swath_prioritised *reading = NULL;
    swath_class *complete = NULL;
    swath_options *options = NULL;
    OK(swath_class_plan_of_whole(1000, 1000, &plan));
    OK(swath_options_new(SWATH_VERB_READ, &options));
    /* So slow that it is not over before it is ended. */
    OK(swath_options_set_number(options, "rate", 1 << 20));
    OK(swath_read_prioritised(large_file, 1, options, plan, &reading));
    FAILS(swath_prioritised_wait(reading, 999, 1, &complete), SWATH_STATUS_TIMED_OUT);
    CHECK(complete == NULL);
    const uint8_t *data = NULL;
    FAILS(swath_prioritised_bytes(reading, 0, len - 1, 1, &data), SWATH_STATUS_TIMED_OUT);
    FAILS(swath_prioritised_bytes(reading, 7, 0, 1, &data), SWATH_STATUS_INVALID_ARGUMENT);
    OK(swath_prioritised_cancel(reading));
    /* Polling must end. */
    FAILS(swath_prioritised_bytes(reading, 0, len - 1, 1, &data), SWATH_STATUS_CANCELLED);
    FAILS(swath_prioritised_wait(reading, 999, SWATH_FOREVER, &complete),
          SWATH_STATUS_CANCELLED);
    FAILS(swath_prioritised_finish(reading, NULL), SWATH_STATUS_CANCELLED);
    FAILS(swath_prioritised_wait(reading, 0, 0, &complete), SWATH_STATUS_INVALID_ARGUMENT);
    FAILS(swath_prioritised_bytes(reading, 0, 0, 1, &data), SWATH_STATUS_INVALID_ARGUMENT);
    swath_prioritised_free(reading);
    OK(swath_read_prioritised(large_file, 1, options, plan, &reading));
    swath_prioritised_free(reading);
    swath_options_free(options);
    swath_class_plan_free(plan);
}

static void null_is_told(void) {
    swath_class_plan *plan = NULL;
    swath_prioritised *reading = NULL;
    swath_class *complete = NULL;
    const uint8_t *data = NULL;
    FAILS(swath_class_plan_new(NULL), SWATH_STATUS_INVALID_ARGUMENT);
    FAILS(swath_class_plan_of_whole(1, 1, NULL), SWATH_STATUS_INVALID_ARGUMENT);
    FAILS(swath_class_plan_push(NULL, 0, 0, 1, 0), SWATH_STATUS_INVALID_ARGUMENT);
    FAILS(swath_class_plan_set_window(NULL, 1), SWATH_STATUS_INVALID_ARGUMENT);
    FAILS(swath_class_plan_set_class_callback(NULL, class_came, NULL),
          SWATH_STATUS_INVALID_ARGUMENT);
    OK(swath_class_plan_new(&plan));
    FAILS(swath_class_plan_set_class_callback(plan, NULL, NULL), SWATH_STATUS_INVALID_ARGUMENT);
    FAILS(swath_class_plan_set_chunk_callback(plan, NULL, NULL), SWATH_STATUS_INVALID_ARGUMENT);
    FAILS(swath_read_prioritised(NULL, 1, NULL, plan, &reading), SWATH_STATUS_INVALID_ARGUMENT);
    FAILS(swath_read_prioritised(large_file, 1, NULL, NULL, &reading),
          SWATH_STATUS_INVALID_ARGUMENT);
    FAILS(swath_read_prioritised(large_file, 1, NULL, plan, NULL), SWATH_STATUS_INVALID_ARGUMENT);
    FAILS(swath_prioritised_wait(NULL, 0, 0, &complete), SWATH_STATUS_INVALID_ARGUMENT);
    FAILS(swath_prioritised_bytes(NULL, 0, 0, 1, &data), SWATH_STATUS_INVALID_ARGUMENT);
    FAILS(swath_prioritised_prioritise(NULL, 0), SWATH_STATUS_INVALID_ARGUMENT);
    FAILS(swath_prioritised_cancel(NULL), SWATH_STATUS_INVALID_ARGUMENT);
    FAILS(swath_prioritised_finish(NULL, NULL), SWATH_STATUS_INVALID_ARGUMENT);
    CHECK(swath_class_number(NULL) == 0 && swath_class_len(NULL) == 0);
    CHECK(swath_class_chunk_count(NULL) == 0 && swath_class_chunk_at(NULL, 0) == NULL);
    CHECK(swath_class_elapsed_ns(NULL) == 0 && swath_class_plan_len(NULL) == 0);
    swath_class_free(NULL);
    swath_prioritised_free(NULL);
    swath_class_plan_free(NULL);
    swath_class_plan_free(plan);
}

int main(void) {
    make_file("large", large() + 11);
    expected = stdio_read("large", &len);
    a_whole_file();
    lines_of_two_files();
    a_callback_that_waits_is_refused();
    ending_early();
    null_is_told();
    free(expected);
    return 0;
}
