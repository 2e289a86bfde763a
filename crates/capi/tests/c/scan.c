/* Scans: callbacks from several threads, sums, checksums, stopping, cancelling, progress. */
#include <pthread.h>
#include <stdatomic.h>

#include "check.h"

static size_t len;
static uint8_t *expected;

struct seen {
    atomic_uint_fast64_t bytes, sum, calls;
    atomic_int stop_at;
    swath_cancel_token *token;
};

static int32_t look(const swath_chunk *chunk, void *user_data) {
    struct seen *seen = user_data;
    CHECK(chunk->offset == 100 + chunk->index * 4096);
    CHECK(memcmp(chunk->data, expected + chunk->offset, chunk->len) == 0);
    uint64_t sum = 0;
    for (size_t index = 0; index < chunk->len; index++) {
        sum += chunk->data[index];
    }
    seen->sum += sum;
    seen->bytes += chunk->len;
    seen->calls++;
    return 0;
}

static swath_options *by_two(void) {
    swath_options *options = NULL;
    OK(swath_options_new(SWATH_VERB_READ, &options));
    OK(swath_options_set(options, "workers", "2"));
    OK(swath_options_set(options, "chunk_size", "4096"));
    return options;
}

static void every_byte_once(void) {
    struct seen seen = {0};
    swath_report *report = NULL;
    swath_options *options = by_two();
    OK(swath_options_set(options, "offset", "100"));
    OK(swath_scan("large", options, look, &seen, &report));
    CHECK(seen.bytes == len - 100 && seen.calls == (len - 100 + 4095) / 4096);
    uint64_t sum = 0, should = 0;
    for (size_t index = 100; index < len; index++) {
        should += expected[index];
    }
    CHECK(seen.sum == should && swath_report_bytes(report) == len - 100);
    OK(swath_sum("large", options, &sum, NULL));
    CHECK(sum == should);
    swath_report_free(report);
    swath_options_free(options);
}

static int32_t stop_at_once(const swath_chunk *chunk, void *user_data) {
    struct seen *seen = user_data;
    seen->calls++;
    return chunk->len > 0 ? -42 : 0;
}

static void a_callback_stops_it_and_spares_the_token(void) {
    struct seen seen = {0};
    swath_report *report = NULL;
    swath_options *options = by_two();
    OK(swath_cancel_token_new(&seen.token));
    OK(swath_options_set_cancel(options, seen.token));
    FAILS(swath_scan("large", options, stop_at_once, &seen, &report), SWATH_STATUS_STOPPED);
    SAYS("-42");
    SAYS("large");
    /* One call of each worker may have begun before the first one had ended. */
    CHECK(report == NULL && seen.calls >= 1 && seen.calls <= 2);
    CHECK(!swath_cancel_token_is_cancelled(seen.token));
    uint64_t sum = 0;
    OK(swath_sum("large", options, &sum, NULL));
    swath_options_free(options);
    swath_cancel_token_free(seen.token);
}

static int32_t cancel_from_within(const swath_chunk *chunk, void *user_data) {
    struct seen *seen = user_data;
    if (atomic_fetch_add(&seen->calls, 1) == 0 && chunk->len > 0) {
        OK(swath_cancel_token_cancel(seen->token));
    }
    return 0;
}

static void *cancel_by_thread(void *token) {
    OK(swath_cancel_token_cancel(token));
    return NULL;
}

static void cancelling(void) {
    struct seen seen = {0};
    swath_buffer *buffer = NULL;
    uint8_t digest[8];
    swath_options *options = by_two();
    OK(swath_cancel_token_new(&seen.token));
    OK(swath_options_set_cancel(options, seen.token));
    FAILS(swath_scan("large", options, cancel_from_within, &seen, NULL), SWATH_STATUS_CANCELLED);
    CHECK(seen.calls < len / 4096 && swath_cancel_token_is_cancelled(seen.token));
    FAILS(swath_read("large", options, &buffer, NULL), SWATH_STATUS_CANCELLED);
    FAILS(swath_hash("large", options, SWATH_HASH_KIND_XXH3, digest, 8), SWATH_STATUS_CANCELLED);
    swath_cancel_token_free(seen.token);
    /* Options keep what they need of a token that is gone. */
    FAILS(swath_read("large", options, &buffer, NULL), SWATH_STATUS_CANCELLED);
    OK(swath_options_set_cancel(options, NULL));
    OK(swath_read("large", options, &buffer, NULL));
    swath_buffer_free(buffer);

    pthread_t thread;
    OK(swath_cancel_token_new(&seen.token));
    OK(swath_options_set_cancel(options, seen.token));
    CHECK(pthread_create(&thread, NULL, cancel_by_thread, seen.token) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    FAILS(swath_read("large", options, &buffer, NULL), SWATH_STATUS_CANCELLED);
    swath_cancel_token_free(seen.token);
    swath_options_free(options);
}

static void told(uint64_t bytes, uint64_t total, void *user_data) {
    struct seen *seen = user_data;
    CHECK(bytes <= total && total == len);
    uint_fast64_t most = seen->bytes;
    while (bytes > most && !atomic_compare_exchange_weak(&seen->bytes, &most, bytes)) {
    }
    seen->calls++;
}

static void progress_comes_to_the_end(void) {
    struct seen seen = {0};
    swath_buffer *buffer = NULL;
    swath_options *options = by_two();
    OK(swath_options_set_progress(options, told, &seen));
    OK(swath_read("large", options, &buffer, NULL));
    CHECK(seen.bytes == len && seen.calls > 0);
    swath_buffer_free(buffer);
    uint_fast64_t calls = seen.calls;
    OK(swath_options_set_progress(options, NULL, NULL));
    OK(swath_read("large", options, &buffer, NULL));
    CHECK(seen.calls == calls);
    swath_buffer_free(buffer);
    swath_options_free(options);
}

static int32_t fails_within(const swath_chunk *chunk, void *user_data) {
    (void)chunk, (void)user_data;
    uint64_t sum = 0;
    FAILS(swath_sum("missing", NULL, &sum, NULL), SWATH_STATUS_NOT_FOUND);
    return 0;
}

/* What failed in a callback is over when the call has succeeded. */
static void a_success_leaves_no_message(void) {
    OK(swath_scan("large", NULL, fails_within, NULL, NULL));
    CHECK(swath_last_error_errno() == 0 && *swath_last_error_path() == '\0');
}

static void counts(void) {
    uint64_t count = 0, should = 0;
    swath_report *report = NULL;
    for (size_t index = 0; index < len; index++) {
        should += expected[index] == '\n';
    }
    OK(swath_count("large", NULL, '\n', &count, &report));
    CHECK(count == should && should > 0 && swath_report_bytes(report) == len);
    swath_report_free(report);
}

static void hash_is(swath_hash_kind kind, const char *should) {
    uint8_t digest[SWATH_HASH_MAX_LEN + 1];
    char text[2 * SWATH_HASH_MAX_LEN + 1] = "";
    size_t size = swath_hash_len(kind);
    memset(digest, 0xee, sizeof digest);
    OK(swath_hash("check", NULL, kind, digest, size));
    CHECK(digest[size] == 0xee && 2 * size == strlen(should));
    for (size_t index = 0; index < size; index++) {
        snprintf(text + 2 * index, 3, "%02x", digest[index]);
    }
    CHECK(strcmp(text, should) == 0);
    FAILS(swath_hash("check", NULL, kind, digest, size - 1), SWATH_STATUS_INVALID_ARGUMENT);
}

/* The published checksums of this string and of nothing. */
static void hashes(void) {
    make_text("check", "123456789");
    hash_is(SWATH_HASH_KIND_CRC32C, "e3069283");
    make_text("check", "");
    hash_is(SWATH_HASH_KIND_XXH3, "2d06800538d394c2");
    hash_is(SWATH_HASH_KIND_BLAKE3,
            "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262");
    uint8_t digest[8];
    FAILS(swath_hash("missing", NULL, SWATH_HASH_KIND_XXH3, digest, 8), SWATH_STATUS_NOT_FOUND);
}

int main(void) {
    make_file("large", large() + 5);
    expected = stdio_read("large", &len);
    every_byte_once();
    a_callback_stops_it_and_spares_the_token();
    cancelling();
    progress_comes_to_the_end();
    a_success_leaves_no_message();
    counts();
    hashes();
    free(expected);
    return 0;
}
