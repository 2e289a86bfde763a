/* Tables of any types: what is in the buffers of Arrow, what is found, what is refused, and what is
 * written. */
#include <errno.h>
#include <pthread.h>

#include "check.h"

/* The declarations of another library come after ours, and do not clash. */
#include "arrow_abi.h"

/* The first batch of a stream, with its schema. */
struct table {
    struct ArrowArrayStream stream;
    struct ArrowSchema schema;
    struct ArrowArray batch;
};

static void take(struct table *table) {
    CHECK(table->stream.get_schema(&table->stream, &table->schema) == 0);
    CHECK(strcmp(table->schema.format, "+s") == 0);
    CHECK(table->stream.get_next(&table->stream, &table->batch) == 0);
    CHECK(table->batch.release != NULL);
    CHECK(table->batch.n_children == table->schema.n_children);
}

static void leave(struct table *table) {
    table->batch.release(&table->batch);
    table->schema.release(&table->schema);
    table->stream.release(&table->stream);
    CHECK(table->stream.release == NULL);
    CHECK(table->batch.release == NULL && table->schema.release == NULL);
}

/* Reads one file into memory, and takes its first batch. */
static void open_table(struct table *table, const char *path, const swath_options *options,
                       swath_table_report **report) {
    OK(swath_table_read(&path, 1, options, &table->stream, report));
    take(table);
}

static const struct ArrowArray *column(const struct table *table, int at, const char *name,
                                       const char *format) {
    const struct ArrowSchema *schema = table->schema.children[at];
    if (strcmp(schema->name, name) != 0 || strcmp(schema->format, format) != 0) {
        fprintf(stderr, "%s has format %s\n", schema->name, schema->format);
        exit(1);
    }
    return table->batch.children[at];
}

/* Whether a value is there. */
static int has(const struct ArrowArray *array, int64_t row) {
    const uint8_t *bits = array->buffers[0];
    const int64_t at = array->offset + row;
    return bits == NULL || (bits[at / 8] >> (at % 8) & 1) != 0;
}

static int64_t integer(const struct ArrowArray *array, int64_t row) {
    return ((const int64_t *)array->buffers[1])[array->offset + row];
}

/* Whether row `row` of a column of text is `text`. */
static int is_text(const struct ArrowArray *array, int64_t row, const char *text) {
    const int64_t *ends = (const int64_t *)array->buffers[1] + array->offset;
    const char *bytes = array->buffers[2];
    const size_t len = (size_t)(ends[row + 1] - ends[row]);
    return len == strlen(text) && memcmp(bytes + ends[row], text, len) == 0;
}

/* The same for dictionaries. */
static int is_word(const struct ArrowArray *array, int64_t row, const char *text) {
    const int32_t key = ((const int32_t *)array->buffers[1])[array->offset + row];
    const struct ArrowArray *words = array->dictionary;
    const int32_t *ends = (const int32_t *)words->buffers[1] + words->offset;
    const size_t len = (size_t)(ends[key + 1] - ends[key]);
    return len == strlen(text) &&
           memcmp((const char *)words->buffers[2] + ends[key], text, len) == 0;
}

static void every_type(void) {
    struct table table;
    swath_table_report *report = NULL;
    make_text("people.csv", "id,name,born,score,ok,at\n"
                            "1,Ann,1980-02-29,1.5,true,2020-01-01 00:00:01\n"
                            "2,\"Bob, \"\"Jr.\"\"\",,-2,false,2020-01-01 00:00:02.5\n"
                            "3,,1970-01-02,,,\n");
    open_table(&table, "people.csv", NULL, &report);
    CHECK(table.batch.length == 3 && table.schema.n_children == 6);
    const struct ArrowArray *id = column(&table, 0, "id", "l");
    CHECK(id->null_count == 0 && integer(id, 0) == 1 && integer(id, 2) == 3);
    const struct ArrowArray *name = column(&table, 1, "name", "U");
    CHECK(is_text(name, 0, "Ann") && is_text(name, 1, "Bob, \"Jr.\""));
    CHECK(name->null_count == 1 && has(name, 1) && !has(name, 2));
    const struct ArrowArray *born = column(&table, 2, "born", "tdD");
    const int32_t *days = (const int32_t *)born->buffers[1] + born->offset;
    CHECK(days[0] == 3711 && !has(born, 1) && days[2] == 1);
    const struct ArrowArray *score = column(&table, 3, "score", "g");
    const double *scores = (const double *)score->buffers[1] + score->offset;
    CHECK(scores[0] > 1.49 && scores[0] < 1.51 && scores[1] < -1.99 && !has(score, 2));
    const struct ArrowArray *ok = column(&table, 4, "ok", "b");
    const uint8_t *flags = ok->buffers[1];
    CHECK((flags[ok->offset / 8] >> (ok->offset % 8) & 1) == 1 && has(ok, 1) && !has(ok, 2));
    const struct ArrowArray *at = column(&table, 5, "at", "tsu:");
    CHECK(integer(at, 1) - integer(at, 0) == 1500000 && !has(at, 2));
    leave(&table);

    CHECK(swath_table_report_rows(report) == 3 && swath_table_report_header_lines(report) == 1);
    CHECK(strcmp(swath_table_report_delimiter(report), ",") == 0);
    CHECK(strncmp(swath_table_report_header_reason(report), "names: ", 7) == 0);
    CHECK(swath_table_report_comments(report) == 0);
    CHECK(swath_table_report_dropped(report) == 0 && swath_table_report_replaced(report) == 0);
    CHECK(strcmp(swath_table_report_encoding(report), "utf-8") == 0);
    CHECK(swath_table_report_column_count(report) == 6);
    const swath_table_column *found = swath_table_report_column(report, 3);
    CHECK(strcmp(found->name, "score") == 0 && strcmp(found->type, "f64") == 0);
    CHECK(found->index == 3 && !found->is_told && found->line == 2 && found->file == 0);
    CHECK(swath_table_report_nulls(report, 1) == 1 && swath_table_report_nulls(report, 9) == 0);
    CHECK(swath_table_report_column(report, 6) == NULL);
    CHECK(swath_table_report_renamed_count(report) == 0);
    CHECK(swath_table_report_renamed(report, 0) == NULL);
    CHECK(swath_table_report_set_aside_count(report) == 0);
    CHECK(!swath_table_report_set_aside(report, 0, NULL, NULL));
    swath_table_report_free(report);
    swath_table_report_free(NULL);
    CHECK(swath_table_report_rows(NULL) == 0 && swath_table_report_delimiter(NULL) == NULL);
    CHECK(swath_table_report_encoding(NULL) == NULL);
    CHECK(swath_table_report_header_reason(NULL) == NULL);
}

static void dialect(void) {
    struct table table;
    swath_table_report *report = NULL;
    swath_options *options = NULL;
    OK(swath_options_new(SWATH_VERB_TABLE_READ, &options));
    make_text("german.csv", "an export\n# of June\nNr;Datum;Summe;Text;x\n"
                            "01;29.02.1980;1.234,5;'a;b';j\n2;-;0,25;'it\\'s';n\n3;-\n"
                            "4;;7;;\n");
    const char *nulls[] = {"", "-"}, *yes[] = {"j"}, *no[] = {"n"}, *first[] = {"Nr", "x"};
    OK(swath_options_set(options, "delimiter", ";"));
    OK(swath_options_set(options, "skip_rows", "1"));
    OK(swath_options_set(options, "comment", "#"));
    OK(swath_options_set(options, "quote", "'"));
    OK(swath_options_set(options, "escape", "\\"));
    OK(swath_options_set(options, "decimal", ","));
    OK(swath_options_set(options, "thousands", "."));
    OK(swath_options_set_list(options, "null_values", nulls, 2));
    OK(swath_options_set_list(options, "true_values", yes, 1));
    OK(swath_options_set_list(options, "false_values", no, 1));
    OK(swath_options_set(options, "header", "1"));
    OK(swath_options_set(options, "ragged", "set-aside"));
    OK(swath_options_set_of(options, "Nr", "types", "text"));
    OK(swath_options_set_of(options, "Nr", "types", "i16"));
    OK(swath_options_set_of(options, "Datum", "formats", "%d.%m.%Y"));
    OK(swath_options_set_of(options, "Datum", "rename", "date"));
    OK(swath_options_set_at(options, 2, "rename", "sum"));
    OK(swath_options_set(options, "rows", "2"));
    OK(swath_options_set(options, "block_size", "1"));
    OK(swath_options_set_list(options, "columns", first, 2));
    OK(swath_options_set_of(options, "x", "columns", "no"));
    OK(swath_options_set_of(options, "x", "columns", "yes"));
    OK(swath_options_set_of(options, "Nr", "columns", NULL));
    OK(swath_options_set_at(options, 2, "columns", "yes"));
    OK(swath_options_set_of(options, "Text", "columns", "yes"));
    OK(swath_options_set_of(options, "Datum", "columns", "yes"));
    OK(swath_options_set_of(options, "Nr", "columns", "yes"));
    FAILS(swath_options_set_of(options, "Nr", "columns", "all"),
          SWATH_STATUS_INVALID_ARGUMENT);
    open_table(&table, "german.csv", options, &report);
    CHECK(column(&table, 0, "x", "b")->null_count == 0);
    const struct ArrowArray *sum = column(&table, 1, "sum", "g");
    CHECK(((const double *)sum->buffers[1])[sum->offset] > 1234.4);
    CHECK(is_text(column(&table, 2, "Text", "U"), 0, "a;b"));
    const struct ArrowArray *date = column(&table, 3, "date", "tdD");
    CHECK(((const int32_t *)date->buffers[1])[date->offset] == 3711);
    const struct ArrowArray *number = column(&table, 4, "Nr", "s");
    CHECK(((const int16_t *)number->buffers[1])[number->offset] == 1);
    leave(&table);
    CHECK(swath_table_report_rows(report) == 2 && swath_table_report_nulls(report, 3) == 1);
    CHECK(swath_table_report_column(report, 4)->is_told);
    CHECK(swath_table_report_column(report, 4)->line == 0);
    size_t file = 7;
    uint64_t line = 7;
    CHECK(swath_table_report_padded(report, 1, &file, &line) == 0 && file == 7 && line == 7);
    CHECK(swath_table_report_padded(report, 4, &file, &line) == 1 && file == 0 && line == 4);
    CHECK(swath_table_report_rounded(report, 1, NULL, NULL) == 0);
    CHECK(swath_table_report_rounded(report, 9, NULL, NULL) == 0);
    swath_table_report_free(report);

    make_text("lost.csv", "a,b\n\xe9,1,2\ny,3\n");
    swath_options *lost = NULL;
    OK(swath_options_new(SWATH_VERB_TABLE_READ, &lost));
    OK(swath_options_set(lost, "ragged", "drop"));
    OK(swath_options_set(lost, "encoding_errors", "replace"));
    open_table(&table, "lost.csv", lost, &report);
    leave(&table);
    CHECK(swath_table_report_dropped(report) == 1 && swath_table_report_replaced(report) == 1);
    swath_table_report_free(report);
    swath_options_free(lost);

    OK(swath_options_set(options, "rows", NULL));
    OK(swath_options_set(options, "columns", NULL));
    open_table(&table, "german.csv", options, &report);
    CHECK(table.schema.n_children == 5 && swath_table_report_rows(report) == 3);
    CHECK(swath_table_report_set_aside_count(report) == 1);
    CHECK(swath_table_report_set_aside(report, 0, &file, &line) && file == 0 && line == 6);
    CHECK(!swath_table_report_set_aside(report, 1, &file, &line) && line == 6);
    CHECK(swath_table_report_set_aside(report, 0, NULL, NULL));
    swath_table_report_free(report);
    leave(&table);
    OK(swath_options_set(options, "ragged", "pad"));
    open_table(&table, "german.csv", options, &report);
    CHECK(swath_table_report_rows(report) >= 3);
    swath_table_report_free(report);
    leave(&table);
    swath_options_free(options);
    swath_options_free(NULL);
}

static void words_of_columns(void) {
    struct table table;
    swath_options *options = NULL;
    OK(swath_options_new(SWATH_VERB_TABLE_READ, &options));
    make_text("words.csv", "name,b,f,g\nx,NA,yes,1\n-,-,NA,0\n");
    const char *other[] = {"x"}, *nulls[] = {"-"}, *yes[] = {"yes", "1"}, *no[] = {"no", "0"};
    OK(swath_options_set_list_of(options, "b", "null_values", other, 1));
    OK(swath_options_set_list_of(options, "b", "null_values", nulls, 1));
    OK(swath_options_set_list_of(options, "g", "null_values", other, 1));
    OK(swath_options_set_list_of(options, "f", "true_values", yes, 2));
    OK(swath_options_set_list_of(options, "f", "false_values", no, 2));
    OK(swath_options_set_list_of(options, "g", "true_values", yes, 2));
    OK(swath_options_set_list_at(options, 3, "false_values", no, 2));
    open_table(&table, "words.csv", options, NULL);
    CHECK(column(&table, 0, "name", "U")->null_count == 0);
    const struct ArrowArray *b = column(&table, 1, "b", "U");
    CHECK(b->null_count == 1 && is_text(b, 0, "NA"));
    CHECK(column(&table, 2, "f", "b")->null_count == 1);
    CHECK(column(&table, 3, "g", "b")->null_count == 0);
    leave(&table);
    CHECK(swath_options_set_list_of(options, NULL, "null_values", nulls, 1) == SWATH_STATUS_INVALID_ARGUMENT);
    CHECK(swath_options_set_list_of(options, "b", "true_values", NULL, 1) == SWATH_STATUS_INVALID_ARGUMENT);
    swath_options_free(options);
}

static void more_dialects(void) {
    struct table table;
    swath_table_report *report = NULL;
    swath_options *options = NULL;
    OK(swath_options_new(SWATH_VERB_TABLE_READ, &options));
    make_text("blanks", "  1   caf\xe9 \n 2  x\n 3 caf\xe9\n");
    OK(swath_options_set(options, "delimiter", "blanks"));
    OK(swath_options_set(options, "quote", "none"));
    OK(swath_options_set(options, "header", "0"));
    OK(swath_options_set(options, "encoding", "latin-1"));
    OK(swath_options_set(options, "dictionary", "all"));
    OK(swath_options_set_at(options, 0, "types", "u8"));
    OK(swath_options_set_at(options, 1, "rename", "word"));
    open_table(&table, "blanks", options, &report);
    const struct ArrowArray *word = column(&table, 1, "word", "i");
    CHECK(strcmp(table.schema.children[1]->dictionary->format, "u") == 0);
    CHECK(is_word(word, 0, "caf\xc3\xa9") && is_word(word, 1, "x"));
    CHECK(is_word(word, 2, "caf\xc3\xa9") && word->dictionary->length == 2);
    const char *first = table.schema.children[0]->name;
    CHECK(*(const uint8_t *)column(&table, 0, first, "C")->buffers[1] == 1);
    CHECK(strcmp(swath_table_report_delimiter(report), "blanks") == 0);
    CHECK(strcmp(swath_table_report_encoding(report), "latin-1") == 0);
    swath_table_report_free(report);
    leave(&table);
    swath_options_free(options);

    make_text("times", "a,a,\n31/12/1999,1,2\n");
    OK(swath_options_new(SWATH_VERB_TABLE_READ, &options));
    OK(swath_options_set(options, "header", "0"));
    OK(swath_options_set(options, "header", "auto"));
    OK(swath_options_set(options, "delimiter", NULL));
    OK(swath_options_set_at(options, 0, "formats", "%d/%m/%Y"));
    open_table(&table, "times", options, &report);
    const struct ArrowArray *day = column(&table, 0, "a", "tdD");
    CHECK(((const int32_t *)day->buffers[1])[day->offset] == 10956);
    CHECK(swath_table_report_renamed_count(report) == 2);
    const swath_table_renamed *renamed = swath_table_report_renamed(report, 0);
    CHECK(renamed->index == 1 && strcmp(renamed->from, "a") == 0);
    CHECK(strcmp(renamed->to, table.schema.children[1]->name) == 0);
    swath_table_report_free(report);
    leave(&table);
    swath_options_free(options);
}

static void json_lines(void) {
    struct table table;
    swath_table_report *report = NULL;
    swath_options *options = NULL;
    const char *lines = "{\"id\": 1, \"at\": \"1970-01-02\"}\n\n"
                        "{\"id\": 2, \"tags\": [1, {}], \"n\": \"7\"}\n";
    make_text("log.ndjson", lines);
    make_text("log.txt", lines);
    open_table(&table, "log.ndjson", NULL, &report);
    CHECK(table.batch.length == 2 && table.schema.n_children == 4);
    CHECK(integer(column(&table, 0, "id", "l"), 1) == 2);
    const struct ArrowArray *at = column(&table, 1, "at", "tdD");
    CHECK(has(at, 0) && !has(at, 1));
    const struct ArrowArray *tags = column(&table, 2, "tags", "U");
    CHECK(!has(tags, 0) && is_text(tags, 1, "[1, {}]"));
    leave(&table);
    CHECK(swath_table_report_header_lines(report) == 0);
    CHECK(swath_table_report_delimiter(report) == NULL);
    CHECK(swath_table_report_column(report, 3)->line == 3);
    swath_table_report_free(report);

    /* The same options fit, and the form may be set. */
    OK(swath_options_new(SWATH_VERB_TABLE_READ, &options));
    OK(swath_options_set(options, "form", "jsonl"));
    OK(swath_options_set_of(options, "n", "columns", "yes"));
    OK(swath_options_set_of(options, "n", "types", "i8"));
    OK(swath_options_set_of(options, "n", "rename", "number"));
    OK(swath_options_set(options, "rows", "2"));
    const char *path = "log.txt";
    OK(swath_table_stream(&path, 1, options, &table.stream, NULL));
    take(&table);
    const struct ArrowArray *number = column(&table, 0, "number", "c");
    CHECK(number->length == 2 && !has(number, 0));
    CHECK(((const int8_t *)number->buffers[1])[number->offset + 1] == 7);
    leave(&table);
    OK(swath_options_set(options, "delimiter", ";"));
    struct ArrowArrayStream stream;
    FAILS(swath_table_read(&path, 1, options, &stream, NULL),
          SWATH_STATUS_INVALID_ARGUMENT);
    SAYS("`delimiter` has no meaning in JSON Lines");
    OK(swath_options_set(options, "form", "arrow"));
    FAILS(swath_table_read(&path, 1, options, &stream, NULL),
          SWATH_STATUS_INVALID_ARGUMENT);
    FAILS(swath_options_set(options, "form", "xml"), SWATH_STATUS_INVALID_ARGUMENT);
    SAYS("`form` cannot be `xml`; try: pass `csv`, `tsv`, `jsonl`, `fixed`, ");
    /* The default is the form of the name. */
    OK(swath_options_set(options, "form", NULL));
    OK(swath_options_set(options, "delimiter", NULL));
    const char *named = "log.ndjson";
    OK(swath_table_read(&named, 1, options, &table.stream, NULL));
    take(&table);
    CHECK(table.batch.length == 2);
    leave(&table);
    FAILS(swath_options_set(NULL, "form", "csv"),
          SWATH_STATUS_INVALID_ARGUMENT);
    swath_options_free(options);

    /* Objects and arrays as structs and lists. */
    make_text("nested.jsonl", "{\"a\": {\"x\": [1, 2]}}\n{}\n");
    named = "nested.jsonl";
    OK(swath_options_new(SWATH_VERB_TABLE_READ, &options));
    OK(swath_options_set(options, "json_nested", "yes"));
    OK(swath_table_read(&named, 1, options, &table.stream, NULL));
    take(&table);
    const struct ArrowArray *object = column(&table, 0, "a", "+s");
    CHECK(has(object, 0) && !has(object, 1) && object->n_children == 1);
    CHECK(strcmp(table.schema.children[0]->children[0]->format, "+l") == 0);
    CHECK(object->children[0]->children[0]->length == 2);
    leave(&table);
    make_text("mixed.jsonl", "{\"a\": 1}\n{\"a\": []}\n");
    open_table(&table, "mixed.jsonl", options, &report);
    size_t file = 7;
    uint64_t line = 7;
    CHECK(swath_table_report_as_text(report, 0, &file, &line) == 1 && file == 0 && line == 2);
    CHECK(swath_table_report_as_text(report, 1, NULL, NULL) == 0);
    swath_table_report_free(report);
    leave(&table);
    swath_options_free(options);

    const char *both[] = {"log.ndjson", "log.txt"};
    FAILS(swath_table_read(both, 2, NULL, &stream, NULL), SWATH_STATUS_INVALID_ARGUMENT);
    SAYS("log.txt is of another form than log.ndjson; try: set `form` for all");
    make_text("bad.jsonl", "{\"a\": 1}\n{\"a\": }\n");
    path = "bad.jsonl";
    FAILS(swath_table_read(&path, 1, NULL, &stream, NULL), SWATH_STATUS_CORRUPT);
    SAYS("bad.jsonl on line 2 at byte 15: not JSON: a value is expected");
}

/* Text of fixed width: columns are found, or given by widths or positions. */
static void fixed_width(void) {
    struct table table;
    swath_table_report *report = NULL;
    swath_options *options = NULL;
    struct ArrowArrayStream stream;
    const char *path = "fixed.txt";
    make_text(path, "id name  born\n 1 Ann   1970-01-02\n12 Zo\xc3\xab\n");
    OK(swath_options_new(SWATH_VERB_TABLE_READ, &options));
    OK(swath_options_set(options, "form", "fixed"));
    open_table(&table, path, options, &report);
    CHECK(table.batch.length == 2 && table.schema.n_children == 3);
    CHECK(integer(column(&table, 0, "id", "l"), 1) == 12);
    CHECK(is_text(column(&table, 1, "name", "U"), 1, "Zo\xc3\xab"));
    CHECK(!has(column(&table, 2, "born", "tdD"), 1));
    leave(&table);
    const swath_table_column *name = swath_table_report_column(report, 1);
    CHECK(name->start == 3 && name->end == 7 && name->line == 2);
    swath_table_report_free(report);

    OK(swath_options_set(options, "positions", "3..7,9.."));
    OK(swath_options_set(options, "header", "0"));
    open_table(&table, path, options, &report);
    CHECK(is_text(column(&table, 0, "column_1", "U"), 0, "name"));
    leave(&table);
    CHECK(swath_table_report_column(report, 1)->end == SWATH_TO_END);
    swath_table_report_free(report);
    OK(swath_options_set(options, "widths", "3"));
    FAILS(swath_table_read(&path, 1, options, &stream, NULL),
          SWATH_STATUS_INVALID_ARGUMENT);
    SAYS("pass `widths` or `positions`, not both");
    swath_options_free(options);

    OK(swath_options_new(SWATH_VERB_TABLE_READ, &options));
    OK(swath_options_set(options, "form", "fixed"));
    OK(swath_options_set(options, "widths", "3,6"));
    FAILS(swath_table_read(&path, 1, options, &stream, NULL), SWATH_STATUS_CORRUPT);
    SAYS("fixed.txt on line 1 at byte 9: text outside of the columns, at position 9: `born`");
    FAILS(swath_options_set(options, "positions", "7"), SWATH_STATUS_INVALID_ARGUMENT);
    FAILS(swath_options_set(options, "widths", "3,"), SWATH_STATUS_INVALID_ARGUMENT);
    SAYS("`widths` cannot be `3,`; try: pass `auto`, or whole numbers, as in `10,5,8`");
    swath_options_free(options);
}

/* Hints name functions of this library, and a name that C cannot hold is refused. */
static void hints(void) {
    struct ArrowArrayStream stream;
    const char *path = "nul.csv";
    FILE *file = fopen(path, "wb");
    CHECK(file != NULL && fwrite("a\0b,c\n1,x\0\n", 1, 11, file) == 11 && fclose(file) == 0);
    FAILS(swath_table_read(&path, 1, NULL, &stream, NULL), SWATH_STATUS_CORRUPT);
    SAYS("nul.csv on line 1 at byte 0: a NUL byte in the name of column index 0");
    SAYS("by its index with `rename`");
    struct table table;
    swath_options *options = NULL;
    OK(swath_options_new(SWATH_VERB_TABLE_READ, &options));
    OK(swath_options_set_at(options, 0, "rename", "ab"));
    open_table(&table, path, options, NULL);
    CHECK(integer(column(&table, 0, "ab", "l"), 0) == 1);
    leave(&table);
    swath_options_free(options);
}

/* How many rows a stream has. */
static int64_t count(struct ArrowArrayStream *stream) {
    int64_t rows = 0;
    for (;;) {
        struct ArrowArray batch;
        CHECK(stream->get_next(stream, &batch) == 0);
        if (batch.release == NULL) {
            return rows;
        }
        rows += batch.length;
        batch.release(&batch);
    }
}

static void several_files(void) {
    struct table table;
    struct ArrowArrayStream stream;
    swath_options *options = NULL;
    const char *paths[] = {"one.csv", "two.csv"};
    make_text("one.csv", "x\n1\n2\n");
    make_text("two.csv", "x\n0.5\n");
    OK(swath_options_new(SWATH_VERB_TABLE_READ, &options));
    OK(swath_options_set(options, "file_column", "file"));
    OK(swath_table_read(paths, 2, options, &table.stream, NULL));
    take(&table);
    column(&table, 0, "x", "g");
    CHECK(is_word(column(&table, 1, "file", "i"), 0, "one.csv"));
    CHECK(table.batch.length + count(&table.stream) == 3);
    leave(&table);
    OK(swath_options_set(options, "file_column", NULL));
    OK(swath_options_set(options, "starting_in", "0..3"));
    OK(swath_table_stream(paths, 2, options, &stream, NULL));
    CHECK(count(&stream) == 2);
    stream.release(&stream);
    OK(swath_options_set(options, "starting_in", "4.."));
    OK(swath_table_stream(paths, 1, options, &stream, NULL));
    CHECK(count(&stream) == 1);
    stream.release(&stream);
    const char *wrong[] = {"18446744073709551615..18446744073709551617", "4..3", "4", "-1..2"};
    for (size_t index = 0; index < 4; index++) {
        FAILS(swath_options_set(options, "starting_in", wrong[index]),
              SWATH_STATUS_INVALID_ARGUMENT);
    }
    OK(swath_options_set(options, "starting_in", NULL));
    OK(swath_table_stream(paths, 2, options, &stream, NULL));
    CHECK(count(&stream) == 3);
    stream.release(&stream);
    swath_options_free(options);
}

static void *read_it(void *stream) {
    static int64_t rows;
    rows = count(stream);
    ((struct ArrowArrayStream *)stream)->release(stream);
    return &rows;
}

static void streams(void) {
    const int rows = getenv("SWATH_TEST_SMALL") != NULL ? 3000 : 300000;
    FILE *file = fopen("long.csv", "wb");
    CHECK(file != NULL);
    fprintf(file, "n,text\n");
    for (int row = 0; row < rows; row++) {
        fprintf(file, "%d,%s\n", row, row % 3 == 0 ? "" : "some");
    }
    CHECK(fclose(file) == 0);
    struct ArrowArrayStream stream;
    swath_table_report *report = NULL;
    swath_options *options = NULL;
    swath_options *reading = NULL;
    const char *path = "long.csv";
    OK(swath_options_new(SWATH_VERB_READ, &reading));
    OK(swath_options_set(reading, "workers", "3"));
    OK(swath_options_copy(reading, SWATH_VERB_TABLE_READ, &options));
    OK(swath_options_set(options, "block_size", "1000"));
    OK(swath_table_stream(&path, 1, options, &stream, &report));
    CHECK(swath_table_report_rows(report) == 0);
    struct ArrowArray batch;
    CHECK(stream.get_next(&stream, &batch) == 0 && batch.release != NULL);
    CHECK(swath_table_report_rows(report) >= (uint64_t)batch.length);
    CHECK(swath_table_report_rows(report) < (uint64_t)rows);
    const int64_t first = batch.length;
    /* By another thread than the one that made it, and when options are gone. */
    swath_options_free(options);
    swath_options_free(reading);
    pthread_t thread;
    void *others = NULL;
    CHECK(pthread_create(&thread, NULL, read_it, &stream) == 0);
    CHECK(pthread_join(thread, &others) == 0);
    CHECK(first + *(int64_t *)others == rows && stream.release == NULL);
    /* Batches and the report outlive the stream. */
    CHECK(((const int64_t *)batch.children[0]->buffers[1])[0] == 0);
    batch.release(&batch);
    CHECK(swath_table_report_rows(report) == (uint64_t)rows);
    CHECK(swath_table_report_nulls(report, 1) == (uint64_t)(rows + 2) / 3);
    swath_table_report_free(report);
    /* Released at once, and before the end. */
    OK(swath_table_stream(&path, 1, NULL, &stream, NULL));
    stream.release(&stream);
    CHECK(stream.release == NULL);
    OK(swath_table_stream(&path, 1, NULL, &stream, NULL));
    CHECK(stream.get_next(&stream, &batch) == 0);
    stream.release(&stream);
    batch.release(&batch);
    FAILS(swath_table_write("again.csv", &stream, NULL, NULL),
          SWATH_STATUS_INVALID_ARGUMENT);
    SAYS("`batches` was released");
}

/* What a failure says: the message of the last call, or of a stream. */
static void says(const char *text, const char *part) {
    if (text == NULL || strstr(text, part) == NULL) {
        fprintf(stderr, "`%s` is not in: %s\n", part, text == NULL ? "(none)" : text);
        exit(1);
    }
}

static void wrong_text(void) {
    struct ArrowArrayStream stream;
    swath_table_report *report = NULL;
    swath_options *options = NULL;
    const char *path = "missing.csv";
    FAILS(swath_table_read(&path, 1, NULL, &stream, &report), SWATH_STATUS_NOT_FOUND);
    CHECK(stream.release == NULL && report == NULL);
    CHECK(strcmp(swath_last_error_path(), path) == 0 && swath_last_error_errno() == ENOENT);
    make_text("ragged.csv", "a,b\n1,2\n3\n");
    path = "ragged.csv";
    FAILS(swath_table_read(&path, 1, NULL, &stream, NULL), SWATH_STATUS_CORRUPT);
    SAYS("ragged.csv on line 3 at byte 8");
    SAYS("; try: ");
    CHECK(strcmp(swath_last_error_path(), path) == 0);
    OK(swath_options_new(SWATH_VERB_TABLE_READ, &options));
    OK(swath_options_set_of(options, "a", "types", "i8"));
    make_text("large.csv", "a,b\n1,2\n300,4\n");
    path = "large.csv";
    FAILS(swath_table_stream(&path, 1, options, &stream, NULL), SWATH_STATUS_CORRUPT);
    SAYS("large.csv on line 3 at byte 8: out of the range of type i8 in column `a`: `300`");
    OK(swath_options_set_of(options, "c", "columns", "yes"));
    FAILS(swath_table_read(&path, 1, options, &stream, NULL), SWATH_STATUS_INVALID_ARGUMENT);
    SAYS("`c`");
    swath_options_free(options);

    /* All types are set, so what is wrong is found when it is read. */
    OK(swath_options_new(SWATH_VERB_TABLE_READ, &options));
    OK(swath_options_set_at(options, 0, "types", "i64"));
    OK(swath_options_set(options, "block_size", "64"));
    FILE *file = fopen("late.csv", "wb");
    CHECK(file != NULL);
    fprintf(file, "n\n");
    for (int row = 2; row < 5000; row++) {
        fprintf(file, "%d\n", row);
    }
    fprintf(file, "none\n1\n");
    CHECK(fclose(file) == 0);
    path = "late.csv";
    OK(swath_table_stream(&path, 1, options, &stream, &report));
    struct ArrowArray batch;
    int failed = 0, batches = 0;
    while ((failed = stream.get_next(&stream, &batch)) == 0 && batch.release != NULL) {
        batch.release(&batch);
        batches++;
    }
    CHECK(batches > 1 && failed == EINVAL);
    says(stream.get_last_error(&stream), "late.csv on line 5000 at byte ");
    says(stream.get_last_error(&stream), "not a value of type i64 in column `n`: `none`; try: ");
    CHECK(stream.get_next(&stream, &batch) == EINVAL);
    says(stream.get_last_error(&stream), "line 5000");
    CHECK(swath_table_report_rows(report) > 0);
    stream.release(&stream);
    CHECK(stream.release == NULL);
    swath_table_report_free(report);
    swath_options_free(options);
}

static void wrong_arguments(void) {
    struct ArrowArrayStream stream;
    swath_options *options = NULL;
    const char *path = "one.csv", *none = NULL, *not_utf8 = "\xff", *both[] = {"'", "none"};
    FAILS(swath_table_read(&path, 1, NULL, NULL, NULL), SWATH_STATUS_INVALID_ARGUMENT);
    FAILS(swath_table_read(NULL, 1, NULL, &stream, NULL), SWATH_STATUS_INVALID_ARGUMENT);
    FAILS(swath_table_read(&none, 1, NULL, &stream, NULL), SWATH_STATUS_INVALID_ARGUMENT);
    CHECK(stream.release == NULL);
    FAILS(swath_table_stream(NULL, 0, NULL, &stream, NULL), SWATH_STATUS_INVALID_ARGUMENT);
    SAYS("no paths");
    FAILS(swath_options_new(SWATH_VERB_TABLE_READ, NULL), SWATH_STATUS_INVALID_ARGUMENT);
    FAILS(swath_options_set(NULL, "rows", "1"), SWATH_STATUS_INVALID_ARGUMENT);
    OK(swath_options_new(SWATH_VERB_TABLE_READ, &options));
    FAILS(swath_options_set_of(options, "x", "types", "int33"), SWATH_STATUS_INVALID_ARGUMENT);
    SAYS("`types` cannot be `int33`; try: pass `null`, `bool`, `i8`, ");
    FAILS(swath_options_set_of(options, NULL, "types", "i8"), SWATH_STATUS_INVALID_ARGUMENT);
    FAILS(swath_options_set_at(options, 0, NULL, "i8"), SWATH_STATUS_INVALID_ARGUMENT);
    FAILS(swath_options_set_of(options, "x", "rename", not_utf8), SWATH_STATUS_INVALID_ARGUMENT);
    SAYS("not UTF-8");
    FAILS(swath_options_set_list(options, "null_values", &none, 1), SWATH_STATUS_INVALID_ARGUMENT);
    SAYS("`values[0]` is NULL");
    FAILS(swath_options_set(options, "encoding", "ebcdic"), SWATH_STATUS_INVALID_ARGUMENT);
    SAYS("`encoding` cannot be `ebcdic`; try: pass `auto`, `utf-8`, `latin-1`, ");
    FAILS(swath_options_set(options, "separator", ";"), SWATH_STATUS_INVALID_ARGUMENT);
    SAYS("`separator` is not an option of SWATH_VERB_TABLE_READ; try: pass one of form, ");
    FAILS(swath_options_set(options, NULL, ";"), SWATH_STATUS_INVALID_ARGUMENT);
    FAILS(swath_options_set(options, "rename", "text"), SWATH_STATUS_INVALID_ARGUMENT);
    SAYS("`rename` belongs to a column");
    FAILS(swath_options_set_of(options, "x", "quote", "'"), SWATH_STATUS_INVALID_ARGUMENT);
    SAYS("`quote` belongs to the table");
    FAILS(swath_options_set_list(options, "quote", both, 2), SWATH_STATUS_INVALID_ARGUMENT);
    SAYS("`quote` cannot be `'`, `none`; try: pass one ASCII character");
    FAILS(swath_options_set_list(NULL, "columns", both, 2), SWATH_STATUS_INVALID_ARGUMENT);
    FAILS(swath_options_set_list_at(options, 0, "types", both, 2),
          SWATH_STATUS_INVALID_ARGUMENT);
    OK(swath_options_set(options, "delimiter", "|\""));
    FAILS(swath_table_read(&path, 1, options, &stream, NULL),
          SWATH_STATUS_INVALID_ARGUMENT);
    swath_options_free(options);
    swath_options *reading = NULL;
    swath_cancel_token *token = NULL;
    OK(swath_options_new(SWATH_VERB_READ, &reading));
    OK(swath_options_set(reading, "engine", "map"));
    FAILS(swath_table_read(&path, 1, reading, &stream, NULL), SWATH_STATUS_INVALID_ARGUMENT);
    SAYS("this call never maps a file");
    OK(swath_options_set(reading, "engine", "auto"));
    OK(swath_cancel_token_new(&token));
    OK(swath_options_set_cancel(reading, token));
    path = "long.csv";
    OK(swath_table_stream(&path, 1, reading, &stream, NULL));
    OK(swath_cancel_token_cancel(token));
    struct ArrowArray batch;
    CHECK(stream.get_next(&stream, &batch) == ECANCELED);
    says(stream.get_last_error(&stream), "cancelled");
    stream.release(&stream);
    FAILS(swath_table_read(&path, 1, reading, &stream, NULL), SWATH_STATUS_CANCELLED);
    swath_cancel_token_free(token);
    swath_options_free(reading);
}

/* The lines of the options: each has a word, whose option it is, what it takes, its default, and a sentence. */
static void listed(const char *lines, const char *first) {
    CHECK(strncmp(lines, first, strlen(first)) == 0);
    int tabs = 0;
    for (const char *at = lines; *at != '\0'; at++) {
        tabs += *at == '\t';
        if (*at == '\n') {
            CHECK(tabs == 4);
            tabs = 0;
        }
    }
    CHECK(tabs == 0);
}

/* Opens a stream of a file. */
static void open_stream(struct ArrowArrayStream *stream, const char *path) {
    OK(swath_table_stream(&path, 1, NULL, stream, NULL));
}

static void written(void) {
    struct ArrowArrayStream stream;
    swath_options *options = NULL;
    swath_options *output = NULL;
    swath_table_written written;
    memset(&written, 1, sizeof written);
    size_t len = 0;
    OK(swath_options_new(SWATH_VERB_WRITE, &output));
    OK(swath_options_set(output, "durability", "none"));
    open_stream(&stream, "people.csv");
    OK(swath_table_write("copy.csv", &stream, output, &written));
    CHECK(stream.release == NULL && written.rows == 3);
    free(stdio_read("copy.csv", &len));
    CHECK(written.bytes == len);
    /* What was written is read as it was. */
    const char *names[] = {"copy.tsv", "copy.csv.gz", "copy.csv.zst"};
    for (size_t index = 0; index < 3; index++) {
        struct table first, second;
        open_stream(&stream, "copy.csv");
        OK(swath_table_write(names[index], &stream, output, NULL));
        open_table(&first, "people.csv", NULL, NULL);
        open_table(&second, names[index], NULL, NULL);
        CHECK(second.batch.length == 3 && second.schema.n_children == 6);
        for (int64_t at = 0; at < 6; at++) {
            const char *format = first.schema.children[at]->format;
            CHECK(strcmp(second.schema.children[at]->format, format) == 0);
            CHECK(first.batch.children[at]->null_count == second.batch.children[at]->null_count);
        }
        CHECK(is_text(second.batch.children[1], 1, "Bob, \"Jr.\""));
        CHECK(integer(first.batch.children[5], 1) == integer(second.batch.children[5], 1));
        leave(&first);
        leave(&second);
    }
    OK(swath_options_new(SWATH_VERB_TABLE_WRITE, &options));
    OK(swath_options_set(options, "form", "csv"));
    OK(swath_options_set(options, "delimiter", ";"));
    OK(swath_options_set(options, "quoting", "all"));
    OK(swath_options_set(options, "null_word", "NULL"));
    OK(swath_options_set(options, "line_end", "crlf"));
    OK(swath_options_set(options, "header", "no"));
    OK(swath_options_set(options, "packing", "none"));
    OK(swath_options_set(options, "block_size", "1"));
    make_text("few.csv", "a,b\n1,x\n2,\n");
    open_stream(&stream, "few.csv");
    OK(swath_table_write("few.gz", &stream, options, &written));
    check_text("few.gz", "\"1\";\"x\"\r\n\"2\";NULL\r\n");
    CHECK(written.rows == 2 && written.bytes == 19);
    OK(swath_options_set(options, "form", "jsonl"));
    open_stream(&stream, "few.csv");
    FAILS(swath_table_write("few.gz", &stream, options, &written),
          SWATH_STATUS_INVALID_ARGUMENT);
    CHECK(stream.release == NULL && written.rows == 0 && written.bytes == 0);
    check_text("few.gz", "\"1\";\"x\"\r\n\"2\";NULL\r\n");
    swath_options_free(options);
    options = NULL;
    swath_options_free(options);
    OK(swath_options_copy(output, SWATH_VERB_TABLE_WRITE, &options));
    const char *called[] = {"x", "y"};
    OK(swath_options_set_list(options, "names", called, 2));
    OK(swath_options_set(options, "decimals", "1"));
    FAILS(swath_options_set(options, "packing", "zip"), SWATH_STATUS_INVALID_ARGUMENT);
    SAYS("`packing` cannot be `zip`; try: pass `auto`, `none`, `zstd`, ");
    FAILS(swath_options_set(options, "pack", "zip"), SWATH_STATUS_INVALID_ARGUMENT);
    FAILS(swath_options_set(NULL, "level", "1"), SWATH_STATUS_INVALID_ARGUMENT);
    FAILS(swath_options_set_list(options, NULL, called, 2), SWATH_STATUS_INVALID_ARGUMENT);
    open_stream(&stream, "few.csv");
    OK(swath_table_write("names.csv", &stream, options, NULL));
    check_text("names.csv", "x,y\n1,x\n2,\n");
    OK(swath_options_set(options, "packing", "zstd"));
    OK(swath_options_set(options, "level", "3"));
    open_stream(&stream, "few.csv");
    OK(swath_table_write("few.jsonl", &stream, options, &written));
    uint8_t *packed = stdio_read("few.jsonl", &len);
    CHECK(len == written.bytes && memcmp(packed, "\x28\xb5\x2f\xfd", 4) == 0);
    free(packed);
    make_text("nan.csv", "x\n1\nnan\n-inf\n");
    open_stream(&stream, "nan.csv");
    OK(swath_table_write("nan.jsonl", &stream, output, &written));
    CHECK(written.rows == 3 && written.not_finite == 2);
    OK(swath_options_set(options, "level", "1000"));
    open_stream(&stream, "few.csv");
    FAILS(swath_table_write("few.jsonl", &stream, options, NULL),
          SWATH_STATUS_INVALID_ARGUMENT);
    swath_options_free(options);
    const char *arrows[] = {"few.arrow", "few.arrows"};
    for (size_t index = 0; index < 2; index++) {
        open_stream(&stream, "few.csv");
        OK(swath_table_write(arrows[index], &stream, output, &written));
        uint8_t *arrow = stdio_read(arrows[index], &len);
        CHECK(len == written.bytes && (memcmp(arrow, "ARROW1", 6) == 0) == (index == 0));
        free(arrow);
    }
    open_stream(&stream, "few.csv");
    FAILS(swath_table_write("few", &stream, output, NULL),
          SWATH_STATUS_INVALID_ARGUMENT);
    CHECK(stream.release == NULL);
    OK(swath_options_set(output, "replace", "refused"));
    open_stream(&stream, "few.csv");
    FAILS(swath_table_write("few.arrow", &stream, output, NULL),
          SWATH_STATUS_ALREADY_EXISTS);
    CHECK(stream.release == NULL);
    swath_options_free(output);
}

/* A stream of another library: tables of one column, and everything that may be wrong with one. */
struct maker {
    const char *format;     /* Of the column. */
    const char *top;        /* Of the table. */
    int batches;            /* How many there are. */
    int schema_errno;       /* What `get_schema` returns. */
    int next_errno;         /* What `get_next` returns in place of its last batch. */
    const char *error;
    int64_t children;       /* Of each batch. */
    int has_missing_row, lacks_child;
    const void *values, *bytes;
    int64_t buffers, length;
    int made, is_released, open;
};

static struct ArrowSchema column_schema, *schemas[1] = {&column_schema};
static const uint8_t no_bits[1] = {0};

static void release_schema(struct ArrowSchema *schema) {
    ((struct maker *)schema->private_data)->open--;
    schema->release = NULL;
}

static void release_child_schema(struct ArrowSchema *schema) {
    schema->release = NULL;
}

static int give_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out) {
    struct maker *maker = stream->private_data;
    if (maker->schema_errno != 0) {
        return maker->schema_errno;
    }
    memset(&column_schema, 0, sizeof column_schema);
    column_schema.format = maker->format;
    column_schema.name = "n";
    column_schema.flags = ARROW_FLAG_NULLABLE;
    column_schema.release = release_child_schema;
    memset(out, 0, sizeof *out);
    out->format = maker->top;
    out->name = "";
    out->n_children = strcmp(maker->top, "+s") == 0 ? 1 : 0;
    out->children = schemas;
    out->release = release_schema;
    out->private_data = maker;
    maker->open++;
    return 0;
}

/* A batch and its column, in one piece of memory. */
struct made {
    struct maker *maker;
    struct ArrowArray column, *children[1];
    const void *buffers[3], *top[1];
};

static void release_batch(struct ArrowArray *array) {
    struct made *made = array->private_data;
    made->maker->open--;
    free(made);
    array->release = NULL;
}

static void release_child(struct ArrowArray *array) {
    array->release = NULL;
}

static int give_next(struct ArrowArrayStream *stream, struct ArrowArray *out) {
    struct maker *maker = stream->private_data;
    memset(out, 0, sizeof *out);
    if (maker->made == maker->batches) {
        return maker->next_errno;
    }
    maker->made++;
    struct made *made = calloc(1, sizeof *made);
    CHECK(made != NULL);
    made->maker = maker;
    made->buffers[1] = maker->values;
    made->buffers[2] = maker->bytes;
    made->column.length = maker->length;
    made->column.n_buffers = maker->buffers;
    made->column.buffers = made->buffers;
    made->column.release = release_child;
    made->children[0] = maker->lacks_child ? NULL : &made->column;
    made->top[0] = maker->has_missing_row ? no_bits : NULL;
    out->length = maker->length;
    out->null_count = maker->has_missing_row ? maker->length : 0;
    out->n_buffers = 1;
    out->buffers = made->top;
    out->n_children = maker->children;
    out->children = made->children;
    out->release = release_batch;
    out->private_data = made;
    maker->open++;
    return 0;
}

static const char *give_error(struct ArrowArrayStream *stream) {
    return ((struct maker *)stream->private_data)->error;
}

static void release_maker(struct ArrowArrayStream *stream) {
    ((struct maker *)stream->private_data)->is_released++;
    stream->release = NULL;
}

static const int64_t numbers[] = {7, 8};

static struct maker of_numbers(void) {
    struct maker maker;
    memset(&maker, 0, sizeof maker);
    maker.format = "l";
    maker.top = "+s";
    maker.batches = 2;
    maker.children = 1;
    maker.values = numbers;
    maker.buffers = 2;
    maker.length = 2;
    return maker;
}

static struct ArrowArrayStream stream_of(struct maker *maker) {
    struct ArrowArrayStream stream;
    memset(&stream, 0, sizeof stream);
    stream.get_schema = give_schema;
    stream.get_next = give_next;
    stream.get_last_error = give_error;
    stream.release = release_maker;
    stream.private_data = maker;
    return stream;
}

/* A stream that cannot be written: `status`, with `part` in the message; what was there stays, and
 * everything is released. */
static void refused(struct maker maker, struct ArrowArrayStream stream, swath_status status,
                    const char *part) {
    make_text("target.csv", "as before\n");
    stream.private_data = &maker;
    FAILS(swath_table_write("target.csv", &stream, NULL, NULL), status);
    SAYS("cannot write target.csv");
    SAYS(part);
    CHECK(strcmp(swath_last_error_path(), "target.csv") == 0);
    CHECK(stream.release == NULL && maker.is_released == 1 && maker.open == 0);
    check_text("target.csv", "as before\n");
}

static void of_others(void) {
    struct maker maker = of_numbers();
    struct ArrowArrayStream stream = stream_of(&maker);
    swath_table_written written;
    OK(swath_table_write("others.csv", &stream, NULL, &written));
    check_text("others.csv", "n\n7\n8\n7\n8\n");
    CHECK(written.rows == 4 && maker.is_released == 1 && maker.open == 0 && stream.release == NULL);
    /* Taken even if something else is wrong. */
    maker = of_numbers();
    stream = stream_of(&maker);
    FAILS(swath_table_write(NULL, &stream, NULL, NULL), SWATH_STATUS_INVALID_ARGUMENT);
    CHECK(maker.is_released == 1 && stream.release == NULL);
    FAILS(swath_table_write("a.csv", NULL, NULL, NULL), SWATH_STATUS_INVALID_ARGUMENT);
    SAYS("`batches` is NULL");

    maker = of_numbers();
    maker.next_errno = EIO;
    maker.error = "the disk is on fire";
    refused(maker, stream_of(&maker), SWATH_STATUS_IO,
            "`get_next` of the stream returned errno 5: the disk is on fire");
    CHECK(swath_last_error_errno() == EIO);
    maker.error = NULL;
    maker.next_errno = ENOMEM;
    refused(maker, stream_of(&maker), SWATH_STATUS_OUT_OF_MEMORY, "returned errno 12");
    stream = stream_of(&maker);
    stream.get_last_error = NULL;
    refused(maker, stream, SWATH_STATUS_OUT_OF_MEMORY, "returned errno 12");
    maker.schema_errno = EACCES;
    maker.error = "locked";
    refused(maker, stream_of(&maker), SWATH_STATUS_PERMISSION_DENIED,
            "`get_schema` of the stream returned errno 13: locked");
    stream.get_schema = NULL;
    refused(maker, stream, SWATH_STATUS_INVALID_ARGUMENT, "`get_schema` of the stream is NULL");
    stream = stream_of(&maker);
    stream.get_next = NULL;
    maker = of_numbers();
    refused(maker, stream, SWATH_STATUS_INVALID_ARGUMENT, "`get_next` of the stream is NULL");

    maker.top = "l";
    refused(maker, stream_of(&maker), SWATH_STATUS_INVALID_ARGUMENT, "not tables");
    maker = of_numbers();
    maker.format = "?";
    refused(maker, stream_of(&maker), SWATH_STATUS_INVALID_ARGUMENT, "schema is not as");
    maker.format = NULL;
    refused(maker, stream_of(&maker), SWATH_STATUS_INVALID_ARGUMENT, "schema is not as");
    maker = of_numbers();
    maker.format = "+l";
    refused(maker, stream_of(&maker), SWATH_STATUS_INVALID_ARGUMENT, "lacks a child");
    maker.format = "z";
    refused(maker, stream_of(&maker), SWATH_STATUS_INVALID_ARGUMENT, "`n`");
    maker = of_numbers();
    maker.children = 0;
    refused(maker, stream_of(&maker), SWATH_STATUS_INVALID_ARGUMENT, "array is not as");
    maker = of_numbers();
    maker.lacks_child = 1;
    refused(maker, stream_of(&maker), SWATH_STATUS_INVALID_ARGUMENT, "a child is NULL");
    maker = of_numbers();
    maker.has_missing_row = 1;
    refused(maker, stream_of(&maker), SWATH_STATUS_INVALID_ARGUMENT, "missing as a whole");
    static const int32_t ends[] = {0, 1, 2}, backwards[] = {0, 2, 1};
    maker = of_numbers();
    maker.format = "u";
    maker.buffers = 3;
    maker.values = ends;
    maker.bytes = "\xff\xfe";
    refused(maker, stream_of(&maker), SWATH_STATUS_INVALID_ARGUMENT, "array is not as");
    maker.bytes = "ab";
    maker.values = backwards;
    refused(maker, stream_of(&maker), SWATH_STATUS_INVALID_ARGUMENT, "array is not as");
    maker.values = NULL;
    refused(maker, stream_of(&maker), SWATH_STATUS_INVALID_ARGUMENT, "array is not as");
    maker = of_numbers();
    maker.buffers = 1;
    refused(maker, stream_of(&maker), SWATH_STATUS_INVALID_ARGUMENT, "array is not as");
    maker = of_numbers();
    maker.length = -1;
    refused(maker, stream_of(&maker), SWATH_STATUS_INVALID_ARGUMENT, "array is not as");
}

int main(void) {
    CHECK(sizeof(struct ArrowSchema) == 72 && sizeof(struct ArrowArray) == 80);
    CHECK(sizeof(struct ArrowArrayStream) == 40);
    every_type();
    dialect();
    words_of_columns();
    listed(swath_options_words(SWATH_VERB_TABLE_READ), "form\tcall\t`csv`, `tsv`, ");
    listed(swath_options_words(SWATH_VERB_TABLE_WRITE), "form\tcall\t`csv`, `tsv`, ");
    more_dialects();
    several_files();
    streams();
    wrong_text();
    wrong_arguments();
    json_lines();
    fixed_width();
    hints();
    written();
    of_others();
    return 0;
}
