/* Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
   SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */

/* What an attacker would like to have loaded. It makes the file PLANTED_MARKER with the rights of
   the program that loads it. */

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

__attribute__((constructor)) static void leave_marker(void) {
  const char *marker = getenv("PLANTED_MARKER");
  if (marker != NULL) close(open(marker, O_WRONLY | O_CREAT, 0666));
}
