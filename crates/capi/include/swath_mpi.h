/*
 * swath_mpi.h: Swath for MPI programs.
 *
 * Ranks read their own records of one file, a node reads a file once for all its ranks, and ranks
 * append to one output in the order of their ranks.
 *
 *     uint64_t bytes = 0;
 *     swath_mpi_error error;
 *     if (swath_mpi_append(MPI_COMM_WORLD, "out.txt", NULL, text, len, &bytes, &error) !=
 *         SWATH_STATUS_OK) {
 *         fprintf(stderr, "rank %d: %s\n", error.rank, error.message);
 *     }
 *
 * Compile with `mpicc program.c $(pkg-config --cflags --libs swath)`; it is C99 and C++. Everything
 * is `static inline`: there is no other library to link, for any MPI with MPI_Win_allocate_shared
 * (MPI 3.0).
 *
 * What holds for all functions:
 *
 * - Collective: every rank of `comm` calls the same one, in the same order, with the same path and
 *   options. Otherwise every rank returns SWATH_STATUS_INVALID_ARGUMENT, and the message names the
 *   argument and two ranks with what they passed. Paths are compared as text, relative ones together
 *   with the working directory of their rank. Each rank has its own data, callback, pointers for
 *   results and read options. `comm` may be any communicator within a group; it is left as it was.
 * - Errors are collective. If one rank fails, every rank returns the status of the first rank that
 *   failed, and `error`, which may be NULL, has this rank and its message. No rank waits for one
 *   that has failed. `swath_last_error_message` has only this rank's own failure, if any.
 * - A path must lead to the same file on all ranks.
 * - Sizes have 64 bits everywhere, also in messages between ranks.
 * - A rank that is killed ends the program, as MPI programs end. An output is then what it was
 *   before, or complete; what is left next to it is removed by the next writer of this target.
 * - Errors of MPI itself are handled by the error handler of `comm`, which by default ends the
 *   program.
 */
#ifndef SWATH_MPI_H
#define SWATH_MPI_H

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "swath.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What failed, on which rank: the same on every rank. */
typedef struct swath_mpi_error {
    /** The first rank that failed; -1 if none has. */
    int rank;
    /** Its status. */
    swath_status status;
    /** What could not be done, why, and what to try; "" after a success. */
    char message[1024];
} swath_mpi_error;

/** The memory of a node that has a file: see `swath_mpi_read_shared`. */
typedef struct swath_mpi_window {
    /** The bytes, the same memory for all ranks of the node. Do not write to them. */
    const uint8_t *bytes;
    /** How many. */
    size_t len;
    /** The ranks of this node. */
    MPI_Comm node;
    /** The window. */
    MPI_Win window;
} swath_mpi_window;

/* This rank's part of an error that all will know. */
typedef struct swath_mpi_own {
    swath_status status;
    char message[1024];
} swath_mpi_own;

static inline void swath_mpi_fails(swath_mpi_own *own, swath_status status, const char *message) {
    if (own->status == SWATH_STATUS_OK && status != SWATH_STATUS_OK) {
        own->status = status;
        snprintf(own->message, sizeof own->message, "%s", message);
    }
}

/* Keeps the first failure. */
static inline void swath_mpi_keep(swath_mpi_own *own, swath_status status) {
    swath_mpi_fails(own, status, swath_last_error_message());
}

/* The same for a file that was opened here: its path in place of the name of its descriptor. */
static inline void swath_mpi_keep_of(swath_mpi_own *own, swath_status status, const char *name,
                                     const char *path) {
    char text[1024];
    const char *message = swath_last_error_message();
    const char *found = status == SWATH_STATUS_OK ? NULL : strstr(message, name);
    if (found != NULL) {
        snprintf(text, sizeof text, "%.*s%s%s", (int)(found - message), message, path,
                 found + strlen(name));
        message = text;
    }
    swath_mpi_fails(own, status, message);
}

static inline void swath_mpi_keep_errno(swath_mpi_own *own, const char *what, const char *path) {
    char text[1024];
    const int number = errno;
    snprintf(text, sizeof text, "cannot %s %s: %s", what, path, strerror(number));
    swath_mpi_fails(own,
                    number == ENOENT   ? SWATH_STATUS_NOT_FOUND
                    : number == EACCES ? SWATH_STATUS_PERMISSION_DENIED
                                       : SWATH_STATUS_IO,
                    text);
}

/**
 * Tells all ranks whether one has failed, and returns the status of the first that has. For programs
 * that do more between two calls: pass your own status and message. Without a message, NULL or "", the
 * error says which rank has failed.
 */
static inline swath_status swath_mpi_agree(MPI_Comm comm, swath_status status, const char *message,
                                           swath_mpi_error *error) {
    swath_mpi_error told;
    int rank = 0, size = 0, failed = 0, first = 0;
    memset(&told, 0, sizeof told);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    failed = status == SWATH_STATUS_OK ? size : rank;
    MPI_Allreduce(&failed, &first, 1, MPI_INT, MPI_MIN, comm);
    told.rank = -1;
    if (first < size) {
        if (rank == first) {
            told.rank = rank;
            told.status = status;
            if (message == NULL || message[0] == '\0') {
                snprintf(told.message, sizeof told.message, "rank %d has failed, with status %d",
                         rank, (int)status);
            } else {
                snprintf(told.message, sizeof told.message, "%s", message);
            }
        }
        MPI_Bcast(&told, (int)sizeof told, MPI_BYTE, first, comm);
    }
    if (error != NULL) {
        *error = told;
    }
    return told.status;
}

/* Whether all ranks have done well so far: asked before a step in which all take part. */
static inline int swath_mpi_all_well(MPI_Comm comm, const swath_mpi_own *own) {
    int well = own->status == SWATH_STATUS_OK, all = 0;
    MPI_Allreduce(&well, &all, 1, MPI_INT, MPI_MIN, comm);
    return all;
}

/* What a rank has passed, and a number for it that other texts do not have. */
typedef struct swath_mpi_given {
    const char *name;
    uint64_t digest;
    char text[400];
} swath_mpi_given;

/* FNV-1a, continued from `digest`. */
static inline uint64_t swath_mpi_digest(uint64_t digest, const char *text) {
    for (; *text != '\0'; text++) {
        digest = (digest ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    }
    return digest;
}

static inline swath_mpi_given swath_mpi_give(const char *name, const char *before,
                                             const char *text) {
    swath_mpi_given given;
    memset(&given, 0, sizeof given);
    given.name = name;
    given.digest = swath_mpi_digest(UINT64_C(0xcbf29ce484222325), before);
    given.digest = swath_mpi_digest(given.digest, text);
    if (snprintf(given.text, sizeof given.text, "%s%s", before, text) >= (int)sizeof given.text) {
        memcpy(given.text + sizeof given.text - 4, "...", 4);
    }
    return given;
}

/* A path; a relative one goes on from the working directory of this rank. */
static inline swath_mpi_given swath_mpi_give_path(const char *path) {
    char folder[4096 + 2];
    if (path == NULL) {
        return swath_mpi_give("path", "", "NULL");
    }
    if (path[0] == '/' || getcwd(folder, sizeof folder - 2) == NULL) {
        return swath_mpi_give("path", "", path);
    }
    memcpy(folder + strlen(folder), "/", 2);
    return swath_mpi_give("path", folder, path);
}

/* Whether all ranks have called one function with one path and one set of options. Otherwise a rank that
 * differs from the first fails. Asked before anything else, or ranks would wait for each other. */
static inline int swath_mpi_same(MPI_Comm comm, const char *call, const char *path,
                                 const char *options, swath_mpi_own *own) {
    swath_mpi_given mine[3], first;
    uint64_t words[6], least[6];
    char text[1024];
    int rank = 0, which = 0;
    mine[0] = swath_mpi_give("call", "", call);
    mine[1] = swath_mpi_give_path(path);
    mine[2] = swath_mpi_give("options", "", options);
    for (which = 0; which < 3; which++) {
        words[2 * which] = mine[which].digest;
        words[2 * which + 1] = ~mine[which].digest;
    }
    MPI_Allreduce(words, least, 6, MPI_UINT64_T, MPI_MIN, comm);
    /* Where the least is the greatest, all are the same. */
    for (which = 0; which < 3 && least[2 * which] == ~least[2 * which + 1]; which++) {
    }
    if (which == 3) {
        return 1;
    }
    MPI_Comm_rank(comm, &rank);
    first = mine[which];
    MPI_Bcast(&first.digest, 1, MPI_UINT64_T, 0, comm);
    MPI_Bcast(first.text, (int)sizeof first.text, MPI_CHAR, 0, comm);
    if (first.digest == mine[which].digest) {
        return 0;
    }
    if (which == 0) {
        snprintf(text, sizeof text,
                 "rank 0 has called %s, and rank %d %s; try: call the same functions on all ranks, "
                 "in the same order",
                 first.text, rank, call);
    } else {
        snprintf(text, sizeof text,
                 "%s: `%s` is %s on rank 0, and %s on rank %d; try: pass the same `%s` on all ranks",
                 call, first.name, first.text, mine[which].text, rank, first.name);
    }
    swath_mpi_fails(own, SWATH_STATUS_INVALID_ARGUMENT, text);
    return 0;
}

/* Sends a text of the first rank to all; NULL if one rank has failed. To be freed. */
static inline char *swath_mpi_send_text(MPI_Comm comm, const char *text, swath_mpi_own *own) {
    char *sent = NULL;
    int rank = 0, len = 0;
    MPI_Comm_rank(comm, &rank);
    if (rank == 0 && own->status == SWATH_STATUS_OK && strlen(text) < INT_MAX) {
        len = (int)strlen(text) + 1;
    }
    MPI_Bcast(&len, 1, MPI_INT, 0, comm);
    sent = (char *)malloc((size_t)len + 1);
    if (sent == NULL) {
        swath_mpi_fails(own, SWATH_STATUS_OUT_OF_MEMORY, "no memory for the plan of an output");
    }
    if (!swath_mpi_all_well(comm, own)) {
        free(sent);
        return NULL;
    }
    if (rank == 0) {
        memcpy(sent, text, (size_t)len);
    }
    MPI_Bcast(sent, len, MPI_CHAR, 0, comm);
    return sent;
}

/* Texts of all ranks, on the first. */
typedef struct swath_mpi_texts {
    /* One pointer for each rank; NULL on other ranks. */
    const char **each;
    char *bytes;
    int *lens;
    int *starts;
} swath_mpi_texts;

static inline void swath_mpi_texts_free(swath_mpi_texts *texts) {
    free((void *)texts->each);
    free(texts->bytes);
    free(texts->lens);
    free(texts->starts);
    memset(texts, 0, sizeof *texts);
}

/* Gathers a text of each rank on the first one, unless a rank has failed. */
static inline void swath_mpi_gather_texts(MPI_Comm comm, const char *text, swath_mpi_own *own,
                                          swath_mpi_texts *texts) {
    int rank = 0, size = 0, len = 0;
    size_t total = 0;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    memset(texts, 0, sizeof *texts);
    len = text == NULL ? 0 : (int)strlen(text) + 1;
    if (rank == 0) {
        texts->each = (const char **)calloc((size_t)size, sizeof *texts->each);
        texts->lens = (int *)calloc((size_t)size, sizeof *texts->lens);
        texts->starts = (int *)calloc((size_t)size, sizeof *texts->starts);
        if (texts->each == NULL || texts->lens == NULL || texts->starts == NULL) {
            swath_mpi_fails(own, SWATH_STATUS_OUT_OF_MEMORY, "no memory for the receipts");
        }
    }
    if (!swath_mpi_all_well(comm, own)) {
        return;
    }
    MPI_Gather(&len, 1, MPI_INT, texts->lens, 1, MPI_INT, 0, comm);
    for (int index = 0; rank == 0 && index < size; index++) {
        texts->starts[index] = (int)(total > INT_MAX ? INT_MAX : total);
        total += (size_t)texts->lens[index];
    }
    if (rank == 0) {
        texts->bytes = total > INT_MAX ? NULL : (char *)malloc(total + 1);
        if (texts->bytes == NULL) {
            swath_mpi_fails(own, SWATH_STATUS_OUT_OF_MEMORY, "no memory for the receipts");
        }
    }
    if (!swath_mpi_all_well(comm, own)) {
        return;
    }
    MPI_Gatherv(text, len, MPI_CHAR, texts->bytes, texts->lens, texts->starts, MPI_CHAR, 0, comm);
    for (int index = 0; rank == 0 && index < size; index++) {
        texts->each[index] = texts->bytes + texts->starts[index];
    }
}

/* Whether this rank has to sync for its node, whose ranks have all written when this returns. The
 * commit, on the first rank, syncs for the node of that rank. */
static inline int swath_mpi_syncs(MPI_Comm comm) {
    MPI_Comm node = MPI_COMM_NULL;
    int rank = 0, place = 0;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
    MPI_Comm_rank(node, &place);
    MPI_Barrier(node);
    MPI_Comm_free(&node);
    return place == 0 && rank != 0;
}

/* Whether the bytes of all ranks fit in one file. Otherwise a rank that passed too many fails. */
static inline int swath_mpi_fits(MPI_Comm comm, const char *path, size_t len, swath_mpi_own *own) {
    int size = 1;
    MPI_Comm_size(comm, &size);
    if ((uint64_t)len > (uint64_t)INT64_MAX / (uint64_t)size) {
        char text[1024];
        snprintf(text, sizeof text,
                 "cannot append to %s: one rank passes %llu bytes, more than a file can have; "
                 "try: pass the length of `data`",
                 path == NULL ? "NULL" : path, (unsigned long long)len);
        swath_mpi_fails(own, SWATH_STATUS_INVALID_ARGUMENT, text);
    }
    return swath_mpi_all_well(comm, own);
}

/* A copy of options for one verb, and those of its words on which all ranks must agree. */
static inline swath_options *swath_mpi_options(const swath_options *options, swath_verb verb,
                                               char text[256], swath_mpi_own *own) {
    static const char *const of_records[] = {"delimiter", "quote", "width"};
    static const char *const of_outputs[] = {"durability", "replace", "hard_links"};
    const char *const *words = verb == SWATH_VERB_RECORDS ? of_records : of_outputs;
    swath_options *copy = NULL;
    int index = 0, end = 0;
    text[0] = '\0';
    swath_mpi_keep(own, swath_options_copy(options, verb, &copy));
    for (index = 0; copy != NULL && index < 3; index++) {
        end += snprintf(text + end, 80, "%s%s %s", index > 0 ? ", " : "", words[index],
                        swath_options_get(copy, words[index]));
    }
    return copy;
}

/**
 * Appends the `len` bytes at `data` of every rank, in the order of the ranks, into one file that
 * replaces `path`, or creates it. Every rank writes straight from its memory to its place; then one
 * commit makes the file visible, complete and durable. `bytes`, which may be NULL, is set to its
 * length. `options` may be NULL for defaults.
 *
 * Cost: one reduction and one exclusive scan, a broadcast and a gather of a few hundred bytes, one
 * sync on each node. No byte of the data travels.
 *
 * SWATH_STATUS_BUSY if another job or program is writing it. After any failure the old file is still
 * there, unless the status is SWATH_STATUS_OUTCOME_UNKNOWN.
 */
SWATH_MUST_CHECK
static inline swath_status swath_mpi_append(MPI_Comm comm, const char *path,
                                            const swath_options *options, const void *data,
                                            size_t len, uint64_t *bytes, swath_mpi_error *error) {
    swath_mpi_own own;
    swath_mpi_texts receipts;
    swath_draft *draft = NULL;
    swath_draft_writer *writer = NULL;
    swath_status status = SWATH_STATUS_OK;
    uint64_t mine = (uint64_t)len, offset = 0, total = 0;
    char *token = NULL, words[256];
    int rank = 0, size = 0, syncs = 0;
    memset(&own, 0, sizeof own);
    swath_options_free(swath_mpi_options(options, SWATH_VERB_WRITE, words, &own));
    if (!swath_mpi_same(comm, "swath_mpi_append", path, words, &own) ||
        !swath_mpi_fits(comm, path, len, &own)) {
        return swath_mpi_agree(comm, own.status, own.message, error);
    }
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    MPI_Exscan(&mine, &offset, 1, MPI_UINT64_T, MPI_SUM, comm);
    MPI_Allreduce(&mine, &total, 1, MPI_UINT64_T, MPI_SUM, comm);
    if (rank == 0) {
        offset = 0; /* an exclusive scan leaves it undefined */
        swath_mpi_keep(&own, swath_draft_create(path, options, total, &draft));
    }
    token = swath_mpi_send_text(comm, swath_draft_token(draft), &own);
    if (token != NULL) {
        swath_mpi_keep(&own, swath_draft_open(token, options, &writer));
    }
    if (writer != NULL) {
        swath_mpi_keep(&own, swath_draft_writer_write(writer, data, len, offset));
    }
    syncs = swath_mpi_syncs(comm);
    if (writer != NULL && own.status == SWATH_STATUS_OK) {
        swath_mpi_keep(&own, swath_draft_writer_finish(writer, syncs != 0));
    }
    swath_mpi_gather_texts(comm, swath_draft_writer_receipt(writer), &own, &receipts);
    if (rank == 0 && receipts.bytes != NULL && own.status == SWATH_STATUS_OK) {
        swath_mpi_keep(&own, swath_draft_commit(draft, receipts.each, (size_t)size, false));
    }
    swath_mpi_texts_free(&receipts);
    swath_draft_writer_free(writer);
    swath_draft_free(draft); /* before the ranks agree: then nothing is left when they know */
    free(token);
    status = swath_mpi_agree(comm, own.status, own.message, error);
    if (bytes != NULL && status == SWATH_STATUS_OK) {
        *bytes = total;
    }
    return status;
}

/**
 * As `swath_mpi_append`, but into a new folder of segments at `path`: each rank writes a file of its
 * own, with a checksum, and the commit adds a manifest. Nothing is shared while ranks write, so this
 * is for file systems on which many writers of one file are slow. `swath_appended_open`, `swath cat`
 * and `swath cp` read it.
 *
 * SWATH_STATUS_INVALID_ARGUMENT if something is at `path`. After any failure nothing is.
 */
SWATH_MUST_CHECK
static inline swath_status swath_mpi_append_segments(MPI_Comm comm, const char *path,
                                                     const swath_options *options,
                                                     const void *data, size_t len,
                                                     uint64_t *bytes, swath_mpi_error *error) {
    swath_mpi_own own;
    swath_mpi_texts receipts;
    swath_options *how = NULL;
    swath_job *job = NULL, *planned = NULL;
    swath_part *part = NULL;
    swath_segment *segment = NULL;
    swath_status status = SWATH_STATUS_OK;
    uint64_t mine = (uint64_t)len, total = 0;
    char *plan = NULL, words[256];
    int rank = 0, size = 0, committed = 0;
    memset(&own, 0, sizeof own);
    how = swath_mpi_options(options, SWATH_VERB_JOB, words, &own);
    if (!swath_mpi_same(comm, "swath_mpi_append_segments", path, words, &own) ||
        !swath_mpi_fits(comm, path, len, &own)) {
        swath_options_free(how);
        return swath_mpi_agree(comm, own.status, own.message, error);
    }
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    MPI_Allreduce(&mine, &total, 1, MPI_UINT64_T, MPI_SUM, comm);
    if (rank == 0 && how != NULL) {
        swath_mpi_keep(&own, swath_options_set_number(how, "parts", (uint64_t)size));
        swath_mpi_keep(&own, swath_options_set(how, "form", "segments"));
        swath_mpi_keep(&own, swath_job_plan(NULL, 0, path, how, &planned));
    }
    plan = swath_mpi_send_text(comm, swath_job_json(planned), &own);
    if (plan != NULL) {
        swath_mpi_keep(&own, swath_job_from_json(plan, &job));
    }
    if (job != NULL) {
        swath_mpi_keep(&own, swath_job_part(job, (size_t)rank, &part));
    }
    if (part != NULL) {
        swath_mpi_keep(&own, swath_part_begin(part, &segment));
    }
    if (segment != NULL) {
        swath_mpi_keep(&own, swath_segment_write(segment, data, len));
        if (own.status == SWATH_STATUS_OK) {
            swath_mpi_keep(&own, swath_segment_finish(segment));
        }
    }
    swath_mpi_gather_texts(comm, swath_segment_receipt(segment), &own, &receipts);
    if (rank == 0 && receipts.bytes != NULL && own.status == SWATH_STATUS_OK) {
        status = swath_job_commit(planned, receipts.each, (size_t)size, NULL);
        committed = status == SWATH_STATUS_OK || status == SWATH_STATUS_OUTCOME_UNKNOWN;
        swath_mpi_keep(&own, status);
    }
    swath_segment_free(segment);
    swath_part_free(part);
    swath_job_free(job);
    /* No rank writes any more: all have sent their receipts, or agreed that one has failed. */
    if (planned != NULL && !committed && swath_job_abort(planned) != SWATH_STATUS_OK) {
        swath_mpi_keep(&own, SWATH_STATUS_IO);
    }
    swath_job_free(planned);
    swath_options_free(how);
    swath_mpi_texts_free(&receipts);
    free(plan);
    status = swath_mpi_agree(comm, own.status, own.message, error);
    if (bytes != NULL && status == SWATH_STATUS_OK) {
        *bytes = total;
    }
    return status;
}

/* What all ranks know of a file before they read it. */
typedef struct swath_mpi_file {
    int64_t len;
    int64_t seconds;
    int64_t nanoseconds;
} swath_mpi_file;

/* Of the file that is open, or else of what is under the path. */
static inline void swath_mpi_stat(int descriptor, const char *path, swath_mpi_own *own,
                                  swath_mpi_file *file) {
    struct stat found;
    char text[1024];
    memset(file, 0, sizeof *file);
    if (path == NULL) {
        swath_mpi_fails(own, SWATH_STATUS_INVALID_ARGUMENT, "`path` is NULL");
    } else if ((descriptor < 0 ? stat(path, &found) : fstat(descriptor, &found)) != 0) {
        swath_mpi_keep_errno(own, "inspect", path);
    } else if (!S_ISREG(found.st_mode)) {
        snprintf(text, sizeof text, "cannot read %s: it is not a regular file, whose bytes ranks "
                                    "can divide; try: pass the path of a file", path);
        swath_mpi_fails(own, SWATH_STATUS_INVALID_ARGUMENT, text);
    } else {
        file->len = (int64_t)found.st_size;
        file->seconds = (int64_t)found.st_mtime;
#if defined(_POSIX_C_SOURCE) && _POSIX_C_SOURCE >= 200809L
        file->nanoseconds = (int64_t)found.st_mtim.tv_nsec;
#endif
    }
}

/* The first rank looks, for all. */
static inline int swath_mpi_look(MPI_Comm comm, const char *path, swath_mpi_own *own,
                                 swath_mpi_file *file) {
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    memset(file, 0, sizeof *file);
    if (rank == 0) {
        swath_mpi_stat(-1, path, own, file);
    }
    if (!swath_mpi_all_well(comm, own)) {
        return 0;
    }
    MPI_Bcast(file, (int)sizeof *file, MPI_BYTE, 0, comm);
    return 1;
}

/* Ranks read one after the other: each of them alone may not see that the file has changed. */
static inline void swath_mpi_compare(int descriptor, const char *path, swath_mpi_own *own,
                                     const swath_mpi_file *file) {
    swath_mpi_file now;
    char text[1024];
    swath_mpi_stat(descriptor, path, own, &now);
    if (own->status == SWATH_STATUS_OK &&
        (now.len != file->len || now.seconds != file->seconds ||
         now.nanoseconds != file->nanoseconds)) {
        snprintf(text, sizeof text,
                 "cannot read %s at bytes 0..%lld: another program has changed it while the ranks "
                 "read it; try: read it again",
                 path, (long long)file->len);
        swath_mpi_fails(own, SWATH_STATUS_CHANGED, text);
    }
}

/* Opens the file that all ranks looked at, so that what is read is of no other file, and sets `name` to what it can
 * be opened by; -1 after a failure. Does not wait if the path leads to a pipe by now. */
static inline int swath_mpi_open(const char *path, swath_mpi_own *own, const swath_mpi_file *file,
                                 char name[32]) {
    const int descriptor = open(path, O_RDONLY | O_NONBLOCK);
    name[0] = 0;
    if (descriptor < 0) {
        swath_mpi_keep_errno(own, "open", path);
        return -1;
    }
    fcntl(descriptor, F_SETFD, FD_CLOEXEC);
    swath_mpi_compare(descriptor, path, own, file);
    snprintf(name, 32, "/proc/self/fd/%d", descriptor);
    return descriptor;
}

/* The bytes of this rank among `len`. */
static inline void swath_mpi_share(MPI_Comm comm, uint64_t len, uint64_t *offset, uint64_t *share) {
    int rank = 0, size = 1;
    uint64_t each = 0, more = 0, index = 0;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    index = (uint64_t)rank;
    each = len / (uint64_t)size;
    more = len % (uint64_t)size; /* the first ranks have one byte more */
    *offset = each * index + (index < more ? index : more);
    *share = each + (index < more ? 1 : 0);
}

/**
 * Sets `offset` and `len` to this rank's bytes of a file: nearly the same number for each rank, in
 * the order of the ranks. For records, take those that begin in these bytes, as `swath_mpi_records`
 * does. If there are more ranks than bytes, the last ranks have none.
 */
SWATH_MUST_CHECK
static inline swath_status swath_mpi_extent(MPI_Comm comm, const char *path, uint64_t *offset,
                                            uint64_t *len, swath_mpi_error *error) {
    swath_mpi_own own;
    swath_mpi_file file;
    memset(&own, 0, sizeof own);
    if (!swath_mpi_same(comm, "swath_mpi_extent", path, "", &own)) {
        return swath_mpi_agree(comm, own.status, own.message, error);
    }
    if (offset == NULL || len == NULL) {
        swath_mpi_fails(&own, SWATH_STATUS_INVALID_ARGUMENT, "`offset` or `len` is NULL");
    }
    if (swath_mpi_look(comm, path, &own, &file)) {
        swath_mpi_share(comm, (uint64_t)file.len, offset, len);
    }
    return swath_mpi_agree(comm, own.status, own.message, error);
}

/**
 * Reads this rank's records of a file and calls `callback` for blocks of them, as `swath_records`
 * does: each record is read by exactly one rank, and ranks have them in file order. `options` may be
 * NULL for defaults; this call chooses which records are read in place of `starting_in`. `report`, which
 * may be NULL, is this rank's; free it with `swath_report_free`.
 *
 * The default of `options` is one thread for each core: with several ranks on a node, set fewer.
 *
 * SWATH_STATUS_CHANGED if the file has changed since the first rank looked at it. Then, and after any
 * other failure, blocks that were passed may be of different versions of the file: discard them.
 */
SWATH_MUST_CHECK
static inline swath_status swath_mpi_records(MPI_Comm comm, const char *path,
                                             const swath_options *options,
                                             swath_block_fn callback, void *user_data,
                                             swath_report **report, swath_mpi_error *error) {
    swath_mpi_own own;
    swath_mpi_file file;
    swath_options *how = NULL;
    uint64_t offset = 0, len = 0;
    char name[32], words[256], extent[64];
    int descriptor = -1;
    memset(&own, 0, sizeof own);
    if (report != NULL) {
        *report = NULL;
    }
    how = swath_mpi_options(options, SWATH_VERB_RECORDS, words, &own);
    if (!swath_mpi_same(comm, "swath_mpi_records", path, words, &own)) {
        swath_options_free(how);
        return swath_mpi_agree(comm, own.status, own.message, error);
    }
    if (swath_mpi_look(comm, path, &own, &file)) {
        swath_mpi_share(comm, (uint64_t)file.len, &offset, &len);
        snprintf(extent, sizeof extent, "%llu..%llu", (unsigned long long)offset,
                 (unsigned long long)(offset + len));
        swath_mpi_keep(&own, swath_options_set(how, "starting_in", extent));
        descriptor = swath_mpi_open(path, &own, &file, name);
        if (len > 0 && own.status == SWATH_STATUS_OK) {
            swath_mpi_keep_of(
                &own, swath_records(name, how, callback, user_data, report), name,
                path);
        }
        if (descriptor >= 0) {
            swath_mpi_compare(descriptor, path, &own, &file);
            close(descriptor);
        }
    }
    swath_options_free(how);
    return swath_mpi_agree(comm, own.status, own.message, error);
}

/* Fails if a node has no room: some MPI libraries would let the other ranks wait. */
static inline void swath_mpi_check_room(uint64_t len, swath_mpi_own *own) {
    struct statvfs room;
    char text[1024];
    if (statvfs("/dev/shm", &room) == 0 &&
        (uint64_t)room.f_bavail * (uint64_t)room.f_frsize < len) {
        snprintf(text, sizeof text,
                 "cannot share %llu bytes: /dev/shm has room for %llu; try: let each rank read "
                 "its own records, or enlarge /dev/shm",
                 (unsigned long long)len,
                 (unsigned long long)((uint64_t)room.f_bavail * (uint64_t)room.f_frsize));
        swath_mpi_fails(own, SWATH_STATUS_OUT_OF_MEMORY, text);
    }
}

/** Frees the memory that `swath_mpi_read_shared` gave; collective over the ranks of the node. */
static inline void swath_mpi_window_free(swath_mpi_window *window) {
    if (window->window != MPI_WIN_NULL) {
        MPI_Win_free(&window->window);
    }
    if (window->node != MPI_COMM_NULL) {
        MPI_Comm_free(&window->node);
    }
    window->bytes = NULL;
    window->len = 0;
}

/**
 * Reads a whole file once on each node, into memory that all ranks of the node share. One rank of
 * each node reads it, with the threads that `options` say; the others wait. Free it with
 * `swath_mpi_window_free`, on all ranks, before MPI_Finalize.
 *
 * SWATH_STATUS_OUT_OF_MEMORY if the node has no room: shared memory is in /dev/shm on most systems.
 */
SWATH_MUST_CHECK
static inline swath_status swath_mpi_read_shared(MPI_Comm comm, const char *path,
                                                 const swath_options *options,
                                                 swath_mpi_window *window,
                                                 swath_mpi_error *error) {
    swath_mpi_own own;
    swath_mpi_file file;
    swath_status status = SWATH_STATUS_OK;
    void *memory = NULL;
    MPI_Aint size = 0;
    int rank = 0, place = 0, unit = 1, descriptor = -1;
    char name[32];
    memset(&own, 0, sizeof own);
    memset(window, 0, sizeof *window);
    window->node = MPI_COMM_NULL;
    window->window = MPI_WIN_NULL;
    if (!swath_mpi_same(comm, "swath_mpi_read_shared", path, "", &own)) {
        return swath_mpi_agree(comm, own.status, own.message, error);
    }
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &window->node);
    MPI_Comm_rank(window->node, &place);
    if (swath_mpi_look(comm, path, &own, &file)) {
        if (place == 0) {
            swath_mpi_check_room((uint64_t)file.len, &own);
        }
        if (swath_mpi_all_well(comm, &own)) {
            size = place == 0 ? (MPI_Aint)file.len : 0;
            MPI_Win_allocate_shared(size, 1, MPI_INFO_NULL, window->node, &memory,
                                    &window->window);
            MPI_Win_shared_query(window->window, 0, &size, &unit, &memory);
            MPI_Win_fence(0, window->window);
            if (place == 0) {
                descriptor = swath_mpi_open(path, &own, &file, name);
            }
            if (descriptor >= 0) {
                if (file.len > 0 && own.status == SWATH_STATUS_OK) {
                    swath_mpi_keep_of(
                        &own, swath_read_into(name, options, memory, (size_t)file.len, NULL), name,
                        path);
                }
                swath_mpi_compare(descriptor, path, &own, &file);
                close(descriptor);
            }
            MPI_Win_fence(0, window->window);
            window->bytes = (const uint8_t *)memory;
            window->len = (size_t)file.len;
        }
    }
    status = swath_mpi_agree(comm, own.status, own.message, error);
    if (status != SWATH_STATUS_OK) {
        swath_mpi_window_free(window);
    }
    return status;
}

#ifdef __cplusplus
}
#endif

#endif
