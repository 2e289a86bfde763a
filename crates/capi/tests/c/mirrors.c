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

static void read_is_right(const swath_options *options, const char *path) {
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
    swath_options *options = NULL;
    swath_buffer *buffer = NULL;
    OK(swath_options_new(SWATH_VERB_READ, &options));
    OK(swath_options_set(options, "mirrors", "two"));
    OK(swath_options_set(options, "verification", "vote"));
    FAILS(swath_read("one", options, &buffer, NULL), SWATH_STATUS_CORRUPT);
    SAYS("copies agree");
    swath_options_free(options);
}

/* A value out of range is refused at once, and changes nothing. */
static void limits(void) {
    swath_options *options = NULL;
    swath_buffer *buffer = NULL;
    OK(swath_options_new(SWATH_VERB_READ, &options));
    FAILS(swath_options_set(options, "hedging", "1001"), SWATH_STATUS_INVALID_ARGUMENT);
    SAYS("`hedging` cannot be `1001`; try: pass a whole number up to 1000");
    OK(swath_options_set(options, "hedging", "1000"));
    const char *many[64];
    for (int count = 0; count < 64; count++) {
        many[count] = "b";
    }
    OK(swath_options_set_list(options, "mirrors", many, 63));
    FAILS(swath_options_set_list(options, "mirrors", many, 64), SWATH_STATUS_INVALID_ARGUMENT);
    SAYS("try: pass up to 63 paths");
    OK(swath_read("a", options, &buffer, NULL));
    swath_buffer_free(buffer);
    swath_options_free(options);
}

int main(void) {
    a_vote_without_a_majority();
    make_file("a", large());
    make_file("b", large());
    make_file("c", large());
    expected = stdio_read("a", &len);
    swath_options *options = NULL;
    swath_buffer *buffer = NULL;
    OK(swath_options_new(SWATH_VERB_READ, &options));
    const char *copies[] = {"b", "c"};
    OK(swath_options_set_list(options, "mirrors", copies, 2));
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
    OK(swath_options_set(options, "verification", "vote"));
    OK(swath_options_set(options, "hedging", "0"));
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

    OK(swath_options_set(options, "mirrors", NULL));
    OK(swath_options_set(options, "verification", "none"));
    OK(swath_options_set(options, "hedging", "20"));
    OK(swath_read("a", options, &buffer, NULL));
    CHECK(swath_buffer_data(buffer)[17] == (expected[17] ^ 0x55));
    swath_buffer_free(buffer);
    make_text("no manifest", "text");
    FAILS(swath_options_set(options, "manifest", "no manifest"), SWATH_STATUS_CORRUPT);
    FAILS(swath_options_set(options, "manifest", "missing"), SWATH_STATUS_NOT_FOUND);
    swath_options_free(options);
    free(expected);
    return 0;
}
