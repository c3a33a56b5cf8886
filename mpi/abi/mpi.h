/* Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
   SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef HIERBAR_MPI_ABI_H
#define HIERBAR_MPI_ABI_H

/* The part of MPI's standard ABI that libhierbar_mpi_abi.so uses: version 1.0, which MPI 5.0
   defines. Values are those of the tables in the standard's Appendix A, so no MPI library need be
   installed to build the shim. tests/mpi/abi compares them with an installed header.

   It is not for programs: it has no more than the shim and its tests need. */

#include <stdint.h>

#define MPI_VERSION 5
#define MPI_SUBVERSION 0
#define MPI_ABI_VERSION 1
#define MPI_ABI_SUBVERSION 0

#ifdef __cplusplus
extern "C" {
#endif

typedef intptr_t MPI_Aint;
typedef int64_t MPI_Offset;
typedef int64_t MPI_Count;
/* Fortran's INTEGER is no part of the ABI. This is what compilers make of it by default. */
typedef int MPI_Fint;

typedef struct {
  int MPI_SOURCE;
  int MPI_TAG;
  int MPI_ERROR;
  int MPI_internal[5];
} MPI_Status;

/* Handles are addresses of types that are never complete. Those of predefined objects are small
   numbers, which are no addresses of anything. */
typedef struct MPI_ABI_Comm* MPI_Comm;
typedef struct MPI_ABI_Datatype* MPI_Datatype;
typedef struct MPI_ABI_Errhandler* MPI_Errhandler;
typedef struct MPI_ABI_Group* MPI_Group;
typedef struct MPI_ABI_Info* MPI_Info;
typedef struct MPI_ABI_Op* MPI_Op;
typedef struct MPI_ABI_Request* MPI_Request;
typedef struct MPI_ABI_Session* MPI_Session;

/* clang-format off */
#define MPI_OP_NULL                 ((MPI_Op)0x20)
#define MPI_SUM                     ((MPI_Op)0x21)
#define MPI_MIN                     ((MPI_Op)0x22)
#define MPI_MAX                     ((MPI_Op)0x23)
#define MPI_PROD                    ((MPI_Op)0x24)
#define MPI_BAND                    ((MPI_Op)0x28)
#define MPI_BOR                     ((MPI_Op)0x29)
#define MPI_BXOR                    ((MPI_Op)0x2a)
#define MPI_LAND                    ((MPI_Op)0x30)
#define MPI_LOR                     ((MPI_Op)0x31)
#define MPI_LXOR                    ((MPI_Op)0x32)
#define MPI_MINLOC                  ((MPI_Op)0x38)
#define MPI_MAXLOC                  ((MPI_Op)0x39)
#define MPI_REPLACE                 ((MPI_Op)0x3c)
#define MPI_NO_OP                   ((MPI_Op)0x3d)

#define MPI_COMM_NULL               ((MPI_Comm)0x100)
#define MPI_COMM_WORLD              ((MPI_Comm)0x101)
#define MPI_COMM_SELF               ((MPI_Comm)0x102)
#define MPI_GROUP_NULL              ((MPI_Group)0x108)
#define MPI_SESSION_NULL            ((MPI_Session)0x120)
#define MPI_INFO_NULL               ((MPI_Info)0x130)
#define MPI_ERRHANDLER_NULL         ((MPI_Errhandler)0x140)
#define MPI_ERRORS_RETURN           ((MPI_Errhandler)0x143)
#define MPI_REQUEST_NULL            ((MPI_Request)0x180)

/* Types of C and C++, and those of Fortran whose size a compiler chooses. */
#define MPI_DATATYPE_NULL           ((MPI_Datatype)0x200)
#define MPI_AINT                    ((MPI_Datatype)0x201)
#define MPI_COUNT                   ((MPI_Datatype)0x202)
#define MPI_OFFSET                  ((MPI_Datatype)0x203)
#define MPI_PACKED                  ((MPI_Datatype)0x207)
#define MPI_SHORT                   ((MPI_Datatype)0x208)
#define MPI_INT                     ((MPI_Datatype)0x209)
#define MPI_LONG                    ((MPI_Datatype)0x20a)
#define MPI_LONG_LONG               ((MPI_Datatype)0x20b)
#define MPI_LONG_LONG_INT           MPI_LONG_LONG
#define MPI_UNSIGNED_SHORT          ((MPI_Datatype)0x20c)
#define MPI_UNSIGNED                ((MPI_Datatype)0x20d)
#define MPI_UNSIGNED_LONG           ((MPI_Datatype)0x20e)
#define MPI_UNSIGNED_LONG_LONG      ((MPI_Datatype)0x20f)
#define MPI_FLOAT                   ((MPI_Datatype)0x210)
#define MPI_C_FLOAT_COMPLEX         ((MPI_Datatype)0x212)
#define MPI_C_COMPLEX               MPI_C_FLOAT_COMPLEX
#define MPI_CXX_FLOAT_COMPLEX       ((MPI_Datatype)0x213)
#define MPI_DOUBLE                  ((MPI_Datatype)0x214)
#define MPI_C_DOUBLE_COMPLEX        ((MPI_Datatype)0x216)
#define MPI_CXX_DOUBLE_COMPLEX      ((MPI_Datatype)0x217)
#define MPI_LOGICAL                 ((MPI_Datatype)0x218)
#define MPI_INTEGER                 ((MPI_Datatype)0x219)
#define MPI_REAL                    ((MPI_Datatype)0x21a)
#define MPI_COMPLEX                 ((MPI_Datatype)0x21b)
#define MPI_DOUBLE_PRECISION        ((MPI_Datatype)0x21c)
#define MPI_DOUBLE_COMPLEX          ((MPI_Datatype)0x21d)
#define MPI_CHARACTER               ((MPI_Datatype)0x21e)
#define MPI_LONG_DOUBLE             ((MPI_Datatype)0x220)
#define MPI_C_LONG_DOUBLE_COMPLEX   ((MPI_Datatype)0x224)
#define MPI_CXX_LONG_DOUBLE_COMPLEX ((MPI_Datatype)0x225)
#define MPI_FLOAT_INT               ((MPI_Datatype)0x228)
#define MPI_DOUBLE_INT              ((MPI_Datatype)0x229)
#define MPI_LONG_INT                ((MPI_Datatype)0x22a)
#define MPI_2INT                    ((MPI_Datatype)0x22b)
#define MPI_SHORT_INT               ((MPI_Datatype)0x22c)
#define MPI_LONG_DOUBLE_INT         ((MPI_Datatype)0x22d)
#define MPI_2REAL                   ((MPI_Datatype)0x230)
#define MPI_2DOUBLE_PRECISION       ((MPI_Datatype)0x231)
#define MPI_2INTEGER                ((MPI_Datatype)0x232)
#define MPI_C_BOOL                  ((MPI_Datatype)0x238)
#define MPI_CXX_BOOL                ((MPI_Datatype)0x239)
#define MPI_WCHAR                   ((MPI_Datatype)0x23c)
/* Types of one size. Bits 3 to 5 are its logarithm. */
#define MPI_INT8_T                  ((MPI_Datatype)0x240)
#define MPI_UINT8_T                 ((MPI_Datatype)0x241)
#define MPI_CHAR                    ((MPI_Datatype)0x243)
#define MPI_SIGNED_CHAR             ((MPI_Datatype)0x244)
#define MPI_UNSIGNED_CHAR           ((MPI_Datatype)0x245)
#define MPI_BYTE                    ((MPI_Datatype)0x247)
#define MPI_INT16_T                 ((MPI_Datatype)0x248)
#define MPI_UINT16_T                ((MPI_Datatype)0x249)
#define MPI_INT32_T                 ((MPI_Datatype)0x250)
#define MPI_UINT32_T                ((MPI_Datatype)0x251)
#define MPI_INT64_T                 ((MPI_Datatype)0x258)
#define MPI_UINT64_T                ((MPI_Datatype)0x259)
#define MPI_LOGICAL1                ((MPI_Datatype)0x2c0)
#define MPI_INTEGER1                ((MPI_Datatype)0x2c1)
#define MPI_LOGICAL2                ((MPI_Datatype)0x2c8)
#define MPI_INTEGER2                ((MPI_Datatype)0x2c9)
#define MPI_LOGICAL4                ((MPI_Datatype)0x2d0)
#define MPI_INTEGER4                ((MPI_Datatype)0x2d1)
#define MPI_REAL4                   ((MPI_Datatype)0x2d2)
#define MPI_LOGICAL8                ((MPI_Datatype)0x2d8)
#define MPI_INTEGER8                ((MPI_Datatype)0x2d9)
#define MPI_REAL8                   ((MPI_Datatype)0x2da)
#define MPI_COMPLEX8                ((MPI_Datatype)0x2db)
#define MPI_REAL16                  ((MPI_Datatype)0x2e2)
#define MPI_COMPLEX16               ((MPI_Datatype)0x2e3)
#define MPI_COMPLEX32               ((MPI_Datatype)0x2eb)
/* clang-format on */

/* Of type int in expressions of C++ too, as in the other families. */
#define MPI_SUCCESS 0
#define MPI_ERR_BUFFER 1
#define MPI_ERR_COUNT 2
#define MPI_ERR_TYPE 3
#define MPI_ERR_COMM 5
#define MPI_ERR_RANK 6
#define MPI_ERR_ROOT 8
#define MPI_ERR_OP 10
#define MPI_ERR_ARG 13
#define MPI_ERR_TRUNCATE 15
#define MPI_ERR_OTHER 16
#define MPI_ERR_INTERN 17
#define MPI_ERR_PENDING 18
#define MPI_ERR_KEYVAL 36
#define MPI_ERR_NO_MEM 39

#define MPI_PROC_NULL (-3)
#define MPI_UNDEFINED (-32766)
#define MPI_KEYVAL_INVALID 0
#define MPI_THREAD_SINGLE 0
#define MPI_THREAD_FUNNELED 1024
#define MPI_THREAD_SERIALIZED 2048
#define MPI_THREAD_MULTIPLE 4096

#define MPI_IN_PLACE ((void*)1)
#define MPI_STATUS_IGNORE ((MPI_Status*)0)
#define MPI_STATUSES_IGNORE ((MPI_Status*)0)

#define MPI_MAX_INFO_VAL 1024
#define MPI_MAX_LIBRARY_VERSION_STRING 8192
#define MPI_MAX_OBJECT_NAME 128

typedef int MPI_Comm_copy_attr_function(MPI_Comm comm, int keyval, void* extra, void* value_in,
                                        void* value_out, int* flag);
typedef int MPI_Comm_delete_attr_function(MPI_Comm comm, int keyval, void* value, void* extra);

/* What the shim calls, or passes on. Each function has a second name, for tools. */
#define HIERBAR_MPI_DECLARE(name, ...) \
  int MPI_##name(__VA_ARGS__);         \
  int PMPI_##name(__VA_ARGS__)

HIERBAR_MPI_DECLARE(Abi_get_version, int* major, int* minor);
HIERBAR_MPI_DECLARE(Abi_get_fortran_info, MPI_Info* info);
HIERBAR_MPI_DECLARE(Abort, MPI_Comm comm, int status);
HIERBAR_MPI_DECLARE(Allgather, const void* in, int in_count, MPI_Datatype in_type, void* out,
                    int out_count, MPI_Datatype out_type, MPI_Comm comm);
HIERBAR_MPI_DECLARE(Allgather_c, const void* in, MPI_Count in_count, MPI_Datatype in_type,
                    void* out, MPI_Count out_count, MPI_Datatype out_type, MPI_Comm comm);
HIERBAR_MPI_DECLARE(Allreduce, const void* in, void* out, int count, MPI_Datatype type, MPI_Op op,
                    MPI_Comm comm);
HIERBAR_MPI_DECLARE(Allreduce_c, const void* in, void* out, MPI_Count count, MPI_Datatype type,
                    MPI_Op op, MPI_Comm comm);
HIERBAR_MPI_DECLARE(Alltoall, const void* in, int in_count, MPI_Datatype in_type, void* out,
                    int out_count, MPI_Datatype out_type, MPI_Comm comm);
HIERBAR_MPI_DECLARE(Alltoall_c, const void* in, MPI_Count in_count, MPI_Datatype in_type, void* out,
                    MPI_Count out_count, MPI_Datatype out_type, MPI_Comm comm);
HIERBAR_MPI_DECLARE(Barrier, MPI_Comm comm);
HIERBAR_MPI_DECLARE(Bcast, void* data, int count, MPI_Datatype type, int root, MPI_Comm comm);
HIERBAR_MPI_DECLARE(Bcast_c, void* data, MPI_Count count, MPI_Datatype type, int root,
                    MPI_Comm comm);
HIERBAR_MPI_DECLARE(Buffer_attach, void* buffer, int size);
HIERBAR_MPI_DECLARE(Cancel, MPI_Request* request);
HIERBAR_MPI_DECLARE(Comm_call_errhandler, MPI_Comm comm, int error);
HIERBAR_MPI_DECLARE(Comm_create_group, MPI_Comm comm, MPI_Group group, int tag, MPI_Comm* made);
HIERBAR_MPI_DECLARE(Comm_create_keyval, MPI_Comm_copy_attr_function* copy,
                    MPI_Comm_delete_attr_function* forget, int* keyval, void* extra);
HIERBAR_MPI_DECLARE(Comm_delete_attr, MPI_Comm comm, int keyval);
HIERBAR_MPI_DECLARE(Comm_disconnect, MPI_Comm* comm);
HIERBAR_MPI_DECLARE(Comm_dup, MPI_Comm comm, MPI_Comm* made);
HIERBAR_MPI_DECLARE(Comm_free, MPI_Comm* comm);
HIERBAR_MPI_DECLARE(Comm_free_keyval, int* keyval);
MPI_Comm MPI_Comm_fromint(int comm);
MPI_Comm PMPI_Comm_fromint(int comm);
HIERBAR_MPI_DECLARE(Comm_get_attr, MPI_Comm comm, int keyval, void* value, int* flag);
HIERBAR_MPI_DECLARE(Comm_get_errhandler, MPI_Comm comm, MPI_Errhandler* handler);
HIERBAR_MPI_DECLARE(Comm_get_name, MPI_Comm comm, char* name, int* length);
HIERBAR_MPI_DECLARE(Comm_group, MPI_Comm comm, MPI_Group* group);
HIERBAR_MPI_DECLARE(Comm_rank, MPI_Comm comm, int* rank);
HIERBAR_MPI_DECLARE(Comm_set_attr, MPI_Comm comm, int keyval, void* value);
HIERBAR_MPI_DECLARE(Comm_set_errhandler, MPI_Comm comm, MPI_Errhandler handler);
HIERBAR_MPI_DECLARE(Comm_size, MPI_Comm comm, int* size);
HIERBAR_MPI_DECLARE(Comm_split, MPI_Comm comm, int colour, int key, MPI_Comm* made);
HIERBAR_MPI_DECLARE(Comm_test_inter, MPI_Comm comm, int* flag);
HIERBAR_MPI_DECLARE(Errhandler_free, MPI_Errhandler* handler);
HIERBAR_MPI_DECLARE(Error_class, int error, int* error_class);
HIERBAR_MPI_DECLARE(Finalize, void);
HIERBAR_MPI_DECLARE(Finalized, int* flag);
HIERBAR_MPI_DECLARE(Gather, const void* in, int in_count, MPI_Datatype in_type, void* out,
                    int out_count, MPI_Datatype out_type, int root, MPI_Comm comm);
HIERBAR_MPI_DECLARE(Gather_c, const void* in, MPI_Count in_count, MPI_Datatype in_type, void* out,
                    MPI_Count out_count, MPI_Datatype out_type, int root, MPI_Comm comm);
HIERBAR_MPI_DECLARE(Gatherv, const void* in, int in_count, MPI_Datatype in_type, void* out,
                    const int* counts, const int* places, MPI_Datatype out_type, int root,
                    MPI_Comm comm);
HIERBAR_MPI_DECLARE(Get_library_version, char* text, int* length);
HIERBAR_MPI_DECLARE(Group_free, MPI_Group* group);
HIERBAR_MPI_DECLARE(Group_incl, MPI_Group group, int num_ranks, const int* ranks, MPI_Group* made);
HIERBAR_MPI_DECLARE(Group_translate_ranks, MPI_Group from, int num_ranks, const int* ranks,
                    MPI_Group to, int* translated);
HIERBAR_MPI_DECLARE(Info_free, MPI_Info* info);
HIERBAR_MPI_DECLARE(Info_get, MPI_Info info, const char* key, int length, char* value, int* flag);
HIERBAR_MPI_DECLARE(Initialized, int* flag);
HIERBAR_MPI_DECLARE(Irecv, void* buffer, int count, MPI_Datatype type, int from, int tag,
                    MPI_Comm comm, MPI_Request* request);
HIERBAR_MPI_DECLARE(Is_thread_main, int* flag);
HIERBAR_MPI_DECLARE(Isend, const void* data, int count, MPI_Datatype type, int to, int tag,
                    MPI_Comm comm, MPI_Request* request);
HIERBAR_MPI_DECLARE(Pack, const void* in, int count, MPI_Datatype type, void* out, int bytes,
                    int* position, MPI_Comm comm);
HIERBAR_MPI_DECLARE(Query_thread, int* level);
HIERBAR_MPI_DECLARE(Reduce, const void* in, void* out, int count, MPI_Datatype type, MPI_Op op,
                    int root, MPI_Comm comm);
HIERBAR_MPI_DECLARE(Reduce_c, const void* in, void* out, MPI_Count count, MPI_Datatype type,
                    MPI_Op op, int root, MPI_Comm comm);
HIERBAR_MPI_DECLARE(Reduce_scatter_block, const void* in, void* out, int count, MPI_Datatype type,
                    MPI_Op op, MPI_Comm comm);
HIERBAR_MPI_DECLARE(Reduce_scatter_block_c, const void* in, void* out, MPI_Count count,
                    MPI_Datatype type, MPI_Op op, MPI_Comm comm);
HIERBAR_MPI_DECLARE(Request_free, MPI_Request* request);
HIERBAR_MPI_DECLARE(Request_get_status, MPI_Request request, int* flag, MPI_Status* status);
HIERBAR_MPI_DECLARE(Scatter, const void* in, int in_count, MPI_Datatype in_type, void* out,
                    int out_count, MPI_Datatype out_type, int root, MPI_Comm comm);
HIERBAR_MPI_DECLARE(Scatter_c, const void* in, MPI_Count in_count, MPI_Datatype in_type, void* out,
                    MPI_Count out_count, MPI_Datatype out_type, int root, MPI_Comm comm);
HIERBAR_MPI_DECLARE(Session_finalize, MPI_Session* session);
HIERBAR_MPI_DECLARE(Session_get_info, MPI_Session session, MPI_Info* info);
HIERBAR_MPI_DECLARE(Session_init, MPI_Info info, MPI_Errhandler handler, MPI_Session* session);
HIERBAR_MPI_DECLARE(Testall, int count, MPI_Request* requests, int* flag, MPI_Status* statuses);
HIERBAR_MPI_DECLARE(Type_commit, MPI_Datatype* type);
HIERBAR_MPI_DECLARE(Type_create_hindexed, int num_blocks, const int* lengths,
                    const MPI_Aint* distances, MPI_Datatype type, MPI_Datatype* made);
HIERBAR_MPI_DECLARE(Type_free, MPI_Datatype* type);
HIERBAR_MPI_DECLARE(Type_size, MPI_Datatype type, int* bytes);
HIERBAR_MPI_DECLARE(Unpack, const void* in, int bytes, int* position, void* out, int count,
                    MPI_Datatype type, MPI_Comm comm);
HIERBAR_MPI_DECLARE(Wait, MPI_Request* request, MPI_Status* status);

#undef HIERBAR_MPI_DECLARE

#ifdef __cplusplus
}
#endif

#endif
