/* Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
   SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef HIERBAR_HIERBAR_H
#define HIERBAR_HIERBAR_H

/* The public C API of libhierbar.so: a barrier that follows the machine, and small collectives, for
   threads of one process or for processes that share memory. OpenMP programs need none of it.

   Every function returns a status or cannot fail; no exception leaves the library. A pointer
   argument must not be NULL unless its comment allows it; otherwise the function returns
   HIERBAR_ERR_INVALID. Output arguments are written only on HIERBAR_OK, except that *barrier is set
   to NULL on every error.

   A participant is a thread of any of the processes. The program numbers participants from 0 to
   num_participants - 1. An episode is one use of the barrier: all participants call
   hierbar_barrier_wait (or _wait_bits) once, or all call hierbar_barrier_gather and then
   hierbar_barrier_release, or all call the same collective. All make the same choice for one
   episode. */

#include <stddef.h>
#include <stdint.h>

/* The version of this header; hierbar_version() returns that of the loaded library. Before 1.0.0 a
   new minor version may change the API. */
#define HIERBAR_VERSION_MAJOR 0
#define HIERBAR_VERSION_MINOR 1
#define HIERBAR_VERSION_PATCH 0
#define HIERBAR_VERSION_STRING "0.1.0"

#define HIERBAR_API __attribute__((visibility("default")))

#ifdef __cplusplus
extern "C" {
#endif

/* Returns the library's version as "major.minor.patch". The string is static: never free it. Cannot
   fail; callable from any thread at any time. */
HIERBAR_API const char *hierbar_version(void);

/* ---- results ---- */

typedef enum hierbar_status {
  HIERBAR_OK = 0,               /* done; a wait was released */
  HIERBAR_ABORTED = 1,          /* a wait ended because the barrier was aborted */
  HIERBAR_ERR_INVALID = 2,      /* an argument is NULL, out of range, misaligned, or contradicts
                                   another */
  HIERBAR_ERR_NO_MEMORY = 3,    /* out of memory */
  HIERBAR_ERR_TOO_SMALL = 4,    /* the memory ends before the barrier does: `size`, or the file
                                   behind the mapping */
  HIERBAR_ERR_IN_USE = 5,       /* the memory for the barrier is not all zero */
  HIERBAR_ERR_NOT_READY = 6,    /* no barrier has been completed in the memory yet; try again */
  HIERBAR_ERR_FOREIGN = 7,      /* the memory holds something other than a barrier */
  HIERBAR_ERR_VERSION = 8,      /* the memory, or the attributes, come from an incompatible version
                                   of hierbar */
  HIERBAR_ERR_CORRUPT = 9,      /* the memory holds a barrier that contradicts itself */
  HIERBAR_ERR_UNSUPPORTED = 10, /* the barrier's algorithm cannot do this, or it was made without
                                   collectives */
  HIERBAR_ERR_TOO_LARGE = 11    /* more bytes than HIERBAR_MAX_COLLECTIVE_BYTES */
} hierbar_status;

/* Returns a status as English text without a full stop, and "unknown status" for any other value.
   The string is static. Cannot fail; callable from any thread at any time. */
HIERBAR_API const char *hierbar_status_text(hierbar_status status);

/* Receives one line of text without its newline, valid during the call; context is the caller's. */
typedef void (*hierbar_line_fn)(void *context, const char *line);

/* ---- attributes ---- */

/* Where a participant may run: cpus by their operating-system numbers (below 2^20), as a list, as a
   bitmap, or both, which means their union. Empty: not bound, location unknown. */
typedef struct hierbar_cpuset {
  const uint32_t *cpus;   /* [num_cpus] in any order, or NULL */
  const uint64_t *bitmap; /* [num_words]: cpu i is bit i % 64 of word i / 64; or NULL */
  uint32_t num_cpus;
  uint32_t num_words;
} hierbar_cpuset;

/* Called by a waiting participant, on its thread, after its spinning: before each yield or sleep.
   It may make progress that others depend on, call hierbar_barrier_abort, and use other barriers.
   It must not use this barrier in another way, nor leave by longjmp or an exception. Returns 0 to
   go on waiting, any other value to abort the barrier for all participants. */
typedef int (*hierbar_progress_fn)(void *context);

#define HIERBAR_AUTO (-1)
#define HIERBAR_MAX_POLLS 1000000
#define HIERBAR_MAX_SLEEP_NS 1000000000

/* How a participant waits: it spins, then yields, then sleeps. An abort is noticed after the
   spinning, between yields, and by sleepers at once. */
typedef struct hierbar_waiting {
  /* Polls about 45 ns apart, 0 .. HIERBAR_MAX_POLLS; HIERBAR_AUTO: 4000. There are none when the
     participants outnumber the cpus that the attributes name (or, where a participant has no
     cpuset, that the calling process may use). */
  int64_t spin_polls;
  /* Then polls with a sched_yield() between, 0 .. HIERBAR_MAX_POLLS; HIERBAR_AUTO: 4000, some ms,
     or 40000 when the participants outnumber the cpus. */
  int64_t yields;
  /* Then sleeps of at most this length, 0 .. HIERBAR_MAX_SLEEP_NS; 0: none, yields go on;
     HIERBAR_AUTO: 50 ms, with `progress` 1 ms. */
  int64_t sleep_limit_ns;
  hierbar_progress_fn progress; /* or NULL; of this process */
  void *progress_context;       /* given to it */
} hierbar_waiting;

/* What hierbar_allreduce(), hierbar_allreduce_with() and hierbar_bcast() allow at most. */
#define HIERBAR_MAX_COLLECTIVE_BYTES 4096
#define HIERBAR_MAX_COLLECTIVE_PARTICIPANTS 512

/* What a barrier is made from. Initialise it by hierbar_attributes_init(), then change fields. A
   function that takes it reads what it points to during the call only, and the caller keeps it.
   Exception: waiting.progress is used as long as the barrier is. */
typedef struct hierbar_attributes {
  uint32_t struct_bytes;         /* leave as hierbar_attributes_init() set it */
  uint32_t num_participants;     /* 1 .. 2^20 */
  const hierbar_cpuset *cpusets; /* [num_participants], or NULL (the default): no location is known,
                                    index order is used */
  hierbar_waiting waiting;       /* default: HIERBAR_AUTO, no progress */
  const char *algorithm;         /* "hier", the hierarchical barrier, or a baseline to compare it
                                    with, as HIERBAR_ALGORITHM; NULL (the default): that variable,
                                    or else "hier" */
  const char *levels;            /* as HIERBAR_LEVELS, for instance "numa,package"; NULL (the
                                    default): that variable, or else the machine's own levels */
  hierbar_line_fn report;        /* receives messages about bad attributes and settings, in the
                                    calling thread; NULL (the default): standard error */
  void *report_context;          /* given to it */
  uint32_t collectives;          /* 1: with memory for the collectives, about 40 KiB of each
                                    participant, for at most HIERBAR_MAX_COLLECTIVE_PARTICIPANTS;
                                    0 (the default): without */
} hierbar_attributes;

/* Sets *attributes to the defaults for num_participants, which the functions that take the
   attributes check. Does nothing for NULL. Thread safety: any thread, as for any assignment. */
HIERBAR_API void hierbar_attributes_init(hierbar_attributes *attributes, uint32_t num_participants);

/* ---- making barriers ---- */

/* A process's view of a barrier. */
typedef struct hierbar_barrier hierbar_barrier;

/* Alignment of a shared barrier's memory. Pages always have it. */
#define HIERBAR_MEMORY_ALIGNMENT 128

/* Makes a barrier for the threads of this process. *barrier belongs to the caller, who ends it with
   hierbar_barrier_destroy. It cannot be used in a child after fork(). The first call of a process
   with more than 4 participants reads the machine's topology, which takes milliseconds. A HIERBAR_*
   variable with a bad value is not an error: it is reported once, and its default is used.
     HIERBAR_ERR_INVALID    attributes or one of its fields; the report says which, and what is
                            allowed
     HIERBAR_ERR_VERSION    attributes->struct_bytes is not this version's
     HIERBAR_ERR_NO_MEMORY
   Thread safety: any thread, at any time. */
HIERBAR_API hierbar_status hierbar_barrier_create(const hierbar_attributes *attributes,
                                                  hierbar_barrier **barrier);

/* Computes how many bytes hierbar_barrier_init_shared() needs for these attributes. Reads the
   machine and fails as hierbar_barrier_create() does. */
HIERBAR_API hierbar_status hierbar_barrier_size(const hierbar_attributes *attributes, size_t *size);

/* Makes a barrier in memory that several processes share; every participating process, including
   this one, then calls hierbar_barrier_attach(). The memory must be readable and writable, aligned
   to HIERBAR_MEMORY_ALIGNMENT, of `size` bytes, and all zero, as a new file of memfd_create() or
   shm_open() is after ftruncate(); pages that no participant has written are left for the
   participants to touch first, unless hierbar_barrier_populate() has made them present. The memory
   stays the caller's. waiting.progress is ignored; the limits apply to all processes that do not
   set their own.
     HIERBAR_ERR_INVALID    memory is NULL or misaligned; or as hierbar_barrier_create()
     HIERBAR_ERR_TOO_SMALL  size is less than hierbar_barrier_size() returns, or the file behind the
                            memory is shorter, or the memory cannot be written
     HIERBAR_ERR_IN_USE     the memory does not begin with zeros
     HIERBAR_ERR_VERSION, HIERBAR_ERR_NO_MEMORY   as hierbar_barrier_create()
   Thread safety: one call for one piece of memory. Memory ordering: what was written before is
   visible to a process once its attach returned HIERBAR_OK. */
HIERBAR_API hierbar_status hierbar_barrier_init_shared(void *memory, size_t size,
                                                       const hierbar_attributes *attributes);

/* Makes every page of shared memory present now, so that a file system without room for them is an
   error here. Otherwise it is a SIGBUS in whichever process first touches a page in the middle of a
   wait: a file that ftruncate() has made longer has no pages yet. Call it before
   hierbar_barrier_init_shared(); what the pages hold does not change. They are allocated on the
   NUMA node of the calling thread. If that matters, each participant's thread calls it for a
   part of the memory, before any uses the barrier; pages that are already present stay where they
   are.
     HIERBAR_ERR_INVALID    memory is NULL or misaligned
     HIERBAR_ERR_NO_MEMORY  there is no room for all pages, or the file behind the memory ends
                            before them, or the memory cannot be written
   Thread safety: any thread, at any time. Complexity: one system call per page. */
HIERBAR_API hierbar_status hierbar_barrier_populate(void *memory, size_t size);

/* Makes this process's view of a barrier in shared memory, which may be mapped at any address. It
   does not trust the memory: it checks the description of the barrier there, copies it, and makes
   a view only if it is sound. `waiting` may be NULL: the limits are those with which the barrier
   was made, as they are for a single field that is HIERBAR_AUTO. It cannot allow sleeping if the
   barrier was made without. The memory must stay mapped until hierbar_barrier_destroy(*barrier).
     HIERBAR_ERR_INVALID    memory is NULL or misaligned; a field of waiting is out of range
     HIERBAR_ERR_TOO_SMALL  size is smaller than the barrier, or the file behind the memory is, or
                            the memory cannot be written
     HIERBAR_ERR_NOT_READY  the memory begins with zeros: hierbar_barrier_init_shared() has not
                            finished
     HIERBAR_ERR_FOREIGN    the memory begins with something other than a barrier
     HIERBAR_ERR_VERSION    the barrier was made by an incompatible version of this library
     HIERBAR_ERR_CORRUPT    the description of the barrier in the memory contradicts itself
     HIERBAR_ERR_NO_MEMORY
   Thread safety: any thread, at any time. */
HIERBAR_API hierbar_status hierbar_barrier_attach(void *memory, size_t size,
                                                  const hierbar_waiting *waiting,
                                                  hierbar_barrier **barrier);

/* Ends this process's view, and the barrier if it was made by hierbar_barrier_create(). Views of
   other processes stay valid; the memory stays the caller's and still holds the barrier. NULL is
   allowed and does nothing. No thread of this process may be in a function that takes `barrier`, or
   call one later. */
HIERBAR_API void hierbar_barrier_destroy(hierbar_barrier *barrier);

/* ---- queries ---- */

/* Returns the number of participants; 0 for NULL. Thread safety: any thread. */
HIERBAR_API uint32_t hierbar_barrier_num_participants(const hierbar_barrier *barrier);

/* Prints a readable description: participants, algorithm, waiting, and who waits for whom. The text
   may change with every version. Thread safety: any thread.
     HIERBAR_ERR_INVALID    barrier or print is NULL
     HIERBAR_ERR_NO_MEMORY */
HIERBAR_API hierbar_status hierbar_barrier_describe(const hierbar_barrier *barrier,
                                                    hierbar_line_fn print, void *context);

/* ---- use ----

   Of all functions below, unless they say something else:
     Thread safety    each participant is used by one thread at a time; different participants at
                      the same time.
     Progress         blocking. A wait ends when all participants have arrived, or when the barrier
                      is aborted; there is no time-out.
     Memory ordering  what any participant wrote before it called, non-temporal stores included, is
                      visible to every participant whose call returned HIERBAR_OK. HIERBAR_ABORTED
                      promises nothing.
     Cost             of "hier": one line transfer per edge of the tree and direction, and k (k - 1)
                      between the k leaders; few participants, or few in one domain, are all
                      leaders, and an episode is one transfer deep. Where participants outnumber
                      cpus: one atomic addition and one poll each. The depth is printed by
                      hierbar_barrier_describe(). No allocation; system calls only to yield, to
                      sleep and to wake. */

/* Payload bits that participants may pass: 0 .. HIERBAR_BITS_MASK. */
#define HIERBAR_BITS_MASK 63u

/* Waits until all participants have called it for this episode.
     HIERBAR_ABORTED        the barrier was aborted
     HIERBAR_ERR_INVALID    barrier is NULL; participant >= num_participants */
HIERBAR_API hierbar_status hierbar_barrier_wait(hierbar_barrier *barrier, uint32_t participant);

/* Like hierbar_barrier_wait(), and sets *all_bits to the OR of the bits of all participants.
   all_bits may be NULL. In one episode some participants may call hierbar_barrier_wait() instead,
   which adds no bits.
     HIERBAR_ABORTED          the barrier was aborted
     HIERBAR_ERR_INVALID      barrier is NULL; participant >= num_participants; bits >
                              HIERBAR_BITS_MASK
     HIERBAR_ERR_UNSUPPORTED  the algorithm is not hier */
HIERBAR_API hierbar_status hierbar_barrier_wait_bits(hierbar_barrier *barrier, uint32_t participant,
                                                     uint32_t bits, uint32_t *all_bits);

/* The first half of an episode in two halves, for work that one participant does while the others
   wait. Participant 0 returns when all have called it, and *all_bits is the OR of all bits. The
   others return as soon as the participants below them in the tree have arrived (most of them at
   once), and get the bits of those participants. all_bits may be NULL. Then all call
   hierbar_barrier_release(). Half of the cost above. What the others wrote is visible to
   participant 0 only.
     errors: as hierbar_barrier_wait_bits() */
HIERBAR_API hierbar_status hierbar_barrier_gather(hierbar_barrier *barrier, uint32_t participant,
                                                  uint32_t bits, uint32_t *all_bits);

/* The second half: participant 0 ends the episode with `bits`, and the others wait for that; their
   own bits are ignored. *released_bits is set to participant 0's bits; it may be NULL. Visible
   afterwards: what any participant wrote before its gather, and participant 0 before its release.
     errors: as hierbar_barrier_wait_bits() */
HIERBAR_API hierbar_status hierbar_barrier_release(hierbar_barrier *barrier, uint32_t participant,
                                                   uint32_t bits, uint32_t *released_bits);

/* ---- collectives ----

   Calls that carry data, among the participants of a barrier that was made with
   attributes.collectives = 1. Barriers and collectives may come in any order, the same for all
   participants. The engine serves collectives whatever attributes.algorithm is. What is said above
   of all functions holds, and also:
     Arguments        Equal in all participants, except `in`, `out` and `data`. Otherwise the call
                      may never end, and what it gives is undefined.
     Errors           HIERBAR_ERR_ values follow from the arguments alone: the participant has not
                      taken part, and nothing is written. An exception is a hierbar_bcast() whose
                      root has another `bytes`. With HIERBAR_ABORTED, `out` and `data` are
                      undefined.
     Order            Element i of the result is made of the elements i of all participants, in the
                      order of their numbers. So all participants get the same bits. They get them
                      again in every run with the same values and number of participants, on every
                      machine and wherever they run. What the caller has to see to: the same
                      settings of the floating-point unit (rounding, denormals) in all
                      participants. */

/* Kinds of elements. A complex number is two reals, as in C. */
typedef enum hierbar_element {
  HIERBAR_INT8 = 0,
  HIERBAR_INT16 = 1,
  HIERBAR_INT32 = 2,
  HIERBAR_INT64 = 3,
  HIERBAR_UINT8 = 4,
  HIERBAR_UINT16 = 5,
  HIERBAR_UINT32 = 6,
  HIERBAR_UINT64 = 7,
  HIERBAR_FLOAT = 8,
  HIERBAR_DOUBLE = 9,
  HIERBAR_LONG_DOUBLE = 10,
  HIERBAR_FLOAT_COMPLEX = 11,
  HIERBAR_DOUBLE_COMPLEX = 12,
  HIERBAR_LONG_DOUBLE_COMPLEX = 13,
  HIERBAR_BOOL = 14 /* C's _Bool, C++'s bool */
} hierbar_element;

/* Operations, and the elements that have them. Integers wrap around, signed ones too. Where one of
   two values is a NaN, HIERBAR_MAX and HIERBAR_MIN give that of the higher participant. */
typedef enum hierbar_operation {
  HIERBAR_SUM = 0,  /* all but HIERBAR_BOOL */
  HIERBAR_PROD = 1, /* all but HIERBAR_BOOL */
  HIERBAR_MAX = 2,  /* integers, reals */
  HIERBAR_MIN = 3,  /* integers, reals */
  HIERBAR_LAND = 4, /* integers, HIERBAR_BOOL: 1 where all are not 0, else 0 */
  HIERBAR_LOR = 5,  /* integers, HIERBAR_BOOL: 1 where one is not 0, else 0 */
  HIERBAR_LXOR = 6, /* integers, HIERBAR_BOOL: 1 where an odd number of them is not 0, else 0 */
  HIERBAR_BAND = 7, /* integers: AND of each bit */
  HIERBAR_BOR = 8,  /* integers: OR of each bit */
  HIERBAR_BXOR = 9  /* integers: XOR of each bit */
} hierbar_operation;

/* Combines the elements of all participants, and gives the result to all. `in` and `out` hold
   `count` elements, at any address; out may be in, else they do not overlap. Eight participants are
   combined from left to right, then the results of each eight: (v0 + ... + v7) + (v8 + ... + v15) +
   ... Nobody returns before all have called, so this is a barrier too.
     HIERBAR_ABORTED          the barrier was aborted
     HIERBAR_ERR_INVALID      barrier is NULL; participant >= num_participants; in or out is NULL
                              and count is not 0; element or operation is none of the above; the
                              elements do not have the operation
     HIERBAR_ERR_UNSUPPORTED  the barrier was made without attributes.collectives
     HIERBAR_ERR_TOO_LARGE    `count` elements have more than HIERBAR_MAX_COLLECTIVE_BYTES
   Cost: that of a barrier, and few bytes (two participants: 24) travel with it for nothing. With
   more than 1.5 KiB of all others together, that of two barriers. */
HIERBAR_API hierbar_status hierbar_allreduce(hierbar_barrier *barrier, uint32_t participant,
                                             const void *in, void *out, size_t count,
                                             hierbar_element element, hierbar_operation operation);

/* Combines two arrays of `count` elements: left[i] becomes the combination of left[i], from the
   lower participants, and right[i], from a higher one. Both are aligned to 16 bytes, or else to the
   largest power of two that divides the size of an element; but values of the caller lie where its
   `in` does. It must not use this barrier, nor leave by longjmp or an exception. */
typedef void (*hierbar_combine_fn)(void *context, void *left, const void *right, size_t count);

/* hierbar_allreduce() with elements and an operation of the program. Elements have no pointers to
   what other participants cannot read. `combine` need be neither commutative nor associative: it is
   always applied from left to right, ((v0 v1) v2) v3 ... Any of the participants calls it, for any
   of the elements, and several may do so for the same ones; so in all of them it must give the same
   bits for the same values. Each participant passes its own `combine` and `context`.
     HIERBAR_ABORTED          the barrier was aborted
     HIERBAR_ERR_INVALID      barrier is NULL; participant >= num_participants; in or out is NULL
                              and count is not 0; element_bytes is 0; combine is NULL
     HIERBAR_ERR_UNSUPPORTED  the barrier was made without attributes.collectives
     HIERBAR_ERR_TOO_LARGE    count * element_bytes is more than HIERBAR_MAX_COLLECTIVE_BYTES
   Cost: as hierbar_allreduce(), and about 4 KiB of the stack. */
HIERBAR_API hierbar_status hierbar_allreduce_with(hierbar_barrier *barrier, uint32_t participant,
                                                  const void *in, void *out, size_t count,
                                                  size_t element_bytes, hierbar_combine_fn combine,
                                                  void *context);

/* Gives the `bytes` bytes at the root's `data` to the `data` of all others. It is no barrier: the
   root waits for nobody, unless it is 32 calls of at most 112 bytes, or 4 others, ahead; the others
   wait for the root alone. Visible afterwards: what the root wrote before its call.
     HIERBAR_ABORTED          the barrier was aborted
     HIERBAR_ERR_INVALID      barrier is NULL; participant or root >= num_participants; data is NULL
                              and bytes is not 0; or the root's `bytes` are others: then as many
                              came as both have
     HIERBAR_ERR_UNSUPPORTED  the barrier was made without attributes.collectives
     HIERBAR_ERR_TOO_LARGE    bytes > HIERBAR_MAX_COLLECTIVE_BYTES
   Cost: one line transfer for each participant and line of data. */
HIERBAR_API hierbar_status hierbar_bcast(hierbar_barrier *barrier, uint32_t participant,
                                         uint32_t root, void *data, size_t bytes);

/* Ends all present and later waits of all processes with HIERBAR_ABORTED, permanently; for instance
   after a participant was killed. A wait that has been released already may still return
   HIERBAR_OK. Need not be called by a participant, and may be called more than once.
     HIERBAR_ERR_INVALID    barrier is NULL
   Thread safety: any thread, and signal handlers. Progress: lock-free. */
HIERBAR_API hierbar_status hierbar_barrier_abort(hierbar_barrier *barrier);

#ifdef __cplusplus
}
#endif

#endif
