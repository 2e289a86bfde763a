/* Many files: their bytes are those of stdio, in order; failures are reported for each. */
#include <errno.h>
#include <sys/stat.h>

#include "check.h"

enum { COUNT = 60 };

static void make_files(void) {
    CHECK(mkdir("folder", 0755) == 0 && mkdir("folder/inner", 0755) == 0);
    for (int index = 0; index < COUNT; index++) {
        char path[64];
        snprintf(path, sizeof path, "folder/%03d", index);
        make_file(path, (size_t)index * 100);
    }
    make_file("folder/inner/last", 3 << 20);
}

/* Options for what fits into little memory. valgrind, at its end, looks for pointers in all that is
 * mapped: half a minute for as much as the library takes if it is not told otherwise. */
static swath_options *bounded(void) {
    swath_options *options = NULL;
    if (getenv("SWATH_TEST_SMALL") != NULL) {
        OK(swath_options_new(SWATH_VERB_INGEST, &options));
        OK(swath_options_set_number(options, "memory_limit", 16 << 20));
    }
    return options;
}

static void one_memory(void) {
    swath_files *files = NULL;
    swath_ingested *ingested = NULL;
    swath_options *options = bounded();
    OK(swath_files_new(&files));
    OK(swath_files_add_folder(files, "folder"));
    OK(swath_ingest(files, options, &ingested));
    CHECK(swath_ingested_count(ingested) == COUNT + 1);
    for (size_t index = 0; index <= COUNT; index++) {
        const swath_file *file = swath_ingested_file(ingested, index);
        size_t len = 0;
        uint8_t *expected = stdio_read(file->path, &len);
        CHECK(file->status == SWATH_STATUS_OK && file->len == len);
        CHECK(memcmp(file->data, expected, len) == 0);
        CHECK(len == 0 || file->data == swath_ingested_data(ingested) + file->offset);
        CHECK(file->offset + len <= swath_ingested_len(ingested));
        OK(swath_ingested_error(ingested, index));
        free(expected);
    }
    CHECK(strcmp(swath_ingested_file(ingested, 3)->path, "folder/003") == 0);
    CHECK(strcmp(swath_ingested_file(ingested, COUNT)->path, "folder/inner/last") == 0);
    CHECK(swath_ingested_file(ingested, COUNT + 1) == NULL);
    FAILS(swath_ingested_error(ingested, COUNT + 1), SWATH_STATUS_INVALID_ARGUMENT);
    CHECK(swath_ingested_failed(ingested) == 0 && swath_ingested_skipped(ingested) == 0);
    swath_options_free(options);
    swath_files_free(files);
    swath_ingested_free(ingested);
}

static void failures(void) {
    const char *paths[] = {"folder/001", "folder/missing", "folder", "folder/002"};
    swath_files *files = NULL;
    swath_options *options = bounded();
    swath_ingested *ingested = NULL;
    OK(swath_files_new(&files));
    OK(swath_files_add_paths(files, paths, 4));
    FAILS(swath_ingest(files, options, &ingested), SWATH_STATUS_NOT_FOUND);
    SAYS("folder/missing");
    CHECK(ingested == NULL && swath_last_error_errno() == ENOENT);

    if (options == NULL) {
        OK(swath_options_new(SWATH_VERB_INGEST, &options));
    }
    OK(swath_options_set(options, "failures", "collect"));
    FAILS(swath_options_set(options, "failures", "ignore"), SWATH_STATUS_INVALID_ARGUMENT);
    OK(swath_ingest(files, options, &ingested));
    CHECK(swath_ingested_count(ingested) == 4 && swath_ingested_failed(ingested) == 2);
    CHECK(swath_ingested_file(ingested, 1)->status == SWATH_STATUS_NOT_FOUND);
    CHECK(swath_ingested_file(ingested, 1)->len == 0);
    CHECK(swath_ingested_file(ingested, 3)->len == 200);
    FAILS(swath_ingested_error(ingested, 1), SWATH_STATUS_NOT_FOUND);
    SAYS("folder/missing");
    CHECK(strcmp(swath_last_error_path(), "folder/missing") == 0);
    CHECK(swath_ingested_error(ingested, 2) != SWATH_STATUS_OK);
    swath_ingested_free(ingested);

    OK(swath_options_set(options, "failures", "skip"));
    OK(swath_ingest(files, options, &ingested));
    CHECK(swath_ingested_count(ingested) == 2 && swath_ingested_skipped(ingested) == 2);
    swath_ingested_free(ingested);
    swath_options_free(options);
    swath_files_free(files);
}

struct seen {
    size_t files, bytes, parts;
    int32_t stop;
    uint64_t progress;
};

static int32_t part_came(const swath_file_part *part, void *user_data) {
    struct seen *seen = user_data;
    CHECK(part->index == seen->files && part->status == SWATH_STATUS_OK);
    for (size_t index = 0; index < part->len; index++) {
        CHECK(part->data[index] == byte_at(part->offset + index));
    }
    CHECK(strncmp(part->path, "folder/", 7) == 0);
    seen->bytes += part->len;
    seen->parts++;
    seen->files += part->is_last;
    return seen->files == 5 ? seen->stop : 0;
}

static void told(uint64_t bytes, uint64_t total, void *user_data) {
    CHECK(total == SWATH_TO_END);
    ((struct seen *)user_data)->progress = bytes;
}

static void one_after_the_other(void) {
    struct seen seen = {0};
    swath_files *files = NULL;
    swath_options *options = NULL;
    swath_cancel_token *token = NULL;
    swath_ingested *ingested = NULL;
    OK(swath_files_new(&files));
    OK(swath_files_add_folder(files, "folder"));
    OK(swath_options_new(SWATH_VERB_INGEST, &options));
    OK(swath_options_set(options, "workers", "2"));
    OK(swath_options_set(options, "queue_depth", "4"));
    OK(swath_options_set(options, "profile", "user"));
    OK(swath_options_set_progress(options, told, &seen));
    OK(swath_options_set_number(options, "memory_limit", 1 << 20));
    OK(swath_options_set_number(options, "part_size", 64 << 10));
    OK(swath_options_set(options, "symlinks", "skip"));
    OK(swath_ingest_each(files, options, part_came, &seen));
    CHECK(seen.files == COUNT + 1 && seen.parts > COUNT + 2);
    CHECK(seen.bytes == 100 * (COUNT * (COUNT - 1) / 2) + (3 << 20));
    struct seen stopped = {.stop = -3};
    FAILS(swath_ingest_each(files, options, part_came, &stopped), SWATH_STATUS_STOPPED);
    SAYS("folder/004");
    CHECK(stopped.files == 5);
    OK(swath_cancel_token_new(&token));
    OK(swath_cancel_token_cancel(token));
    OK(swath_options_set_cancel(options, token));
    FAILS(swath_ingest(files, options, &ingested), SWATH_STATUS_CANCELLED);
    FAILS(swath_options_set(options, "mirrors", "folder/001"), SWATH_STATUS_INVALID_ARGUMENT);
    SAYS("`mirrors` is not an option of SWATH_VERB_INGEST; try: pass one of failures, ");
    swath_cancel_token_free(token);
    swath_options_free(options);
    swath_files_free(files);
}

static void lists(void) {
    swath_files *files = NULL;
    swath_ingested *ingested = NULL;
    swath_options *options = bounded();
    const char *none[] = {"folder/001", NULL};
    OK(swath_files_new(&files));
    OK(swath_files_add_glob(files, "folder/00[0-2]"));
    OK(swath_files_add_path(files, "folder/inner/last"));
    FAILS(swath_files_add_paths(files, none, 2), SWATH_STATUS_INVALID_ARGUMENT);
    FAILS(swath_files_add_paths(files, none, SIZE_MAX), SWATH_STATUS_INVALID_ARGUMENT);
    FAILS(swath_files_add_glob(files, "\xff"), SWATH_STATUS_INVALID_ARGUMENT);
    OK(swath_ingest(files, options, &ingested));
    CHECK(swath_ingested_count(ingested) == 4);
    swath_ingested_free(ingested);
    swath_files_free(files);
    OK(swath_files_new(&files));
    OK(swath_ingest(files, options, &ingested));
    CHECK(swath_ingested_count(ingested) == 0 && swath_ingested_len(ingested) == 0);
    swath_ingested_free(ingested);
    OK(swath_files_add_glob(files, "folder/[0"));
    FAILS(swath_ingest(files, options, &ingested), SWATH_STATUS_INVALID_ARGUMENT);
    swath_files_free(files);
    swath_options_free(options);
}

static void null_is_told(void) {
    swath_files *files = NULL;
    swath_ingested *ingested = NULL;
    FAILS(swath_files_new(NULL), SWATH_STATUS_INVALID_ARGUMENT);
    FAILS(swath_files_add_path(NULL, "a"), SWATH_STATUS_INVALID_ARGUMENT);
    FAILS(swath_files_add_folder(NULL, "a"), SWATH_STATUS_INVALID_ARGUMENT);
    FAILS(swath_files_add_glob(NULL, "a"), SWATH_STATUS_INVALID_ARGUMENT);
    FAILS(swath_ingest(NULL, NULL, &ingested), SWATH_STATUS_INVALID_ARGUMENT);
    OK(swath_files_new(&files));
    FAILS(swath_files_add_path(files, NULL), SWATH_STATUS_INVALID_ARGUMENT);
    FAILS(swath_ingest(files, NULL, NULL), SWATH_STATUS_INVALID_ARGUMENT);
    FAILS(swath_ingest_each(files, NULL, NULL, NULL), SWATH_STATUS_INVALID_ARGUMENT);
    FAILS(swath_ingest_each(NULL, NULL, part_came, NULL), SWATH_STATUS_INVALID_ARGUMENT);
    FAILS(swath_options_new(SWATH_VERB_INGEST, NULL), SWATH_STATUS_INVALID_ARGUMENT);
    FAILS(swath_options_set(NULL, "symlinks", "skip"),
          SWATH_STATUS_INVALID_ARGUMENT);
    FAILS(swath_ingested_error(NULL, 0), SWATH_STATUS_INVALID_ARGUMENT);
    CHECK(swath_ingested_count(NULL) == 0 && swath_ingested_file(NULL, 0) == NULL);
    CHECK(swath_ingested_data(NULL) == NULL && swath_ingested_len(NULL) == 0);
    CHECK(swath_ingested_failed(NULL) == 0 && swath_ingested_skipped(NULL) == 0);
    swath_files_free(files);
    swath_files_free(NULL);
    swath_ingested_free(NULL);
    swath_options_free(NULL);
}

int main(void) {
    make_files();
    one_memory();
    failures();
    one_after_the_other();
    lists();
    null_is_told();
    return 0;
}
