/* Ranks read the lines of one file and append them, changed, to one output in the same order.
 *
 * mpicc mpi_append.c -o mpi_append $(pkg-config --cflags --libs swath)
 * mpirun -n 4 ./mpi_append */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <swath_mpi.h>

typedef struct text {
    char *bytes;
    size_t len;
} text;

/* One thread for each rank, so blocks come one after the other, in order. */
static int32_t in_capitals(swath_block *block, void *user_data) {
    text *into = (text *)user_data;
    const uint8_t *bytes = swath_block_data(block);
    const size_t len = swath_block_len(block);
    char *grown = (char *)realloc(into->bytes, into->len + len + 1);
    if (grown == NULL) {
        return 1;
    }
    into->bytes = grown;
    for (size_t index = 0; index < len; index++) {
        into->bytes[into->len++] = (char)toupper(bytes[index]);
    }
    return 0;
}

int main(int count, char **words) {
    text mine = {NULL, 0};
    swath_options *read = NULL;
    swath_mpi_error error;
    uint64_t bytes = 0;
    int rank = 0;
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        FILE *input = fopen("in.txt", "w");
        if (input == NULL || fputs("one\ntwo\nthree\nfour\n", input) < 0 || fclose(input) != 0) {
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    swath_status status = swath_options_new(SWATH_VERB_READ, &read);
    if (status == SWATH_STATUS_OK) {
        status = swath_options_set(read, "workers", "1");
    }
    status = swath_mpi_agree(MPI_COMM_WORLD, status, swath_last_error_message(), &error);
    if (status == SWATH_STATUS_OK) { /* the same on every rank, from here on */
        status = swath_mpi_records(MPI_COMM_WORLD, "in.txt", read, in_capitals, &mine, NULL, &error);
    }
    if (status == SWATH_STATUS_OK) {
        status = swath_mpi_append(MPI_COMM_WORLD, "out.txt", NULL, mine.bytes, mine.len, &bytes,
                                  &error);
    }
    if (status != SWATH_STATUS_OK && rank == 0) {
        fprintf(stderr, "rank %d: %s\n", error.rank, error.message);
    }
    free(mine.bytes);
    swath_options_free(read);
    MPI_Finalize();
    return status == SWATH_STATUS_OK && bytes == 19 ? 0 : 1;
}
