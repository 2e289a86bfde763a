// Handles in C++, freed by their owners.
#include <cstdio>
#include <fstream>
#include <memory>
#include <string_view>
#include <swath.h>

struct Free {
    void operator()(swath_buffer *buffer) const { swath_buffer_free(buffer); }
    void operator()(swath_options *options) const { swath_options_free(options); }
};

static int32_t count(const swath_chunk *chunk, void *seen) {
    *static_cast<size_t *>(seen) += chunk->len;
    return 0;
}

int main() {
    std::ofstream("input", std::ios::binary) << "from C++";
    swath_options *made = nullptr;
    if (swath_options_new(SWATH_VERB_READ, &made) != SWATH_STATUS_OK) {
        return 1;
    }
    const std::unique_ptr<swath_options, Free> options(made);
    if (swath_options_set(options.get(), "engine", "serial") != SWATH_STATUS_OK ||
        swath_options_set(options.get(), "engine", "none") !=
            SWATH_STATUS_INVALID_ARGUMENT) {
        return 1;
    }
    swath_buffer *read = nullptr;
    if (swath_read("input", options.get(), &read, nullptr) != SWATH_STATUS_OK) {
        std::fprintf(stderr, "%s\n", swath_last_error_message());
        return 1;
    }
    const std::unique_ptr<swath_buffer, Free> buffer(read);
    const std::string_view text(reinterpret_cast<const char *>(swath_buffer_data(buffer.get())),
                                swath_buffer_len(buffer.get()));
    size_t seen = 0;
    const auto status = swath_scan("input", options.get(), count, &seen, nullptr);
    return text == "from C++" && status == SWATH_STATUS_OK && seen == text.size() ? 0 : 1;
}
