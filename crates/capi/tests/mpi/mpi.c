/* swath_mpi.h with several ranks: one file, once, and the same status on all. */
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <swath_mpi.h>

#include "check.h"

static int rank, size;
static swath_mpi_error error;

/* Ends the program on all ranks unless the call returns `is` everywhere. */
#define ALL(call, is) all_return((call), (is), #call, __LINE__)

static void all_return(swath_status status, swath_status should, const char *text, int line) {
    if (status != should || (error.rank == -1) != (status == SWATH_STATUS_OK) ||
        (error.message[0] == '\0') != (status == SWATH_STATUS_OK)) {
        fprintf(stderr, "mpi.c:%d: rank %d: %s\n  is: %s, rank %d: %s\n", line, rank, text,
                swath_status_text(status), error.rank, error.message);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

static swath_options *quick(void) {
    swath_options *output = NULL;
    OK(swath_options_new(SWATH_VERB_WRITE, &output));
    OK(swath_options_set(output, "durability", "none"));
    return output;
}

/* The bytes of a rank: some have none, and one has many. */
static uint8_t *bytes_of(int which, size_t *len) {
    *len = which % 3 == 1 ? 0 : which == 2 ? (size_t)3 << 20 : (size_t)(which * 1000 + 7);
    uint8_t *bytes = (uint8_t *)malloc(*len + 1);
    CHECK(bytes != NULL);
    for (size_t index = 0; index < *len; index++) {
        bytes[index] = (uint8_t)(byte_at(index) + which);
    }
    return bytes;
}

static void check_output(const char *path, uint64_t bytes) {
    swath_appended *appended = NULL;
    uint64_t place = 0;
    OK(swath_appended_open(path, &appended));
    CHECK(swath_appended_len(appended) == bytes);
    for (int which = 0; which < size; which++) {
        size_t len = 0, count = 0;
        uint8_t *should = bytes_of(which, &len), *got = (uint8_t *)malloc(len + 1);
        CHECK(got != NULL);
        OK(swath_appended_pread(appended, got, len, place, &count));
        CHECK(count == len && memcmp(got, should, len) == 0);
        place += len;
        free(should);
        free(got);
    }
    CHECK(place == bytes);
    swath_appended_free(appended);
}

static void ranks_append_in_order(void) {
    swath_options *output = quick();
    size_t len = 0;
    uint8_t *mine = bytes_of(rank, &len);
    uint64_t bytes = 0;
    for (int round = 0; round < 3; round++) {
        ALL(swath_mpi_append(MPI_COMM_WORLD, "out", round == 0 ? NULL : output, mine, len, &bytes,
                             &error),
            SWATH_STATUS_OK);
        check_output("out", bytes);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    ALL(swath_mpi_append_segments(MPI_COMM_WORLD, "segments", output, mine, len, &bytes, &error),
        SWATH_STATUS_OK);
    check_output("segments", bytes);
    ALL(swath_mpi_append_segments(MPI_COMM_WORLD, "segments", output, mine, len, &bytes, &error),
        SWATH_STATUS_INVALID_ARGUMENT);
    CHECK(error.rank == 0);
    /* No bytes at all, and their number is not wanted. */
    ALL(swath_mpi_append(MPI_COMM_WORLD, "empty", output, NULL, 0, NULL, &error), SWATH_STATUS_OK);
    struct stat found;
    CHECK(stat("empty", &found) == 0 && found.st_size == 0);
    /* Ranks in another order are another order. */
    MPI_Comm turned;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &turned);
    char letter[2] = {(char)('a' + rank), '\0'};
    ALL(swath_mpi_append(turned, "turned", output, letter, 1, &bytes, &error), SWATH_STATUS_OK);
    MPI_Comm_free(&turned);
    uint8_t *text = stdio_read("turned", &len);
    for (int which = 0; which < size; which++) {
        CHECK(len == (size_t)size && text[which] == 'a' + size - 1 - which);
    }
    free(text);
    free(mine);
    swath_options_free(output);
}

/* One rank may write only small files. */
static void a_rank_that_cannot_write_is_an_error_of_all(void) {
    swath_options *output = quick();
    const size_t len = (size_t)1 << 20;
    char *mine = (char *)calloc(1, len);
    CHECK(mine != NULL && size > 2);
    struct rlimit limit, small;
    CHECK(getrlimit(RLIMIT_FSIZE, &limit) == 0);
    if (rank == 2) {
        small = limit;
        small.rlim_cur = 1000;
        CHECK(setrlimit(RLIMIT_FSIZE, &small) == 0);
    }
    ALL(swath_mpi_append(MPI_COMM_WORLD, "out", output, mine, len, NULL, &error), SWATH_STATUS_IO);
    CHECK(error.rank == 2 && strstr(error.message, "too large") != NULL);
    ALL(swath_mpi_append_segments(MPI_COMM_WORLD, "more", output, mine, len, NULL, &error),
        SWATH_STATUS_IO);
    CHECK(error.rank == 2);
    CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    check_output("out", (uint64_t)7 + 2 * ((uint64_t)0) + ((uint64_t)3 << 20) +
                            (size > 3 ? 3007u : 0u));
    CHECK(access("more", F_OK) != 0 && access(".out.swath-tmp", F_OK) != 0);
    ALL(swath_mpi_append(MPI_COMM_WORLD, "no such folder/out", NULL, mine, 1, NULL, &error),
        SWATH_STATUS_NOT_FOUND);
    ALL(swath_mpi_append(MPI_COMM_WORLD, NULL, NULL, mine, 1, NULL, &error),
        SWATH_STATUS_INVALID_ARGUMENT);
    ALL(swath_mpi_append(MPI_COMM_WORLD, "out", NULL, rank == 1 ? NULL : mine, 1, NULL, &error),
        SWATH_STATUS_INVALID_ARGUMENT);
    CHECK(error.rank == 1);
    /* Lengths whose sum is not a length. */
    const size_t most = rank == 1 ? SIZE_MAX : 1;
    ALL(swath_mpi_append(MPI_COMM_WORLD, "out", NULL, mine, most, NULL, &error),
        SWATH_STATUS_INVALID_ARGUMENT);
    CHECK(error.rank == 1 && strstr(error.message, "more than a file can have") != NULL);
    ALL(swath_mpi_append_segments(MPI_COMM_WORLD, "more", NULL, mine, most, NULL, &error),
        SWATH_STATUS_INVALID_ARGUMENT);
    ALL(swath_mpi_agree(MPI_COMM_WORLD, rank == 2 ? SWATH_STATUS_IO : SWATH_STATUS_OK, NULL, &error),
        SWATH_STATUS_IO);
    CHECK(error.rank == 2 && strstr(error.message, "rank 2 has failed") != NULL);
    free(mine);
    swath_options_free(output);
}

static void two_jobs_on_one_target_are_one_too_many(void) {
    swath_draft *draft = NULL;
    if (rank == size - 1) {
        OK(swath_draft_create("out", NULL, 1, &draft));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    ALL(swath_mpi_append(MPI_COMM_WORLD, "out", NULL, "x", 1, NULL, &error), SWATH_STATUS_BUSY);
    swath_draft_free(draft);
    MPI_Barrier(MPI_COMM_WORLD);
}

typedef struct lines {
    uint64_t count, sum;
} lines;

static int32_t add(swath_block *block, void *user_data) {
    const uint8_t *record = NULL;
    size_t len = 0;
    lines *into = (lines *)user_data;
    while (swath_block_next(block, &record, &len)) {
        into->count++;
        for (size_t index = 0; index < len; index++) {
            into->sum += record[index];
        }
    }
    return 0;
}

static int32_t stop(swath_block *block, void *user_data) {
    return block == NULL || user_data == NULL ? 1 : 0;
}

static void each_record_is_read_by_one_rank(void) {
    swath_options *read = NULL;
    swath_options *records = NULL;
    OK(swath_options_new(SWATH_VERB_READ, &read));
    OK(swath_options_set(read, "workers", "1"));
    OK(swath_options_copy(read, SWATH_VERB_RECORDS, &records));
    const char *texts[4] = {"", "x", "a\nbb\n\nccc", "one two three\n4\n"};
    for (int which = 0; which < 5; which++) {
        uint64_t len = 0, offset = 0;
        if (rank == 0 && which < 4) {
            make_text("in", texts[which]);
        } else if (rank == 0) {
            make_file("in", 100000);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        lines mine = {0, 0}, all = {0, 0}, should = {0, 0};
        ALL(swath_mpi_records(MPI_COMM_WORLD, "in", which % 2 ? records : read, add, &mine, NULL,
                              &error),
            SWATH_STATUS_OK);
        OK(swath_records("in", read, add, &should, NULL));
        MPI_Allreduce(&mine, &all, 2, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
        CHECK(all.count == should.count && all.sum == should.sum);
        ALL(swath_mpi_extent(MPI_COMM_WORLD, "in", &offset, &len, &error), SWATH_STATUS_OK);
        uint64_t end = 0, last = offset + len;
        MPI_Allreduce(&last, &end, 1, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
        struct stat found;
        CHECK(stat("in", &found) == 0 && end == (uint64_t)found.st_size);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    /* Only the first rank has a user, so the second stops first. */
    ALL(swath_mpi_records(MPI_COMM_WORLD, "in", read, stop, rank == 0 ? read : NULL, NULL, &error),
        SWATH_STATUS_STOPPED);
    CHECK(error.rank == 1);
    ALL(swath_mpi_records(MPI_COMM_WORLD, "missing", read, add, NULL, NULL, &error),
        SWATH_STATUS_NOT_FOUND);
    ALL(swath_mpi_extent(MPI_COMM_WORLD, ".", &(uint64_t){0}, &(uint64_t){0}, &error),
        SWATH_STATUS_INVALID_ARGUMENT);
    swath_options_free(read);
    swath_options_free(records);
}

/* A rank that cuts the file while others read it. */
static int32_t cut(swath_block *block, void *user_data) {
    (void)user_data;
    (void)block;
    return truncate("cut", 10) == 0 ? 0 : 1;
}

static void a_file_that_is_cut_is_an_error_of_all(void) {
    swath_options *read = NULL;
    OK(swath_options_new(SWATH_VERB_READ, &read));
    OK(swath_options_set(read, "workers", "1"));
    if (rank == 0) {
        make_file("cut", 1 << 20);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    lines mine = {0, 0};
    swath_status status = swath_mpi_records(MPI_COMM_WORLD, "cut", read,
                                            rank == 1 ? cut : add, &mine, NULL, &error);
    CHECK(status == SWATH_STATUS_CHANGED || status == SWATH_STATUS_TRUNCATED);
    CHECK(strstr(error.message, "cut") != NULL && strstr(error.message, "bytes") != NULL);
    swath_options_free(read);
}

static void a_node_reads_a_file_once(void) {
    swath_mpi_window window;
    const size_t lens[3] = {1000000, 1, 0};
    for (int which = 0; which < 3; which++) {
        if (rank == 0) {
            make_file("shared", lens[which]);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        ALL(swath_mpi_read_shared(MPI_COMM_WORLD, "shared", NULL, &window, &error),
            SWATH_STATUS_OK);
        CHECK(window.len == lens[which]);
        for (size_t index = 0; index < window.len; index++) {
            CHECK(window.bytes[index] == byte_at(index));
        }
        swath_mpi_window_free(&window);
        swath_mpi_window_free(&window);
    }
    ALL(swath_mpi_read_shared(MPI_COMM_WORLD, "missing", NULL, &window, &error),
        SWATH_STATUS_NOT_FOUND);
    CHECK(window.bytes == NULL && window.node == MPI_COMM_NULL);
    /* More than any node has. */
    if (rank == 0) {
        CHECK(truncate("shared", (off_t)1 << 42) == 0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    ALL(swath_mpi_read_shared(MPI_COMM_WORLD, "shared", NULL, &window, &error),
        SWATH_STATUS_OUT_OF_MEMORY);
}

/* Ends the program on all ranks unless all got the same error, which has this text. */
#define DIFFERS(call, part) all_differ((call), (part), #call, __LINE__)

static void all_differ(swath_status status, const char *part, const char *text, int line) {
    char first[sizeof error.message];
    all_return(status, SWATH_STATUS_INVALID_ARGUMENT, text, line);
    memcpy(first, error.message, sizeof first);
    MPI_Bcast(first, (int)sizeof first, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (strcmp(first, error.message) != 0 || strstr(first, part) == NULL ||
        strstr(first, "; try: ") == NULL || error.rank != size - 1) {
        fprintf(stderr, "mpi.c:%d: rank %d: %s\n  is: %s\n", line, rank, text, error.message);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

/* The last rank passes something else than the others, who would wait for it, or be misread. */
static void arguments_that_differ_are_one_error_of_all(void) {
    const int last = rank == size - 1;
    swath_options *output = quick();
    swath_options *records = NULL;
    swath_mpi_window window;
    uint64_t offset = 0, len = 0;
    char folder[32];
    MPI_Comm comm = MPI_COMM_WORLD;
    OK(swath_options_new(SWATH_VERB_RECORDS, &records));
    OK(swath_options_set(records, "width", "2"));
    if (rank == 0) {
        make_text("one", "a\nb\nc\nd\n");
        make_text("two", "A\nB\nC\nD\n");
        CHECK(mkdir("own", 0700) == 0);
        make_text("own/one", "A\nB\nC\nD\n");
    }
    MPI_Barrier(comm);
    const char *path = last ? "two" : "one";
    DIFFERS(swath_mpi_append(comm, last ? "out2" : "out", NULL, "x", 1, NULL, &error),
            "swath_mpi_append: `path` is /");
    DIFFERS(swath_mpi_append(comm, last ? NULL : "out", NULL, "x", 1, NULL, &error), "and NULL on");
    DIFFERS(swath_mpi_append(comm, "out", last ? output : NULL, "x", 1, NULL, &error),
            "`options` is durability full, replace allowed, hard_links refused on rank 0, and "
            "durability none,");
    DIFFERS(swath_mpi_append_segments(comm, "more", last ? NULL : output, "x", 1, NULL, &error),
            "swath_mpi_append_segments: `options` is");
    DIFFERS(swath_mpi_append_segments(comm, path, NULL, "x", 1, NULL, &error), "/two on rank ");
    DIFFERS(swath_mpi_extent(comm, path, &offset, &len, &error), "swath_mpi_extent: `path` is");
    DIFFERS(swath_mpi_records(comm, path, NULL, add, &len, NULL, &error), "`path` is");
    DIFFERS(swath_mpi_records(comm, "one", last ? records : NULL, add, &len, NULL, &error),
            "delimiter newline, quote none, width 0 on rank 0, and delimiter newline, quote none, "
            "width 2 on rank ");
    /* Options of another verb are an error of all, with or without the others. */
    DIFFERS(swath_mpi_append(comm, "out", last ? records : NULL, "x", 1, NULL, &error),
            "`options` are of SWATH_VERB_RECORDS");
    ALL(swath_mpi_append(comm, "out", records, "x", 1, NULL, &error), SWATH_STATUS_INVALID_ARGUMENT);
    ALL(swath_mpi_append_segments(comm, "out", records, "x", 1, NULL, &error),
        SWATH_STATUS_INVALID_ARGUMENT);
    ALL(swath_mpi_records(comm, "one", output, add, &len, NULL, &error), SWATH_STATUS_INVALID_ARGUMENT);
    DIFFERS(swath_mpi_read_shared(comm, path, NULL, &window, &error), "`path` is");
    CHECK(window.bytes == NULL && window.node == MPI_COMM_NULL);
    DIFFERS(last ? swath_mpi_extent(comm, "one", &offset, &len, &error)
                 : swath_mpi_append(comm, "one", NULL, "x", 1, NULL, &error),
            "rank 0 has called swath_mpi_append, and rank ");
    /* One text, and another file. */
    CHECK(getcwd(folder, 1) == NULL);
    CHECK(!last || chdir("own") == 0);
    DIFFERS(swath_mpi_extent(comm, "one", &offset, &len, &error), "/own/one on rank ");
    CHECK(!last || chdir("..") == 0);
    char *longest = (char *)calloc(1, 5000);
    CHECK(longest != NULL);
    memset(longest, 'x', 4000 + (size_t)last);
    DIFFERS(swath_mpi_extent(comm, longest, &offset, &len, &error), "xxx...");
    free(longest);
    /* Other options, with the same meaning. */
    OK(swath_options_set(output, "durability", "full"));
    ALL(swath_mpi_append(comm, "out", last ? output : NULL, "x", 1, NULL, &error), SWATH_STATUS_OK);
    swath_options_free(records);
    swath_options_free(output);
}

int main(int count, char **words) {
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    ranks_append_in_order();
    if (size > 2) {
        a_rank_that_cannot_write_is_an_error_of_all();
    }
    two_jobs_on_one_target_are_one_too_many();
    if (size > 1) {
        each_record_is_read_by_one_rank();
        a_file_that_is_cut_is_an_error_of_all();
        arguments_that_differ_are_one_error_of_all();
    }
    a_node_reads_a_file_once();
    CHECK(error.rank == 0);
    MPI_Finalize();
    return 0;
}
