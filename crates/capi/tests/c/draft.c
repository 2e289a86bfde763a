/* Shared drafts and jobs: what several processes write is one file, once. */
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

static swath_options *quick(void) {
    swath_options *output = NULL;
    OK(swath_options_new(SWATH_VERB_WRITE, &output));
    OK(swath_options_set(output, "durability", "none"));
    return output;
}

/* Writes a text at a place, and returns the receipt; to be freed. */
static char *write_part(const char *token, const char *text, uint64_t offset) {
    swath_draft_writer *writer = NULL;
    OK(swath_draft_open(token, NULL, &writer));
    OK(swath_draft_writer_write(writer, text, strlen(text), offset));
    OK(swath_draft_writer_write(writer, NULL, 0, offset));
    CHECK(swath_draft_writer_receipt(writer) == NULL);
    OK(swath_draft_writer_finish(writer, offset == 0));
    FAILS(swath_draft_writer_write(writer, "x", 1, 0), SWATH_STATUS_INVALID_ARGUMENT);
    FAILS(swath_draft_writer_finish(writer, true), SWATH_STATUS_INVALID_ARGUMENT);
    char *receipt = strdup(swath_draft_writer_receipt(writer));
    CHECK(receipt != NULL);
    swath_draft_writer_free(writer);
    return receipt;
}

/* Each of two children writes a half. */
static void processes_write_one_file(void) {
    swath_draft *draft = NULL;
    make_text("out", "old");
    OK(swath_draft_create("out", NULL, 10, &draft));
    FAILS(swath_draft_create("out", NULL, 1, &(swath_draft *){NULL}), SWATH_STATUS_BUSY);
    char *receipts[2] = {NULL, NULL};
    for (int index = 0; index < 2; index++) {
        int ends[2] = {0, 0};
        CHECK(pipe(ends) == 0);
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            char *receipt = write_part(swath_draft_token(draft), index ? "56789" : "01234",
                                       index ? 5 : 0);
            CHECK(write(ends[1], receipt, strlen(receipt)) == (ssize_t)strlen(receipt));
            _exit(0); /* not `exit`: the parent's handles are not the child's */
        }
        int status = 0;
        CHECK(waitpid(child, &status, 0) == child && status == 0);
        receipts[index] = (char *)calloc(1, 4096);
        CHECK(receipts[index] != NULL && read(ends[0], receipts[index], 4095) > 0);
        close(ends[0]);
        close(ends[1]);
    }
    check_text("out", "old");
    OK(swath_draft_commit(draft, (const char *const *)receipts, 2, false));
    check_text("out", "0123456789");
    FAILS(swath_draft_commit(draft, NULL, 0, false), SWATH_STATUS_INVALID_ARGUMENT);
    FAILS(swath_draft_open(swath_draft_token(draft), NULL, &(swath_draft_writer *){NULL}),
          SWATH_STATUS_CHANGED);
    swath_draft_free(draft);
    free(receipts[0]);
    free(receipts[1]);
}

static void missing_bytes_are_an_error(void) {
    swath_options *output = quick();
    swath_draft *draft = NULL, *other = NULL;
    uint64_t offset = 0, len = 0;
    make_text("out", "old");
    OK(swath_draft_create("out", output, 10, &draft));
    char *receipt = write_part(swath_draft_token(draft), "012", 0);
    FAILS(swath_draft_commit(draft, (const char *const *)&receipt, 1, false),
          SWATH_STATUS_INVALID_ARGUMENT);
    SAYS("7 of its 10 bytes were not written");
    CHECK(swath_last_error_extent(&offset, &len) && offset == 3 && len == 7);
    swath_draft_free(draft);
    check_text("out", "old");
    OK(swath_draft_create("out", output, 4, &draft));
    free(receipt);
    receipt = write_part(swath_draft_token(draft), "abcd", 0);
    OK(swath_draft_create("other", output, 4, &other));
    FAILS(swath_draft_commit(other, (const char *const *)&receipt, 1, false),
          SWATH_STATUS_INVALID_ARGUMENT);
    SAYS("a receipt is of draft");
    OK(swath_draft_commit(draft, (const char *const *)&receipt, 1, true));
    check_text("out", "abcd");
    swath_draft_free(draft);
    swath_draft_free(other);
    OK(swath_draft_create("out", output, 3, &draft));
    OK(swath_draft_commit(draft, NULL, 0, true));
    size_t count = 0;
    uint8_t *bytes = stdio_read("out", &count);
    CHECK(count == 3 && bytes[0] == 0 && bytes[2] == 0);
    free(bytes);
    free(receipt);
    swath_draft_free(draft);
    swath_options_free(output);
}

static void what_is_wrong_is_told(void) {
    swath_draft *draft = NULL, *none = NULL;
    swath_draft_writer *writer = NULL;
    const char *nothing = NULL, *nonsense = "{}", *not_text = "\xff";
    OK(swath_draft_create("out", NULL, 4, &draft));
    FAILS(swath_draft_create(NULL, NULL, 4, &none), SWATH_STATUS_INVALID_ARGUMENT);
    FAILS(swath_draft_create("out", NULL, 4, NULL), SWATH_STATUS_INVALID_ARGUMENT);
    FAILS(swath_draft_open(nothing, NULL, &writer), SWATH_STATUS_INVALID_ARGUMENT);
    FAILS(swath_draft_open(not_text, NULL, &writer), SWATH_STATUS_INVALID_ARGUMENT);
    FAILS(swath_draft_open(nonsense, NULL, &writer), SWATH_STATUS_CORRUPT);
    CHECK(writer == NULL && swath_draft_token(NULL) == NULL);
    CHECK(swath_draft_writer_receipt(NULL) == NULL);
    FAILS(swath_draft_writer_write(NULL, "a", 1, 0), SWATH_STATUS_INVALID_ARGUMENT);
    FAILS(swath_draft_writer_finish(NULL, true), SWATH_STATUS_INVALID_ARGUMENT);
    FAILS(swath_draft_commit(NULL, NULL, 0, false), SWATH_STATUS_INVALID_ARGUMENT);
    swath_draft_free(draft);
    OK(swath_draft_create("out", NULL, 4, &draft));
    FAILS(swath_draft_commit(draft, NULL, 1, false), SWATH_STATUS_INVALID_ARGUMENT);
    FAILS(swath_draft_commit(draft, &nothing, 1, false), SWATH_STATUS_INVALID_ARGUMENT);
    FAILS(swath_draft_commit(draft, &nonsense, 1, false), SWATH_STATUS_CORRUPT);
    OK(swath_draft_open(swath_draft_token(draft), NULL, &writer));
    FAILS(swath_draft_writer_write(writer, NULL, 4, 0), SWATH_STATUS_INVALID_ARGUMENT);
    FAILS(swath_draft_writer_write(writer, "abcde", 5, 0), SWATH_STATUS_INVALID_ARGUMENT);
    SAYS("extend past its length of 4");
    FAILS(swath_draft_writer_finish(writer, true), SWATH_STATUS_POISONED);
    swath_draft_writer_free(writer);
    OK(swath_draft_open(swath_draft_token(draft), NULL, &writer));
    swath_draft_free(draft);
    FAILS(swath_draft_writer_write(writer, "abcd", 4, 0), SWATH_STATUS_CHANGED);
    swath_draft_writer_free(writer);
    swath_draft_writer_free(NULL);
    swath_draft_free(NULL);
}

/* Does one part: the lines that begin in its pieces, in capitals. */
static int32_t in_capitals(swath_block *block, void *segment) {
    size_t len = swath_block_len(block);
    char *bytes = (char *)malloc(len + 1);
    CHECK(bytes != NULL);
    memcpy(bytes, swath_block_data(block), len);
    for (size_t index = 0; index < len; index++) {
        bytes[index] = (char)(bytes[index] >= 'a' && bytes[index] <= 'z' ? bytes[index] - 32
                                                                          : bytes[index]);
    }
    OK(swath_segment_write((swath_segment *)segment, bytes, len));
    free(bytes);
    return 0;
}

static char *do_part(const swath_job *job, size_t index) {
    swath_part *part = NULL;
    swath_segment *segment = NULL;
    swath_options *read = NULL;
    OK(swath_options_new(SWATH_VERB_READ, &read));
    OK(swath_options_set(read, "workers", "1"));
    OK(swath_job_part(job, index, &part));
    OK(swath_part_begin(part, &segment));
    for (size_t at = 0; at < swath_part_piece_count(part); at++) {
        const swath_piece *piece = swath_part_piece(part, at);
        swath_options *records = NULL;
        CHECK(piece != NULL && piece->path[0] == '/');
        OK(swath_options_copy(read, SWATH_VERB_RECORDS, &records));
        if (swath_part_division(part) == SWATH_DIVISION_RECORDS) {
            char extent[64];
            snprintf(extent, sizeof extent, "%llu..%llu", (unsigned long long)piece->offset,
                     (unsigned long long)(piece->offset + piece->len));
            OK(swath_options_set(records, "starting_in", extent));
        } else {
            OK(swath_options_set_number(records, "offset", piece->offset));
            OK(swath_options_set_number(records, "len", piece->len));
        }
        OK(swath_records(piece->path, records, in_capitals, segment, NULL));
        swath_options_free(records);
    }
    CHECK(swath_segment_receipt(segment) == NULL);
    OK(swath_segment_finish(segment));
    FAILS(swath_segment_write(segment, "x", 1), SWATH_STATUS_INVALID_ARGUMENT);
    FAILS(swath_segment_finish(segment), SWATH_STATUS_INVALID_ARGUMENT);
    char *receipt = strdup(swath_segment_receipt(segment));
    CHECK(receipt != NULL);
    swath_segment_free(segment);
    swath_part_free(part);
    swath_options_free(read);
    return receipt;
}

static swath_options *in_parts(size_t parts, const char *form, const char *division) {
    swath_options *options = NULL;
    OK(swath_options_new(SWATH_VERB_JOB, &options));
    OK(swath_options_set_number(options, "parts", parts));
    OK(swath_options_set(options, "part_size", "1000"));
    OK(swath_options_set(options, "division", division));
    OK(swath_options_set(options, "form", form));
    OK(swath_options_set(options, "durability", "none"));
    return options;
}

static void parts_are_one_output(const char *form, swath_division division, const char *target) {
    const char *input = "in";
    const char *should = "ONE TWO THREE\nFOUR FIVE SIX\nSEVEN\n";
    const char *divisions[] = {"records", "bytes", "lines"};
    swath_options *options = in_parts(3, form, divisions[division]);
    swath_job *job = NULL, *other = NULL, *opened = NULL;
    char *receipts[4] = {NULL, NULL, NULL, NULL};
    uint64_t bytes = 0;
    make_text("in", "one two three\nfour five six\nseven\n");
    OK(swath_job_plan(&input, 1, target, options, &job));
    CHECK(swath_job_division(job) == division);
    CHECK(swath_job_part_count(job) == 3 && access(swath_job_folder(job), F_OK) == 0);
    OK(swath_job_from_json(swath_job_json(job), &other)); /* as in another process */
    OK(swath_job_open(swath_job_folder(job), NULL, &opened));
    CHECK(strcmp(swath_job_json(opened), swath_job_json(job)) == 0);
    receipts[0] = do_part(other, 2);
    receipts[1] = do_part(opened, 0);
    FAILS(swath_job_commit(job, (const char *const *)receipts, 2, NULL),
          SWATH_STATUS_INVALID_ARGUMENT);
    SAYS("part 1 is not done");
    receipts[2] = do_part(job, 1);
    receipts[3] = do_part(other, 1); /* twice */
    OK(swath_job_commit(job, (const char *const *)receipts, 4, &bytes));
    CHECK(bytes == strlen(should));
    OK(swath_job_commit(other, NULL, 0, &bytes)); /* the same again */
    CHECK(bytes == strlen(should));
    swath_appended *appended = NULL;
    char got[64];
    size_t count = 0;
    OK(swath_appended_open(target, &appended));
    OK(swath_appended_pread(appended, got, sizeof got, 0, &count));
    CHECK(count == bytes && memcmp(got, should, count) == 0);
    swath_appended_free(appended);
    FAILS(swath_job_abort(job), SWATH_STATUS_INVALID_ARGUMENT);
    OK(swath_job_remove(job));
    CHECK((access(swath_job_folder(job), F_OK) == 0) == (strcmp(form, "segments") == 0));
    for (int index = 0; index < 4; index++) {
        free(receipts[index]);
    }
    swath_job_free(job);
    swath_job_free(other);
    swath_job_free(opened);
    swath_options_free(options);
}

static void a_job_that_is_wrong_is_told(void) {
    swath_options *options = in_parts(2, "file", "records");
    swath_job *job = NULL;
    swath_part *part = NULL;
    swath_segment *segment = NULL;
    const char *input = "in", *missing = "no such file", *nonsense = "{}";
    FAILS(swath_options_set(options, "form", "7"), SWATH_STATUS_INVALID_ARGUMENT);
    SAYS("`form` cannot be `7`; try: pass `file` or `segments`");
    FAILS(swath_options_set(options, "folder", ""), SWATH_STATUS_INVALID_ARGUMENT);
    OK(swath_options_set(options, "folder", "here"));
    FAILS(swath_options_set(options, "division", "width"), SWATH_STATUS_INVALID_ARGUMENT);
    SAYS("pass `records` or `bytes` or `lines`");
    FAILS(swath_options_set(options, "width", "0"), SWATH_STATUS_INVALID_ARGUMENT);
    OK(swath_options_set(options, "width", "7"));
    FAILS(swath_job_plan(&input, 1, "out", options, &job), SWATH_STATUS_INVALID_ARGUMENT); /* torn */
    OK(swath_options_set(options, "width", "17"));
    OK(swath_job_plan(&input, 1, "out", options, &job));
    CHECK(swath_job_division(job) == SWATH_DIVISION_WIDTH && swath_job_part_count(job) == 2);
    OK(swath_job_abort(job));
    swath_job_free(job);
    job = NULL;
    OK(swath_options_set(options, "division", "inputs"));
    OK(swath_options_set(options, "division", "groups"));
    OK(swath_options_set(options, "division", "records"));
    FAILS(swath_job_plan(&missing, 1, "out", options, &job), SWATH_STATUS_NOT_FOUND);
    FAILS(swath_job_plan(NULL, 1, "out", options, &job), SWATH_STATUS_INVALID_ARGUMENT);
    FAILS(swath_job_plan(&input, 1, NULL, options, &job), SWATH_STATUS_INVALID_ARGUMENT);
    CHECK(job == NULL);
    FAILS(swath_job_open("no such folder", NULL, &job), SWATH_STATUS_NOT_FOUND);
    FAILS(swath_job_from_json(nonsense, &job), SWATH_STATUS_CORRUPT);
    FAILS(swath_job_from_json(NULL, &job), SWATH_STATUS_INVALID_ARGUMENT);
    OK(swath_job_plan(&input, 1, "out", options, &job));
    CHECK(access("here/JOB", F_OK) == 0);
    FAILS(swath_job_remove(job), SWATH_STATUS_INVALID_ARGUMENT);
    FAILS(swath_job_part(job, 2, &part), SWATH_STATUS_INVALID_ARGUMENT);
    OK(swath_job_part(job, 0, &part));
    CHECK(swath_part_division(part) == SWATH_DIVISION_RECORDS);
    CHECK(swath_part_piece(part, 0)->len == 17);
    CHECK(swath_part_piece(part, 1) == NULL && swath_part_piece(NULL, 0) == NULL);
    FAILS(swath_job_commit(job, &nonsense, 1, NULL), SWATH_STATUS_CORRUPT);
    OK(swath_part_begin(part, &segment));
    OK(swath_segment_write(segment, "half", 4));
    OK(swath_job_abort(job));
    FAILS(swath_segment_finish(segment), SWATH_STATUS_NOT_FOUND);
    swath_segment_free(segment);
    FAILS(swath_part_begin(part, &segment), SWATH_STATUS_NOT_FOUND);
    FAILS(swath_job_commit(job, NULL, 0, NULL), SWATH_STATUS_NOT_FOUND);
    CHECK(segment == NULL && swath_segment_receipt(NULL) == NULL);
    CHECK(swath_job_json(NULL) == NULL && swath_job_folder(NULL) == NULL);
    CHECK(swath_job_part_count(NULL) == 0 && swath_part_piece_count(NULL) == 0);
    CHECK(swath_job_division(NULL) == SWATH_DIVISION_RECORDS);
    CHECK(swath_part_division(NULL) == SWATH_DIVISION_RECORDS);
    FAILS(swath_part_begin(NULL, &segment), SWATH_STATUS_INVALID_ARGUMENT);
    FAILS(swath_job_abort(NULL), SWATH_STATUS_INVALID_ARGUMENT);
    swath_part_free(part);
    swath_job_free(job);
    swath_options_free(options);
    swath_part_free(NULL);
    swath_segment_free(NULL);
    swath_job_free(NULL);
    swath_options_free(NULL);
}

int main(void) {
    processes_write_one_file();
    missing_bytes_are_an_error();
    what_is_wrong_is_told();
    parts_are_one_output("file", SWATH_DIVISION_RECORDS, "upper");
    parts_are_one_output("file", SWATH_DIVISION_LINES, "lines");
    parts_are_one_output("file", SWATH_DIVISION_BYTES, "bytes");
    parts_are_one_output("segments", SWATH_DIVISION_LINES, "segments");
    a_job_that_is_wrong_is_told();
    return 0;
}
