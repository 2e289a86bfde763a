/* Streams a table with text, dates and gaps, prints what its columns are, adds up one of them, and
 * copies the table into an Arrow file.
 *
 * cc tables.c -o tables $(pkg-config --cflags --libs swath) */
#include <stdio.h>
#include <stdlib.h>
#include <swath.h>

static void check(swath_status status) {
    if (status != SWATH_STATUS_OK) {
        fprintf(stderr, "%s\n", swath_last_error_message());
        exit(1);
    }
}

/* Adds up the values of a column of doubles that are there. */
static double sum(const struct ArrowArray *column) {
    const uint8_t *bits = (const uint8_t *)column->buffers[0];
    const double *values = (const double *)column->buffers[1];
    double all = 0;
    for (int64_t at = column->offset; at < column->offset + column->length; at++) {
        all += bits == NULL || (bits[at / 8] >> (at % 8) & 1) != 0 ? values[at] : 0;
    }
    return all;
}

int main(void) {
    const char *path = "stations.csv";
    FILE *file = fopen(path, "w");
    if (file == NULL || fputs("town,opened,score\n\"Bonn, Rhine\",1980-02-29,1.5\nRome,,\n", file) < 0
        || fclose(file) != 0) {
        return 1;
    }
    struct ArrowArrayStream stream;
    struct ArrowArray batch;
    swath_table_report *report = NULL;
    check(swath_table_stream(&path, 1, NULL, &stream, &report));
    for (size_t index = 0; index < swath_table_report_column_count(report); index++) {
        const swath_table_column *column = swath_table_report_column(report, index);
        printf("%s: %s, as line %d decided\n", column->name, column->type, (int)column->line);
    }
    double all = 0;
    int failed = 0;
    while ((failed = stream.get_next(&stream, &batch)) == 0 && batch.release != NULL) {
        all += sum(batch.children[2]);
        batch.release(&batch);
    }
    if (failed) {
        fprintf(stderr, "%s\n", stream.get_last_error(&stream));
        return 1;
    }
    stream.release(&stream);
    printf("score: %g in all, %d missing\n", all, (int)swath_table_report_nulls(report, 2));
    swath_table_report_free(report);
    check(swath_table_read(&path, 1, NULL, &stream, NULL));
    check(swath_table_write("stations.arrow", &stream, NULL, NULL));
    return 0;
}
