/* Another library's header may come first, and its structures are the ones that are filled. */
#include <stdint.h>

#include "arrow_abi.h"

#include "check.h"

int main(void) {
    struct ArrowArrayStream batches;
    struct ArrowSchema schema;
    struct ArrowArray batch;
    const char *path = "numbers.csv";
    make_text(path, "n\n1\n2\n");
    OK(swath_table_read(&path, 1, NULL, &batches, NULL));
    CHECK(batches.get_schema(&batches, &schema) == 0);
    CHECK(strcmp(schema.format, "+s") == 0 && schema.n_children == 1);
    CHECK(strcmp(schema.children[0]->name, "n") == 0);
    CHECK((schema.children[0]->flags & ARROW_FLAG_NULLABLE) != 0);
    CHECK(batches.get_next(&batches, &batch) == 0 && batch.release != NULL);
    CHECK(batch.length == 2 && batch.n_children == 1);
    CHECK(((const int64_t *)batch.children[0]->buffers[1])[1] == 2);
    batch.release(&batch);
    schema.release(&schema);
    CHECK(batches.get_next(&batches, &batch) == 0 && batch.release == NULL);
    batches.release(&batches);
    CHECK(batches.release == NULL && schema.release == NULL);
    return 0;
}
