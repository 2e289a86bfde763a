/* With few descriptors left a call is right or says so; one that failed leaves nothing open and nothing
 * half written. */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

enum { FILES = 12, MOST = 64 };

static size_t len;
static uint8_t *expected;
static uint64_t sum_of_all;

/* Whether it went well; if it did not, that it says that too many files are open. */
static int went_well(swath_status status) {
    if (status == SWATH_STATUS_OK) {
        return 1;
    }
    if (swath_last_error_errno() != EMFILE) {
        fprintf(stderr, "%s: %s\n", swath_status_text(status), swath_last_error_message());
        exit(1);
    }
    CHECK(*swath_last_error_message() != '\0');
    return 0;
}

static int32_t look(const swath_chunk *chunk, void *user_data) {
    atomic_uint_fast64_t *bytes = user_data;
    CHECK(memcmp(chunk->data, expected + chunk->offset, chunk->len) == 0);
    *bytes += chunk->len;
    return 0;
}

static int32_t take(swath_block *block, void *user_data) {
    atomic_uint_fast64_t *bytes = user_data;
    *bytes += swath_block_len(block);
    return 0;
}

static int reads(void) {
    int done = 0;
    swath_buffer *buffer = NULL;
    if (went_well(swath_read("large", NULL, &buffer, NULL))) {
        CHECK(swath_buffer_len(buffer) == len);
        CHECK(memcmp(swath_buffer_bytes(buffer), expected, len) == 0);
        swath_buffer_free(buffer);
        done++;
    }
    atomic_uint_fast64_t bytes = 0;
    if (went_well(swath_scan("large", NULL, look, &bytes, NULL))) {
        CHECK(bytes == len);
        done++;
    }
    uint64_t sum = 0;
    if (went_well(swath_sum("large", NULL, &sum, NULL))) {
        CHECK(sum == sum_of_all);
        done++;
    }
    uint8_t digest[SWATH_HASH_MAX_LEN];
    done += went_well(swath_hash("large", NULL, SWATH_HASH_KIND_BLAKE3, digest, sizeof digest));
    bytes = 0;
    if (went_well(swath_records("large", NULL, take, &bytes, NULL))) {
        CHECK(bytes == len);
        done++;
    }
    return done;
}

static int many_files(void) {
    swath_files *files = NULL;
    swath_ingested *ingested = NULL;
    int done = 0;
    OK(swath_files_new(&files));
    OK(swath_files_add_folder(files, "folder"));
    swath_options *options = NULL;
    OK(swath_options_new(SWATH_VERB_INGEST, &options));
    OK(swath_options_set_number(options, "memory_limit", 16 << 20));
    if (went_well(swath_ingest(files, options, &ingested))) {
        CHECK(swath_ingested_count(ingested) == FILES);
        for (size_t index = 0; index < FILES; index++) {
            const swath_file *file = swath_ingested_file(ingested, index);
            CHECK(file->status == SWATH_STATUS_OK && file->len == 1000 * (index + 1));
            CHECK(memcmp(file->data, expected, file->len) == 0);
        }
        swath_ingested_free(ingested);
        done++;
    }
    swath_options_free(options);
    swath_files_free(files);
    return done;
}

static int classes(void) {
    swath_class_plan *plan = NULL;
    swath_prioritised *reading = NULL;
    int done = 0;
    OK(swath_class_plan_of_whole(10, 2, &plan));
    if (went_well(swath_read_prioritised(&(const char *){"large"}, 1, NULL, plan, &reading))) {
        done += went_well(swath_prioritised_finish(reading, NULL));
        swath_prioritised_free(reading);
    }
    swath_class_plan_free(plan);
    return done;
}

/* In memory, as a stream, and from there into a file. */
static int tables(void) {
    const char *path = "table.csv";
    struct ArrowArrayStream stream;
    struct ArrowArray batch;
    int done = 0, failed = 0;
    int64_t rows = 0;
    if (went_well(swath_table_read(&path, 1, NULL, &stream, NULL))) {
        done += went_well(swath_table_write("copy.csv", &stream, NULL, NULL));
    }
    CHECK(stream.release == NULL);
    if (!went_well(swath_table_stream(&path, 1, NULL, &stream, NULL))) {
        CHECK(stream.release == NULL);
        return done;
    }
    while ((failed = stream.get_next(&stream, &batch)) == 0 && batch.release != NULL) {
        rows += batch.length;
        batch.release(&batch);
    }
    CHECK(failed == EMFILE || rows == 2);
    stream.release(&stream);
    return done + (failed == 0);
}

/* The file of before stands, or the whole new one. */
static int writes(const char *path, const char *mode) {
    swath_options *options = NULL;
    swath_append *append = NULL;
    int done = 0;
    OK(swath_options_new(SWATH_VERB_APPEND, &options));
    OK(swath_options_set(options, "mode", mode));
    if (went_well(swath_append_create(path, options, &append))) {
        swath_fork *fork = NULL;
        int well = went_well(swath_append_fork(append, &fork));
        well = well && went_well(swath_append_write(append, expected + 1000, 1000));
        well = well && went_well(swath_fork_write(fork, expected, 1000));
        well = well && went_well(swath_fork_finish(fork));
        if (well && went_well(swath_append_commit(append, NULL))) {
            done++;
        }
        swath_fork_free(fork);
        swath_append_free(append);
    }
    swath_options_free(options);
    return done;
}

static void check_written(const char *path, int is_done) {
    swath_appended *appended = NULL;
    uint8_t got[2000];
    size_t count = 0;
    if (!is_done) {
        CHECK(access(path, F_OK) != 0);
        return;
    }
    OK(swath_appended_open(path, &appended));
    OK(swath_appended_pread(appended, got, sizeof got, 0, &count));
    CHECK(count == sizeof got && memcmp(got, expected, sizeof got) == 0);
    swath_appended_free(appended);
}

/* Opens all but `left` descriptors; returns how many it opened. */
static int take_all_but(int left, int taken[MOST]) {
    struct rlimit most;
    CHECK(getrlimit(RLIMIT_NOFILE, &most) == 0);
    most.rlim_cur = MOST;
    CHECK(setrlimit(RLIMIT_NOFILE, &most) == 0);
    int count = 0;
    for (int fd = open("/dev/null", O_RDONLY); fd >= 0; fd = open("/dev/null", O_RDONLY)) {
        taken[count++] = fd;
    }
    CHECK(errno == EMFILE && count > left);
    for (int index = 0; index < left; index++) {
        close(taken[--count]);
    }
    return count;
}

static int open_now(void) {
    int count = 0;
    for (int fd = 0; fd < MOST; fd++) {
        count += fcntl(fd, F_GETFD) >= 0;
    }
    return count;
}

static void with_descriptors(int left) {
    char plain[32], segments[32];
    snprintf(plain, sizeof plain, "plain%d", left);
    snprintf(segments, sizeof segments, "segments%d", left);
    /* What the library keeps for itself, it opens before. */
    CHECK(reads() == 5 && many_files() == 1 && classes() == 1 && tables() == 2);
    CHECK(unlink("copy.csv") == 0);
    int taken[MOST];
    int count = take_all_but(left, taken);
    int before = open_now();
    int done = reads() + many_files() + classes() + tables();
    int is_plain = writes(plain, "plain");
    int is_segments = writes(segments, "segments");
    CHECK(open_now() == before);
    CHECK(left > 0 || done == 0);
    CHECK(left < 8 || done == 9);
    while (count > 0) {
        close(taken[--count]);
    }
    if (access("copy.csv", F_OK) == 0) {
        check_text("copy.csv", "n,text\n1,one\n2,two\n");
    }
    check_written(plain, is_plain);
    check_written(segments, is_segments);
    CHECK(reads() == 5 && many_files() == 1 && classes() == 1);
    writes(plain, "plain");
    check_written(plain, 1);
}

/* In a process of its own, which ends if it hangs. */
static void apart(void (*test)(int), int number) {
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        alarm(getenv("SWATH_TEST_SMALL") != NULL ? 500 : 60);
        test(number);
        free(expected);
        exit(0);
    }
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

int main(void) {
    make_file("large", large());
    expected = stdio_read("large", &len);
    for (size_t index = 0; index < len; index++) {
        sum_of_all += expected[index];
    }
    make_text("table.csv", "n,text\n1,one\n2,two\n");
    CHECK(mkdir("folder", 0755) == 0);
    for (int index = 0; index < FILES; index++) {
        char path[64];
        snprintf(path, sizeof path, "folder/%02d", index);
        make_file(path, 1000 * (size_t)(index + 1));
    }
    const int all[] = {0, 1, 2, 3, 5, 8, 20};
    const size_t count = getenv("SWATH_TEST_SMALL") != NULL ? 2 : sizeof all / sizeof *all;
    for (size_t index = 0; index < count; index++) {
        apart(with_descriptors, all[index]);
    }
    free(expected);
    return 0;
}
