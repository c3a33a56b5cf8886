# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Tests by what OpenMP promises. The counters prove that the barrier under test was used.
# ---- barriers, worksharing, reductions ----

set(oracle_cases padded_slots packed_slots changing_sizes alternating_sizes)
omp_cases(barrier_oracle CASES large_teams CHECK --counter fast==480 --counter phased==4)
omp_cases(barrier_oracle CASES ${oracle_cases} CHECK --counter fast>=1000 --counter slow==0 --counter stock==0)
omp_cases(barrier_oracle CASES ${oracle_cases} SETTING trees ENV ${trees} CHECK --counter fast>=1000)
# That these settings lead to trees, here and below.
omp_cases(barrier_oracle CASES eight_threads SETTING trees ENV ${trees} CHECK --expect "leaders +.0,4.$" --expect "release 1 .flags.")
omp_cases(barrier_oracle CASES eight_threads SETTING lines ENV ${lines} CHECK --expect "leaders +.0,4.$" --expect "release 1 .lines.")
omp_cases(barrier_oracle CASES padded_slots changing_sizes SETTING lines ENV ${lines} CHECK --counter fast>=1000)
omp_cases(barrier_oracle CASES changing_sizes SETTING blocktime_0 ENV ${trees} KMP_BLOCKTIME=0 CHECK --counter fast>=1000)

set(worksharing_cases single copyprivate sections loops_of_all_schedules ordered_loop critical_and_master)
omp_cases(worksharing CASES ${worksharing_cases} CHECK --counter fast>=1000)
# Where teams outnumber the cpus, barriers without tasks go the other way for a while after some
# with.
omp_cases(worksharing CASES tasks CHECK --counter fast>=500 --counter slow>=500)

set(reduction_cases all_operators result_is_there_after_the_loop without_a_barrier_of_the_loop user_declared_operator array_sections tasks_in_its_barrier_reduce_too)
omp_cases(reductions CASES ${reduction_cases} CHECK --counter phased>=20)
omp_cases(reductions CASES all_operators result_is_there_after_the_loop SETTING trees ENV ${trees} CHECK --counter phased>=20)
omp_cases(reductions CASES bitwise_repeatable CHECK --repeat 3 --counter phased>=600)
omp_cases(reductions CASES bitwise_repeatable SETTING forced ENV KMP_FORCE_REDUCTION=tree CHECK --repeat 3 --counter phased>=1400)
omp_cases(reductions CASES bitwise_repeatable SETTING trees ENV ${trees} KMP_FORCE_REDUCTION=tree CHECK --repeat 3
          --counter phased>=1400)

set(split_cases primary_works_between_gather_and_release nowait_form_names_the_primary tasks_are_done_when_the_primary_works)
omp_cases(split_barriers CASES ${split_cases} CHECK --counter phased>=10)
omp_cases(split_barriers CASES ${split_cases} SETTING trees ENV ${trees} CHECK --counter phased>=10)

# ---- regions ----

set(region_cases
  serialized serialized_in_a_pooled_team nested nested_with_random_sizes default_size_storm settings_reach_all_threads several_roots)
omp_cases(regions CASES ${region_cases} defaults_set_while_a_team_works CHECK --counter phased>=10)
omp_cases(regions CASES ${region_cases} SETTING hot_inner_teams ENV KMP_HOT_TEAMS_MAX_LEVEL=2 ${trees} CHECK --counter phased>=10)
omp_cases(regions CASES inner_teams_change_their_root SETTING hot_inner_teams ENV KMP_HOT_TEAMS_MAX_LEVEL=2)
omp_cases(regions CASES nested_with_random_sizes default_size_storm SETTING kept_threads ENV KMP_HOT_TEAMS_MODE=1 KMP_BLOCKTIME=0
          CHECK --counter phased>=10)

omp_test(setters.strict setters ARGS strict 100 CHECK --counter lean>=98) # once, and not for good
# Regions that repeat are lean, and each reason why one is not is found (runtime/libomp/region). The
# texts are those of kmp_hierbar_region_record.cpp.
foreach(program IN ITEMS lean_regions lean_regions_gcc)
  if(program STREQUAL lean_regions_gcc AND NOT gcc)
    continue()
  endif()
  omp_cases(${program} CASES unchanged five_arguments with_tasks fp_control_is_restored
            CHECK --counter lean==98 --counter ordinary==2 --expect "because its size was another one")
  omp_cases(${program} CASES tasks_round_as_their_region CHECK --expect "because it was in a task")
  omp_cases(${program} CASES unchanged with_tasks SETTING trees ENV ${trees} CHECK --counter lean==98)
  omp_cases(${program} CASES unchanged with_tasks SETTING blocktime_0 ENV KMP_BLOCKTIME=0 CHECK --counter lean==98)
  omp_cases(${program} CASES size_by_call size_by_clause size_set_to_and_fro CHECK --counter lean==98 --expect "because its size was another")
  foreach(case reason IN ZIP_LISTS
          "icvs;allocator;fp_control;settings;paused;in_a_task;nested;in_teams"
          "the ICVs were others;the default allocator was another one;the floating-point control words;the settings had been read;OpenMP was paused;it was in a task;it was nested;it was in a teams construct")
    omp_cases(${program} CASES ${case} CHECK --counter lean==98 --expect "because ${reason}")
  endforeach()
  omp_cases(${program} CASES cancelled ENV OMP_CANCELLATION=true CHECK --counter lean==99 --expect "because the one before was cancelled")
  omp_cases(${program} CASES places ENV OMP_PLACES={0},{1} OMP_PROC_BIND=close CHECK --counter lean==98 --expect "because the places were")
  omp_cases(${program} CASES strict_size CHECK --counter lean==98 --expect "because its size was asked for with strict")
  omp_cases(${program} CASES dynamic ENV KMP_DYNAMIC_MODE=thread_limit CHECK --counter lean==0 --expect "because dyn-var")
  foreach(setting reason IN ZIP_LISTS
          "OMP_TOOL_LIBRARIES=${program_dir}/counting_tool.so;OMP_DISPLAY_AFFINITY=true;KMP_HOT_TEAMS_MAX_LEVEL=0;KMP_STACKPAD=4096"
          "a tool, a debugger;a setting for debugging;there is no hot team;KMP_STACKPAD is set")
    string(REGEX REPLACE "=.*" "" name ${setting})
    string(TOLOWER ${name} name)
    omp_cases(${program} CASES unchanged SETTING ${name} ENV ${setting} CHECK --counter lean==0 --expect "because ${reason}")
  endforeach()
  omp_cases(${program} CASES unchanged SETTING off ENV HIERBAR_REGION=off CHECK --counter lean==0 --counter ordinary==100)
endforeach()
# GCC's compiler puts all arguments into one record.
omp_cases(lean_regions CASES many_arguments CHECK --counter lean==98 --expect "because it had more than 5 arguments")

set(team_cases league_with_regions_and_barriers distributed_loop alternating_with_plain_regions tasks_in_a_league)
omp_cases(teams CASES ${team_cases} CHECK --counter phased>=10)
# A league's team gets all 12 threads, however few cpus there are, and leaders that are late in
# releasing theirs.
omp_cases(teams CASES tasks_after_idle_threads SETTING trees ENV ${trees} KMP_TEAMS_THREAD_LIMIT=64 OMP_NUM_THREADS=12
          CHECK --counter phased>=1000)

# ---- tasks, cancellation ----

set(task_cases
  waiters_run_tasks producer_in_single tasks_make_tasks taskwait_before_the_barrier untied_tasks task_opens_a_region
  priorities_and_dependences taskloop task_reductions fast_and_slow_barriers_mixed)
omp_cases(tasks CASES ${task_cases} CHECK --counter fast>=50 --counter slow>=100)
omp_cases(tasks CASES long_task_while_others_sleep ENV KMP_BLOCKTIME=0 CHECK --counter fast>=10 --counter slow>=20)
omp_cases(tasks CASES producer_in_single tasks_make_tasks task_opens_a_region fast_and_slow_barriers_mixed SETTING trees
          ENV ${trees} KMP_BLOCKTIME=0 CHECK --counter fast>=100 --counter slow>=100)

set(detached_cases
  fulfilled_outside_the_team fulfilled_by_another_task fulfilled_in_the_task_itself successors_of_a_detached_task
  detached_in_explicit_tasks taskwait_for_a_detached_task)
omp_cases(detached_tasks CASES ${detached_cases} CHECK --counter slow>=10)
omp_cases(detached_tasks CASES fulfilled_outside_the_team detached_in_explicit_tasks SETTING asleep ENV KMP_BLOCKTIME=0 CHECK --counter slow>=10)

# With and without our barrier: what they show is in every pattern.
set(fault_cases
  freed_task_is_not_written_by_one_thread freed_task_is_not_written_by_two_threads loop_of_tasks_beside_a_detached_one
  task_behind_a_completion_in_the_deque set_with_a_detached_task set_with_a_task_that_waits detached_task_outlives_its_parent
  detached_after_a_nested_region)
omp_cases(detached_faults CASES ${fault_cases})
omp_cases(detached_faults CASES with_priorities_only ENV OMP_MAX_TASK_PRIORITY=5)
omp_cases(detached_faults CASES ${fault_cases} SETTING stock_pattern ENV KMP_BARRIER)
omp_cases(detached_faults CASES with_priorities_only SETTING stock_pattern ENV KMP_BARRIER OMP_MAX_TASK_PRIORITY=5)

set(nested_cases taskwaits barriers regions_in_regions dependences sets_in_a_final_task settings)
omp_cases(nested_regions CASES ${nested_cases})
omp_cases(nested_regions CASES ${nested_cases} SETTING stock_pattern ENV KMP_BARRIER)

set(wait_cases completion_above_a_child untied_tasks_child_above_a_child children_of_the_same_priority
               children_of_a_lower_priority exclusive_tasks exclusive_tasks_of_a_priority)
omp_cases(task_waits CASES ${wait_cases} ENV OMP_MAX_TASK_PRIORITY=5)
omp_cases(task_waits CASES ${wait_cases} SETTING stock_pattern ENV KMP_BARRIER OMP_MAX_TASK_PRIORITY=5)

omp_cases(hidden_helpers CASES tasks_outside_any_region tasks_before_a_barrier dependent_tasks regions_in_a_helper
          ENV LIBOMP_NUM_HIDDEN_HELPER_THREADS=4 CHECK --counter reports==1)
omp_cases(hidden_helpers CASES forked_children after_hard_pauses other_roots_end ENV LIBOMP_NUM_HIDDEN_HELPER_THREADS=4)

set(cancelled_loop_cases dynamic_loops long_loops_end_at_once sections taskloops loop_and_region_at_once
    region_just_after_a_barrier unfinished_loops loops_after_others_left inner_regions)
omp_cases(cancelled_loops CASES ${cancelled_loop_cases} ENV OMP_CANCELLATION=true)
omp_cases(cancelled_reductions CASES loops regions ENV OMP_CANCELLATION=true CHECK --counter phased>=600)
omp_cases(cancelled_reductions CASES loops regions SETTING stock_pattern ENV KMP_BARRIER OMP_CANCELLATION=true)
set(cancellation_cases loop region_while_others_wait_in_a_barrier region_with_tasks taskgroup)
omp_cases(cancellation CASES sections ${cancellation_cases} ENV OMP_CANCELLATION=true
          CHECK --counter phased>=1000 --counter fast==0)
omp_cases(cancellation CASES sections ${cancellation_cases} SETTING not_allowed CHECK --counter fast>=1000 --counter stock==0)

# ---- what is as with the unmodified library ----

omp_cases(as_libomp CASES nestable_lock_of_another_task realloc_within_a_pool SETTING stock_pattern ENV KMP_BARRIER CHECK --reject "GCC")
omp_cases(as_libomp CASES nestable_lock_of_another_task CHECK --reject "GCC")
omp_cases(as_libomp CASES nestable_lock_of_another_task SETTING preloaded ENV LD_PRELOAD=${tests_library_dir}/libgomp.so.1 CHECK --reject "GCC")
omp_cases(as_libomp CASES predefined_allocators SETTING stock_pattern ENV KMP_BARRIER
          CHECK --expect-some "Allocator omp_const_mem_alloc is not available, will use default" --expect-some "Allocator omp_thread_mem_alloc is")
omp_cases(as_libomp CASES default_allocator SETTING stock_pattern ENV KMP_BARRIER OMP_ALLOCATOR=omp_const_mem_alloc
          CHECK --expect-some "Allocator omp_const_mem_alloc is not available, will use default")

# ---- late and sleeping threads, fork(), the end ----

set(late_cases barrier barely_late join reduction fork sleeper_runs_a_task_and_sleeps_again)
omp_cases(late_partner CASES ${late_cases} SETTING blocktime_0 ENV KMP_BLOCKTIME=0)
omp_cases(late_partner CASES ${late_cases} SETTING blocktime_1 ENV KMP_BLOCKTIME=1)
omp_cases(late_partner CASES ${late_cases} SETTING blocktime_1us ENV KMP_BLOCKTIME=1us) # sleepers fence
omp_cases(late_partner CASES ${late_cases} SETTING trees ENV ${trees} KMP_BLOCKTIME=0)
omp_cases(late_partner CASES barrier fork SETTING lines ENV ${lines} KMP_BLOCKTIME=0)

# Sleepers fence for the writers, or cannot.
foreach(suffix IN ITEMS "" _gcc)
  if(NOT CMAKE_CROSSCOMPILING AND (gcc OR NOT suffix))
    omp_cases(sleepers${suffix} CASES woken refused_from_the_start refused_later in_a_forked_child ENV KMP_BLOCKTIME=1us
              CHECK --counter fast>=1000)
  endif()
endforeach()

# A thread that waits for long sleeps, whatever it waits for.
set(idle_cases between_regions at_a_barrier at_a_critical_section at_a_lock at_a_nestable_lock in_an_ordered_loop
    in_a_dynamic_ordered_loop in_a_doacross_loop for_a_long_task in_a_taskgroup for_a_dependence)
set(lock_cases critical_sections named_and_nested_critical_sections locks nestable_locks of_several_roots)
foreach(suffix IN ITEMS "" _gcc)
  if(suffix STREQUAL _gcc AND NOT gcc)
    continue()
  endif()
  omp_cases(idle_waits${suffix} CASES ${idle_cases})
  omp_cases(idle_waits${suffix} CASES ${idle_cases} SETTING passive ENV OMP_WAIT_POLICY=passive)
  foreach(case IN LISTS idle_cases)
    omp_judge_time(idle_waits${suffix}.${case} idle_waits${suffix}.${case}.passive) # the cpu time of a wait
  endforeach()
  omp_cases(locks${suffix} CASES ${lock_cases})
  omp_cases(locks${suffix} CASES ${lock_cases} SETTING blocktime_0 ENV KMP_BLOCKTIME=0)
endforeach()
omp_cases(locks CASES locks_with_hints)
omp_cases(locks CASES critical_sections locks nestable_locks SETTING queuing ENV KMP_LOCK_KIND=queuing)
omp_cases(locks CASES critical_sections locks nestable_locks SETTING active ENV OMP_WAIT_POLICY=active)

# Somebody else computes on a worker's cpu.
omp_cases(beside_others CASES sleeps_early awaits_the_barely_late sleeps_without_a_yield ENV OMP_PLACES={0},{1}
          CHECK --expect "others held this process's cpus.*after [1-9]")
omp_cases(beside_others CASES obeys_the_user ENV OMP_PLACES={0},{1} KMP_BLOCKTIME=200ms)
omp_run_alone(beside_others.sleeps_early beside_others.awaits_the_barely_late beside_others.sleeps_without_a_yield
              beside_others.obeys_the_user)

# More threads than cpus, and the program's own waits yield nothing.
omp_cases(polling_workers CASES primary_is_waited_for
          CHECK --expect "late primaries released the others themselves in [0-9][0-9][0-9]")
omp_run_alone(polling_workers.primary_is_waited_for)
# Not with OMP_WAIT_POLICY=passive: libomp's waiters then sleep although there may be tasks, in
# every barrier of its, and nobody wakes them for a task that comes later.

omp_cases(fork_child CASES child_uses_openmp CHECK --counter reports==2 --counter fast>=300)
omp_cases(fork_child CASES child_uses_openmp SETTING init_at_fork_false ENV KMP_INIT_AT_FORK=FALSE
          CHECK --counter reports==2 --counter fast>=300 --expect "Warning: hierbar: KMP_INIT_AT_FORK=.FALSE. is not obeyed")
omp_cases(fork_child CASES child_uses_openmp_first CHECK --counter reports==2 --counter fast>=80)
omp_cases(fork_child CASES child_never_uses_openmp CHECK --counter fast==80)
omp_cases(fork_child CASES fork_while_workers_sleep ENV KMP_BLOCKTIME=0 ${trees} CHECK --counter reports==6)
omp_cases(fork_child CASES grandchildren CHECK --counter reports==3)
omp_cases(fork_child CASES fork_inside_a_region CHECK --counter reports==1)
# `hierbar run` sets KMP_INIT_AT_FORK=TRUE, which is read again at each start of the library.
set(fork_cases six_generations parent_only_asks after_hard_pauses keys_are_not_used_up childs_thread_ends)
foreach(program IN ITEMS fork_child fork_child_gcc)
  if(program STREQUAL fork_child_gcc AND NOT gcc)
    continue()
  endif()
  omp_cases(${program} CASES ${fork_cases})
  omp_cases(${program} CASES ${fork_cases} grandchildren SETTING init_at_fork ENV KMP_INIT_AT_FORK=TRUE)
  omp_cases(${program} CASES ${fork_cases} SETTING stock_pattern ENV KMP_BARRIER KMP_INIT_AT_FORK=TRUE)
endforeach()

# Threads of the program's own that end, with and without our barrier.
set(root_cases tasks_of_roots_that_end several_at_once tasks_with_dependences memory_outlives_its_root memory_does_not_grow)
foreach(program IN ITEMS roots roots_gcc)
  if(program STREQUAL roots_gcc AND NOT gcc)
    continue()
  endif()
  omp_cases(${program} CASES ${root_cases} CHECK --counter phased>=10)
  omp_cases(${program} CASES ${root_cases} SETTING stock_pattern ENV KMP_BARRIER)
endforeach()

# The first construct after a hard pause, and threads that are cancelled.
foreach(suffix IN ITEMS "" _gcc)
  if(suffix STREQUAL _gcc AND NOT gcc)
    continue()
  endif()
  set(pause_cases regions synchronization worksharing tasks memory)
  omp_cases(after_a_pause${suffix} CASES ${pause_cases})
  omp_cases(after_a_pause${suffix} CASES ${pause_cases} SETTING stock_pattern ENV KMP_BARRIER)
  set(cancelled_cases in_its_join in_its_region when_libomp_starts)
  omp_cases(cancelled_threads${suffix} CASES ${cancelled_cases} ENV KMP_BLOCKTIME=0)
  omp_cases(cancelled_threads${suffix} CASES ${cancelled_cases} SETTING stock_pattern ENV KMP_BARRIER KMP_BLOCKTIME=0)
endforeach()

# What `hierbar run` sets.
set(free_primary HIERBAR_PRIMARY=free KMP_AFFINITY=granularity=core,compact,reset)
omp_cases(free_primary CASES keeps_all_cpus alone_stays_where_it_is with_a_team_returns_to_its_place
          stays_where_the_program_binds_it another_thread_asks_first forked_child ENV ${free_primary})
omp_cases(free_primary CASES with_a_team_returns_to_its_place SETTING lean ENV ${free_primary} HIERBAR_REGION=on CHECK --counter lean>=100)
omp_cases(hot_path CASES no_system_call_of_the_primary no_system_call_of_a_bound_primary ENV ${free_primary} CHECK --counter phased>=1000)
omp_judge_time(hot_path.no_system_call_of_the_primary hot_path.no_system_call_of_a_bound_primary)
omp_cases(free_primary CASES nothing_is_bound ENV ${free_primary} HIERBAR_BIND=share CHECK --expect "place: no-launcher")
omp_cases(free_primary CASES keeps_all_cpus SETTING always ENV ${free_primary} HIERBAR_BIND=always)
omp_cases(free_primary CASES keeps_all_cpus SETTING bad_bind ENV ${free_primary} HIERBAR_BIND=x
          CHECK --expect "Warning.*HIERBAR_BIND.*x.*always, share.*using always")
omp_cases(free_primary CASES is_bound SETTING without_reset ENV HIERBAR_PRIMARY=free KMP_AFFINITY=granularity=core,compact)
omp_cases(free_primary CASES is_bound SETTING bad ENV HIERBAR_PRIMARY=x KMP_AFFINITY=granularity=core,compact,reset
          CHECK --expect "Warning.*HIERBAR_PRIMARY.*x.*bound, free.*using bound")

foreach(blocktime IN ITEMS 0 200 infinite)
  omp_cases(shutdown CASES workers_sleep_when_main_returns main_returns_at_once roots_end_before_the_process
            SETTING blocktime_${blocktime} ENV KMP_BLOCKTIME=${blocktime} CHECK --counter reports==1)
  omp_cases(shutdown CASES pause_and_use_again SETTING blocktime_${blocktime} ENV KMP_BLOCKTIME=${blocktime})
  omp_cases(shutdown CASES exit_by_the_primary_inside_a_region exit_by_a_worker_while_others_wait exit_by_a_worker_in_a_task
            main_returns_while_another_root_works
            SETTING blocktime_${blocktime} ENV KMP_BLOCKTIME=${blocktime} CHECK --exit-code 3)
endforeach()

# With KMP_BARRIER unset as well: these are faults of LLVM's.
set(end_cases small_regions_go_on forks_go_on two_teams_go_on last_root_ends late_region threads_give_back exit_in_a_region)
foreach(program IN ITEMS end_of_process end_of_process_gcc)
  if(program STREQUAL end_of_process_gcc AND NOT gcc)
    continue()
  endif()
  omp_cases(${program} CASES ${end_cases} CHECK --repeat 5)
  omp_cases(${program} CASES ${end_cases} SETTING hyper ENV KMP_BARRIER CHECK --repeat 5)
endforeach()

# The plugin is unloaded, and libomp.so stays.
foreach(case IN ITEMS load_use_unload unload_while_workers_sleep first_use_in_another_thread loaded_until_the_end)
  omp_test(plugin.${case} plugin_host ARGS ${program_dir}/plugin.so ${case} ENV KMP_BLOCKTIME=0 CHECK --counter reports==1)
endforeach()

# ---- what the barrier costs and orders ----

omp_cases(nontemporal CASES stores_before_a_barrier_are_visible_after_it CHECK --counter fast>=20000)
omp_cases(hot_path CASES no_allocation no_system_call CHECK --counter fast>=20000)
omp_cases(hot_path CASES sizes_in_turns CHECK --counter phased>=100)
omp_run_alone(hot_path.no_allocation hot_path.no_system_call) # a waiter that has no cpu yields

# Random regions, always the same ones; .ci/long draws others, for ten minutes.
foreach(fuzzer IN ITEMS region_fuzzer region_fuzzer_gcc)
  if(fuzzer STREQUAL region_fuzzer_gcc AND NOT gcc)
    continue()
  endif()
  omp_test(${fuzzer}.settings ${fuzzer} ARGS --seed 1 --regions 1000 CHECK --counter lean>=100)
  omp_test(${fuzzer}.sleepers ${fuzzer} ARGS --seed 2 --regions 500 ENV KMP_BLOCKTIME=0 ${trees} CHECK --counter lean>=50)
  omp_test(${fuzzer}.roots ${fuzzer} ARGS --seed 3 --regions 200 --roots 3 --threads 4 ENV KMP_BLOCKTIME=infinite
           CHECK --counter lean>=50)
  omp_test(${fuzzer}.cancellation ${fuzzer} ARGS --seed 4 --regions 500 ENV OMP_CANCELLATION=true KMP_HOT_TEAMS_MODE=1
           CHECK --counter lean>=50)
  omp_test(${fuzzer}.inner ${fuzzer} ARGS --seed 5 --regions 500 ENV KMP_HOT_TEAMS_MAX_LEVEL=2 CHECK --counter lean>=50)
endforeach()

# Random loops, always the same ones; .ci/long draws others, and more of them.
set(loop_fuzzer_options ARGS --loops 20000 ENV OMP_CANCELLATION=true TIMEOUT 120 CHECK --counter phased>=100)
omp_test(loop_fuzzer loop_fuzzer ${loop_fuzzer_options})
