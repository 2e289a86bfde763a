/* Mirrors: what one copy lacks, or has wrong, comes from another one. */
#include "check.h"

static size_t len;
static uint8_t *expected;

static void damage(const char *path, long place) {
    FILE *file = fopen(path, "r+b");
    CHECK(file != NULL && fseek(file, place, SEEK_SET) == 0);
    int byte = fgetc(file);
    CHECK(byte != EOF && fseek(file, place, SEEK_SET) == 0);
    CHECK(fputc(byte ^ 0x55, file) != EOF && fclose(file) == 0);
}

static void read_is_right(const swath_read_options *options, const char *path) {
    swath_buffer *buffer = NULL;
    swath_report *report = NULL;
    OK(swath_read(path, options, &buffer, &report));
    CHECK(swath_buffer_len(buffer) == len);
    CHECK(memcmp(swath_buffer_data(buffer), expected, len) == 0);
    CHECK(swath_report_mirror_count(report) == 3 && swath_report_mirror(report, 3) == NULL);
    const swath_mirror_report *first = swath_report_mirror(report, 0);
    CHECK(strcmp(first->path, path) == 0 && first->state <= SWATH_MIRROR_STATE_UNUSABLE);
    swath_buffer_free(buffer);
    swath_report_free(report);
}

/* Two copies that differ, and no way to tell which is right. */
static void a_vote_without_a_majority(void) {
    make_text("one", "abc");
    make_text("two", "abd");
    swath_read_options *options = NULL;
    swath_buffer *buffer = NULL;
    OK(swath_read_options_new(&options));
    OK(swath_read_options_add_mirror(options, "two"));
    OK(swath_read_options_set_verification(options, SWATH_VERIFICATION_VOTE));
    FAILS(swath_read("one", options, &buffer, NULL), SWATH_STATUS_CORRUPT);
    SAYS("copies agree");
    swath_read_options_free(options);
}

/* A value out of range is refused at once, and changes nothing. */
static void limits(void) {
    swath_read_options *options = NULL;
    swath_buffer *buffer = NULL;
    OK(swath_read_options_new(&options));
    FAILS(swath_read_options_set_hedging(options, 1001), SWATH_STATUS_INVALID_ARGUMENT);
    SAYS("1001 of 1000");
    OK(swath_read_options_set_hedging(options, 1000));
    for (int count = 0; count < 63; count++) {
        OK(swath_read_options_add_mirror(options, "b"));
    }
    FAILS(swath_read_options_add_mirror(options, "b"), SWATH_STATUS_INVALID_ARGUMENT);
    SAYS("63");
    OK(swath_read("a", options, &buffer, NULL));
    swath_buffer_free(buffer);
    swath_read_options_free(options);
}

int main(void) {
    a_vote_without_a_majority();
    make_file("a", large());
    make_file("b", large());
    make_file("c", large());
    expected = stdio_read("a", &len);
    swath_read_options *options = NULL;
    swath_buffer *buffer = NULL;
    OK(swath_read_options_new(&options));
    OK(swath_read_options_add_mirror(options, "b"));
    OK(swath_read_options_add_mirror(options, "c"));
    read_is_right(options, "a");
    limits();

    /* The first one is not there at all. */
    swath_report *report = NULL;
    OK(swath_read("missing", options, &buffer, &report));
    CHECK(memcmp(swath_buffer_data(buffer), expected, len) == 0);
    CHECK(swath_report_mirror(report, 0)->state == SWATH_MIRROR_STATE_UNUSABLE);
    CHECK(strlen(swath_report_mirror(report, 0)->trouble) > 0);
    swath_buffer_free(buffer);
    swath_report_free(report);

    /* Two of three are damaged, at different places: by vote, every byte is right. */
    OK(swath_read_options_set_verification(options, SWATH_VERIFICATION_VOTE));
    OK(swath_read_options_set_hedging(options, 0));
    damage("a", 17);
    damage("b", (long)len - 5);
    read_is_right(options, "a");
    uint64_t sum = 0, should = 0;
    for (size_t index = 0; index < len; index++) {
        should += expected[index];
    }
    OK(swath_sum("a", options, &sum, NULL));
    CHECK(sum == should);

    /* No two agree on the first chunk any more. */
    damage("c", 18);
    CHECK(swath_read("a", options, &buffer, NULL) != SWATH_STATUS_OK && buffer == NULL);
    CHECK(*swath_last_error_message() != 0);

    OK(swath_read_options_clear_mirrors(options));
    OK(swath_read_options_set_verification(options, SWATH_VERIFICATION_NONE));
    OK(swath_read_options_set_hedging(options, 20));
    OK(swath_read("a", options, &buffer, NULL));
    CHECK(swath_buffer_data(buffer)[17] == (expected[17] ^ 0x55));
    swath_buffer_free(buffer);
    make_text("no manifest", "text");
    FAILS(swath_read_options_set_manifest(options, "no manifest"), SWATH_STATUS_CORRUPT);
    FAILS(swath_read_options_set_manifest(options, "missing"), SWATH_STATUS_NOT_FOUND);
    swath_read_options_free(options);
    free(expected);
    return 0;
}
