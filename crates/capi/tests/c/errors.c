/* Errors are of one thread, say what, to what, where and why; wrong arguments do no harm. */
#include <errno.h>
#include <pthread.h>

#include "check.h"

static void *other_thread(void *path) {
    CHECK(*swath_last_error_message() == '\0');
    CHECK(swath_last_error_errno() == 0);
    swath_buffer *buffer = NULL;
    FAILS(swath_read((const char *)path, NULL, &buffer, NULL), SWATH_STATUS_NOT_FOUND);
    SAYS("of the other");
    return NULL;
}

static void messages(void) {
    uint64_t offset = 7, len = 8;
    CHECK(strcmp(swath_last_error_message(), "") == 0);
    CHECK(strcmp(swath_last_error_path(), "") == 0);
    CHECK(!swath_last_error_extent(&offset, &len) && offset == 7 && len == 8);

    swath_buffer *buffer = (swath_buffer *)&offset;
    FAILS(swath_read("missing", NULL, &buffer, NULL), SWATH_STATUS_NOT_FOUND);
    CHECK(buffer == NULL);
    CHECK(swath_last_error_errno() == ENOENT);
    CHECK(strcmp(swath_last_error_path(), "missing") == 0);
    SAYS("cannot open missing: No such file or directory");
    SAYS("check the path");

    pthread_t thread;
    char other[] = "missing of the other";
    CHECK(pthread_create(&thread, NULL, other_thread, other) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    SAYS("cannot open missing:");

    make_text("short", "0123456789");
    swath_options *options = NULL;
    OK(swath_options_new(SWATH_VERB_READ, &options));
    CHECK(strcmp(swath_last_error_path(), "") == 0 && swath_last_error_errno() == 0);
    OK(swath_options_set(options, "offset", "4"));
    OK(swath_options_set(options, "len", "100"));
    FAILS(swath_read("short", options, &buffer, NULL), SWATH_STATUS_TRUNCATED);
    SAYS("short at bytes 4..104");
    CHECK(swath_last_error_extent(&offset, &len) && offset == 4 && len == 100);
    CHECK(swath_last_error_extent(NULL, NULL));
    CHECK(swath_last_error_errno() == 0);
    OK(swath_options_set(options, "len", NULL));
    OK(swath_read("short", options, &buffer, NULL));
    CHECK(swath_buffer_len(buffer) == 6);
    swath_buffer_free(buffer);
    FAILS(swath_read(".", options, &buffer, NULL), SWATH_STATUS_IO);
    CHECK(swath_last_error_errno() == EISDIR);
    swath_options_free(options);
}

/* A name that is not text in any encoding. */
static void names_are_bytes(void) {
    const char *name = "n\xff\xfe m\xc3";
    make_text(name, "bytes");
    swath_buffer *buffer = NULL;
    OK(swath_read(name, NULL, &buffer, NULL));
    CHECK(swath_buffer_len(buffer) == 5);
    swath_buffer_free(buffer);
    CHECK(remove(name) == 0);
    FAILS(swath_read(name, NULL, &buffer, NULL), SWATH_STATUS_NOT_FOUND);
    CHECK(strcmp(swath_last_error_path(), name) == 0);
}

static void null_is_told(void) {
    swath_buffer *buffer = NULL;
    swath_options *options = NULL;
    uint64_t sum = 0;
    FAILS(swath_read(NULL, NULL, &buffer, NULL), SWATH_STATUS_INVALID_ARGUMENT);
    SAYS("`path` is NULL");
    FAILS(swath_read("", NULL, &buffer, NULL), SWATH_STATUS_INVALID_ARGUMENT);
    FAILS(swath_read("short", NULL, NULL, NULL), SWATH_STATUS_INVALID_ARGUMENT);
    SAYS("`buffer` is NULL");
    FAILS(swath_read_into("short", NULL, NULL, 1, NULL), SWATH_STATUS_INVALID_ARGUMENT);
    FAILS(swath_read_into("short", NULL, &sum, SIZE_MAX, NULL), SWATH_STATUS_INVALID_ARGUMENT);
    FAILS(swath_scan("short", NULL, NULL, NULL, NULL), SWATH_STATUS_INVALID_ARGUMENT);
    SAYS("`callback` is NULL");
    FAILS(swath_sum("short", NULL, NULL, NULL), SWATH_STATUS_INVALID_ARGUMENT);
    FAILS(swath_sum(NULL, NULL, &sum, NULL), SWATH_STATUS_INVALID_ARGUMENT);
    FAILS(swath_count("short", NULL, 10, NULL, NULL), SWATH_STATUS_INVALID_ARGUMENT);
    FAILS(swath_hash("short", NULL, SWATH_HASH_KIND_XXH3, NULL, 8), SWATH_STATUS_INVALID_ARGUMENT);
    FAILS(swath_options_new(SWATH_VERB_READ, NULL), SWATH_STATUS_INVALID_ARGUMENT);
    FAILS(swath_options_set(NULL, "workers", "1"), SWATH_STATUS_INVALID_ARGUMENT);
    FAILS(swath_options_set(NULL, "engine", "pool"), SWATH_STATUS_INVALID_ARGUMENT);
    FAILS(swath_options_set(NULL, "mirrors", "a"), SWATH_STATUS_INVALID_ARGUMENT);
    OK(swath_options_new(SWATH_VERB_READ, &options));
    FAILS(swath_options_set_list(options, "mirrors", NULL, 1), SWATH_STATUS_INVALID_ARGUMENT);
    FAILS(swath_options_set(options, "manifest", ""), SWATH_STATUS_INVALID_ARGUMENT);
    FAILS(swath_options_set(options, NULL, "1"), SWATH_STATUS_INVALID_ARGUMENT);
    FAILS(swath_options_set_number(options, "engine", 1), SWATH_STATUS_INVALID_ARGUMENT);
    FAILS(swath_options_set_of(options, "x", "workers", "1"), SWATH_STATUS_INVALID_ARGUMENT);
    SAYS("`workers` belongs to the call");
    OK(swath_options_set_progress(options, NULL, NULL));
    OK(swath_options_set_cancel(options, NULL));
    swath_options_free(options);
    FAILS(swath_cancel_token_new(NULL), SWATH_STATUS_INVALID_ARGUMENT);
    FAILS(swath_cancel_token_cancel(NULL), SWATH_STATUS_INVALID_ARGUMENT);
    CHECK(!swath_cancel_token_is_cancelled(NULL));
    CHECK(swath_buffer_data(NULL) == NULL && swath_buffer_len(NULL) == 0);
    CHECK(swath_report_bytes(NULL) == 0 && swath_report_elapsed_ns(NULL) == 0);
    CHECK(swath_report_engine(NULL) == SWATH_ENGINE_AUTO);
    CHECK(swath_report_page_cache(NULL) == SWATH_PAGE_CACHE_AUTO);
    CHECK(swath_report_workers(NULL) == 0 && swath_report_queue_depth(NULL) == 0);
    CHECK(swath_report_chunk_size(NULL) == 0 && swath_report_calls(NULL) == 0);
    CHECK(swath_report_retries(NULL) == 0 && swath_report_direct_bytes(NULL) == 0);
    CHECK(swath_report_reason(NULL) == NULL && swath_report_profile(NULL) == NULL);
    CHECK(swath_report_fallback_count(NULL) == 0 && swath_report_fallback(NULL, 0) == NULL);
    CHECK(swath_report_mirror_count(NULL) == 0 && swath_report_mirror(NULL, 0) == NULL);
    swath_buffer_free(NULL);
    swath_report_free(NULL);
    swath_options_free(NULL);
    swath_cancel_token_free(NULL);
}

/* Undefined values, as a newer program may pass to an older library. */
static void wrong_values_change_nothing(void) {
    swath_options *options = NULL;
    OK(swath_options_new(SWATH_VERB_READ, &options));
    static const char *const wrong[][2] = {
        {"engine", "fast"}, {"page_cache", "Keep"}, {"reuse", ""}, {"growth", "ignored "},
        {"profile", "mine"}, {"verification", "all"}, {"len", "-1"}, {"offset", "1.5"},
        {"workers", "18446744073709551616"}, {"chunk", "1"}};
    for (size_t index = 0; index < sizeof wrong / sizeof *wrong; index++) {
        FAILS(swath_options_set(options, wrong[index][0], wrong[index][1]),
              SWATH_STATUS_INVALID_ARGUMENT);
        SAYS("; try: pass ");
    }
    OK(swath_options_set_number(options, "workers", SIZE_MAX));
    OK(swath_options_set_number(options, "chunk_size", SIZE_MAX));
    OK(swath_options_set_number(options, "queue_depth", SIZE_MAX));
    swath_buffer *buffer = NULL;
    OK(swath_read("short", options, &buffer, NULL));
    swath_buffer_free(buffer);
    OK(swath_options_set_number(options, "offset", UINT64_MAX));
    OK(swath_options_set(options, "len", "2"));
    FAILS(swath_read("short", options, &buffer, NULL), SWATH_STATUS_INVALID_ARGUMENT);
    OK(swath_options_set(options, "len", NULL));
    FAILS(swath_read("short", options, &buffer, NULL), SWATH_STATUS_TRUNCATED);
    uint8_t digest[SWATH_HASH_MAX_LEN];
    FAILS(swath_hash("short", NULL, (swath_hash_kind)3, digest, sizeof digest),
          SWATH_STATUS_INVALID_ARGUMENT);
    CHECK(swath_hash_len((swath_hash_kind)3) == 0);
    swath_options_free(options);
    /* The largest value that C++ allows for this enumeration. */
    CHECK(strcmp(swath_status_text((swath_status)31), "unknown status") == 0);
    CHECK(strcmp(swath_status_text(SWATH_STATUS_OK), "done") == 0);
    for (int status = 0; status <= SWATH_STATUS_PANIC; status++) {
        CHECK(strcmp(swath_status_text((swath_status)status), "unknown status") != 0);
    }
}

static void versions(void) {
    char header[64];
    snprintf(header, sizeof header, "%d.%d.%d", SWATH_VERSION_MAJOR, SWATH_VERSION_MINOR,
             SWATH_VERSION_PATCH);
    CHECK(strcmp(header, swath_version()) == 0);
}

/* A name cannot write lines of its own into a log. */
static void a_message_is_one_line(void) {
    swath_buffer *buffer = NULL;
    FAILS(swath_read("no\nerror: all is lost\033[2J", NULL, &buffer, NULL), SWATH_STATUS_NOT_FOUND);
    CHECK(strpbrk(swath_last_error_message(), "\n\033") == NULL);
    SAYS("no\\nerror: all is lost\\u{1b}[2J");
    CHECK(strcmp(swath_last_error_path(), "no\nerror: all is lost\033[2J") == 0);
}

int main(void) {
    messages();
    versions();
    a_message_is_one_line();
    names_are_bytes();
    null_is_told();
    wrong_values_change_nothing();
    return 0;
}
