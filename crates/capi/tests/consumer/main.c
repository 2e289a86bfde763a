#include <stdio.h>
#include <string.h>
#include <swath.h>

int main(void) {
    FILE *file = fopen("input", "wb");
    if (file == NULL || fputs("abc", file) < 0 || fclose(file) != 0) {
        return 1;
    }
    uint64_t sum = 0;
    if (swath_sum("input", NULL, &sum, NULL) != SWATH_STATUS_OK) {
        fprintf(stderr, "%s\n", swath_last_error_message());
        return 1;
    }
    return sum == 'a' + 'b' + 'c' ? 0 : 1;
}
