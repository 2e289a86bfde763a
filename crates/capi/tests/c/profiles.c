/* A profile that cannot be used is a fall-back in the report; the library prints nothing. */
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"

enum { LEN = 100000 };

/* Whether one of the fall-backs says that a profile cannot be used. */
static int is_told(const swath_report *report) {
    for (size_t index = 0; index < swath_report_fallback_count(report); index++) {
        if (strstr(swath_report_fallback(report, index), "cannot use the profile") != NULL) {
            return 1;
        }
    }
    return 0;
}

static void one_file(const char *profile, int told) {
    swath_options *options = NULL;
    swath_buffer *buffer = NULL;
    swath_report *report = NULL;
    OK(swath_options_new(SWATH_VERB_READ, &options));
    OK(swath_options_set(options, "profile", profile));
    OK(swath_read("file", options, &buffer, &report));
    CHECK(swath_buffer_len(buffer) == LEN);
    CHECK(is_told(report) == told);
    swath_report_free(report);
    swath_buffer_free(buffer);
    uint64_t sum = 0;
    OK(swath_sum("file", options, &sum, &report));
    CHECK(is_told(report) == told);
    swath_report_free(report);
    swath_options_free(options);
}

static void many_files(const char *profile, size_t told) {
    swath_files *files = NULL;
    swath_options *options = NULL;
    swath_ingested *ingested = NULL;
    OK(swath_files_new(&files));
    OK(swath_files_add_path(files, "file"));
    OK(swath_options_new(SWATH_VERB_INGEST, &options));
    OK(swath_options_set(options, "profile", profile));
    OK(swath_ingest(files, options, &ingested));
    CHECK(swath_ingested_count(ingested) == 1);
    CHECK(swath_ingested_file(ingested, 0)->len == LEN);
    CHECK(swath_ingested_fallback_count(ingested) == told);
    if (told > 0) {
        CHECK(strstr(swath_ingested_fallback(ingested, 0), "cannot use the profile") != NULL);
    }
    CHECK(swath_ingested_fallback(ingested, told) == NULL);
    swath_ingested_free(ingested);
    swath_options_free(options);
    swath_files_free(files);
}

int main(void) {
    char here[4096];
    CHECK(getcwd(here, sizeof here) != NULL);
    CHECK(setenv("XDG_CONFIG_HOME", here, 1) == 0);
    CHECK(mkdir("swath", 0755) == 0);
    /* A folder that leads to itself: no profile can be looked up in it. */
    CHECK(symlink("profiles", "swath/profiles") == 0);
    make_file("file", LEN);
    int terminal = dup(STDERR_FILENO);
    CHECK(terminal >= 0 && freopen("printed", "wb", stderr) != NULL);
    one_file("none", 0);
    one_file("user", 1);
    many_files("none", 0);
    many_files("user", 1);
    CHECK(fflush(stderr) == 0 && dup2(terminal, STDERR_FILENO) >= 0);
    check_text("printed", "");
    CHECK(swath_ingested_fallback_count(NULL) == 0 && swath_ingested_fallback(NULL, 0) == NULL);
    return 0;
}
