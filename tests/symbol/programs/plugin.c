// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A library with a region: for loader.c, and a module of Python's if it is built with its headers.

#ifdef HIERBAR_PYTHON_MODULE
#include <Python.h>
#endif

static int values[4];

void work(void) {
#pragma omp parallel num_threads(2)
  for (int i = 0; i < 100; i++) {
    __atomic_fetch_add(&values[0], 1, __ATOMIC_RELAXED);
#pragma omp barrier  // library
    __atomic_fetch_add(&values[1], 1, __ATOMIC_RELAXED);
  }
}

#ifdef HIERBAR_PYTHON_MODULE
static PyObject* call_work(PyObject* self, PyObject* arguments) {
  (void)self;
  (void)arguments;
  work();
  Py_RETURN_NONE;
}

static PyMethodDef methods[] = {{"work", call_work, METH_NOARGS, ""}, {0, 0, 0, 0}};
static struct PyModuleDef definition = {
    .m_base = PyModuleDef_HEAD_INIT, .m_name = "plugin", .m_size = -1, .m_methods = methods};

PyMODINIT_FUNC PyInit_plugin(void) { return PyModule_Create(&definition); }
#endif
