#include "synergraph/cluster/worker_place.h"

#include <gtest/gtest.h>

#include <map>

#include "synergraph/core/error.h"

namespace synergraph {
namespace {

Environment environment(const std::map<std::string, std::string>& variables) {
  return [variables](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  };
}

TEST(WorkerPlace, IsGivenFromOne) {
  EXPECT_EQ(parse_shard("2/4"), (WorkerPlace{1, 4}));
  EXPECT_EQ(parse_shard("1/1"), WorkerPlace{});
  EXPECT_EQ(parse_shard("3/3").name(), "worker 3 of 3");
  for (const char* wrong : {"0/4", "5/4", "1", "1/", "/4", "a/4", "1/4x", "-1/4", "on", ""})
    EXPECT_THROW(parse_shard(wrong), UsageError) << wrong;
}

TEST(WorkerPlace, ComesFromOpenMpiBeforeSlurm) {
  const Environment open_mpi = environment({{"OMPI_COMM_WORLD_RANK", "5"},
                                            {"OMPI_COMM_WORLD_SIZE", "8"},
                                            {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
                                            {"OMPI_COMM_WORLD_LOCAL_SIZE", "4"},
                                            {"SLURM_PROCID", "0"},
                                            {"SLURM_STEP_NUM_TASKS", "2"}});
  EXPECT_EQ(parse_shard("auto", open_mpi), (WorkerPlace{5, 8, 1, 4}));
  EXPECT_EQ(parse_shard("off", open_mpi), WorkerPlace{});
  EXPECT_EQ(parse_shard("1/2", open_mpi), (WorkerPlace{0, 2}));
}

TEST(WorkerPlace, KnowsWhatWasStartedTogether) {
  EXPECT_EQ(launch_name(environment({})), "");
  EXPECT_EQ(launch_name(environment({{"PMIX_NAMESPACE", "7.1"}, {"SLURM_JOB_ID", "3"}})), "7.1");
  EXPECT_EQ(launch_name(environment({{"SLURM_JOB_ID", "3"}})), "");  // a batch script
  EXPECT_EQ(launch_name(environment({{"SLURM_JOB_ID", "3"},
                                     {"SLURM_STEP_ID", "2"},
                                     {"SLURM_PROCID", "0"},
                                     {"SLURM_STEP_NUM_TASKS", "2"}})),
            "3.2");
  EXPECT_EQ(launch_name(environment({{"SLURM_ARRAY_JOB_ID", "9"}})), "9");
}

TEST(WorkerPlace, ComesFromPmi) {
  EXPECT_EQ(parse_shard("auto", environment({{"PMI_RANK", "2"}, {"PMI_SIZE", "3"}})),
            (WorkerPlace{2, 3}));
  EXPECT_EQ(parse_shard("auto", environment({{"PMI_RANK", "2"},
                                             {"PMI_SIZE", "3"},
                                             {"MPI_LOCALRANKID", "1"},
                                             {"MPI_LOCALNRANKS", "2"}})),
            (WorkerPlace{2, 3, 1, 2}));
}

TEST(WorkerPlace, ComesFromSrunButNotFromABatchScript) {
  std::map<std::string, std::string> slurm = {{"SLURM_PROCID", "6"},
                                              {"SLURM_NTASKS", "7"},
                                              {"SLURM_LOCALID", "0"},
                                              {"SLURM_NODEID", "3"},
                                              {"SLURM_STEP_TASKS_PER_NODE", "2(x3),1"}};
  EXPECT_EQ(parse_shard("auto", environment(slurm)), WorkerPlace{});
  slurm["SLURM_STEP_NUM_TASKS"] = "7";
  EXPECT_EQ(parse_shard("auto", environment(slurm)), (WorkerPlace{6, 7, 0, 1}));
  slurm["SLURM_NODEID"] = "2";
  EXPECT_EQ(parse_shard("auto", environment(slurm)), (WorkerPlace{6, 7, 0, 2}));
}

TEST(WorkerPlace, OfAnArrayCountsTheTasksThatEachStarts) {
  std::map<std::string, std::string> array = {{"SLURM_ARRAY_TASK_ID", "12"},
                                              {"SLURM_ARRAY_TASK_COUNT", "4"},
                                              {"SLURM_ARRAY_TASK_MIN", "10"},
                                              {"SLURM_ARRAY_TASK_STEP", "2"}};
  EXPECT_EQ(parse_shard("auto", environment(array)), (WorkerPlace{1, 4}));
  array["SLURM_PROCID"] = "2";
  array["SLURM_STEP_NUM_TASKS"] = "3";
  EXPECT_EQ(parse_shard("auto", environment(array)), (WorkerPlace{5, 12}));
  array["SLURM_ARRAY_TASK_ID"] = "18";  // with gaps: some place, the same every time
  EXPECT_EQ(parse_shard("auto", environment(array)), (WorkerPlace{2, 12}));
}

TEST(WorkerPlace, OfNonsenseIsAlone) {
  for (const char* rank : {"", "x", "-1", "3", "99999999999"})
    EXPECT_EQ(parse_shard("auto", environment({{"PMI_RANK", rank}, {"PMI_SIZE", "3"}})),
              WorkerPlace{})
        << rank;
}

TEST(WorkerThreads, AreTheMachinesDividedUnlessTheyAreBound) {
  const Environment nothing = environment({});
  EXPECT_EQ(worker_threads({0, 8, 0, 1}, 64, 64, nothing), 64);
  EXPECT_EQ(worker_threads({0, 8, 0, 4}, 64, 64, nothing), 16);
  EXPECT_EQ(worker_threads({0, 8, 0, 4}, 16, 64, nothing), 16);  // bound
  EXPECT_EQ(worker_threads({0, 8, 0, 4}, 2, 2, nothing), 1);
  const Environment slurm = environment({{"SLURM_CPUS_ON_NODE", "16"}});
  EXPECT_EQ(worker_threads({0, 8, 0, 4}, 64, 64, slurm), 4);
  EXPECT_EQ(worker_threads({0, 8, 0, 4}, 16, 64, slurm), 4);  // bound, but to all of the job's
  EXPECT_EQ(worker_threads({0, 8, 0, 1}, 64, 64, slurm), 16);
  EXPECT_EQ(worker_threads({0, 8, 0, 4}, 64, 64, environment({{"SLURM_CPUS_PER_TASK", "3"}})), 3);
}

}  // namespace
}  // namespace synergraph
