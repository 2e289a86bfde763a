/* Works on the first class of a file on all cores (OpenMP) while the others are still being read.
 *   cc -fopenmp priorities.c $(pkg-config --cflags --libs swath) -o priorities && ./priorities [FILE] */
#include <inttypes.h>
#include <stdio.h>
#include <swath.h>

static uint64_t sum_of(const swath_class_chunk *chunk) {
    uint64_t sum = 0;
    for (size_t index = 0; index < chunk->len; index++) {
        sum += chunk->data[index];
    }
    return sum;
}

int main(int count, char **words) {
    const char *path = count > 1 ? words[1] : "/etc/passwd";
    swath_class_plan *plan = NULL;
    swath_prioritised *reading = NULL;
    uint64_t total = 0, expected = 0;
    /* 64 chunks in 4 classes, from front to back. */
    swath_status status = swath_class_plan_of_whole(64, 4, &plan);
    if (status == SWATH_STATUS_OK) {
        status = swath_read_prioritised(&path, 1, NULL, plan, &reading);
    }
    for (uint32_t number = 0; number < 4 && status == SWATH_STATUS_OK; number++) {
        swath_class *complete = NULL;
        status = swath_prioritised_wait(reading, number, SWATH_FOREVER, &complete);
        const size_t chunks = swath_class_chunk_count(complete);
#pragma omp parallel for reduction(+ : total)
        for (size_t index = 0; index < chunks; index++) {
            total += sum_of(swath_class_chunk_at(complete, index));
        }
        swath_class_free(complete);
    }
    if (status == SWATH_STATUS_OK) {
        status = swath_sum(path, NULL, &expected, NULL);
    }
    if (status != SWATH_STATUS_OK) {
        fprintf(stderr, "%s\n", swath_last_error_message());
    }
    printf("sum %" PRIu64 "\n", total);
    swath_prioritised_free(reading);
    swath_class_plan_free(plan);
    return status == SWATH_STATUS_OK && total == expected ? 0 : 1;
}
