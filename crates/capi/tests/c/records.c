/* Records: whole, each once, whatever the block size and however they end. */
#include <stdatomic.h>

#include "check.h"

struct seen {
    atomic_uint_fast64_t records, bytes, sum;
};

static int32_t count(swath_block *block, void *user_data) {
    struct seen *seen = user_data;
    const uint8_t *record = NULL;
    size_t len = 0, all = 0;
    const uint8_t *first = swath_block_data(block);
    while (swath_block_next(block, &record, &len)) {
        CHECK(record >= first && record + len <= first + swath_block_len(block));
        CHECK(memchr(record, '\n', len) == NULL);
        seen->records++;
        seen->bytes += len;
        seen->sum += strtoull((const char *)record, NULL, 10);
        all++;
    }
    CHECK(all > 0 && !swath_block_next(block, &record, &len));
    CHECK(swath_block_index(block) <= swath_block_offset(block));
    return 0;
}

static void lines(void) {
    const int numbers = 200000;
    uint64_t bytes = 0, sum = 0;
    FILE *file = fopen("lines", "wb");
    CHECK(file != NULL);
    for (int number = 0; number < numbers; number++) {
        bytes += (uint64_t)fprintf(file, "%d\n", number) - 1;
        sum += (uint64_t)number;
    }
    CHECK(fclose(file) == 0);
    const uint64_t sizes[] = {0, 1, 4096, 100000};
    swath_options *options = NULL;
    swath_options *records = NULL;
    OK(swath_options_new(SWATH_VERB_READ, &options));
    OK(swath_options_set(options, "workers", "3"));
    OK(swath_options_copy(options, SWATH_VERB_RECORDS, &records));
    for (size_t index = 0; index < 4; index++) {
        /* Blocks of one byte are too many under valgrind. */
        if (sizes[index] == 1 && getenv("SWATH_TEST_SMALL") != NULL) {
            continue;
        }
        struct seen seen = {0};
        swath_report *report = NULL;
        OK(swath_options_set_number(records, "block_size", sizes[index]));
        OK(swath_records("lines", records, count, &seen, &report));
        CHECK(seen.records == (uint64_t)numbers && seen.bytes == bytes && seen.sum == sum);
        CHECK(swath_report_bytes(report) >= bytes);
        swath_report_free(report);
    }
    struct seen seen = {0};
    OK(swath_options_promise_frozen(options));
    OK(swath_records("lines", options, count, &seen, NULL));
    CHECK(seen.records == (uint64_t)numbers && seen.sum == sum);
    swath_options_free(records);
    swath_options_free(options);
}

static int32_t keep_lens(swath_block *block, void *user_data) {
    char *text = user_data;
    const uint8_t *record = NULL;
    size_t len = 0;
    while (swath_block_next(block, &record, &len)) {
        snprintf(text + strlen(text), 16, "%zu ", len);
    }
    return 0;
}

static int32_t stop(swath_block *block, void *user_data) {
    (void)user_data;
    return swath_block_len(block) > 0 ? 7 : 0;
}

static void ends(void) {
    char text[64] = "";
    swath_options *records = NULL;
    OK(swath_options_new(SWATH_VERB_RECORDS, &records));
    OK(swath_options_set(records, "delimiter", "nul"));
    FILE *file = fopen("zeros", "wb");
    CHECK(file != NULL && fwrite("ab\0\0c", 1, 5, file) == 5 && fclose(file) == 0);
    OK(swath_records("zeros", records, keep_lens, text, NULL));
    CHECK(strcmp(text, "2 0 1 ") == 0);
    OK(swath_options_set(records, "width", "3"));
    FAILS(swath_records("zeros", records, keep_lens, text, NULL), SWATH_STATUS_INVALID_ARGUMENT);
    SAYS("try: set `width` alone");
    OK(swath_options_set(records, "delimiter", NULL));
    FAILS(swath_records("zeros", records, keep_lens, text, NULL), SWATH_STATUS_CORRUPT);
    SAYS("zeros");
    CHECK(swath_last_error_extent(NULL, NULL));
    OK(swath_options_set(records, "width", "0"));
    make_text("table", "a,\"b\nc\"\nd\n");
    OK(swath_options_set(records, "quote", "\""));
    text[0] = 0;
    OK(swath_records("table", records, keep_lens, text, NULL));
    CHECK(strcmp(text, "7 1 ") == 0);
    make_text("open", "a,\"b\nc");
    FAILS(swath_records("open", records, keep_lens, text, NULL), SWATH_STATUS_CORRUPT);
    SAYS("open");
    OK(swath_options_set(records, "delimiter", "0x22"));
    FAILS(swath_records("table", records, keep_lens, text, NULL),
          SWATH_STATUS_INVALID_ARGUMENT);
    OK(swath_options_set(records, "delimiter", "newline"));
    OK(swath_options_set(records, "quote", "none"));
    OK(swath_options_set(records, "block_size", "1024"));
    OK(swath_options_set(records, "record_limit", "2000"));
    make_file("long", 0);
    file = fopen("long", "wb");
    CHECK(file != NULL);
    for (int index = 0; index < 100000; index++) {
        CHECK(fputc('x', file) == 'x');
    }
    CHECK(fclose(file) == 0);
    FAILS(swath_records("long", records, keep_lens, text, NULL),
          SWATH_STATUS_INVALID_ARGUMENT);
    SAYS("long at bytes 0..");
    FAILS(swath_records("table", NULL, stop, NULL, NULL), SWATH_STATUS_STOPPED);
    SAYS("7");
    swath_options_free(records);
}

/* However a file is cut into extents, each record begins in one. */
static void extents(void) {
    swath_options *records = NULL;
    OK(swath_options_new(SWATH_VERB_RECORDS, &records));
    OK(swath_options_set(records, "block_size", "4096"));
    const uint64_t cuts[] = {0, 1, 2, 77777, 500001, 1000000};
    struct seen seen = {0};
    for (size_t index = 0; index < 6; index++) {
        char extent[64];
        int end = snprintf(extent, sizeof extent, "%llu..", (unsigned long long)cuts[index]);
        if (index < 5) {
            snprintf(extent + end, 32, "%llu", (unsigned long long)cuts[index + 1]);
        }
        OK(swath_options_set(records, "starting_in", extent));
        OK(swath_records("lines", records, count, &seen, NULL));
    }
    CHECK(seen.records == 200000 && seen.sum == UINT64_C(200000) * 199999 / 2);
    FAILS(swath_options_set(records, "starting_in", "2..1"), SWATH_STATUS_INVALID_ARGUMENT);
    FAILS(swath_options_set(records, "starting_in", "2"), SWATH_STATUS_INVALID_ARGUMENT);
    FAILS(swath_options_set(NULL, "starting_in", "0..1"), SWATH_STATUS_INVALID_ARGUMENT);
    swath_options_free(records);
}

static void null_is_told(void) {
    swath_options *records = NULL;
    FAILS(swath_records(NULL, NULL, stop, NULL, NULL), SWATH_STATUS_INVALID_ARGUMENT);
    FAILS(swath_records("table", NULL, NULL, NULL, NULL), SWATH_STATUS_INVALID_ARGUMENT);
    FAILS(swath_records("missing", NULL, stop, NULL, NULL), SWATH_STATUS_NOT_FOUND);
    FAILS(swath_options_new(SWATH_VERB_RECORDS, NULL), SWATH_STATUS_INVALID_ARGUMENT);
    FAILS(swath_options_set(NULL, "delimiter", "nul"), SWATH_STATUS_INVALID_ARGUMENT);
    FAILS(swath_options_set(NULL, "width", "1"), SWATH_STATUS_INVALID_ARGUMENT);
    FAILS(swath_options_set(NULL, "block_size", "1"), SWATH_STATUS_INVALID_ARGUMENT);
    FAILS(swath_options_set(NULL, "record_limit", "1"), SWATH_STATUS_INVALID_ARGUMENT);
    const uint8_t *record = NULL;
    size_t len = 0;
    CHECK(!swath_block_next(NULL, &record, &len) && swath_block_data(NULL) == NULL);
    CHECK(swath_block_len(NULL) == 0 && swath_block_index(NULL) == 0);
    CHECK(swath_block_offset(NULL) == 0);
    OK(swath_options_new(SWATH_VERB_RECORDS, &records));
    CHECK(strcmp(swath_options_get(records, "delimiter"), "newline") == 0);
    OK(swath_options_set(records, "delimiter", ";"));
    CHECK(strcmp(swath_options_get(records, "delimiter"), ";") == 0);
    FAILS(swath_options_set(records, "delimiter", ";;"), SWATH_STATUS_INVALID_ARGUMENT);
    FAILS(swath_options_set(records, "delimiter", "0x123"), SWATH_STATUS_INVALID_ARGUMENT);
    swath_options_free(records);
    swath_options_free(NULL);
}

int main(void) {
    lines();
    extents();
    ends();
    null_is_told();
    return 0;
}
