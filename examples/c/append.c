/* Two threads write at the same time, and the file equals that of the serial program.
 *   cc -pthread append.c $(pkg-config --cflags --libs swath) -o append && ./append */
#include <pthread.h>
#include <stdio.h>
#include <swath.h>

static swath_status numbers(const swath_fork *fork, int from, int to) {
    for (int number = from; number < to; number++) {
        char line[16];
        int len = snprintf(line, sizeof line, "%d\n", number);
        swath_status status = swath_fork_write(fork, line, (size_t)len);
        if (status != SWATH_STATUS_OK) {
            fprintf(stderr, "%s\n", swath_last_error_message()); /* of this thread */
            return status;
        }
    }
    return swath_fork_finish(fork); /* without it the commit fails */
}

static void *first_half(void *fork) {
    return (void *)(uintptr_t)numbers(fork, 0, 500);
}

static void *second_half(void *fork) {
    return (void *)(uintptr_t)numbers(fork, 500, 1000);
}

int main(void) {
    swath_append *append = NULL;
    swath_fork *forks[2] = {NULL, NULL};
    void *(*const halves[2])(void *) = {first_half, second_half};
    pthread_t threads[2];
    uint64_t bytes = 0;
    swath_status status = swath_append_create("numbers.txt", NULL, &append);
    for (int index = 0; index < 2 && status == SWATH_STATUS_OK; index++) {
        status = swath_append_fork(append, &forks[index]); /* takes its place in the order */
    }
    for (int index = 0; index < 2 && status == SWATH_STATUS_OK; index++) {
        if (pthread_create(&threads[index], NULL, halves[index], forks[index]) != 0) {
            return 1;
        }
    }
    for (int index = 0; index < 2 && status == SWATH_STATUS_OK; index++) {
        void *returned = NULL;
        if (pthread_join(threads[index], &returned) != 0 || returned != NULL) {
            return 1;
        }
    }
    if (status == SWATH_STATUS_OK) {
        status = swath_append_commit(append, &bytes); /* complete and durable, or absent */
    }
    if (status != SWATH_STATUS_OK) {
        fprintf(stderr, "%s\n", swath_last_error_message());
    }
    swath_fork_free(forks[0]);
    swath_fork_free(forks[1]);
    swath_append_free(append);
    return status == SWATH_STATUS_OK && bytes == 3890 ? 0 : 1;
}
