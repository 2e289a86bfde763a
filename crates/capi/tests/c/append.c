/* Appending: forks and tickets leave the file of the serial program, or nothing. */
#include <pthread.h>
#include <unistd.h>

#include "check.h"

#define WRITE(function, handle, text) OK(function((handle), (text), strlen(text)))

static swath_options *quick(void) {
    swath_options *output = NULL;
    OK(swath_options_new(SWATH_VERB_WRITE, &output));
    OK(swath_options_set(output, "durability", "none"));
    return output;
}

static swath_options *unsynced(const char *mode) {
    swath_options *options = NULL;
    OK(swath_options_new(SWATH_VERB_APPEND, &options));
    OK(swath_options_set(options, "mode", mode));
    OK(swath_options_set(options, "durability", "none"));
    return options;
}

static void *write_right(void *fork) {
    for (int index = 0; index < 1000; index++) {
        WRITE(swath_fork_write, fork, "right ");
    }
    OK(swath_fork_finish(fork));
    return NULL;
}

/* head, a fork per thread, tail: in the order of the program, not of time. */
static void forks_keep_their_order(const char *mode, const char *path) {
    swath_options *options = unsynced(mode);
    swath_append *append = NULL;
    swath_fork *left = NULL, *right = NULL, *inner = NULL;
    pthread_t thread;
    uint64_t bytes = 0;
    OK(swath_append_create(path, options, &append));
    WRITE(swath_append_write, append, "head ");
    OK(swath_append_fork(append, &left));
    OK(swath_append_fork(append, &right));
    WRITE(swath_append_write, append, "tail");
    CHECK(pthread_create(&thread, NULL, write_right, right) == 0);
    WRITE(swath_fork_write, left, "left ");
    OK(swath_fork_fork(left, &inner));
    WRITE(swath_fork_write, left, "after ");
    WRITE(swath_fork_write, inner, "inner ");
    OK(swath_fork_write(inner, NULL, 0));
    OK(swath_fork_finish(inner));
    OK(swath_fork_finish(left));
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(access(path, F_OK) != 0 || strcmp(mode, "segments") == 0);
    OK(swath_append_commit(append, &bytes));
    CHECK(bytes == 5 + 5 + 6 + 6 + 6000 + 4);
    FAILS(swath_fork_write(left, "x", 1), SWATH_STATUS_INVALID_ARGUMENT);
    FAILS(swath_fork_finish(left), SWATH_STATUS_INVALID_ARGUMENT);
    FAILS(swath_append_write(append, "x", 1), SWATH_STATUS_INVALID_ARGUMENT);
    FAILS(swath_append_commit(append, NULL), SWATH_STATUS_INVALID_ARGUMENT);
    FAILS(swath_append_abort(append), SWATH_STATUS_INVALID_ARGUMENT);
    swath_fork_free(left);
    swath_fork_free(right);
    swath_fork_free(inner);
    swath_append_free(append);
    swath_options_free(options);

    char *should = malloc(7000), *got = malloc(7000);
    CHECK(should != NULL && got != NULL);
    strcpy(should, "head left inner after ");
    for (int index = 0; index < 1000; index++) {
        strcpy(should + 22 + 6 * index, "right ");
    }
    strcpy(should + 6022, "tail");
    swath_appended *appended = NULL;
    size_t count = 0;
    OK(swath_appended_open(path, &appended));
    CHECK(swath_appended_len(appended) == bytes && swath_appended_extents(appended) >= 1);
    OK(swath_appended_pread(appended, got, 7000, 0, &count));
    CHECK(count == bytes && memcmp(got, should, bytes) == 0);
    OK(swath_appended_pread(appended, got, 4, 10, &count));
    CHECK(count == 4 && memcmp(got, "inne", 4) == 0);
    OK(swath_appended_pread(appended, got, 4, bytes - 1, &count));
    CHECK(count == 1 && got[0] == 'l');
    OK(swath_appended_pread(appended, got, 4, UINT64_MAX, &count));
    CHECK(count == 0);
    OK(swath_appended_verify(appended));
    FAILS(swath_appended_pread(appended, NULL, 4, 0, &count), SWATH_STATUS_INVALID_ARGUMENT);
    FAILS(swath_appended_pread(appended, got, 4, 0, NULL), SWATH_STATUS_INVALID_ARGUMENT);
    swath_appended_free(appended);
    if (strcmp(mode, "plain") == 0) {
        check_text(path, should);
    }
    free(should);
    free(got);
}

static void nothing_is_left_without_a_commit(void) {
    swath_options *options = unsynced("plain");
    swath_append *append = NULL;
    swath_fork *fork = NULL;
    make_text("old", "old");
    OK(swath_append_create("old", options, &append));
    WRITE(swath_append_write, append, "new");
    swath_append_free(append);
    check_text("old", "old");
    OK(swath_append_create("old", options, &append));
    FAILS(swath_append_create("old", options, &(swath_append *){NULL}), SWATH_STATUS_BUSY);
    OK(swath_append_abort(append));
    swath_append_free(append);
    check_text("old", "old");
    /* A fork that is freed before it is finished poisons the output. */
    OK(swath_append_create("old", options, &append));
    OK(swath_append_fork(append, &fork));
    WRITE(swath_fork_write, fork, "half");
    swath_fork_free(fork);
    FAILS(swath_append_commit(append, NULL), SWATH_STATUS_POISONED);
    SAYS("old");
    swath_append_free(append);
    check_text("old", "old");
    /* And so does one that is still open. */
    OK(swath_append_create("old", options, &append));
    OK(swath_append_fork(append, &fork));
    FAILS(swath_append_commit(append, NULL), SWATH_STATUS_BUSY);
    swath_append_free(append);
    swath_fork_free(fork);
    check_text("old", "old");
    swath_options_free(options);
}

/* A fork whose output was aborted or freed, or whose commit failed, gets an error. */
static void a_fork_learns_that_its_output_is_gone(void) {
    for (int how = 0; how < 3; how++) {
        swath_options *options = unsynced("plain");
        swath_append *append = NULL, *next = NULL;
        swath_fork *fork = NULL, *untouched = NULL;
        make_text("gone", "old");
        OK(swath_append_create("gone", options, &append));
        OK(swath_append_fork(append, &fork));
        OK(swath_append_fork(append, &untouched));
        WRITE(swath_fork_write, fork, "new");
        if (how == 0) {
            OK(swath_append_abort(append));
        } else if (how == 1) {
            FAILS(swath_append_commit(append, NULL), SWATH_STATUS_BUSY);
        }
        swath_append_free(append);
        FAILS(swath_fork_write(fork, "x", 1), SWATH_STATUS_POISONED);
        SAYS("gone");
        FAILS(swath_fork_finish(fork), SWATH_STATUS_POISONED);
        FAILS(swath_fork_finish(untouched), SWATH_STATUS_POISONED);
        OK(swath_append_create("gone", options, &next));
        swath_append_free(next);
        swath_fork_free(fork);
        swath_fork_free(untouched);
        check_text("gone", "old");
        swath_options_free(options);
    }
}

/* A finish that comes too early can be made again; nothing of it is lost. */
static void a_fork_waits_for_its_own(void) {
    swath_options *options = unsynced("plain");
    swath_append *append = NULL;
    swath_fork *fork = NULL, *child = NULL;
    OK(swath_append_create("joined", options, &append));
    OK(swath_append_fork(append, &fork));
    WRITE(swath_fork_write, fork, "a");
    OK(swath_fork_fork(fork, &child));
    FAILS(swath_fork_finish(fork), SWATH_STATUS_BUSY);
    SAYS("finish those handles first");
    FAILS(swath_append_checkpoint(append), SWATH_STATUS_BUSY);
    SAYS("nothing is lost");
    WRITE(swath_fork_write, fork, "c");
    WRITE(swath_fork_write, child, "b");
    OK(swath_fork_finish(child));
    OK(swath_fork_finish(fork));
    OK(swath_append_checkpoint(append));
    OK(swath_append_commit(append, NULL));
    check_text("joined", "abc");
    swath_fork_free(child);
    swath_fork_free(fork);
    swath_append_free(append);
    swath_options_free(options);
}

/* Bytes that another program added in the meantime are never lost silently. */
static void a_file_that_changed_is_not_replaced(void) {
    swath_options *options = unsynced("plain");
    swath_append *append = NULL;
    make_text("grown", "abc");
    OK(swath_append_to_existing("grown", options, &append));
    WRITE(swath_append_write, append, "ghi");
    make_text("grown", "abcZZZZ");
    FAILS(swath_append_commit(append, NULL), SWATH_STATUS_CHANGED);
    SAYS("grown");
    swath_append_free(append);
    check_text("grown", "abcZZZZ");
    swath_options_free(options);
}

static void existing_and_checkpoints(void) {
    swath_options *options = unsynced("plain");
    swath_append *append = NULL;
    uint64_t bytes = 0;
    make_text("log", "one ");
    OK(swath_options_set_number(options, "memory_limit", 1 << 20));
    OK(swath_options_set(options, "buffer_size", "4096"));
    OK(swath_options_set(options, "checksums", "none"));
    OK(swath_append_to_existing("log", options, &append));
    WRITE(swath_append_write, append, "two ");
    OK(swath_append_checkpoint(append));
    check_text("log", "one two ");
    WRITE(swath_append_write, append, "three");
    OK(swath_append_commit(append, &bytes));
    CHECK(bytes == 13);
    check_text("log", "one two three");
    swath_append_free(append);
    FAILS(swath_append_checkpoint(NULL), SWATH_STATUS_INVALID_ARGUMENT);
    OK(swath_write("whole", NULL, "bytes", 5));
    check_text("whole", "bytes");
    OK(swath_write("whole", NULL, NULL, 0));
    check_text("whole", "");
    swath_options_free(options);
}

struct work {
    swath_ordered *ordered;
    int last;
};

static void *take_tickets(void *data) {
    struct work *work = data;
    for (;;) {
        swath_ticket *ticket = NULL;
        char text[32];
        OK(swath_ordered_ticket(work->ordered, &ticket));
        snprintf(text, sizeof text, "%d\n", (int)swath_ticket_index(ticket));
        int over = (int)swath_ticket_index(ticket) >= work->last;
        if (!over) {
            WRITE(swath_ticket_write, ticket, text);
        }
        OK(swath_ticket_done(ticket));
        FAILS(swath_ticket_done(ticket), SWATH_STATUS_INVALID_ARGUMENT);
        FAILS(swath_ticket_write(ticket, "x", 1), SWATH_STATUS_INVALID_ARGUMENT);
        swath_ticket_free(ticket);
        if (over) {
            return NULL;
        }
    }
}

static void tickets(void) {
    swath_options *options = NULL;
    swath_options *output = quick();
    struct work work = {.last = 500};
    pthread_t threads[3];
    uint64_t bytes = 0;
    OK(swath_options_copy(output, SWATH_VERB_ORDERED, &options));
    OK(swath_options_set(options, "window", "4"));
    OK(swath_options_set(options, "chunk_size", "64"));
    OK(swath_options_set(options, "direct", "no"));
    OK(swath_options_set(options, "sparse", "auto"));
    swath_options_free(output);
    OK(swath_ordered_create("ordered", options, &work.ordered));
    for (size_t index = 0; index < 3; index++) {
        CHECK(pthread_create(&threads[index], NULL, take_tickets, &work) == 0);
    }
    for (size_t index = 0; index < 3; index++) {
        CHECK(pthread_join(threads[index], NULL) == 0);
    }
    OK(swath_ordered_commit(work.ordered, &bytes));
    FAILS(swath_ordered_ticket(work.ordered, &(swath_ticket *){NULL}),
          SWATH_STATUS_INVALID_ARGUMENT);
    swath_ordered_free(work.ordered);
    char *should = calloc(1, 8192);
    CHECK(should != NULL);
    for (int number = 0; number < work.last; number++) {
        sprintf(should + strlen(should), "%d\n", number);
    }
    CHECK(bytes == strlen(should));
    check_text("ordered", should);
    free(should);

    swath_ticket *ticket = NULL;
    OK(swath_ordered_create("poisoned", options, &work.ordered));
    OK(swath_ordered_ticket(work.ordered, &ticket));
    swath_ticket_free(ticket);
    FAILS(swath_ordered_ticket(work.ordered, &ticket), SWATH_STATUS_POISONED);
    FAILS(swath_ordered_commit(work.ordered, NULL), SWATH_STATUS_POISONED);
    swath_ordered_free(work.ordered);
    CHECK(access("poisoned", F_OK) != 0);
    OK(swath_ordered_create("open", options, &work.ordered));
    OK(swath_ordered_ticket(work.ordered, &ticket));
    FAILS(swath_ordered_commit(work.ordered, NULL), SWATH_STATUS_BUSY);
    swath_ticket_free(ticket);
    swath_ordered_free(work.ordered);
    OK(swath_ordered_create("open", options, &work.ordered));
    OK(swath_ordered_abort(work.ordered));
    swath_ordered_free(work.ordered);
    CHECK(access("open", F_OK) != 0);
    swath_options_free(options);
}

static void written(uint64_t bytes, uint64_t total, void *user_data) {
    (void)total;
    *(uint64_t *)user_data = bytes;
}

/* Output options apply to every call that writes a file. */
static void outputs(void) {
    swath_options *output = quick();
    swath_options *appending = NULL;
    swath_options *ordering = NULL;
    swath_options *wrong = NULL;
    swath_cancel_token *token = NULL;
    swath_append *append = NULL;
    swath_ordered *ordered = NULL;
    uint64_t told = 0;
    make_text("there", "old");
    OK(swath_options_set(output, "replace", "refused"));
    OK(swath_options_set_progress(output, written, &told));
    OK(swath_options_set(output, "workers", "2"));
    OK(swath_options_copy(output, SWATH_VERB_APPEND, &appending));
    OK(swath_options_copy(output, SWATH_VERB_ORDERED, &ordering));
    FAILS(swath_options_copy(ordering, SWATH_VERB_APPEND, &wrong), SWATH_STATUS_INVALID_ARGUMENT);
    SAYS("`options` are of SWATH_VERB_ORDERED, and this call has those of SWATH_VERB_APPEND");
    FAILS(swath_write("there", ordering, "new", 3), SWATH_STATUS_INVALID_ARGUMENT);
    FAILS(swath_write("there", output, "new", 3), SWATH_STATUS_ALREADY_EXISTS);
    FAILS(swath_append_create("there", appending, &append), SWATH_STATUS_ALREADY_EXISTS);
    FAILS(swath_ordered_create("there", ordering, &ordered), SWATH_STATUS_ALREADY_EXISTS);
    check_text("there", "old");
    OK(swath_write("not there", output, "new", 3));
    CHECK(told == 3);
    /* Further names, and a token that is cancelled. */
    CHECK(link("there", "also there") == 0);
    OK(swath_options_set(output, "replace", "allowed"));
    FAILS(swath_write("there", output, "new", 3), SWATH_STATUS_INVALID_ARGUMENT);
    OK(swath_options_set(output, "hard_links", "broken"));
    OK(swath_write("there", output, "new", 3));
    check_text("there", "new");
    check_text("also there", "old");
    OK(swath_cancel_token_new(&token));
    OK(swath_cancel_token_cancel(token));
    OK(swath_options_set_cancel(output, token));
    swath_options_free(appending);
    OK(swath_options_copy(output, SWATH_VERB_APPEND, &appending));
    FAILS(swath_write("there", output, "newer", 5), SWATH_STATUS_CANCELLED);
    OK(swath_append_create("there", appending, &append));
    FAILS(swath_append_commit(append, NULL), SWATH_STATUS_CANCELLED);
    swath_append_free(append);
    check_text("there", "new");
    FAILS(swath_options_new(SWATH_VERB_WRITE, NULL), SWATH_STATUS_INVALID_ARGUMENT);
    FAILS(swath_options_new((swath_verb)9, &wrong), SWATH_STATUS_INVALID_ARGUMENT);
    SAYS("9 is not a `swath_verb`");
    CHECK(swath_options_words((swath_verb)9) == NULL);
    FAILS(swath_options_set(output, "durability", "some"), SWATH_STATUS_INVALID_ARGUMENT);
    FAILS(swath_options_set(output, "replace", "in place"), SWATH_STATUS_INVALID_ARGUMENT);
    FAILS(swath_options_set(output, "hard_links", ""), SWATH_STATUS_INVALID_ARGUMENT);
    FAILS(swath_options_promise_frozen(output), SWATH_STATUS_INVALID_ARGUMENT);
    FAILS(swath_options_set(NULL, "workers", "1"), SWATH_STATUS_INVALID_ARGUMENT);
    FAILS(swath_options_new(SWATH_VERB_ORDERED, NULL), SWATH_STATUS_INVALID_ARGUMENT);
    FAILS(swath_options_set(ordering, "direct", "maybe"), SWATH_STATUS_INVALID_ARGUMENT);
    FAILS(swath_options_set(ordering, "sparse", "always"), SWATH_STATUS_INVALID_ARGUMENT);
    FAILS(swath_options_set(NULL, "window", "1"), SWATH_STATUS_INVALID_ARGUMENT);
    swath_options *defaults = NULL;
    OK(swath_options_new(SWATH_VERB_WRITE, &defaults));
    CHECK(strcmp(swath_options_get(defaults, "durability"), "full") == 0);
    OK(swath_options_set(defaults, "durability", "none"));
    CHECK(strcmp(swath_options_get(defaults, "durability"), "none") == 0);
    OK(swath_options_set(defaults, "durability", NULL));
    CHECK(strcmp(swath_options_get(defaults, "durability"), "full") == 0);
    CHECK(swath_options_get(defaults, "engine") == NULL);
    CHECK(swath_options_get(NULL, "durability") == NULL);
    CHECK(swath_options_get(defaults, NULL) == NULL);
    swath_options_free(defaults);
    swath_cancel_token_free(token);
    swath_options_free(appending);
    swath_options_free(ordering);
    swath_options_free(NULL);
    swath_options_free(output);
    swath_options_free(NULL);
}

static void errors(void) {
    swath_append *append = NULL;
    swath_options *options = NULL;
    swath_appended *appended = NULL;
    FAILS(swath_append_create("no folder/out", NULL, &append), SWATH_STATUS_NOT_FOUND);
    SAYS("no folder");
    CHECK(append == NULL);
    FAILS(swath_append_create(NULL, NULL, &append), SWATH_STATUS_INVALID_ARGUMENT);
    FAILS(swath_append_create("a", NULL, NULL), SWATH_STATUS_INVALID_ARGUMENT);
    FAILS(swath_append_to_existing(NULL, NULL, &append), SWATH_STATUS_INVALID_ARGUMENT);
    FAILS(swath_append_write(NULL, "a", 1), SWATH_STATUS_INVALID_ARGUMENT);
    FAILS(swath_append_fork(NULL, &(swath_fork *){NULL}), SWATH_STATUS_INVALID_ARGUMENT);
    FAILS(swath_append_commit(NULL, NULL), SWATH_STATUS_INVALID_ARGUMENT);
    FAILS(swath_append_abort(NULL), SWATH_STATUS_INVALID_ARGUMENT);
    FAILS(swath_append_checkpoint(NULL), SWATH_STATUS_INVALID_ARGUMENT);
    FAILS(swath_fork_write(NULL, "a", 1), SWATH_STATUS_INVALID_ARGUMENT);
    FAILS(swath_fork_finish(NULL), SWATH_STATUS_INVALID_ARGUMENT);
    FAILS(swath_fork_fork(NULL, &(swath_fork *){NULL}), SWATH_STATUS_INVALID_ARGUMENT);
    FAILS(swath_ordered_create(NULL, NULL, &(swath_ordered *){NULL}),
          SWATH_STATUS_INVALID_ARGUMENT);
    FAILS(swath_ordered_ticket(NULL, &(swath_ticket *){NULL}), SWATH_STATUS_INVALID_ARGUMENT);
    FAILS(swath_ordered_commit(NULL, NULL), SWATH_STATUS_INVALID_ARGUMENT);
    FAILS(swath_ordered_abort(NULL), SWATH_STATUS_INVALID_ARGUMENT);
    FAILS(swath_ticket_write(NULL, "a", 1), SWATH_STATUS_INVALID_ARGUMENT);
    FAILS(swath_ticket_done(NULL), SWATH_STATUS_INVALID_ARGUMENT);
    FAILS(swath_appended_open("missing", &appended), SWATH_STATUS_NOT_FOUND);
    FAILS(swath_appended_open("missing", NULL), SWATH_STATUS_INVALID_ARGUMENT);
    FAILS(swath_appended_verify(NULL), SWATH_STATUS_INVALID_ARGUMENT);
    FAILS(swath_write(NULL, NULL, "a", 1), SWATH_STATUS_INVALID_ARGUMENT);
    FAILS(swath_write("a", NULL, NULL, 1), SWATH_STATUS_INVALID_ARGUMENT);
    FAILS(swath_write("a", NULL, "a", SIZE_MAX), SWATH_STATUS_INVALID_ARGUMENT);
    FAILS(swath_options_new(SWATH_VERB_APPEND, NULL), SWATH_STATUS_INVALID_ARGUMENT);
    OK(swath_options_new(SWATH_VERB_APPEND, &options));
    FAILS(swath_options_set(options, "mode", "folder"), SWATH_STATUS_INVALID_ARGUMENT);
    FAILS(swath_options_set(options, "checksums", "all"), SWATH_STATUS_INVALID_ARGUMENT);
    FAILS(swath_options_set(NULL, "mode", "plain"), SWATH_STATUS_INVALID_ARGUMENT);
    swath_options_free(options);
    swath_options_free(NULL);
    swath_append_free(NULL);
    swath_fork_free(NULL);
    swath_ordered_free(NULL);
    swath_ticket_free(NULL);
    swath_appended_free(NULL);
    CHECK(swath_appended_len(NULL) == 0 && swath_appended_extents(NULL) == 0);
    CHECK(swath_ticket_index(NULL) == 0);
}

int main(void) {
    forks_keep_their_order("plain", "plain");
    forks_keep_their_order("segments", "segments");
    nothing_is_left_without_a_commit();
    a_fork_learns_that_its_output_is_gone();
    a_fork_waits_for_its_own();
    a_file_that_changed_is_not_replaced();
    existing_and_checkpoints();
    tickets();
    outputs();
    errors();
    return 0;
}
