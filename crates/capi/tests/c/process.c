/* A child of fork(2) works with handles of its own, whatever the parent has done before. */
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

static size_t len;
static uint8_t *expected;

static int32_t look(const swath_chunk *chunk, void *user_data) {
    (void)user_data;
    CHECK(memcmp(chunk->data, expected + chunk->offset, chunk->len) == 0);
    return 0;
}

/* Forks in reverse order, so that the commit has much to move. */
static void append(const char *path) {
    swath_options *options = NULL;
    swath_append *append = NULL;
    swath_fork *forks[4];
    const size_t share = len / 4;
    OK(swath_options_new(SWATH_VERB_APPEND, &options));
    OK(swath_options_set(options, "durability", "none"));
    OK(swath_append_create(path, options, &append));
    for (size_t index = 0; index < 4; index++) {
        OK(swath_append_fork(append, &forks[index]));
    }
    for (size_t index = 4; index-- > 0;) {
        OK(swath_fork_write(forks[index], expected + index * share, share));
        OK(swath_fork_finish(forks[index]));
        swath_fork_free(forks[index]);
    }
    OK(swath_append_commit(append, NULL));
    swath_append_free(append);
    swath_options_free(options);
    swath_appended *appended = NULL;
    OK(swath_appended_open(path, &appended));
    CHECK(swath_appended_len(appended) == 4 * share);
    OK(swath_appended_verify(appended));
    swath_appended_free(appended);
}

/* Reads and writes a table. */
static void copy_table(void) {
    const char *path = "table.csv";
    struct ArrowArrayStream batches;
    swath_table_written written;
    OK(swath_table_read(&path, 1, NULL, &batches, NULL));
    batches.release(&batches);
    OK(swath_table_stream(&path, 1, NULL, &batches, NULL));
    OK(swath_table_write("copy.csv", &batches, NULL, &written));
    CHECK(batches.release == NULL && written.rows == 2);
    check_text("copy.csv", "n,text\n1,one\n2,two\n");
}

static void work(const char *path) {
    swath_options *options = NULL;
    swath_buffer *buffer = NULL;
    swath_class_plan *plan = NULL;
    swath_prioritised *reading = NULL;
    swath_files *files = NULL;
    swath_ingested *ingested = NULL;
    uint8_t digest[SWATH_HASH_MAX_LEN];
    OK(swath_options_new(SWATH_VERB_READ, &options));
    OK(swath_options_set(options, "workers", "4"));
    OK(swath_read("large", options, &buffer, NULL));
    CHECK(memcmp(swath_buffer_bytes(buffer), expected, len) == 0);
    swath_buffer_free(buffer);
    OK(swath_scan("large", options, look, NULL, NULL));
    OK(swath_hash("large", options, SWATH_HASH_KIND_BLAKE3, digest, sizeof digest));
    OK(swath_hash("large", options, SWATH_HASH_KIND_CRC32C, digest, sizeof digest));
    OK(swath_class_plan_of_whole(10, 2, &plan));
    const char *large = "large";
    OK(swath_read_prioritised(&large, 1, options, plan, &reading));
    OK(swath_prioritised_finish(reading, NULL));
    swath_prioritised_free(reading);
    swath_class_plan_free(plan);
    OK(swath_files_new(&files));
    OK(swath_files_add_path(files, "large"));
    OK(swath_ingest(files, NULL, &ingested));
    swath_ingested_free(ingested);
    swath_files_free(files);
    swath_options_free(options);
    copy_table();
    append(path);
}

int main(void) {
    make_file("large", large());
    make_text("table.csv", "n,text\n1,one\n2,two\n");
    expected = stdio_read("large", &len);
    work("of the parent");
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        alarm(getenv("SWATH_TEST_SMALL") != NULL ? 500 : 60);
        work("of the child");
        free(expected);
        exit(0);
    }
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    free(expected);
    return 0;
}
