# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Tests by environment variable: libomp's own ones keep their meaning, ours do what they say, and
# bad ones do no harm.

# omp_settings_test(<name> [<variable>...] [CHECK <runner option>...]): the mixed workload is right
# under these variables.
function(omp_settings_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "CHECK")
  omp_test(settings.${name} mixed_workload ENV ${arg_UNPARSED_ARGUMENTS} CHECK --expect-some ^right$ ${arg_CHECK})
endfunction()

set(used --counter fast>=400 --counter slow>=20 --counter phased>=10 --reject Warning)
set(not_used --counter reports==0)
set(no_exchange --counter fast==0 --counter slow==0 --counter phased>=400)

# ---- waiting, places, teams ----

omp_settings_test(passive OMP_WAIT_POLICY=passive CHECK ${used})
omp_settings_test(active OMP_WAIT_POLICY=active CHECK ${used})
foreach(blocktime IN ITEMS 0 1 infinite)
  omp_settings_test(blocktime_${blocktime} KMP_BLOCKTIME=${blocktime} CHECK ${used})
  omp_settings_test(blocktime_${blocktime}.trees KMP_BLOCKTIME=${blocktime} ${trees} CHECK ${used})
endforeach()
omp_settings_test(turnaround KMP_LIBRARY=turnaround CHECK ${used})
omp_settings_test(throughput KMP_LIBRARY=throughput CHECK ${used})
omp_settings_test(serial KMP_LIBRARY=serial)
omp_settings_test(no_yield KMP_USE_YIELD=0 CHECK ${used})
omp_run_alone(settings.no_yield) # its waits give up no cpu, so beside others each takes time slices
omp_settings_test(tasks_run_at_once KMP_TASKING=0 CHECK ${no_exchange})
if(tests_llvm_version VERSION_GREATER_EQUAL 22) # which warns and takes 2; libomp 19 crashes, with any barrier
  omp_settings_test(tasks_in_an_extra_barrier KMP_TASKING=1 CHECK --counter fast>=400)
endif()
omp_settings_test(cancellation OMP_CANCELLATION=true CHECK ${no_exchange})
foreach(places IN ITEMS cores threads sockets)
  omp_settings_test(places_${places} OMP_PLACES=${places} CHECK ${used})
endforeach()
omp_settings_test(places_listed OMP_PLACES={0:1},{0:2} OMP_PROC_BIND=spread CHECK ${used})
omp_settings_test(bound_to_the_primary OMP_PLACES=cores OMP_PROC_BIND=primary CHECK ${used})
omp_settings_test(bound_by_affinity KMP_AFFINITY=compact CHECK ${used})
omp_settings_test(hot_inner_teams KMP_HOT_TEAMS_MAX_LEVEL=2 CHECK ${used})
omp_settings_test(thread_limit OMP_THREAD_LIMIT=3 CHECK --counter fast>=400)
omp_settings_test(lines ${lines} CHECK ${used})
omp_settings_test(levels ${trees} HIERBAR_LEVELS=l3 CHECK ${used})

# ---- a tool looks on: the fast way tells it what the other ways tell ----

omp_test(tool barrier_oracle ARGS four_threads ENV OMP_TOOL_LIBRARIES=${program_dir}/counting_tool.so
         CHECK --counter fast>=1000 --expect "explicit barriers: 4000 begins, 4000 ends"
               --expect "explicit barrier waits: 4000 begins, 4000 ends" --expect "parallel ends: 4 begins, 4 ends")
omp_test(tool.trees mixed_workload ENV OMP_TOOL_LIBRARIES=${program_dir}/counting_tool.so ${trees}
         CHECK ${used} --expect "explicit barriers: ([0-9]+) begins, \\1 ends" --expect "reductions: ([0-9]+) begins, \\1 ends")

# ---- what is printed ----

omp_settings_test(verbose CHECK --expect "^OMP: hierbar: start: loading libhierbar.so" --expect "^OMP: hierbar: episodes:" ${used})
omp_settings_test(quiet HIERBAR_VERBOSE=0 CHECK --reject hierbar)
omp_settings_test(quiet_by_default HIERBAR_VERBOSE CHECK --reject hierbar)
omp_settings_test(display_env OMP_DISPLAY_ENV=verbose CHECK --expect "KMP_BARRIER='hier'$")
omp_settings_test(kmp_settings KMP_SETTINGS=1 CHECK --expect-some "^ *KMP_BARRIER=hier$")
omp_settings_test(display_env_unset KMP_BARRIER OMP_DISPLAY_ENV=verbose CHECK --expect "KMP_BARRIER: value is not defined$")

# ---- KMP_BARRIER ----

omp_settings_test(unset KMP_BARRIER CHECK ${not_used} --reject "Warning|hierbar")
omp_settings_test(empty KMP_BARRIER= CHECK ${not_used} --reject "Warning|hierbar")
omp_settings_test(upper_case KMP_BARRIER=HIER CHECK ${used})
foreach(pattern IN ITEMS linear tree hyper hierarchical dist)
  omp_settings_test(pattern_${pattern} KMP_BARRIER=${pattern} OMP_DISPLAY_ENV=verbose
                    CHECK ${not_used} --reject Warning --expect "KMP_PLAIN_BARRIER_PATTERN='${pattern},${pattern}'"
                          --expect "KMP_REDUCTION_BARRIER_PATTERN='${pattern},${pattern}'")
endforeach()
omp_settings_test(unknown_pattern KMP_BARRIER=foo
                  CHECK ${not_used} --expect "Warning.*KMP_BARRIER.*foo.*hier.*linear.*dist.*using the default barrier")
omp_settings_test(prefix_is_no_name KMP_BARRIER=hie CHECK ${not_used} --expect "Warning.*KMP_BARRIER")
omp_settings_test(warnings_off KMP_BARRIER=foo KMP_WARNINGS=off CHECK ${not_used} --reject "Warning|foo")
omp_settings_test(with_pattern_variable KMP_PLAIN_BARRIER_PATTERN=tree,tree
                  CHECK --counter fast>=400 --expect "Warning.*KMP_PLAIN_BARRIER_PATTERN.*tree,tree.*KMP_BARRIER=hier")
omp_settings_test(with_all_pattern_variables KMP_PLAIN_BARRIER_PATTERN=dist,dist KMP_FORKJOIN_BARRIER_PATTERN=dist,dist
                  KMP_REDUCTION_BARRIER_PATTERN=dist,dist CHECK --counter fast>=400 --expect "Warning.*_BARRIER_PATTERN")
omp_settings_test(pattern_variable_alone KMP_BARRIER KMP_PLAIN_BARRIER_PATTERN=hier,hier OMP_DISPLAY_ENV=verbose
                  CHECK ${not_used} --reject Warning --expect "KMP_PLAIN_BARRIER_PATTERN='hierarchical,hierarchical'")

# ---- bad values of our own variables: a warning that names variable and value, and the program
# runs on the barrier ----

omp_settings_test(bad_verbose HIERBAR_VERBOSE=maybe CHECK ${not_used} --expect "Warning.*HIERBAR_VERBOSE.*maybe")
omp_settings_test(bad_region HIERBAR_REGION=maybe CHECK --counter fast>=400 --expect "Warning.*HIERBAR_REGION.*maybe.*on, off; using on")
foreach(setting IN ITEMS HIERBAR_LEVELS=l9 HIERBAR_RELEASE=x HIERBAR_TOPOLOGY=/nonexistent.xml HIERBAR_TOPOLOGY=pack:zzz)
  string(REPLACE "=" ";" parts ${setting})
  list(GET parts 0 name)
  list(GET parts 1 value)
  string(MAKE_C_IDENTIFIER ${setting} test)
  omp_settings_test(bad.${test} ${setting} CHECK --counter fast>=400 --expect "Warning.*${name}.*${value}")
  omp_settings_test(bad.${test}.not_verbose ${setting} HIERBAR_VERBOSE CHECK --expect "Warning.*${name}.*${value}")
  omp_settings_test(bad.${test}.warnings_off ${setting} KMP_WARNINGS=off CHECK --counter fast>=400 --reject "Warning|${name}")
endforeach()
omp_settings_test(algorithm_hier HIERBAR_ALGORITHM=hier CHECK ${used})
omp_settings_test(algorithm_other HIERBAR_ALGORITHM=mcs
                  CHECK --counter fast>=400 --expect "Warning.*HIERBAR_ALGORITHM.*mcs.*hier.*KMP_BARRIER=hier.*using hier")
omp_settings_test(algorithm_other.not_used KMP_BARRIER=hyper HIERBAR_ALGORITHM=mcs CHECK ${not_used} --reject "Warning|hierbar")
set(no_package "HIERBAR_TOPOLOGY=core:2 pu:1" HIERBAR_LEVELS=package)
omp_settings_test(level_without_units ${no_package} CHECK --counter fast>=400 --expect "Warning.*HIERBAR_LEVELS.*package")
omp_settings_test(level_without_units.not_verbose ${no_package} HIERBAR_VERBOSE CHECK --expect "Warning.*HIERBAR_LEVELS.*package")

# ---- libhierbar.so: missing, not a library, of another version ----

set(refused ${not_used} --expect "Warning.*KMP_BARRIER=hier.*libhierbar.so.*using the default barrier")
omp_settings_test(library_missing CHECK --beside none ${refused})
omp_settings_test(library_is_text CHECK --beside ${CMAKE_CURRENT_SOURCE_DIR}/programs/check.hpp ${refused})
omp_settings_test(library_of_other_version CHECK --beside $<TARGET_FILE:other_abi> ${refused})
omp_settings_test(library_missing.not_needed KMP_BARRIER=hyper CHECK --beside none ${not_used} --reject "Warning|hierbar")
if(gcc)
  omp_test(settings.gcc mixed_workload_gcc CHECK --expect-some ^right$ ${used})
endif()
