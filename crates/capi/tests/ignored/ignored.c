/* Ignores a status: this must not compile with -Werror=unused-result. */
#include <swath.h>

int main(void) {
    swath_buffer *buffer = NULL;
    swath_read("data.bin", NULL, &buffer, NULL);
    return swath_buffer_len(buffer) == 0;
}
