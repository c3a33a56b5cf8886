/* Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
   SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef HIERBAR_MPI_H
#define HIERBAR_MPI_H

/* One barrier for all threads of all ranks of a communicator, and collectives. It takes the place
   of

       #pragma omp barrier
       #pragma omp master
       MPI_Barrier(comm);
       #pragma omp barrier

   and inside a node one episode replaces these three. libhierbar_mpi.so (MPICH and libraries of its
   ABI), libhierbar_mpi_ompi.so (Open MPI) and libhierbar_mpi_abi.so (MPI's standard ABI) all have
   it, and libhierbar_mpi_any.so opens the one that fits. Link with one of the four, before the MPI
   library. Or define HIERBAR_MPI_WEAK before this header is included: the program then links with
   none, has the functions if one of the libraries is preloaded, and otherwise finds them NULL.
   See docs/guide/hybrid.md.

   All ranks create a team together, and each rank passes its number of threads; the numbers may
   differ. The threads of a rank are numbered from 0. Each thread joins, on the cpus where it will
   run, and then takes part in the barriers.

   The barrier is not an OpenMP barrier: it runs no tasks and completes none (no taskwait), and it
   is not a cancellation point. For MPI it is a collective call on the communicator, by all threads
   together.

   Errors are returned, as MPI's error classes; no error handler is called. The first of each kind
   is explained on standard error.

   Thread levels (MPI_Init_thread).
     MPI_THREAD_SINGLE      hierbar_team_create() returns an error.
     MPI_THREAD_FUNNELED    Thread 0 of each rank must be MPI's main thread. It alone calls MPI.
     MPI_THREAD_SERIALIZED  The team calls MPI only while all threads of this process that belong to
                            it are in the barrier, from one of them at a time. Other threads of the
                            process must not call MPI meanwhile.
     MPI_THREAD_MULTIPLE    Any thread that waits may call MPI, one at a time in each process.
   While threads wait, these calls make MPI progress, so that pending messages and one-sided
   accesses complete. */

#include <mpi.h>

#ifdef HIERBAR_MPI_WEAK
#define HIERBAR_MPI_API __attribute__((weak))
#else
#define HIERBAR_MPI_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* A team. The value is not an address, and that of a freed team is recognised. */
typedef struct hierbar_team_handle *hierbar_team;
#define HIERBAR_TEAM_NULL ((hierbar_team)0)

/* The most threads of one rank. */
#define HIERBAR_TEAM_MAX_THREADS 65536

/* Makes a team. Collective over `comm`, called by one thread of each rank. num_threads is the
   number of threads of this rank, 1 .. HIERBAR_TEAM_MAX_THREADS; the sum over all ranks of a node
   has the same limit. `comm` is an intracommunicator and must exist as long as the team is used.
   *team is set to HIERBAR_TEAM_NULL on every error, and an error is the same in all ranks.
     MPI_ERR_COMM    comm is MPI_COMM_NULL, not a communicator, or an intercommunicator (not
                     collective)
     MPI_ERR_COUNT   num_threads of some rank is out of range
     MPI_ERR_ARG     `team` is NULL in some rank
     MPI_ERR_OTHER   the thread level of some rank is MPI_THREAD_SINGLE, or MPI is not initialised
                     or already finalised
     MPI_ERR_NO_MEM  a process has no memory, or more than a thousand teams
     MPI_ERR_INTERN  the MPI library's communication failed
   If hierbar's barrier cannot be used (HIERBAR_MPI=off, no memory under /dev/shm, fault tolerance),
   the team still works: the threads of each process meet, and the ranks in the
   MPI library's barrier. The reason is printed once.
   Thread safety: as a collective call on comm. */
HIERBAR_MPI_API int hierbar_team_create(MPI_Comm comm, int num_threads, hierbar_team *team);

/* Gives the calling thread the number `thread` of its rank. Each thread calls it before its first
   barrier, bound to the cpus where it will run: the team's plan follows the binding. Call it again
   between two barriers after the thread has moved. Another thread may take over the number in the
   same way. The barriers after the next one follow the new bindings. Local.
     MPI_ERR_ARG     team is not a team
     MPI_ERR_RANK    thread is out of range: num_threads of hierbar_team_create() or more
     MPI_ERR_OTHER   the number is taken: a thread has joined with it and has not called a barrier
                     since, or is in one. Or the level is MPI_THREAD_FUNNELED, thread is 0, and the
                     caller is not MPI's main thread
   Thread safety: any thread; two threads with one number only if the program orders them. */
HIERBAR_MPI_API int hierbar_team_join(hierbar_team team, int thread);

/* Returns when all threads of all ranks have called it.
     MPI_ERR_ARG     team is not a team
     MPI_ERR_RANK    thread is out of range
     MPI_ERR_OTHER   the calling thread has not joined with this number. Or the ranks of several
                     nodes could not meet: all threads of the nodes that detected this return it
     MPI_ERR_COMM    the team's communicator has been freed
   After one of the first three, the barrier does not take place for this thread: the others wait.
   With HIERBAR_TIMEOUT_S, one of them prints which threads of which ranks are missing. Thread
   safety: each number is used by one thread at a time. Progress: blocking, there is no time-out. A
   waiter polls, makes MPI progress, yields and sleeps. Memory ordering: what any thread of the team
   wrote before its call is visible to all threads whose call has returned MPI_SUCCESS, as far as
   they share memory. */
HIERBAR_MPI_API int hierbar_team_barrier(hierbar_team team, int thread);

/* Combines what all threads of all ranks bring, and gives all of them the result: as MPI_Allreduce
   would, if each thread were a rank. The threads are numbered rank after rank of the communicator,
   and values are combined in this order, in blocks of eight by their number and then the blocks. So
   all threads get the same bits, and they get them again with other bindings, and with the ranks on
   other nodes.
   count, datatype and op are the same in all threads. datatype is predefined and so is op, as MPI
   allows them for each other; MINLOC and MAXLOC with pairs are among them. sendbuf and recvbuf hold
   `count` elements. sendbuf may be recvbuf, or MPI_IN_PLACE, which is the same. Nothing is read or
   written beyond `count` elements. After an error the contents of recvbuf are undefined.
     MPI_ERR_ARG     team is not a team
     MPI_ERR_RANK    thread is out of range
     MPI_ERR_COUNT   count is negative
     MPI_ERR_TYPE    datatype is not predefined
     MPI_ERR_OP      op is not predefined, or hierbar does not have it for the datatype
     MPI_ERR_BUFFER  count is not 0 and a buffer is NULL, or recvbuf is MPI_IN_PLACE
     MPI_ERR_OTHER   as hierbar_team_barrier()
     MPI_ERR_COMM    as hierbar_team_barrier()
     MPI_ERR_NO_MEM  some thread got no memory for it; all threads of all ranks return this, and may
                     call it again
   After one of the first six, or where the calling thread has not joined, it does not take place
   for this thread: the others wait.
   It returns when all threads of all ranks have called it, also if count is 0. Each 4096 bytes are
   one step, which costs a barrier at least; with several nodes a step has less where the team has
   more than 256 threads. The first collective allocates memory, and so may the first one after a
   join: about 24 KiB for each thread under /dev/shm. Of what a thread does when it joins again, the
   next barrier or broadcast makes a new plan. Thread safety, progress and memory ordering are those
   of hierbar_team_barrier(). */
HIERBAR_MPI_API int hierbar_team_allreduce(hierbar_team team, int thread, const void *sendbuf,
                                           void *recvbuf, int count, MPI_Datatype datatype,
                                           MPI_Op op);

/* Gives all threads of all ranks what one of them has: thread root_thread of rank root_rank of the
   communicator. count, datatype and the root are the same in all threads; datatype is predefined.
   `buffer` holds `count` elements. It is read in the root and written in all others.
     MPI_ERR_ROOT    root_rank is no rank of the communicator, or root_thread none of its threads
   All else is as hierbar_team_allreduce() has it. So nobody returns before all have called it, the
   root neither. */
HIERBAR_MPI_API int hierbar_team_bcast(hierbar_team team, int thread, void *buffer, int count,
                                       MPI_Datatype datatype, int root_rank, int root_thread);

/* Ends a team, and sets *team to HIERBAR_TEAM_NULL. Collective over the team's communicator: called
   by one thread of each rank, when all threads of that rank have left their last barrier. Before
   MPI_Finalize(), which ends the teams that are left.
     MPI_ERR_ARG      team is NULL, or *team is not a team
     MPI_ERR_PENDING  threads of this process are in the team's barrier; the team stays
   Thread safety: as a collective call on the communicator. */
HIERBAR_MPI_API int hierbar_team_free(hierbar_team *team);

/* The same with handles as Fortran has them, for the module hierbar_mpi. The standard ABI has no
   MPI_Fint. */
HIERBAR_MPI_API int hierbar_team_create_fortran(const int *comm, int num_threads,
                                                hierbar_team *team);
HIERBAR_MPI_API int hierbar_team_allreduce_fortran(hierbar_team team, int thread,
                                                   const void *sendbuf, void *recvbuf, int count,
                                                   const int *datatype, const int *op);
HIERBAR_MPI_API int hierbar_team_bcast_fortran(hierbar_team team, int thread, void *buffer,
                                               int count, const int *datatype, int root_rank,
                                               int root_thread);

#ifdef __cplusplus
}
#endif

#endif
