% Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
% SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
%
% Products and decompositions of small matrices by OpenBLAS with OpenMP's threads.
%
% /// row octave
% title = "Octave, OpenBLAS"
% debian = ["octave", "libopenblas0-openmp"]
% command = ["octave-cli", "--quiet", "--no-init-file", "{file}"]
% # OpenBLAS for pthreads may be the machine's default.
% environment.LD_LIBRARY_PATH = """\
% /usr/lib/x86_64-linux-gnu/openblas-openmp:/usr/lib/aarch64-linux-gnu/openblas-openmp"""
% time = 'seconds: ([0-9.]+)'
% tolerance = 1e-9
% ///
%
% Systems of 160 equations, each of which costs OpenBLAS some parallel regions.
size_of = 160;
state = sin((1:size_of)' * (1:size_of)) + size_of * eye(size_of);
sum_of = 0;
tic;
for step = 1:100
  product = state * state' / size_of;
  solved = product \ state(:, 1);
  sum_of = sum_of + solved(1 + mod(step, size_of));
end
printf("seconds: %.6f\n", toc);
printf("sum: %.12f\n", sum_of);
