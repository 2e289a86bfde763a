/*
 * Swath: parallel file I/O for Linux.
 *
 * Contents: search for the bracketed number.
 *
 *      [1]  Version
 *      [2]  Errors and status
 *      [3]  Buffers
 *      [4]  Cancelling and progress
 *      [5]  Options
 *      [6]  Reports
 *      [7]  Read
 *      [8]  Scan, sum, count, hash
 *      [9]  Records
 *     [10]  Ingest: many files
 *     [11]  Priorities
 *     [12]  Mirrors
 *     [13]  Profiles
 *     [14]  Write
 *     [15]  Tables
 *     [16]  Append and forks
 *     [17]  Committed outputs
 *     [18]  Ordered output and tickets
 *     [19]  Shared drafts
 *     [20]  Jobs of many processes
 *
 * Who frees what: whatever happened to a handle, free it exactly once. Freeing NULL does nothing.
 *
 *     handle                     made by                        freed by
 *     swath_buffer               swath_read                     swath_buffer_free
 *     swath_cancel_token         swath_cancel_token_new         swath_cancel_token_free
 *     swath_options              swath_options_new              swath_options_free
 *                                swath_options_copy
 *     swath_report               swath_read                     swath_report_free
 *                                swath_read_into
 *                                swath_scan
 *                                swath_sum
 *                                swath_count
 *                                swath_records
 *                                swath_prioritised_finish
 *     swath_files                swath_files_new                swath_files_free
 *     swath_ingested             swath_ingest                   swath_ingested_free
 *     swath_class_plan           swath_class_plan_new           swath_class_plan_free
 *                                swath_class_plan_of_whole
 *     swath_prioritised          swath_read_prioritised         swath_prioritised_free
 *     swath_class                swath_prioritised_wait         swath_class_free
 *     swath_table_report         swath_table_read               swath_table_report_free
 *                                swath_table_stream
 *     swath_append               swath_append_create            swath_append_free
 *                                swath_append_to_existing
 *     swath_fork                 swath_append_fork              swath_fork_free
 *                                swath_fork_fork
 *     swath_appended             swath_appended_open            swath_appended_free
 *     swath_ordered              swath_ordered_create           swath_ordered_free
 *     swath_ticket               swath_ordered_ticket           swath_ticket_free
 *     swath_draft_writer         swath_draft_open               swath_draft_writer_free
 *     swath_draft                swath_draft_create             swath_draft_free
 *     swath_job                  swath_job_plan                 swath_job_free
 *                                swath_job_open
 *                                swath_job_from_json
 *     swath_part                 swath_job_part                 swath_part_free
 *     swath_segment              swath_part_begin               swath_segment_free
 *
 * Everything else that a function returns or passes to a callback belongs to the library; its
 * comment says how long it is valid. Memory that you pass stays yours.
 *
 * What holds for every function:
 *
 * - A function that can fail returns a `swath_status` and puts its results last. Compilers warn if
 *   the status is ignored (SWATH_MUST_CHECK). `swath_last_error_message` says what failed, on which
 *   bytes of which file; it is kept per thread.
 * - Handles are opaque. When a function that makes a handle fails, it sets the handle to NULL. Do
 *   not use a handle after freeing it: C cannot detect that.
 * - A pointer must not be NULL unless its comment allows it. Result pointers must not overlap.
 * - Paths are bytes in no encoding, ending with NUL. They are copied where they are kept.
 * - A pipe is opened and read as in any program: `swath_read` and the other calls that read one
 *   file from front to back wait for its writer, and notice no cancelling while they wait. Calls
 *   that need a file refuse a pipe at once.
 * - Offsets, lengths and sizes are in bytes. `offset` counts from the start of the file.
 * - Any number of threads may use a `const` handle at once; any other handle belongs to one thread
 *   at a time. Different handles are independent. No handle survives `fork(2)`: a child makes its
 *   own, and may do so if no thread was in a call of Swath when it was forked.
 * - Callbacks must not throw, `longjmp`, end their thread (`pthread_exit`), or free anything the
 *   call uses. Do not cancel a thread in a call with `pthread_cancel`; use a token. Each of these
 *   ends the program.
 * - Callbacks run on the calling thread and on threads of the library. Use at most 1 MiB of stack
 *   in a callback: threads of the library have 2 MiB in all (the environment variable
 *   RUST_MIN_STACK sets another size, in bytes). A thread that calls the library needs 256 KiB.
 * - Structures may gain fields at their end. They are only returned, never passed in, so a program
 *   that was compiled earlier runs with later libraries.
 * - A bug in the library does not end the program: the call returns SWATH_STATUS_PANIC, and a line
 *   is written to stderr. If memory whose size your numbers determine is not available, the call
 *   returns SWATH_STATUS_OUT_OF_MEMORY; if not even a few bytes are available (`ulimit -v`), the
 *   program ends, as any Rust program does.
 * - In C before C23, an enumeration other than `swath_status` is a `uint32_t`, so compilers do not
 *   tell one from another. Undefined values are SWATH_STATUS_INVALID_ARGUMENT.
 * - The library installs no signal handler and changes no signal mask.
 *
 * The examples below are function bodies. Their tests add <stdio.h>, <stdlib.h>, <string.h> and the
 * function `check` of [2], and run them in a folder with the files that they read.
 */

#ifndef SWATH_H
#define SWATH_H

/* Generated by `cargo xtask header` from crates/capi/src and groups.txt. Change it there. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * Makes the compiler warn if the result of a function is ignored. In C before C23, GCC warns even if
 * the result is cast to void.
 */
#if (defined(__cplusplus) && __cplusplus >= 201703L) \
    || (defined(__STDC_VERSION__) && __STDC_VERSION__ >= 202311L)
#define SWATH_MUST_CHECK [[nodiscard]]
#elif defined(__GNUC__)
#define SWATH_MUST_CHECK __attribute__((warn_unused_result))
#else
#define SWATH_MUST_CHECK
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ==========================================================================================
 * [1] Version
 *
 *     printf("compiled with %d.%d, running %s\n", SWATH_VERSION_MAJOR, SWATH_VERSION_MINOR,
 *            swath_version());
 * ========================================================================================== */

/**
 * Version of this header: MAJOR.MINOR.PATCH. `swath_version` returns the version of the library
 * that the program runs with.
 */
#define SWATH_VERSION_MAJOR 0

/**
 * See SWATH_VERSION_MAJOR.
 */
#define SWATH_VERSION_MINOR 1

/**
 * See SWATH_VERSION_MAJOR.
 */
#define SWATH_VERSION_PATCH 0

/**
 * Returns the version of the library that the program runs with, such as "0.1.0". Never NULL;
 * valid for the life of the program. May be called anywhere, at any time.
 */
const char *swath_version(void);

/* ==========================================================================================
 * [2] Errors and status
 *
 * A status says what kind of failure it was; the last error says the rest, per thread. The texts
 * belong to the library.
 *
 *     static void check(swath_status status) {
 *         if (status != SWATH_STATUS_OK) {
 *             fprintf(stderr, "%s\n", swath_last_error_message());
 *             exit(EXIT_FAILURE);
 *         }
 *     }
 *     swath_buffer *buffer = NULL;
 *     if (swath_read("missing.bin", NULL, &buffer, NULL) == SWATH_STATUS_NOT_FOUND) {
 *         printf("%s: errno %d\n", swath_last_error_path(), swath_last_error_errno());
 *     }
 * ========================================================================================== */

/**
 * Result of a call. Values keep their meaning. New ones may be added, so treat an unknown value
 * as a failure.
 */
typedef enum {
    /**
     * Success.
     */
    SWATH_STATUS_OK = 0,
    /**
     * A required pointer is NULL, a number is undefined or out of range, options contradict each
     * other or the file, or the handle has ended.
     */
    SWATH_STATUS_INVALID_ARGUMENT = 1,
    /**
     * No such file or folder.
     */
    SWATH_STATUS_NOT_FOUND = 2,
    /**
     * The user may not read or write the path.
     */
    SWATH_STATUS_PERMISSION_DENIED = 3,
    /**
     * The kernel or the device reported an error; see `swath_last_error_errno`.
     */
    SWATH_STATUS_IO = 4,
    /**
     * The file ends before the requested bytes do.
     */
    SWATH_STATUS_TRUNCATED = 5,
    /**
     * The file was changed or replaced while it was read.
     */
    SWATH_STATUS_CHANGED = 6,
    /**
     * The call was cancelled by a token.
     */
    SWATH_STATUS_CANCELLED = 7,
    /**
     * Not enough memory is available.
     */
    SWATH_STATUS_OUT_OF_MEMORY = 8,
    /**
     * Another process or thread is writing the same target, another thread is using the same
     * handle, or forks or tickets are open. Nothing has changed, with one exception: committing
     * an output with open forks or tickets discards its bytes.
     */
    SWATH_STATUS_BUSY = 9,
    /**
     * Part of the output was abandoned, so the bytes after it have no place.
     */
    SWATH_STATUS_POISONED = 10,
    /**
     * The name was changed, but it is not known whether the change survives a power cut.
     */
    SWATH_STATUS_OUTCOME_UNKNOWN = 11,
    /**
     * A manifest, a segment, a file of checksums, a record or the text of a table is damaged or
     * malicious; or no copy of a file has the right bytes, or too few copies agree.
     */
    SWATH_STATUS_CORRUPT = 12,
    /**
     * A callback returned a value other than 0.
     */
    SWATH_STATUS_STOPPED = 13,
    /**
     * The bytes did not arrive in time. This is not a failure: the read continues.
     */
    SWATH_STATUS_TIMED_OUT = 14,
    /**
     * A bug in the library. It was caught, and a line was written to stderr. Please report it
     * with the message.
     */
    SWATH_STATUS_PANIC = 15,
    /**
     * The file exists and must not be replaced.
     */
    SWATH_STATUS_ALREADY_EXISTS = 16,
} swath_status;

/**
 * Returns a short description of `status`, such as "not found"; for an unknown value, "unknown
 * status". Never NULL; valid for the life of the program. For what failed on which file, see
 * `swath_last_error_message`.
 */
const char *swath_status_text(swath_status status);

/**
 * Returns why the last call on this thread failed: the operation, the file, the bytes, the
 * reason, and what to try. One line of UTF-8; bytes of names that are not UTF-8 are replaced,
 * control characters are escaped. Never NULL; "" if the call succeeded. Valid until this thread
 * ends or next calls a function that returns a `swath_status`: copy it to keep it.
 */
const char *swath_last_error_message(void);

/**
 * Returns the `errno` of the last failure on this thread; 0 if there was no failure or it did
 * not come from the kernel.
 */
int32_t swath_last_error_errno(void);

/**
 * Returns the path that the last failure on this thread is about, byte for byte as it was given
 * or found. A folder that was walked ends with a slash; something that is not a file has a name
 * in angle brackets, such as `<plan>`. Never NULL; "" if the failure is not about a path. Valid
 * as long as `swath_last_error_message`.
 */
const char *swath_last_error_path(void);

/**
 * Returns whether the last failure on this thread is about certain bytes of the file, and sets
 * `offset` and `len` to them, in bytes. Either may be NULL. Without such bytes both stay
 * unchanged.
 */
bool swath_last_error_extent(uint64_t *offset, uint64_t *len);

/* ==========================================================================================
 * [3] Buffers
 *
 * `swath_read` makes a buffer; its bytes are valid until `swath_buffer_free` frees it.
 *
 *     swath_buffer *buffer = NULL;
 *     check(swath_read("data.bin", NULL, &buffer, NULL));
 *     const uint8_t *bytes = swath_buffer_bytes(buffer);
 *     size_t len = swath_buffer_len(buffer);
 *     printf("%zu bytes, the last is %d\n", len, len > 0 ? bytes[len - 1] : -1);
 *     swath_buffer_free(buffer);
 * ========================================================================================== */

/**
 * Bytes that were read. They belong to the caller, who may change them. One thread at a time may
 * write.
 */
typedef struct swath_buffer swath_buffer;

/**
 * Returns the first byte of a buffer; NULL for NULL only. Do not dereference it if the buffer is
 * empty. Valid until the buffer is freed.
 *
 * It is aligned to 64 bytes if the offset in the file was. In a buffer of more than 64 KiB it is
 * at the same place in its page as in the page of the file: at the start of a page if the offset
 * was 0.
 */
uint8_t *swath_buffer_data(swath_buffer *buffer);

/**
 * Returns the first byte of a buffer, read-only: `swath_buffer_data` for a `const` buffer.
 */
const uint8_t *swath_buffer_bytes(const swath_buffer *buffer);

/**
 * Returns the length of a buffer in bytes; 0 for NULL.
 */
size_t swath_buffer_len(const swath_buffer *buffer);

/**
 * Frees a buffer; NULL is ignored. Up to 64 MiB of freed memory is kept for later reads.
 */
void swath_buffer_free(swath_buffer *buffer);

/* ==========================================================================================
 * [4] Cancelling and progress
 *
 * Both are set in options. A token may be freed once the options have it.
 *
 *     static void halfway(uint64_t bytes, uint64_t total, void *token) {
 *         if (bytes < total / 2) { return; }
 *         check(swath_cancel_token_cancel((const swath_cancel_token *)token));
 *     }
 *     swath_cancel_token *token = NULL;
 *     swath_options *options = NULL;
 *     check(swath_cancel_token_new(&token));
 *     check(swath_options_new(SWATH_VERB_READ, &options));
 *     check(swath_options_set_cancel(options, token));
 *     check(swath_options_set_progress(options, halfway, token));
 *     swath_options_free(options);
 *     swath_cancel_token_free(token);
 * ========================================================================================== */

/**
 * Cancels running calls from another thread or a callback. Any number of threads may use it at
 * once. Options keep what they need of a token, so it may be freed before them.
 */
typedef struct swath_cancel_token swath_cancel_token;

/**
 * Makes a token that is not cancelled. Free it with `swath_cancel_token_free`.
 */
SWATH_MUST_CHECK
swath_status swath_cancel_token_new(swath_cancel_token **token);

/**
 * Cancels every call whose options have this token, including later ones. They return
 * SWATH_STATUS_CANCELLED once the requests in flight have ended. May be called from any thread
 * and from callbacks, but not from a signal handler. A signal handler can wake a thread that
 * cancels: by `sem_post`, by writing a byte to a pipe, or by blocking the signal and letting a
 * thread `sigwait` for it.
 *
 * A call that waits for another process to write to a pipe does not notice it.
 */
SWATH_MUST_CHECK
swath_status swath_cancel_token_cancel(const swath_cancel_token *token);

/**
 * Returns whether the token was cancelled; false for NULL.
 */
bool swath_cancel_token_is_cancelled(const swath_cancel_token *token);

/**
 * Frees a token; NULL is ignored.
 */
void swath_cancel_token_free(swath_cancel_token *token);

/**
 * Receives the progress of a call: bytes done, and the total, or SWATH_TO_END if it is unknown.
 * Called about once per MiB by the thread that moved the bytes, so by several at once; calls of
 * different threads may overtake each other. It must be quick, must not throw or `longjmp`, and
 * must not free anything the call uses.
 */
typedef void (*swath_progress_fn)(uint64_t bytes, uint64_t total, void *user_data);

/**
 * As a total of progress: unknown.
 */
#define SWATH_TO_END 18446744073709551615ull

/* ==========================================================================================
 * [5] Options
 *
 * Made for one kind of call, set by words, freed by the caller. One set serves any number of calls. Calls for
 * records and tables also have the words of SWATH_VERB_READ, all that write those of SWATH_VERB_WRITE;
 * `swath_options_words` returns them all, with those of tables.
 *
 *     swath_options *options = NULL;
 *     swath_buffer *buffer = NULL;
 *     check(swath_options_new(SWATH_VERB_READ, &options));
 *     check(swath_options_set_number(options, "offset", 16));
 *     check(swath_options_set(options, "len", "64"));
 *     check(swath_options_set(options, "page_cache", "drop"));
 *     check(swath_read("data.bin", options, &buffer, NULL));
 *     swath_buffer_free(buffer);
 *     swath_options_free(options);
 * ========================================================================================== */

/*
 * The words of options, with their defaults:
 *
 * SWATH_VERB_READ
 *   workers (0): Threads that read, with the calling one; more than 1024 are taken as 1024,
 *     which the report says. 0: one per core, or more if the device wants more reads in flight.
 *   chunk_size (0): Bytes of one read; for a scan, of one chunk. 0: 1 MiB; for a scan 512 KiB.
 *   queue_depth (0): Direct reads in flight; more than 1024 are taken as 1024, which the report
 *     says. 0: 16; on spinning disks and network file systems 2.
 *   engine (auto; or serial, pool, ring, map): The engine that moves the bytes: the best one
 *     for this file at this moment, one thread, several threads, one thread with many reads in
 *     flight, or a map, which also needs `swath_options_promise_frozen`.
 *   page_cache (auto; or keep, drop, bypass): The treatment of the page cache: keep, but bypass
 *     for files larger than a quarter of the available memory or read once; fill it; drop the
 *     pages that were added once these are read; or bypass it (O_DIRECT).
 *   reuse (unknown; or once): Whether the file will be read again: not known, or no, so that
 *     filling the page cache would be a waste.
 *   growth (refused; or ignored): Whether the file may grow while it is read: an error as any
 *     other change, or ignored, for logs that are being written, of which the length at the
 *     start is read.
 *   rate (0): The maximum rate of all threads together, in bytes per second. 0: no limit.
 *   offset (0): Where in the file to begin, in bytes.
 *   len (all): How many bytes to read; if fewer follow the offset, the call returns
 *     SWATH_STATUS_TRUNCATED.
 *   profile (none; or user): Whether the engine `auto` uses the settings that `swath tune`
 *     saved for the file system. A profile changes how bytes are read, never which; one that is
 *     damaged is ignored, and the report says so.
 *   mirrors (none): Paths of up to 63 copies of the file. They are read beside it, and replace
 *     it chunk by chunk where it cannot be read. They are assumed to be equal unless
 *     `verification` or `manifest` sets a check; without one, if copies differ in length, the
 *     longest is read and shorter ones are left out, the file itself too, and only the report
 *     says so.
 *   verification (none; or vote): The reference of each chunk of the file and its mirrors:
 *     none, or the other copies, of which more than half must have the same bytes. It replaces
 *     `manifest`.
 *   manifest (none): The path of the checksums that `swath manifest` saved, with which each
 *     chunk of the file and its mirrors is compared. It is read at once, and
 *     SWATH_STATUS_CORRUPT if it is damaged. It replaces `verification`.
 *   hedging (0): How many of 1000 reads may be repeated from another copy because they are
 *     slow; the first answer is used.
 *
 * SWATH_VERB_RECORDS
 *   delimiter (newline): The byte that ends a record. The bytes after the last one are a record
 *     too, unless there are none.
 *   quote (none): The byte that encloses text in which delimiters end no record, as in CSV. A
 *     quote inside quotes is doubled. One that is never closed is an error of the call that
 *     reads.
 *   width (0): The bytes of each record; a shorter last one is an error of the call that reads.
 *     0: delimiters end records. A width together with a `delimiter` or a `quote` is an error.
 *   block_size (0): Bytes of a block. 0: the chunk size, or 1 MiB.
 *   record_limit (0): The bytes of the longest accepted record; a longer one is an error of the
 *     call that reads. 0: as much as fits into the available memory.
 *   starting_in (0..): Takes only the records that begin in these bytes; the last one is taken
 *     to its end, wherever that is. If extents cover a file without overlap, each record begins
 *     in exactly one of them. A source that can only be read in order, such as a pipe, is read
 *     from its start.
 *
 * SWATH_VERB_INGEST
 *   failures (fail; or skip, collect): The treatment of a file that cannot be read: fail, with
 *     the first failure in input order; leave it out and count it; or let it keep its place,
 *     with its error.
 *   symlinks (files; or skip, follow): How a walk through folders treats symbolic links: reads
 *     files that links point to, but enters no folder through a link; ignores links; or follows
 *     them, where a link to a folder that contains it is an error. A path that is given by name
 *     is always followed.
 *   memory_limit (0): Bytes that `swath_ingest` may keep, or `swath_ingest_each` may hold at
 *     once. 0: the memory available; for `swath_ingest_each`, 64 MiB.
 *   part_size (0): Bytes of a large file that one worker reads at once, and the most that
 *     `swath_ingest_each` passes in one call; at least 4096. 0: 1 MiB.
 *   workers (0): Threads that read. 0: one per core, and for files outside the page cache as
 *     many as keep the device busy.
 *   queue_depth (0): Files that wait for the device at once. 0: 128 with a ring, 64 threads
 *     otherwise.
 *   profile (none; or user): Whether the settings that `swath tune` saved for the file system
 *     of the first file apply.
 *
 * SWATH_VERB_WRITE
 *   durability (full; or none): Whether a commit waits for the device: bytes and name are on it
 *     when the commit returns; or the kernel has them and writes them later, and after a power
 *     cut the target may be old, empty or damaged.
 *   replace (allowed; or refused, in_place): The treatment of a target that exists: it is
 *     replaced in one step, with its mode, owner (where allowed) and attributes; the call fails
 *     and never touches it; or it is truncated and written where it is, for a file that cannot
 *     be replaced, which after an error or a crash holds a part of the new bytes.
 *   hard_links (refused; or broken): The treatment of a target with other names, which would
 *     keep the old bytes: the call fails, or this name has the new bytes and the others the old
 *     ones.
 *   workers (0): Threads that write, with the calling one; at most 1024. Only `swath_write` and
 *     `swath_table_write` start threads; forks and tickets are written by the caller's. 0: one,
 *     over a network or FUSE up to 4; for tables one per core.
 *
 * SWATH_VERB_APPEND
 *   mode (plain; or segments): How the bytes of parallel strands are stored: one ordinary file,
 *     byte for byte the one that the serial program would write; or a folder of segments with a
 *     manifest of their serial order, of which a commit moves nothing, and which
 *     `swath_appended_open`, `swath cat` and `swath cp` read.
 *   memory_limit (0): Bytes of forks that may wait in memory for their place before they are
 *     spilled to disk. 0: an eighth of the available memory, at most 2 GiB.
 *   buffer_size (0): Bytes that a strand collects before it stores them. 0: 256 KiB.
 *   checksums (extents; or none): Whether segments have checksums: one for each extent
 *     (CRC-32C), for `swath_appended_verify`, or none.
 *
 * SWATH_VERB_ORDERED
 *   window (0): Chunks that may exist at once: open tickets, and chunks not yet written. 0: two
 *     per core.
 *   chunk_size (0): Bytes that a chunk usually holds. 0: 64 KiB, then the longest chunk so far.
 *   sparse (never; or auto): Whether runs of at least 32 KiB of zeros become holes, where the
 *     file system has holes; direct writes write them.
 *   direct (no; or yes): Whether writes bypass the page cache (O_DIRECT), where the file system
 *     allows it.
 *
 * SWATH_VERB_JOB
 *   parts (0): The number of parts into which inputs are divided; it takes precedence over
 *     `part_size`. 0: as `part_size` says.
 *   part_size (0): Bytes of input of a part. 0: 64 MiB.
 *   division (records; or bytes, lines, inputs, groups): Where inputs may be divided; see
 *     `swath_division`.
 *   width (none): Divides inputs at multiples of this many bytes from their start, for records
 *     of one length; the length of each input must be such a multiple. It replaces `division`,
 *     and `division` replaces it; the last one set counts.
 *   form (file; or segments): The form of the output: one ordinary file; or the folder of the
 *     job, to which the commit adds a manifest and moves nothing, and which
 *     `swath_appended_open`, `swath cat` and `swath cp` read.
 *   folder (none): The folder to which parts write; it must not exist. Without one: next to the
 *     target, with a name of its own.
 */

/**
 * The kind of call that options are for.
 */
enum swath_verb
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * `swath_read`, `swath_read_into`, `swath_read_prioritised`, `swath_scan`, `swath_sum`,
     * `swath_count`, `swath_hash`.
     */
    SWATH_VERB_READ = 0,
    /**
     * `swath_records`; it also takes options of SWATH_VERB_READ.
     */
    SWATH_VERB_RECORDS = 1,
    /**
     * `swath_table_read` and `swath_table_stream`; they also take options of SWATH_VERB_READ.
     */
    SWATH_VERB_TABLE_READ = 2,
    /**
     * `swath_ingest` and `swath_ingest_each`; they take their own words, and none of
     * SWATH_VERB_READ.
     */
    SWATH_VERB_INGEST = 3,
    /**
     * `swath_write`, `swath_draft_create`, `swath_draft_open`, `swath_job_open`.
     */
    SWATH_VERB_WRITE = 4,
    /**
     * `swath_table_write`; it also takes options of SWATH_VERB_WRITE, as do the verbs that follow.
     */
    SWATH_VERB_TABLE_WRITE = 5,
    /**
     * `swath_append_create` and `swath_append_to_existing`.
     */
    SWATH_VERB_APPEND = 6,
    /**
     * `swath_ordered_create`.
     */
    SWATH_VERB_ORDERED = 7,
    /**
     * `swath_job_plan`.
     */
    SWATH_VERB_JOB = 8,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum swath_verb swath_verb;
#else
typedef uint32_t swath_verb;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * The engine that moves the bytes.
 */
enum swath_engine
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * The best engine for this file at this moment.
     */
    SWATH_ENGINE_AUTO = 0,
    /**
     * One thread, chunk by chunk.
     */
    SWATH_ENGINE_SERIAL = 1,
    /**
     * Several threads, each at its own position.
     */
    SWATH_ENGINE_POOL = 2,
    /**
     * One thread with many reads in flight through io_uring; threads if io_uring is refused.
     */
    SWATH_ENGINE_RING = 3,
    /**
     * Several threads that copy from a map; see `swath_options_promise_frozen`.
     */
    SWATH_ENGINE_MAP = 4,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum swath_engine swath_engine;
#else
typedef uint32_t swath_engine;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * How a read treats the page cache.
 */
enum swath_page_cache
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * Keep; but bypass for files larger than a quarter of the available memory, or read once.
     */
    SWATH_PAGE_CACHE_AUTO = 0,
    /**
     * Reads fill it, so the next read of the file is fast.
     */
    SWATH_PAGE_CACHE_KEEP = 1,
    /**
     * Reads go through it, and drop the pages that they added once these are read.
     */
    SWATH_PAGE_CACHE_DROP = 2,
    /**
     * Reads bypass it (O_DIRECT); bytes that are already cached may still be taken from it.
     */
    SWATH_PAGE_CACHE_BYPASS = 3,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum swath_page_cache swath_page_cache;
#else
typedef uint32_t swath_page_cache;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * The options of calls. One thread at a time may set options, and no thread while a call uses
 * them; any number of calls may use them at once, and each uses the values set when it begins.
 * NULL means defaults in every call.
 */
typedef struct swath_options swath_options;

/**
 * Makes options with the defaults, for calls of one kind. Free them with `swath_options_free`.
 */
SWATH_MUST_CHECK
swath_status swath_options_new(swath_verb verb, swath_options **options);

/**
 * Makes options for calls of one kind, with all values set in `from`, which may be of this kind or
 * of one whose options these calls take too. NULL means the defaults. Free them with
 * `swath_options_free`.
 *
 * SWATH_STATUS_INVALID_ARGUMENT if `from` cannot serve these calls.
 */
SWATH_MUST_CHECK
swath_status swath_options_copy(const swath_options *from,
                                swath_verb verb,
                                swath_options **copy);

/**
 * Frees options; NULL is ignored.
 */
void swath_options_free(swath_options *options);

/**
 * Returns the options of one kind of call, a line for each, with tabs between the word; "call",
 * "column" or "both"; the values that it takes; its default; and its effect. NULL for a verb that
 * does not exist; valid for the life of the program.
 */
const char *swath_options_words(swath_verb verb);

/**
 * Returns the text of an option of the call, set or by default; texts of a list with newlines
 * between them. NULL if these options have no such word. Valid until options are set or freed.
 */
const char *swath_options_get(const swath_options *options, const char *word);

/**
 * Sets an option by its word: `swath_options_set(options, "workers", "4")`. NULL as `value` sets the
 * default. Both texts are copied. The last call for a word counts.
 *
 * SWATH_STATUS_INVALID_ARGUMENT for a word that is not in `swath_options_words`, or that belongs to a
 * column, and for a value that the option does not take; the message says what to pass. After a
 * failure the options are unchanged.
 */
SWATH_MUST_CHECK
swath_status swath_options_set(swath_options *options,
                               const char *word,
                               const char *value);

/**
 * As `swath_options_set`, for a value that is a whole number.
 */
SWATH_MUST_CHECK
swath_status swath_options_set_number(swath_options *options, const char *word, uint64_t value);

/**
 * As `swath_options_set`, for `count` texts: names of columns, fields that mean something, paths of
 * mirrors.
 */
SWATH_MUST_CHECK
swath_status swath_options_set_list(swath_options *options,
                                    const char *word,
                                    const char *const *values,
                                    size_t count);

/**
 * As `swath_options_set`, for one column of a table, by its name in the header:
 * `swath_options_set_of(options, "zip", "types", "text")`. The last call for a column and a word counts.
 */
SWATH_MUST_CHECK
swath_status swath_options_set_of(swath_options *options,
                                  const char *column,
                                  const char *word,
                                  const char *value);

/**
 * As `swath_options_set_of`, for `count` texts.
 */
SWATH_MUST_CHECK
swath_status swath_options_set_list_of(swath_options *options,
                                       const char *column,
                                       const char *word,
                                       const char *const *values,
                                       size_t count);

/**
 * As `swath_options_set_of`, for the column with this index in the file, from 0.
 */
SWATH_MUST_CHECK
swath_status swath_options_set_at(swath_options *options,
                                  size_t index,
                                  const char *word,
                                  const char *value);

/**
 * As `swath_options_set_list_of`, for the column with this index in the file, from 0.
 */
SWATH_MUST_CHECK
swath_status swath_options_set_list_at(swath_options *options,
                                       size_t index,
                                       const char *word,
                                       const char *const *values,
                                       size_t count);

/**
 * Sets the function that receives progress, and the pointer passed to it: bytes read or, in calls
 * that write, bytes written. Default NULL: no function.
 */
SWATH_MUST_CHECK
swath_status swath_options_set_progress(swath_options *options,
                                        swath_progress_fn progress,
                                        void *user_data);

/**
 * Sets the token that cancels calls with these options; those that write, until their commit begins.
 * Default NULL: no token. The options keep what they need of it.
 */
SWATH_MUST_CHECK
swath_status swath_options_set_cancel(swath_options *options,
                                      const swath_cancel_token *token);

/**
 * Promises that until a call with these options returns, no process writes to the file or
 * truncates it. The file may then be mapped: by `swath_read` with the engine `map`, and by
 * `swath_sum`, `swath_count` and `swath_records` wherever that is faster. Other calls never map;
 * those that use the engine return SWATH_STATUS_INVALID_ARGUMENT for `map`, and so does this function
 * for options of calls that write.
 *
 * Breaking the promise is undefined behaviour: if a mapped file is truncated, SIGBUS ends the
 * process. Without the promise this cannot happen. It applies to calls that read one file
 * without mirrors; other calls read as usual.
 */
SWATH_MUST_CHECK
swath_status swath_options_promise_frozen(swath_options *options);

/* ==========================================================================================
 * [6] Reports
 *
 * A call that reads makes one if you pass a pointer for it. Free it with `swath_report_free`.
 *
 *     swath_report *report = NULL;
 *     uint64_t sum = 0;
 *     check(swath_sum("data.bin", NULL, &sum, &report));
 *     double seconds = (double)swath_report_elapsed_ns(report) / 1e9;
 *     printf("%g s: %s\n", seconds, swath_report_reason(report));
 *     for (size_t index = 0; index < swath_report_fallback_count(report); index++) {
 *         printf("note: %s\n", swath_report_fallback(report, index));
 *     }
 *     swath_report_free(report);
 * ========================================================================================== */

/**
 * The report of a read: facts that never change. Any number of threads may use it at once. Its
 * texts and structures are valid until it is freed.
 */
typedef struct swath_report swath_report;

/**
 * Returns the bytes that were delivered.
 */
uint64_t swath_report_bytes(const swath_report *report);

/**
 * Returns the nanoseconds from the call to the last byte, including opening and checking.
 */
uint64_t swath_report_elapsed_ns(const swath_report *report);

/**
 * Returns the engine that ran; SWATH_ENGINE_AUTO for NULL only.
 */
swath_engine swath_report_engine(const swath_report *report);

/**
 * Returns how the page cache was treated; SWATH_PAGE_CACHE_AUTO for NULL only.
 */
swath_page_cache swath_report_page_cache(const swath_report *report);

/**
 * Returns the number of threads that read, including the calling one.
 */
uint64_t swath_report_workers(const swath_report *report);

/**
 * Returns the number of reads that could be in flight at once.
 */
uint64_t swath_report_queue_depth(const swath_report *report);

/**
 * Returns the bytes of one chunk.
 */
uint64_t swath_report_chunk_size(const swath_report *report);

/**
 * Returns the number of read calls, or of ring entries submitted.
 */
uint64_t swath_report_calls(const swath_report *report);

/**
 * Returns the number of reads repeated after a transient failure, an interrupt or a short read.
 */
uint64_t swath_report_retries(const swath_report *report);

/**
 * Returns the bytes that were read past the page cache.
 */
uint64_t swath_report_direct_bytes(const swath_report *report);

/**
 * Returns why this engine and this treatment of the page cache were chosen, in one sentence;
 * NULL for NULL only.
 */
const char *swath_report_reason(const swath_report *report);

/**
 * Returns the number of requested settings that could not be applied.
 */
size_t swath_report_fallback_count(const swath_report *report);

/**
 * Describes a requested setting that could not be applied, and what was done instead; NULL if
 * `index` is not below the count.
 */
const char *swath_report_fallback(const swath_report *report, size_t index);

/**
 * Frees a report; NULL is ignored.
 */
void swath_report_free(swath_report *report);

/* ==========================================================================================
 * [7] Read
 *
 * Into new memory, which you free with `swath_buffer_free`, or into memory of your own.
 *
 *     char head[64];
 *     check(swath_read_into("data.bin", NULL, head, sizeof head, NULL));
 * ========================================================================================== */

/**
 * Reads a file, or the part that `options` select, into new memory, in the fastest way for this
 * file at this moment. Free `buffer` with `swath_buffer_free`. `report`, which may be NULL,
 * describes the read; free it with `swath_report_free`. After a failure both are NULL.
 *
 * SWATH_STATUS_NOT_FOUND, SWATH_STATUS_PERMISSION_DENIED or SWATH_STATUS_IO if it cannot be
 * read; SWATH_STATUS_CHANGED if it changed while it was read; SWATH_STATUS_TRUNCATED if it has
 * fewer bytes than the options select; SWATH_STATUS_OUT_OF_MEMORY, SWATH_STATUS_CANCELLED,
 * SWATH_STATUS_INVALID_ARGUMENT.
 */
SWATH_MUST_CHECK
swath_status swath_read(const char *path,
                        const swath_options *options,
                        swath_buffer **buffer,
                        swath_report **report);

/**
 * Reads `len` bytes of a file, from the offset of `options`, into the caller's memory. The
 * length in `options` is ignored. Nothing writes to `target` after this returns, whatever
 * happened; after a failure its contents are unspecified. `report` may be NULL; free it with
 * `swath_report_free`.
 *
 * Errors as for `swath_read`; SWATH_STATUS_TRUNCATED if the file has fewer bytes.
 */
SWATH_MUST_CHECK
swath_status swath_read_into(const char *path,
                             const swath_options *options,
                             void *target,
                             size_t len,
                             swath_report **report);

/* ==========================================================================================
 * [8] Scan, sum, count, hash
 *
 * One pass over a file in bounded memory. Chunks belong to the library.
 *
 *     static int32_t see(const swath_chunk *chunk, void *user_data) {
 *         const uint8_t *found = (const uint8_t *)memchr(chunk->data, 0, chunk->len);
 *         return user_data == NULL && found == NULL ? 0 : 1; // anything but 0 stops
 *     }
 *     uint64_t lines = 0;
 *     uint8_t digest[SWATH_HASH_MAX_LEN];
 *     check(swath_count("points.csv", NULL, '\n', &lines, NULL));
 *     check(swath_scan("points.csv", NULL, see, NULL, NULL));
 *     check(swath_hash("points.csv", NULL, SWATH_HASH_KIND_BLAKE3, digest, sizeof digest));
 * ========================================================================================== */

/**
 * Adjacent bytes of a file during a scan. Valid until the callback returns. Fields may be added
 * at the end.
 */
typedef struct {
    /**
     * Number of the chunk, from 0 where the read begins.
     */
    uint64_t index;
    /**
     * Offset of the first byte in the file.
     */
    uint64_t offset;
    /**
     * The bytes.
     */
    const uint8_t *data;
    /**
     * Length in bytes: the chunk size; the last chunk may be shorter.
     */
    size_t len;
} swath_chunk;

/**
 * Receives a chunk. Returns 0 to go on, any other value to stop. Called by several threads at
 * once, in any order; the calling thread is one of them. It must not throw or `longjmp`.
 */
typedef int32_t (*swath_chunk_fn)(const swath_chunk *chunk, void *user_data);

/**
 * Reads a file, or the part that `options` select, chunk by chunk in bounded memory, and calls
 * `callback` for each chunk. Chunk boundaries are counted from where the read begins and do not
 * depend on the number of threads. `report` may be NULL; free it with `swath_report_free`.
 *
 * If the callback returns a value other than 0, no further call begins, and this function
 * returns SWATH_STATUS_STOPPED once the running ones have ended. Chunks after that one may have
 * been passed already. Whether the file changed is checked at the end.
 *
 * Errors as for `swath_read`.
 */
SWATH_MUST_CHECK
swath_status swath_scan(const char *path,
                        const swath_options *options,
                        swath_chunk_fn callback,
                        void *user_data,
                        swath_report **report);

/**
 * Computes the sum of all bytes of a file, or of the part that `options` select: each byte
 * counts 0 to 255, modulo 2^64. `report` may be NULL; free it with `swath_report_free`.
 *
 * Errors as for `swath_read`.
 */
SWATH_MUST_CHECK
swath_status swath_sum(const char *path,
                       const swath_options *options,
                       uint64_t *sum,
                       swath_report **report);

/**
 * Counts how often `byte` occurs in a file, or in the part that `options` select: newlines, for
 * example. `report` may be NULL; free it with `swath_report_free`.
 *
 * Errors as for `swath_read`.
 */
SWATH_MUST_CHECK
swath_status swath_count(const char *path,
                         const swath_options *options,
                         uint8_t byte,
                         uint64_t *count,
                         swath_report **report);

/**
 * Length of the longest digest, in bytes.
 */
#define SWATH_HASH_MAX_LEN 32

/**
 * A checksum that standard tools also compute.
 */
enum swath_hash_kind
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * 8 bytes, as `xxhsum -H3`.
     */
    SWATH_HASH_KIND_XXH3 = 0,
    /**
     * 4 bytes: CRC-32C (Castagnoli), computed by all workers.
     */
    SWATH_HASH_KIND_CRC32C = 1,
    /**
     * 32 bytes, as `b3sum`.
     */
    SWATH_HASH_KIND_BLAKE3 = 2,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum swath_hash_kind swath_hash_kind;
#else
typedef uint32_t swath_hash_kind;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * Computes the checksum of a file, or of the part that `options` select, and writes it to
 * `digest`, most significant byte first, as tools print it. `size` is the number of bytes
 * available at `digest`: at least `swath_hash_len(kind)`.
 *
 * Errors as for `swath_read`.
 */
SWATH_MUST_CHECK
swath_status swath_hash(const char *path,
                        const swath_options *options,
                        swath_hash_kind kind,
                        uint8_t *digest,
                        size_t size);

/**
 * Returns the length of a digest of this kind in bytes; 0 for an undefined value.
 */
size_t swath_hash_len(swath_hash_kind kind);

/* ==========================================================================================
 * [9] Records
 *
 * Whole lines, CSV rows or fixed widths, on several threads. Blocks belong to the library.
 *
 *     static int32_t rows(swath_block *block, void *user_data) {
 *         const uint8_t *record = NULL;
 *         size_t len = 0;
 *         while (swath_block_next(block, &record, &len)) {
 *             if (len == 0) {
 *                 return 1; // an empty line: stop
 *             }
 *         }
 *         return user_data == NULL ? 0 : 1;
 *     }
 *     check(swath_records("points.csv", NULL, rows, NULL, NULL));
 * ========================================================================================== */

/**
 * Adjacent records, each whole. Valid until the callback returns, on the thread that runs it.
 */
typedef struct swath_block swath_block;

/**
 * Receives a block. Returns 0 to go on, any other value to stop. Called by several threads at
 * once, in any order; the calling thread is one of them. It must not throw or `longjmp`.
 */
typedef int32_t (*swath_block_fn)(swath_block *block, void *user_data);

/**
 * Splits a file, or the part that `options` select, into records and calls `callback` for each
 * block of them. No record is ever split. The options say where records end; by default they are lines.
 * `report` may be NULL; free it with `swath_report_free`.
 *
 * If the callback returns a value other than 0, no further block begins, and this function
 * returns SWATH_STATUS_STOPPED once the running ones have ended. Blocks after that one may have
 * been passed already.
 *
 * Errors as for `swath_read`; SWATH_STATUS_CORRUPT, with the bytes of the record, if the last
 * one has no end; SWATH_STATUS_INVALID_ARGUMENT if a record is longer than the limit or the
 * record options are impossible.
 */
SWATH_MUST_CHECK
swath_status swath_records(const char *path,
                           const swath_options *options,
                           swath_block_fn callback,
                           void *user_data,
                           swath_report **report);

/**
 * Returns the number of a block, counted from where the read began: the same in every run with
 * the same block size. Numbers of blocks in which no record begins are left out.
 */
uint64_t swath_block_index(const swath_block *block);

/**
 * Returns the offset of a block in the file.
 */
uint64_t swath_block_offset(const swath_block *block);

/**
 * Returns the first byte of a block: whole records, each with its delimiter if it has one.
 */
const uint8_t *swath_block_data(const swath_block *block);

/**
 * Returns the length of a block in bytes.
 */
size_t swath_block_len(const swath_block *block);

/**
 * Moves to the next record of a block; the first call moves to the first one. Points `record` at
 * its first byte and sets `len` to its length without the delimiter. Returns false, and sets
 * neither, if there is no further record or a pointer is NULL.
 */
bool swath_block_next(swath_block *block,
                      const uint8_t **record,
                      size_t *len);

/* ==========================================================================================
 * [10] Ingest: many files
 *
 * You free the list, the options and what was read; paths and bytes live as long as what was read.
 *
 *     swath_files *files = NULL;
 *     swath_ingested *ingested = NULL;
 *     check(swath_files_new(&files));
 *     check(swath_files_add_folder(files, "images"));
 *     check(swath_ingest(files, NULL, &ingested));
 *     for (size_t index = 0; index < swath_ingested_count(ingested); index++) {
 *         const swath_file *file = swath_ingested_file(ingested, index);
 *         printf("%s: %zu bytes\n", file->path, file->len);
 *     }
 *     swath_ingested_free(ingested);
 *     swath_files_free(files);
 * ========================================================================================== */

/**
 * The files to read, in order: a list of files, folders and patterns. Nothing is looked up
 * before a call uses the list. One thread at a time may add to it.
 */
typedef struct swath_files swath_files;

/**
 * Makes an empty list. Free it with `swath_files_free`.
 */
SWATH_MUST_CHECK
swath_status swath_files_new(swath_files **files);

/**
 * Frees a list; NULL is ignored.
 */
void swath_files_free(swath_files *files);

/**
 * Adds one file. If the path is a folder, reading that file is an error.
 *
 * SWATH_STATUS_OUT_OF_MEMORY if the list cannot grow; it then stays unchanged.
 */
SWATH_MUST_CHECK
swath_status swath_files_add_path(swath_files *files, const char *path);

/**
 * Adds `count` files, each as `swath_files_add_path` does, in time that does not depend on the
 * length of the list. Adds nothing if one of the pointers is NULL or the list cannot grow.
 */
SWATH_MUST_CHECK
swath_status swath_files_add_paths(swath_files *files, const char *const *paths, size_t count);

/**
 * Adds every file in a folder and in the folders below it, ordered by name; a folder's own files
 * come before those of its subfolders.
 */
SWATH_MUST_CHECK
swath_status swath_files_add_folder(swath_files *files,
                                    const char *path);

/**
 * Adds the files that match a pattern: `*`, `?`, `[a-c]`, `{jpg,png}`, and `**` for any number
 * of folders. The pattern is UTF-8. A malformed pattern is an error of the call that reads.
 */
SWATH_MUST_CHECK
swath_status swath_files_add_glob(swath_files *files, const char *pattern);

/**
 * One of many files. Fields may be added at the end.
 */
typedef struct {
    /**
     * Path of the file, as given or found.
     */
    const char *path;
    /**
     * Bytes of the file; none if it could not be read.
     */
    const uint8_t *data;
    /**
     * Length in bytes.
     */
    size_t len;
    /**
     * Offset of `data` in the bytes of all files.
     */
    uint64_t offset;
    /**
     * SWATH_STATUS_OK if it was read; otherwise see `swath_ingested_error`.
     */
    swath_status status;
} swath_file;

/**
 * Many files, read into one block of memory. Any number of threads may use it at once.
 */
typedef struct swath_ingested swath_ingested;

/**
 * Reads all files of a list into one block of memory. Free `ingested` with
 * `swath_ingested_free`; after a failure it is NULL.
 *
 * Fails with the first failure in input order, unless `options` say otherwise. Errors of each
 * file as for `swath_read`; SWATH_STATUS_OUT_OF_MEMORY if they do not all fit.
 */
SWATH_MUST_CHECK
swath_status swath_ingest(const swath_files *files,
                          const swath_options *options,
                          swath_ingested **ingested);

/**
 * Returns the number of files, including those with an error.
 */
size_t swath_ingested_count(const swath_ingested *ingested);

/**
 * Returns a file by its index in input order; NULL if `index` is not below the count. Valid
 * until `ingested` is freed.
 */
const swath_file *swath_ingested_file(const swath_ingested *ingested, size_t index);

/**
 * Returns why a file was not read, as if a call for it had just failed: sets the message, errno
 * and path of the last failure. SWATH_STATUS_OK for a file that was read.
 */
SWATH_MUST_CHECK
swath_status swath_ingested_error(const swath_ingested *ingested, size_t index);

/**
 * Returns the bytes of all files, in input order; NULL for NULL only. There may be bytes between
 * them that belong to no file.
 */
const uint8_t *swath_ingested_data(const swath_ingested *ingested);

/**
 * Returns the length of `swath_ingested_data` in bytes.
 */
size_t swath_ingested_len(const swath_ingested *ingested);

/**
 * Returns the number of files that could not be read and kept their place, with an error.
 */
uint64_t swath_ingested_failed(const swath_ingested *ingested);

/**
 * Returns the number of files that could not be read and were left out.
 */
uint64_t swath_ingested_skipped(const swath_ingested *ingested);

/**
 * Returns the number of requested settings that could not be applied.
 */
size_t swath_ingested_fallback_count(const swath_ingested *ingested);

/**
 * Describes a requested setting that could not be applied, and what was done instead; NULL if
 * `index` is not below the count. Valid until `ingested` is freed.
 */
const char *swath_ingested_fallback(const swath_ingested *ingested, size_t index);

/**
 * Frees the files and their bytes; NULL is ignored.
 */
void swath_ingested_free(swath_ingested *ingested);

/**
 * Some bytes of one of many files. Valid until the callback returns. Fields may be added at the
 * end.
 */
typedef struct {
    /**
     * Index of the file in input order.
     */
    size_t index;
    /**
     * Path of the file, as given or found.
     */
    const char *path;
    /**
     * Offset of the bytes in the file.
     */
    uint64_t offset;
    /**
     * The bytes; no bytes for a file that is empty or has failed.
     */
    const uint8_t *data;
    /**
     * Length in bytes.
     */
    size_t len;
    /**
     * Whether this is the last part of the file.
     */
    bool is_last;
    /**
     * SWATH_STATUS_OK if the file could be read up to here.
     */
    swath_status status;
} swath_file_part;

/**
 * Receives a part of a file. Returns 0 to go on, any other value to stop. Called only on the
 * calling thread. It must not throw or `longjmp`.
 */
typedef int32_t (*swath_file_part_fn)(const swath_file_part *part, void *user_data);

/**
 * Reads the files of a list and passes them to `callback` one after another, on the calling
 * thread, in input order and in bounded memory: small files whole, larger ones in parts.
 *
 * If the callback returns a value other than 0, no further part is passed, and this function
 * returns SWATH_STATUS_STOPPED. A file can still fail after some of its parts were passed: its
 * last part then has no bytes and a status other than SWATH_STATUS_OK.
 *
 * Errors as for `swath_ingest`.
 */
SWATH_MUST_CHECK
swath_status swath_ingest_each(const swath_files *files,
                               const swath_options *options,
                               swath_file_part_fn callback,
                               void *user_data);

/* ==========================================================================================
 * [11] Priorities
 *
 * The urgent bytes first. A class and its chunk table are freed apart from the bytes, which live as
 * long as the read.
 *
 *     const char *path = "data.bin";
 *     swath_class_plan *plan = NULL;
 *     swath_prioritised *reading = NULL;
 *     swath_class *first = NULL;
 *     check(swath_class_plan_of_whole(64, 4, &plan)); // 64 chunks in 4 classes
 *     check(swath_read_prioritised(&path, 1, NULL, plan, &reading));
 *     check(swath_prioritised_wait(reading, 0, SWATH_FOREVER, &first));
 *     printf("%zu chunks are there\n", swath_class_chunk_count(first));
 *     swath_class_free(first);
 *     swath_prioritised_free(reading);
 *     swath_class_plan_free(plan);
 * ========================================================================================== */

/**
 * As a timeout in milliseconds: no limit.
 */
#define SWATH_FOREVER 18446744073709551615ull

/**
 * A list of chunks, each with its class: class 0 is needed first. Chunks may come in any order,
 * leave gaps, overlap, and belong to several files. One thread at a time may change it.
 */
typedef struct swath_class_plan swath_class_plan;

/**
 * A chunk of a plan that has been read. Fields may be added at the end.
 */
typedef struct {
    /**
     * Index of the chunk in the plan, from 0.
     */
    size_t index;
    /**
     * Index of the file.
     */
    size_t file;
    /**
     * Offset in the file.
     */
    uint64_t offset;
    /**
     * Bytes of the chunk.
     */
    const uint8_t *data;
    /**
     * Length in bytes.
     */
    size_t len;
    /**
     * Number of its class in the plan.
     */
    uint32_t class_number;
} swath_class_chunk;

/**
 * A complete class: its chunks, in the order of the plan. Any number of threads may use it at
 * once.
 */
typedef struct swath_class swath_class;

/**
 * Receives a complete class: on a thread of the library, one call at a time, in the order of
 * completion. `complete` is valid until the callback returns; do not free it. It must be quick,
 * must not wait for another class, and must not throw or `longjmp`.
 */
typedef void (*swath_class_fn)(const swath_class *complete, void *user_data);

/**
 * Receives a complete chunk before its class is complete: on threads of the library, several at
 * once. `chunk` is valid until the callback returns. It must not throw or `longjmp`.
 */
typedef void (*swath_class_chunk_fn)(const swath_class_chunk *chunk, void *user_data);

/**
 * Makes an empty plan. Free it with `swath_class_plan_free`.
 */
SWATH_MUST_CHECK
swath_status swath_class_plan_new(swath_class_plan **plan);

/**
 * Makes a plan that divides each file by the length that it has when it is opened: `chunks`
 * chunks of equal size, the last one with the remainder, in `classes` classes of adjacent
 * chunks, from front to back; at most one chunk per byte and one class per chunk. Free it with
 * `swath_class_plan_free`. The chunks are not known before the files are opened, so
 * `swath_class_plan_len` does not count them; chunks pushed to such a plan are read as well.
 */
SWATH_MUST_CHECK
swath_status swath_class_plan_of_whole(uint64_t chunks,
                                       uint32_t classes,
                                       swath_class_plan **plan);

/**
 * Adds `len` bytes from `offset` of the file with index `file` among those that are read.
 *
 * SWATH_STATUS_INVALID_ARGUMENT if they end beyond 2^64; SWATH_STATUS_OUT_OF_MEMORY if the list
 * cannot grow. After a failure the plan is unchanged.
 */
SWATH_MUST_CHECK
swath_status swath_class_plan_push(swath_class_plan *plan,
                                   size_t file,
                                   uint64_t offset,
                                   uint64_t len,
                                   uint32_t class_number);

/**
 * Returns the number of chunks pushed to a plan.
 */
size_t swath_class_plan_len(const swath_class_plan *plan);

/**
 * Sets how many classes may be in flight: a class begins only when the class `window` places
 * before it is complete. 1 reads one class at a time. Default 0: as many as keep all workers
 * busy, at least 2.
 */
SWATH_MUST_CHECK
swath_status swath_class_plan_set_window(swath_class_plan *plan, size_t window);

/**
 * Sets the function that receives each complete class. It cannot be removed: NULL is
 * SWATH_STATUS_INVALID_ARGUMENT.
 */
SWATH_MUST_CHECK
swath_status swath_class_plan_set_class_callback(swath_class_plan *plan,
                                                 swath_class_fn callback,
                                                 void *user_data);

/**
 * Sets the function that receives each complete chunk that is not empty. It cannot be removed:
 * NULL is SWATH_STATUS_INVALID_ARGUMENT.
 */
SWATH_MUST_CHECK
swath_status swath_class_plan_set_chunk_callback(swath_class_plan *plan,
                                                 swath_class_chunk_fn callback,
                                                 void *user_data);

/**
 * Frees a plan; NULL is ignored. Reads that were started with it continue.
 */
void swath_class_plan_free(swath_class_plan *plan);

/**
 * A read by classes, running or complete, with the memory that holds its bytes. Any number of
 * threads may use it at once, except for `swath_prioritised_finish` and
 * `swath_prioritised_free`: no other thread may use it during or after them.
 */
typedef struct swath_prioritised swath_prioritised;

/**
 * Starts reading the chunks of `plan` from `count` files, the most urgent class first, and
 * returns at once; threads of the library do the reading. The plan names files by their index in
 * `paths`. Free the read with `swath_prioritised_free`. The plan may be freed at once or used
 * again.
 *
 * SWATH_STATUS_INVALID_ARGUMENT if the plan names a file that is not in `paths`, or the options
 * have an offset or length that does not fit it; SWATH_STATUS_TRUNCATED if a file ends before
 * the plan does; other errors as for `swath_read`. Later failures are reported by
 * `swath_prioritised_wait` and `swath_prioritised_finish`.
 */
SWATH_MUST_CHECK
swath_status swath_read_prioritised(const char *const *paths,
                                    size_t count,
                                    const swath_options *options,
                                    const swath_class_plan *plan,
                                    swath_prioritised **reading);

/**
 * Waits until a class is complete and checked, for at most `timeout_ms` (SWATH_FOREVER: no
 * limit), and returns it. `number` is its number in the plan. Free the class with
 * `swath_class_free`; its bytes stay valid as long as those of the read.
 *
 * SWATH_STATUS_TIMED_OUT if it takes longer; the error that ended the read, if one did;
 * SWATH_STATUS_BUSY from a callback; SWATH_STATUS_INVALID_ARGUMENT if the plan has no such
 * class.
 */
SWATH_MUST_CHECK
swath_status swath_prioritised_wait(const swath_prioritised *reading,
                                    uint32_t number,
                                    uint64_t timeout_ms,
                                    swath_class **complete);

/**
 * Points `data` at `len` bytes of a file from `offset`, if they have been read. Only complete
 * classes are checked for changes to the file. The bytes belong to the read.
 *
 * SWATH_STATUS_TIMED_OUT if not all of them have been read yet, and only then; the error that
 * ended the read, if one did; SWATH_STATUS_INVALID_ARGUMENT if the plan does not list all of
 * them.
 */
SWATH_MUST_CHECK
swath_status swath_prioritised_bytes(const swath_prioritised *reading,
                                     size_t file,
                                     uint64_t offset,
                                     uint64_t len,
                                     const uint8_t **data);

/**
 * Makes a class the next one to begin. Classes that have begun are read to their end first. A
 * class that has begun, or that is not in the plan, changes nothing. To move several forward,
 * name the most urgent last.
 */
SWATH_MUST_CHECK
swath_status swath_prioritised_prioritise(const swath_prioritised *reading, uint32_t number);

/**
 * Ends the read without waiting for requests in flight. Complete classes stay readable.
 */
SWATH_MUST_CHECK
swath_status swath_prioritised_cancel(const swath_prioritised *reading);

/**
 * Waits for all chunks. The bytes stay in place until the read is freed; after a failure they
 * are gone, including those of complete classes. `report` may be NULL; free it with
 * `swath_report_free`.
 *
 * The first error, or SWATH_STATUS_CHANGED if a file changed while it was read;
 * SWATH_STATUS_INVALID_ARGUMENT if it was finished before.
 */
SWATH_MUST_CHECK
swath_status swath_prioritised_finish(swath_prioritised *reading, swath_report **report);

/**
 * Frees a read and its bytes; NULL is ignored. A running read is cancelled and waited for.
 */
void swath_prioritised_free(swath_prioritised *reading);

/**
 * Returns the number of a class in the plan.
 */
uint32_t swath_class_number(const swath_class *complete);

/**
 * Returns the nanoseconds from the start of the read until the whole class was read and checked.
 */
uint64_t swath_class_elapsed_ns(const swath_class *complete);

/**
 * Returns the number of bytes of the files in a class, each counted once.
 */
uint64_t swath_class_len(const swath_class *complete);

/**
 * Returns the number of chunks in a class.
 */
size_t swath_class_chunk_count(const swath_class *complete);

/**
 * Returns a chunk; NULL if `index` is not below the count. The structure is valid until the
 * class is freed; its bytes are valid until the read is freed or `swath_prioritised_finish` has
 * failed.
 */
const swath_class_chunk *swath_class_chunk_at(const swath_class *complete, size_t index);

/**
 * Frees a class returned by `swath_prioritised_wait`, but not its bytes; NULL is ignored. It may
 * be freed before or after the read.
 */
void swath_class_free(swath_class *complete);

/* ==========================================================================================
 * [12] Mirrors
 *
 * Copies of one file, read side by side and past damage. The structures belong to the report.
 *
 *     swath_options *options = NULL;
 *     uint64_t sum = 0;
 *     check(swath_options_new(SWATH_VERB_READ, &options));
 *     check(swath_options_set(options, "mirrors", "copy.bin"));
 *     check(swath_sum("data.bin", options, &sum, NULL));
 *     swath_options_free(options);
 * ========================================================================================== */

/**
 * The state of a copy of a file after a read.
 */
enum swath_mirror_state
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * It was read.
     */
    SWATH_MIRROR_STATE_READ = 0,
    /**
     * Another copy on its device was read instead.
     */
    SWATH_MIRROR_STATE_SPARE = 1,
    /**
     * It failed several times in a row, and was then used only for bytes that no other copy had.
     */
    SWATH_MIRROR_STATE_GIVEN_UP = 2,
    /**
     * It could not be read, or is no longer the file that was opened.
     */
    SWATH_MIRROR_STATE_UNUSABLE = 3,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum swath_mirror_state swath_mirror_state;
#else
typedef uint32_t swath_mirror_state;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * The part of a read that one copy of a file served. Fields may be added at the end.
 */
typedef struct {
    /**
     * Path of the copy.
     */
    const char *path;
    /**
     * The state of the copy.
     */
    swath_mirror_state state;
    /**
     * Last problem of the copy, or NULL.
     */
    const char *trouble;
    /**
     * Bytes that were taken from it.
     */
    uint64_t bytes;
    /**
     * Chunks that were taken from it.
     */
    uint64_t chunks;
    /**
     * Chunks that it failed to deliver.
     */
    uint64_t errors;
    /**
     * Chunks of `errors` that came from another copy.
     */
    uint64_t fail_overs;
    /**
     * Repeated reads of it that came first and were used.
     */
    uint64_t hedges_won;
    /**
     * Repeated reads of it that were not needed.
     */
    uint64_t hedges_lost;
} swath_mirror_report;

/**
 * Returns the number of copies that the file had; 0 for a file without mirrors.
 */
size_t swath_report_mirror_count(const swath_report *report);

/**
 * Returns the share of one copy in the read; the file itself is the first; NULL if `index` is
 * not below the count.
 */
const swath_mirror_report *swath_report_mirror(const swath_report *report, size_t index);

/* ==========================================================================================
 * [13] Profiles
 *
 *     swath_options *options = NULL;
 *     swath_report *report = NULL;
 *     char bytes[16];
 *     check(swath_options_new(SWATH_VERB_READ, &options));
 *     check(swath_options_set(options, "profile", "user"));
 *     check(swath_read_into("data.bin", options, bytes, sizeof bytes, &report));
 *     const char *name = swath_report_profile(report);
 *     printf("profile: %s\n", name != NULL ? name : "defaults");
 *     swath_report_free(report);
 *     swath_options_free(options);
 * ========================================================================================== */

/**
 * Returns the name of the profile that was used, or NULL if no profile was used.
 */
const char *swath_report_profile(const swath_report *report);

/* ==========================================================================================
 * [14] Write
 *
 * Complete under its name, or unchanged. These options also serve the groups that follow.
 *
 *     swath_options *options = NULL;
 *     const char text[] = "complete, or as before\n";
 *     check(swath_options_new(SWATH_VERB_WRITE, &options));
 *     check(swath_options_set(options, "replace", "refused"));
 *     check(swath_write("result.txt", options, text, sizeof text - 1));
 *     swath_options_free(options);
 * ========================================================================================== */

/**
 * Writes `len` bytes to `path`, replacing an existing file. On success the file is complete
 * under its name, and durable unless the options say otherwise; after a failure the old file is
 * unchanged. `options` may be NULL for defaults.
 */
SWATH_MUST_CHECK
swath_status swath_write(const char *path,
                         const swath_options *options,
                         const void *data,
                         size_t len);

/* ==========================================================================================
 * [15] Tables
 *
 * CSV and JSON Lines with columns of any types, read and written as Arrow's C stream: nanoarrow, Arrow C++, duckdb and
 * polars take it without a copy. You call `release` of the stream, and of each schema and array from it,
 * unless another library took it. `swath_options_words` lists their options.
 *
 *     struct ArrowArrayStream batches;
 *     struct ArrowArray batch;
 *     const char *path = "points.csv";
 *     int failed = 0;
 *     check(swath_table_stream(&path, 1, NULL, &batches, NULL));
 *     while ((failed = batches.get_next(&batches, &batch)) == 0 && batch.release != NULL) {
 *         const int64_t *x = (const int64_t *)batch.children[0]->buffers[1];
 *         printf("%lld rows, x[0] is %lld\n", (long long)batch.length, (long long)x[0]);
 *         batch.release(&batch);
 *     }
 *     if (failed) { fprintf(stderr, "%s\n", batches.get_last_error(&batches)); }
 *     batches.release(&batches);
 * ========================================================================================== */

/* Arrow's C data interface and C stream interface: three structures, the same in every library that has
 * them. Headers of such libraries have the same guards, so the order of includes does not matter. */
#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4

/** A type, with a name. */
struct ArrowSchema {
    /** The type as text: "l" for 64-bit integers, "U" for text, "+s" for a struct, and so on. */
    const char *format;
    /** The name of a column. */
    const char *name;
    /** Pairs of texts, in binary form; NULL for none. */
    const char *metadata;
    /** ARROW_FLAG_NULLABLE and others. */
    int64_t flags;
    /** Number of `children`. */
    int64_t n_children;
    /** Of a table, its columns. */
    struct ArrowSchema **children;
    /** The type of the values of a dictionary, or NULL. */
    struct ArrowSchema *dictionary;
    /** Frees everything except the structure itself, and becomes NULL. */
    void (*release)(struct ArrowSchema *schema);
    /** Of the library that made it. */
    void *private_data;
};

/** Values of one type. */
struct ArrowArray {
    /** Number of values. */
    int64_t length;
    /** Number of missing values; -1 if they were not counted. */
    int64_t null_count;
    /** How many values of the buffers come before the first. */
    int64_t offset;
    /** Number of `buffers`. */
    int64_t n_buffers;
    /** Number of `children`. */
    int64_t n_children;
    /** A bit for each value, 1 if it is there, or NULL if all are; then the values; of text, offsets and
     * then bytes. */
    const void **buffers;
    /** Of a table, its columns. */
    struct ArrowArray **children;
    /** The values of a dictionary, or NULL. */
    struct ArrowArray *dictionary;
    /** Frees everything except the structure itself, and becomes NULL. */
    void (*release)(struct ArrowArray *array);
    /** Of the library that made it. */
    void *private_data;
};

#endif /* ARROW_C_DATA_INTERFACE */

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE

/** Arrays of one type, one after the other. One thread at a time may use it. */
struct ArrowArrayStream {
    /** Sets `out` to the type of the arrays. Returns 0 or an `errno`. */
    int (*get_schema)(struct ArrowArrayStream *stream, struct ArrowSchema *out);
    /** Sets `out` to the next array; `release` of it is NULL at the end. Returns 0 or an `errno`. */
    int (*get_next)(struct ArrowArrayStream *stream, struct ArrowArray *out);
    /** Returns why the last call failed, or NULL. Valid until the next call. */
    const char *(*get_last_error)(struct ArrowArrayStream *stream);
    /** Frees everything except the structure itself, and becomes NULL. */
    void (*release)(struct ArrowArrayStream *stream);
    /** Of the library that made it. */
    void *private_data;
};

#endif /* ARROW_C_STREAM_INTERFACE */

/**
 * A column. Fields may be added at the end.
 */
typedef struct {
    /**
     * Name in the batches.
     */
    const char *name;
    /**
     * Its index in the file, from 0.
     */
    size_t index;
    /**
     * Type, as the option `types` takes it.
     */
    const char *type;
    /**
     * Whether the options set the type.
     */
    bool is_told;
    /**
     * The line, from 1, at which the first record begins whose value determined the type. 0 if the
     * options set the type, or there is no value.
     */
    uint64_t line;
    /**
     * The index of the file with that line, in the order of the paths.
     */
    size_t file;
    /**
     * In text of fixed width, the first character of the column in each line, from 0.
     */
    uint64_t start;
    /**
     * The character after the column's last one; SWATH_TO_END for the end of the line. 0 in other
     * forms.
     */
    uint64_t end;
} swath_table_column;

/**
 * A column whose name in the header is empty, or that of an earlier column. Fields may be added at
 * the end.
 */
typedef struct {
    /**
     * Its index in the file, from 0.
     */
    size_t index;
    /**
     * The name in the header.
     */
    const char *from;
    /**
     * The name that replaces it.
     */
    const char *to;
} swath_table_renamed;

/**
 * The report of a table: its types, its records, and how they were changed. Any number of threads
 * may use it at once, also while another reads the stream, and it may outlive the stream. Its texts
 * and structures are valid until it is freed.
 */
typedef struct swath_table_report swath_table_report;

/**
 * Reads text files with the same columns as one table, in the order of `paths`, into memory, by all
 * workers. Each column has the type that holds all its values in all files, or the one that its option `types`
 * sets; no value is guessed. A file whose name ends in .jsonl or .ndjson is JSON Lines; the option
 * `form` sets the form of others. Compressed text (gzip, zstd, bzip2) is decompressed on the way.
 * `batches` streams the table; call its `release` in any case, unless it is NULL, as after a
 * failure of this call. `options` may be NULL for defaults. `report`, which may be NULL, describes
 * the table; free it with `swath_table_report_free`. After a failure it is NULL.
 *
 * `offset` and `len` select a part of each text; mirrors need a call with one path.
 *
 * Errors as for `swath_read`; SWATH_STATUS_CORRUPT, with line, byte and column in the message, for
 * text that is not a table, and for a value that is not of a type that was set;
 * SWATH_STATUS_INVALID_ARGUMENT if options contradict each other, or name a column that does not
 * exist.
 */
SWATH_MUST_CHECK
swath_status swath_table_read(const char *const *paths,
                              size_t count,
                              const swath_options *options,
                              struct ArrowArrayStream *batches,
                              swath_table_report **report);

/**
 * As `swath_table_read`, in bounded memory: `batches` reads some blocks of text when its
 * `get_next` is first called, on the calling thread and on threads of the library, which read the
 * following ones while the caller uses these. The types are found first, in a pass over all files,
 * unless all are set. A pipe is read once: its types are those of its first 64 MiB. Compressed
 * text is decompressed once to find the types and once for the batches.
 *
 * A fault in a value that is read later is an error of `get_next`: it returns an `errno`, and
 * `get_last_error` of the stream returns the whole message. Each further call returns the same.
 * The stream may be read and released by any thread, one at a time; releasing it before its end
 * ends the work. The pointers for progress in `options` must be valid until then.
 */
SWATH_MUST_CHECK
swath_status swath_table_stream(const char *const *paths,
                                size_t count,
                                const swath_options *options,
                                struct ArrowArrayStream *batches,
                                swath_table_report **report);

/**
 * Returns the number of rows in all batches; of a stream, in those that have been read.
 */
uint64_t swath_table_report_rows(const swath_table_report *report);

/**
 * Returns the delimiter of fields: its bytes as a text, or "blanks". NULL for a table of one
 * column for which no delimiter was set.
 */
const char *swath_table_report_delimiter(const swath_table_report *report);

/**
 * Returns the encoding of the first file: "utf-8", "latin-1", "utf-16le" or "utf-16be". NULL for NULL
 * only.
 */
const char *swath_table_report_encoding(const swath_table_report *report);

/**
 * Returns how many lines name the columns.
 */
size_t swath_table_report_header_lines(const swath_table_report *report);

/**
 * Returns why these lines name the columns, or no line does, as a sentence. NULL for NULL only.
 */
const char *swath_table_report_header_reason(const swath_table_report *report);

/**
 * Returns the number of lines skipped as comments; of a stream, those before the end of the
 * batches that have been read.
 */
uint64_t swath_table_report_comments(const swath_table_report *report);

/**
 * Returns the number of records that lost further fields or other text, as `ragged` says; of a
 * stream, in the batches that were handed out.
 */
uint64_t swath_table_report_dropped(const swath_table_report *report);

/**
 * Returns the number of sequences of bytes that became U+FFFD, as `encoding_errors` says.
 */
uint64_t swath_table_report_replaced(const swath_table_report *report);

/**
 * Returns the number of columns that are read, without that of the files' names.
 */
size_t swath_table_report_column_count(const swath_table_report *report);

/**
 * Returns a column, in the order of the batches; NULL if `index` is not below the count.
 */
const swath_table_column *swath_table_report_column(const swath_table_report *report,
                                                    size_t index);

/**
 * Returns the number of missing values in a column; of a stream, those that have been read. 0 if
 * `index` is not below the count.
 */
uint64_t swath_table_report_nulls(const swath_table_report *report,
                                  size_t index);

/**
 * Returns the number of decimals in a column that change as doubles or singles: printed with as
 * many significant digits, zeros at either end apart, they have other ones. Of a stream, those
 * that have been read. If there are some, sets `line` to the line in which the record of the first
 * one begins, from 1, and `file` to the index of its file; either may be NULL. 0 if `index` is not
 * below the count of columns.
 */
uint64_t swath_table_report_rounded(const swath_table_report *report,
                                    size_t index,
                                    size_t *file,
                                    uint64_t *line);

/**
 * Returns the number of numbers in a column whose type the options set that lost zeros before
 * their whole part (`007`) or, being whole, a plus or the minus of a zero (`-0`); `file` and
 * `line` are as above.
 */
uint64_t swath_table_report_padded(const swath_table_report *report,
                                   size_t index,
                                   size_t *file,
                                   uint64_t *line);

/**
 * Returns the number of objects and arrays in a column of JSON Lines that are texts because of
 * other values of the column, or of the field in it; `file` and `line` are as above.
 */
uint64_t swath_table_report_as_text(const swath_table_report *report,
                                    size_t index,
                                    size_t *file,
                                    uint64_t *line);

/**
 * Returns the number of columns whose name differs from that in the header, because that is empty
 * or taken.
 */
size_t swath_table_report_renamed_count(const swath_table_report *report);

/**
 * Returns such a column; NULL if `index` is not below the count.
 */
const swath_table_renamed *swath_table_report_renamed(const swath_table_report *report,
                                                      size_t index);

/**
 * Returns the number of records left out (`ragged`: `set-aside`); of a stream, of those that have
 * been read.
 */
uint64_t swath_table_report_set_aside_count(const swath_table_report *report);

/**
 * Sets `line` to the line in which a left-out record begins, from 1, and `file` to the index of
 * its file; either may be NULL. The first 1,000 are listed: for a higher `index`, or one that is
 * not below the count, it returns false and both stay unchanged.
 */
bool swath_table_report_set_aside(const swath_table_report *report,
                                  size_t index,
                                  size_t *file,
                                  uint64_t *line);

/**
 * Frees a report; NULL is ignored.
 */
void swath_table_report_free(swath_table_report *report);

/**
 * The report of a table that was written.
 */
typedef struct {
    /**
     * Rows.
     */
    uint64_t rows;
    /**
     * Bytes of the file.
     */
    uint64_t bytes;
    /**
     * Numbers that are NaN or infinite and became null, since JSON has none.
     */
    uint64_t not_finite;
} swath_table_written;

/**
 * Writes the batches of a stream, by all workers: as CSV, TSV, JSON Lines, an Arrow file or an Arrow
 * stream, compressed on the way if the name or the options say so. The file is complete under its name,
 * or as it was before. Sets `written`, to zeros if nothing was written; it may be NULL, as may
 * `options` for defaults.
 *
 * It takes the stream: whatever happens, `release` of `batches` is NULL afterwards, and the stream was
 * released. Its functions are called on the calling thread and on threads of the library, one at a
 * time; the rules for callbacks apply to them.
 *
 * SWATH_STATUS_INVALID_ARGUMENT if the stream was released before, has no tables, or has a column or
 * a value that the form cannot hold; if the stream fails, the status for its `errno`, which
 * `swath_last_error_errno` returns too, with its text in the message; otherwise as for `swath_write`.
 */
SWATH_MUST_CHECK
swath_status swath_table_write(const char *path,
                               struct ArrowArrayStream *batches,
                               const swath_options *options,
                               swath_table_written *written);

/* ==========================================================================================
 * [16] Append and forks
 *
 * Threads write at once; the file is the one that the serial program would write. Free the output
 * and every fork, after `commit` and `finish` too.
 *
 *     swath_append *append = NULL;
 *     swath_fork *fork = NULL;
 *     check(swath_append_create("out.txt", NULL, &append));
 *     check(swath_append_fork(append, &fork));         // a place for another thread
 *     check(swath_append_write(append, "second\n", 7)); // goes after it
 *     check(swath_fork_write(fork, "first\n", 6));
 *     check(swath_fork_finish(fork));
 *     check(swath_append_commit(append, NULL));
 *     swath_fork_free(fork);
 *     swath_append_free(append);
 * ========================================================================================== */

/**
 * An output that is being written. Nothing of it is visible before the commit. If it is freed
 * before that, nothing of it remains.
 */
typedef struct swath_append swath_append;

/**
 * A place in the serial order of an output. It may be passed to any thread, but only one may use
 * it at a time; another gets SWATH_STATUS_BUSY.
 */
typedef struct swath_fork swath_fork;

/**
 * Begins an output that replaces or creates `path` when it is committed. Free it with
 * `swath_append_free`, after the commit too.
 *
 * SWATH_STATUS_BUSY if another process or thread is writing the output; SWATH_STATUS_IO and
 * others if the folder cannot be written or `path` names something that cannot be replaced.
 */
SWATH_MUST_CHECK
swath_status swath_append_create(const char *path,
                                 const swath_options *options,
                                 swath_append **append);

/**
 * Begins an output that starts with the bytes of the existing file; new bytes follow them.
 * `path` stays unchanged until the commit. If there is no file, this is `swath_append_create`.
 *
 * If another program changes the file before the commit or checkpoint, that call returns
 * SWATH_STATUS_CHANGED and nothing is replaced; the lock keeps out only other writers that use
 * Swath. The change is detected by the file's inode number, length and time, up to the moment of
 * the commit.
 */
SWATH_MUST_CHECK
swath_status swath_append_to_existing(const char *path,
                                      const swath_options *options,
                                      swath_append **append);

/**
 * Writes after everything written to this handle before, including its forks. The bytes are
 * copied.
 *
 * SWATH_STATUS_BUSY if another thread is writing to this handle: let each thread write to its
 * own fork. A failure to store the bytes may be reported by a later call.
 */
SWATH_MUST_CHECK
swath_status swath_append_write(const swath_append *append, const void *data, size_t len);

/**
 * Reserves a place in the output: bytes written to the fork come after everything written to
 * `append` before this call, and before everything written to it afterwards, whenever they are
 * written. The fork may be passed to any thread. Free it with `swath_fork_free`, after
 * `swath_fork_finish` too.
 */
SWATH_MUST_CHECK
swath_status swath_append_fork(const swath_append *append, swath_fork **fork);

/**
 * Makes everything written before this call durable under the output's name; later writes follow
 * it. All forks must be finished.
 *
 * SWATH_STATUS_BUSY if a fork is open or another call on the handle is running; both leave
 * everything unchanged.
 */
SWATH_MUST_CHECK
swath_status swath_append_checkpoint(const swath_append *append);

/**
 * Ends writing. The output is complete under its name, and durable unless the options say
 * otherwise; after a failure, the old file remains and the new bytes are discarded. `bytes`,
 * which may be NULL, is set to the length of the output. Free the handle afterwards; any other
 * use of it is SWATH_STATUS_INVALID_ARGUMENT.
 *
 * SWATH_STATUS_BUSY if another call on the handle is running, which leaves everything unchanged.
 * SWATH_STATUS_BUSY also if a fork is open; the new bytes are then discarded: finish all forks,
 * and let no other thread use the handle, before this call. SWATH_STATUS_POISONED if a fork was
 * freed before it was finished, or a write failed. SWATH_STATUS_OUTCOME_UNKNOWN if the name was
 * changed but the device did not confirm it.
 */
SWATH_MUST_CHECK
swath_status swath_append_commit(const swath_append *append,
                                 uint64_t *bytes);

/**
 * Discards the new bytes; the old file remains. Free the handle and the forks afterwards; any
 * other use of a fork is then SWATH_STATUS_POISONED.
 */
SWATH_MUST_CHECK
swath_status swath_append_abort(const swath_append *append);

/**
 * Frees the handle and discards bytes that are not committed; NULL is ignored. Its forks must
 * still be freed; writing to one or finishing it is SWATH_STATUS_POISONED.
 */
void swath_append_free(swath_append *append);

/**
 * Writes after everything written to this fork before. The bytes are copied, and the call never
 * waits for another strand. SWATH_STATUS_POISONED once the output was aborted or freed, or a
 * write to it or its commit failed: the bytes of this fork are then discarded.
 */
SWATH_MUST_CHECK
swath_status swath_fork_write(const swath_fork *fork, const void *data, size_t len);

/**
 * Reserves a place in this fork's own order, as `swath_append_fork` does in the output's. Free
 * `child` with `swath_fork_free`.
 */
SWATH_MUST_CHECK
swath_status swath_fork_fork(const swath_fork *fork, swath_fork **child);

/**
 * Joins the fork: declares that everything is written. Free the handle afterwards; any other use
 * of it is SWATH_STATUS_INVALID_ARGUMENT.
 *
 * SWATH_STATUS_BUSY if a fork of this fork is open, which leaves everything unchanged: finish
 * that one and call again. SWATH_STATUS_POISONED if one was freed before it was finished, or the
 * output is gone: it then cannot be committed.
 */
SWATH_MUST_CHECK
swath_status swath_fork_finish(const swath_fork *fork);

/**
 * Frees the handle; NULL is ignored. Freeing a fork that was not finished poisons the output:
 * the bytes after it have no place, so the commit fails.
 */
void swath_fork_free(swath_fork *fork);

/* ==========================================================================================
 * [17] Committed outputs
 *
 *     swath_appended *appended = NULL;
 *     char bytes[16];
 *     size_t count = 0;
 *     check(swath_appended_open("data.bin", &appended));
 *     check(swath_appended_pread(appended, bytes, sizeof bytes, 0, &count));
 *     printf("%zu of %llu bytes\n", count, (unsigned long long)swath_appended_len(appended));
 *     swath_appended_free(appended);
 * ========================================================================================== */

/**
 * A committed output: a plain file, or a folder of segments that reads as one stream. Any number
 * of threads may use it at once.
 */
typedef struct swath_appended swath_appended;

/**
 * Opens a committed output. Free it with `swath_appended_free`.
 *
 * SWATH_STATUS_NOT_FOUND if there is no such output, SWATH_STATUS_CORRUPT if its manifest is
 * damaged, SWATH_STATUS_TRUNCATED if a segment is shorter than the manifest says.
 */
SWATH_MUST_CHECK
swath_status swath_appended_open(const char *path, swath_appended **appended);

/**
 * Returns the length of the output in bytes; 0 for NULL.
 */
uint64_t swath_appended_len(const swath_appended *appended);

/**
 * Returns the number of extents in the output; 1 for a plain file, 0 for NULL.
 */
size_t swath_appended_extents(const swath_appended *appended);

/**
 * Reads up to `len` bytes at `offset` into the caller's memory and sets `count` to the number
 * read: fewer than `len` only at the end, and 0 beyond it.
 */
SWATH_MUST_CHECK
swath_status swath_appended_pread(const swath_appended *appended,
                                  void *target,
                                  size_t len,
                                  uint64_t offset,
                                  size_t *count);

/**
 * Compares every extent with its checksum. A plain file has no checksums and is read to its end.
 *
 * SWATH_STATUS_CORRUPT, with the segment and the bytes, if an extent does not match.
 */
SWATH_MUST_CHECK
swath_status swath_appended_verify(const swath_appended *appended);

/**
 * Frees the handle; NULL is ignored.
 */
void swath_appended_free(swath_appended *appended);

/* ==========================================================================================
 * [18] Ordered output and tickets
 *
 * Chunks in the order of their tickets, in bounded memory. Free the output and every ticket.
 *
 *     swath_ordered *ordered = NULL;
 *     swath_ticket *ticket = NULL;
 *     check(swath_ordered_create("ordered.txt", NULL, &ordered));
 *     check(swath_ordered_ticket(ordered, &ticket)); // the next place; pass it to any thread
 *     check(swath_ticket_write(ticket, "one\n", 4));
 *     check(swath_ticket_done(ticket));
 *     swath_ticket_free(ticket);
 *     check(swath_ordered_commit(ordered, NULL));
 *     swath_ordered_free(ordered);
 * ========================================================================================== */

/**
 * A file that threads write chunk by chunk in serial order, in bounded memory. Nothing of it is
 * visible before the commit. If it is freed before that, nothing of it remains.
 */
typedef struct swath_ordered swath_ordered;

/**
 * A place in the serial order, and the chunk that goes there. It may be passed to any thread,
 * but only one may use it at a time; another gets SWATH_STATUS_BUSY.
 */
typedef struct swath_ticket swath_ticket;

/**
 * Begins a file that is written in the order of its tickets. Free it with `swath_ordered_free`,
 * after the commit too.
 *
 * Errors as for `swath_append_create`.
 */
SWATH_MUST_CHECK
swath_status swath_ordered_create(const char *path,
                                  const swath_options *options,
                                  swath_ordered **ordered);

/**
 * Takes the next place in the serial order; waits while the window is full. The waiting thread
 * must not be the one that has to finish the open tickets. Free the ticket with
 * `swath_ticket_free`, after `swath_ticket_done` too.
 *
 * SWATH_STATUS_POISONED once a ticket was freed before it was done. A failed write is reported
 * by every later call. SWATH_STATUS_CANCELLED if a token cancelled it.
 */
SWATH_MUST_CHECK
swath_status swath_ordered_ticket(const swath_ordered *ordered, swath_ticket **ticket);

/**
 * Writes the remaining chunks and gives the file its name. `bytes`, which may be NULL, is set to
 * its length. Free the handle afterwards.
 *
 * SWATH_STATUS_BUSY if another call on the handle is running, which leaves everything unchanged.
 * SWATH_STATUS_BUSY also if tickets are open, whose bytes would be missing; all bytes are then
 * discarded: finish all tickets, and let no other thread use the handle, before this call.
 */
SWATH_MUST_CHECK
swath_status swath_ordered_commit(const swath_ordered *ordered,
                                  uint64_t *bytes);

/**
 * Discards all bytes. Free the handle and the tickets afterwards; any other use of a ticket is
 * then SWATH_STATUS_POISONED.
 */
SWATH_MUST_CHECK
swath_status swath_ordered_abort(const swath_ordered *ordered);

/**
 * Frees the handle and discards bytes that are not committed; NULL is ignored. Its tickets stay
 * valid and must still be freed.
 */
void swath_ordered_free(swath_ordered *ordered);

/**
 * Returns the position of a ticket in the serial order, from 0.
 */
uint64_t swath_ticket_index(const swath_ticket *ticket);

/**
 * Writes after everything written to this ticket before. The bytes are copied into memory.
 */
SWATH_MUST_CHECK
swath_status swath_ticket_write(const swath_ticket *ticket, const void *data, size_t len);

/**
 * Hands the chunk over for writing; never waits for another ticket. Free the handle afterwards.
 *
 * Errors as for `swath_ordered_ticket`.
 */
SWATH_MUST_CHECK
swath_status swath_ticket_done(const swath_ticket *ticket);

/**
 * Frees the handle; NULL is ignored. Freeing a ticket that was not done poisons the file: the
 * bytes after it have no place.
 */
void swath_ticket_free(swath_ticket *ticket);

/* ==========================================================================================
 * [19] Shared drafts
 *
 * One file that several processes write, each at its own places, and one commit. The texts belong to
 * the handles.
 *
 *     swath_draft *draft = NULL;
 *     swath_draft_writer *writer = NULL;
 *     check(swath_draft_create("shared.txt", NULL, 4, &draft));
 *     const char *token = swath_draft_token(draft); // send it to the other processes
 *     check(swath_draft_open(token, NULL, &writer));  // in each of them, or here
 *     check(swath_draft_writer_write(writer, "one\n", 4, 0));
 *     check(swath_draft_writer_finish(writer, true));
 *     const char *receipt = swath_draft_writer_receipt(writer); // send it back
 *     check(swath_draft_commit(draft, &receipt, 1, false)); // fails if a byte is missing
 *     swath_draft_writer_free(writer);
 *     swath_draft_free(draft);
 * ========================================================================================== */

/**
 * A file of known length that several processes write, each at its own places. Nothing of it is
 * visible before the commit. If it is freed before that, nothing of it remains.
 */
typedef struct swath_draft swath_draft;

/**
 * A writer of a draft, in the process that began it or in another. Several threads may use it at
 * once.
 */
typedef struct swath_draft_writer swath_draft_writer;

/**
 * Begins a file of `len` bytes that replaces or creates `path` when it is committed. Until then it
 * has a hidden name in the same folder, under which only processes of this user can open it.
 * `options` may be NULL for defaults. Free it with `swath_draft_free`, after the commit too.
 *
 * SWATH_STATUS_BUSY if another process or thread is writing the file; SWATH_STATUS_IO and others
 * if the folder cannot be written, has no space for `len` bytes, or `path` names something that
 * cannot be replaced.
 */
SWATH_MUST_CHECK
swath_status swath_draft_create(const char *path,
                                const swath_options *options,
                                uint64_t len,
                                swath_draft **draft);

/**
 * Returns the token with which other processes open the draft: one line of JSON, which belongs to
 * the handle. NULL if `draft` is NULL.
 */
const char *swath_draft_token(const swath_draft *draft);

/**
 * Opens a draft that this or another process has begun, on this machine or on another that sees the
 * same folder under the same path. `token` is the text of `swath_draft_token`. Free the writer with
 * `swath_draft_writer_free`, after `swath_draft_writer_finish` too.
 *
 * Of `options`, only progress and cancellation have an effect, on this writer; the others were
 * chosen when the draft was begun. NULL for defaults.
 *
 * SWATH_STATUS_CHANGED if the draft has ended: committed, freed, or followed by another;
 * SWATH_STATUS_CORRUPT if `token` is not a token; SWATH_STATUS_PERMISSION_DENIED for another user.
 */
SWATH_MUST_CHECK
swath_status swath_draft_open(const char *token,
                              const swath_options *options,
                              swath_draft_writer **writer);

/**
 * Writes `len` bytes at `offset`, straight from the caller's memory. Bytes that are written twice
 * come from one of the writes.
 *
 * SWATH_STATUS_INVALID_ARGUMENT if they extend past the length of the draft; none of them is then
 * written. SWATH_STATUS_CHANGED if the draft has ended. After an error this writer gives no
 * receipt.
 */
SWATH_MUST_CHECK
swath_status swath_draft_writer_write(const swath_draft_writer *writer,
                                      const void *data,
                                      size_t len,
                                      uint64_t offset);

/**
 * Declares that everything is written. If `is_durable`, it waits for the device, as the options of
 * the draft say; otherwise one writer of each machine must do so, and finish last: it waits for
 * the bytes of all processes of the machine. On the machine of the commit, no writer has to.
 * Afterwards `swath_draft_writer_receipt` returns the receipt that the commit needs.
 *
 * SWATH_STATUS_BUSY if another thread is using the writer, which leaves everything unchanged;
 * SWATH_STATUS_POISONED after a failed write; SWATH_STATUS_CHANGED if the draft has ended.
 */
SWATH_MUST_CHECK
swath_status swath_draft_writer_finish(const swath_draft_writer *writer,
                                       bool is_durable);

/**
 * Returns the receipt of the written bytes: one line of JSON for the process that commits, which
 * belongs to the handle. NULL before `swath_draft_writer_finish` has succeeded.
 */
const char *swath_draft_writer_receipt(const swath_draft_writer *writer);

/**
 * Frees the writer; NULL is ignored. Without a receipt, the commit does not know of its bytes.
 */
void swath_draft_writer_free(swath_draft_writer *writer);

/**
 * Gives the file its name, durably unless the options say otherwise. Call it in the process that
 * began the draft, when every writer has finished, with the `count` receipts of all, in any order. Bytes
 * that are in no receipt are an error or, if `has_gaps`, zero.
 * Free the handle afterwards; any other use of it is SWATH_STATUS_INVALID_ARGUMENT.
 *
 * SWATH_STATUS_INVALID_ARGUMENT if a byte is in no receipt, with the first such bytes in
 * `swath_last_error_extent`, or if a receipt is of another draft; SWATH_STATUS_CORRUPT if a text is
 * not a receipt. Otherwise as for `swath_append_commit`. After any failure the old file remains,
 * unless the status is SWATH_STATUS_OUTCOME_UNKNOWN.
 */
SWATH_MUST_CHECK
swath_status swath_draft_commit(const swath_draft *draft,
                                const char *const *receipts,
                                size_t count,
                                bool has_gaps);

/**
 * Frees the draft and discards bytes that are not committed; NULL is ignored. Its writers must
 * still be freed; writing with one is SWATH_STATUS_CHANGED.
 */
void swath_draft_free(swath_draft *draft);

/* ==========================================================================================
 * [20] Jobs of many processes
 *
 * Parts may be done on any process, several times and several times at once; the output is right, once.
 *
 *     swath_job *job = NULL;
 *     swath_part *part = NULL;
 *     swath_segment *segment = NULL;
 *     check(swath_job_plan(NULL, 0, "job.txt", NULL, &job)); // without inputs: one part
 *     check(swath_job_part(job, 0, &part));
 *     check(swath_part_begin(part, &segment)); // in any process
 *     check(swath_segment_write(segment, "one\n", 4));
 *     check(swath_segment_finish(segment));
 *     check(swath_job_commit(job, NULL, 0, NULL)); // with the receipts in the folder
 *     check(swath_job_remove(job));
 *     swath_segment_free(segment), swath_part_free(part), swath_job_free(job);
 * ========================================================================================== */

/**
 * Where inputs may be divided, and so what a part has.
 */
enum swath_division
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * At any byte; a part has the records that begin in its pieces, and each input stands alone.
     * Read them with the option `starting_in` of `swath_records`. Only a reader knows where
     * records end, so all parts must be done with the same one. The command `swath job` cannot do
     * such parts.
     */
    SWATH_DIVISION_RECORDS = 0,
    /**
     * At any byte; a part has exactly the bytes of its pieces.
     */
    SWATH_DIVISION_BYTES = 1,
    /**
     * Where a line begins: a part has exactly the bytes of its pieces, which are whole lines. The
     * inputs are one text: if one does not end with a newline, its last line continues in the
     * next.
     */
    SWATH_DIVISION_LINES = 2,
    /**
     * At multiples of a width from the start of each input, for records of one length: a part has exactly
     * the bytes of its pieces. Set with the option `width`.
     */
    SWATH_DIVISION_WIDTH = 3,
    /**
     * Each input that has bytes is one part.
     */
    SWATH_DIVISION_INPUTS = 4,
    /**
     * Between inputs only; a part may have several.
     */
    SWATH_DIVISION_GROUPS = 5,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum swath_division swath_division;
#else
typedef uint32_t swath_division;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * A job: its inputs, its parts, and where the output goes. Plain data: handles for it in several
 * processes mean the same job. Freeing a handle changes nothing on the disk.
 */
typedef struct swath_job swath_job;

/**
 * A part of a job: which bytes to read, and where to write.
 */
typedef struct swath_part swath_part;

/**
 * An extent of an input. If `swath_part_division` returns SWATH_DIVISION_RECORDS, the part has the
 * records that begin in it: see the option `starting_in`. Otherwise it has exactly these bytes:
 * see the options `offset` and `len`. Fields may be added at the end.
 */
typedef struct {
    /**
     * The input, as an absolute path; it belongs to the part.
     */
    const char *path;
    /**
     * The first byte.
     */
    uint64_t offset;
    /**
     * The number of bytes.
     */
    uint64_t len;
} swath_piece;

/**
 * One attempt to do a part. One thread at a time may use it; another gets SWATH_STATUS_BUSY.
 */
typedef struct swath_segment swath_segment;

/**
 * Plans a job: looks at the `count` inputs, divides them into parts, and creates the folder of the
 * job. Only inputs of length 0 are opened and, with the division `lines`, those that are divided;
 * nothing is created at the target. A job may have no inputs. `options` may be NULL for defaults.
 * Free it with `swath_job_free`.
 *
 * SWATH_STATUS_INVALID_ARGUMENT if an input is not a regular file; SWATH_STATUS_IO and others if
 * the target is not a file that may be replaced, or its folder does not exist.
 */
SWATH_MUST_CHECK
swath_status swath_job_plan(const char *const *inputs,
                            size_t count,
                            const char *target,
                            const swath_options *options,
                            swath_job **job);

/**
 * Opens the plan of a job that another process has begun. `options` are those of a commit, NULL
 * for defaults: durability and the treatment of an existing target stay as planned.
 *
 * SWATH_STATUS_NOT_FOUND if the folder does not exist, or is not that of a job;
 * SWATH_STATUS_CORRUPT if the plan is damaged.
 */
SWATH_MUST_CHECK
swath_status swath_job_open(const char *folder, const swath_options *options, swath_job **job);

/**
 * Makes a handle from the text of `swath_job_json`, in another process. Reads no file.
 *
 * SWATH_STATUS_CORRUPT if `text` is not a plan.
 */
SWATH_MUST_CHECK
swath_status swath_job_from_json(const char *text, swath_job **job);

/**
 * Returns the plan as one line of JSON, which belongs to the handle. NULL if `job` is NULL.
 */
const char *swath_job_json(const swath_job *job);

/**
 * Returns the folder to which parts write, as an absolute path, which belongs to the handle. NULL
 * if `job` is NULL.
 */
const char *swath_job_folder(const swath_job *job);

/**
 * Returns the number of parts; 0 if `job` is NULL.
 */
size_t swath_job_part_count(const swath_job *job);

/**
 * Returns where the inputs were divided, and so what a part has; SWATH_DIVISION_RECORDS if `job` is
 * NULL.
 */
swath_division swath_job_division(const swath_job *job);

/**
 * Makes a handle for part `index`, from 0. Free it with `swath_part_free`.
 *
 * SWATH_STATUS_INVALID_ARGUMENT if the job has no such part.
 */
SWATH_MUST_CHECK
swath_status swath_job_part(const swath_job *job, size_t index, swath_part **part);

/**
 * Assembles the output from the parts, in order, and makes it visible in one step. `receipts` are
 * the `count` texts of `swath_segment_receipt`, in any order; NULL takes those in the folder. If a
 * part has several, the first counts. Attempts that ended after a failed commit count in the next
 * one. `bytes`, which may be NULL, is set to the length of the output.
 *
 * It may be called again after a failure or a kill, also by another process, and has the same
 * result if the job is committed. `swath_job_remove` removes the folder afterwards.
 *
 * SWATH_STATUS_INVALID_ARGUMENT if a part is missing; SWATH_STATUS_CHANGED if an input has changed
 * since the job was planned, or if the job is committed and its output is gone or has another length; SWATH_STATUS_BUSY if another process commits the job, or writes the
 * target; SWATH_STATUS_CORRUPT if the bytes of a part are not those of its receipt: do the part
 * again. After any of these, the target is unchanged.
 */
SWATH_MUST_CHECK
swath_status swath_job_commit(const swath_job *job,
                              const char *const *receipts,
                              size_t count,
                              uint64_t *bytes);

/**
 * Ends a job without an output: removes its folder. The target stays as it was.
 *
 * SWATH_STATUS_INVALID_ARGUMENT if the job is committed; SWATH_STATUS_BUSY if another process is
 * committing it.
 */
SWATH_MUST_CHECK
swath_status swath_job_abort(const swath_job *job);

/**
 * Removes the folder of a job that is committed. A folder of segments is the output, and stays.
 *
 * SWATH_STATUS_INVALID_ARGUMENT if the job is not committed.
 */
SWATH_MUST_CHECK
swath_status swath_job_remove(const swath_job *job);

/**
 * Frees the handle; NULL is ignored. The job continues.
 */
void swath_job_free(swath_job *job);

/**
 * Returns the number of pieces; 0 for a job without inputs, or if `part` is NULL.
 */
size_t swath_part_piece_count(const swath_part *part);

/**
 * Returns where the inputs were divided, and so what of its pieces the part has;
 * SWATH_DIVISION_RECORDS if `part` is NULL.
 */
swath_division swath_part_division(const swath_part *part);

/**
 * Returns piece `index` of a part, from 0, which belongs to the part; NULL if it has no such piece.
 */
const swath_piece *swath_part_piece(const swath_part *part,
                                    size_t index);

/**
 * Begins an attempt to do a part, also while another one is running. Free it with
 * `swath_segment_free`, after `swath_segment_finish` too.
 *
 * SWATH_STATUS_NOT_FOUND if the job is over; SWATH_STATUS_CHANGED if an input of the part has
 * changed since the job was planned.
 */
SWATH_MUST_CHECK
swath_status swath_part_begin(const swath_part *part, swath_segment **segment);

/**
 * Frees the part; NULL is ignored.
 */
void swath_part_free(swath_part *part);

/**
 * Writes after everything written to this attempt before.
 *
 * SWATH_STATUS_POISONED after a failed write: begin another attempt.
 */
SWATH_MUST_CHECK
swath_status swath_segment_write(const swath_segment *segment, const void *data, size_t len);

/**
 * Ends the attempt. Its bytes are then complete, and `swath_segment_receipt` returns the receipt
 * that the commit needs.
 *
 * SWATH_STATUS_CHANGED if an input of the part has changed since the job was planned;
 * SWATH_STATUS_NOT_FOUND if the job is over; SWATH_STATUS_POISONED after a failed write.
 */
SWATH_MUST_CHECK
swath_status swath_segment_finish(const swath_segment *segment);

/**
 * Returns the receipt of the attempt's bytes: one line of JSON for the process that commits, which
 * belongs to the handle. NULL before `swath_segment_finish` has succeeded.
 */
const char *swath_segment_receipt(const swath_segment *segment);

/**
 * Frees the attempt; NULL is ignored. Without a receipt, nothing of it remains.
 */
void swath_segment_free(swath_segment *segment);

#ifdef __cplusplus
} // extern "C"
#endif

#endif /* SWATH_H */
