/* Without memory a list does not grow, and the program goes on. */
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

/* A limit of addresses stands in for a machine that has no more, in a process of its own. */
static void limited(void (*test)(void)) {
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        const struct rlimit most = {200 << 20, 200 << 20};
        CHECK(setrlimit(RLIMIT_AS, &most) == 0);
        test();
        exit(0);
    }
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void a_plan(void) {
    swath_class_plan *plan = NULL;
    OK(swath_class_plan_new(&plan));
    uint64_t offset = 0;
    swath_status status = SWATH_STATUS_OK;
    while (status == SWATH_STATUS_OK && offset < 20 * 1000 * 1000) {
        status = swath_class_plan_push(plan, 0, offset++, 1, 0);
    }
    CHECK(status == SWATH_STATUS_OUT_OF_MEMORY);
    SAYS("cannot add a chunk to a plan of ");
    CHECK(swath_class_plan_len(plan) == offset - 1);
    swath_class_plan_free(plan);
}

static void files(void) {
    enum { COUNT = 4 * 1000 * 1000 };
    static const char *paths[COUNT];
    for (size_t index = 0; index < COUNT; index++) {
        paths[index] = "a name of some length, as names in folders of many files are";
    }
    swath_files *list = NULL;
    OK(swath_files_new(&list));
    FAILS(swath_files_add_paths(list, paths, COUNT), SWATH_STATUS_OUT_OF_MEMORY);
    OK(swath_files_add_paths(list, paths, 10));
    swath_status status = SWATH_STATUS_OK;
    for (size_t index = 0; status == SWATH_STATUS_OK && index < COUNT; index++) {
        status = swath_files_add_path(list, paths[index]);
    }
    CHECK(status == SWATH_STATUS_OUT_OF_MEMORY);
    SAYS("cannot add 1 paths to a list of files");
    swath_files_free(list);
}

int main(void) {
#ifdef __SANITIZE_ADDRESS__
    /* Which takes terabytes of addresses for itself. */
    (void)limited, (void)a_plan, (void)files;
#else
    if (getenv("SWATH_TEST_SMALL") == NULL) {
        limited(a_plan);
        limited(files);
    }
#endif
    return 0;
}
