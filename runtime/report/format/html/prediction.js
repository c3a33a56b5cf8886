// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The page of `hierbar predict`: from what it predicts, the splits, and the tables behind them.

function requestSection(prediction) {
  const facts = [
    ["messages", `${prediction.traffic} among ${plural(prediction.num_ranks, "rank")}`],
    ["nodes", prediction.machine],
    ["model", prediction.model],
    ["costs", prediction.source],
  ];
  if (prediction.contention.single_copy !== "") facts.push(["copies inside a node", prediction.contention.single_copy]);
  if (prediction.measured !== undefined) {
    const {num_splits, mean_error, kendall_tau} = prediction.measured;
    facts.push(["measured", `${plural(num_splits, "split")}, mean error of the prediction ${percent(mean_error)}; order: `
      + (kendall_tau === null ? "no two times differ by more than their quartiles" : `Kendall's tau ${digits(kendall_tau)} where times differ by more than their quartiles`)]);
  }
  return html("section", {class: "panel"}, html("h2", {}, "Predicted for"), factsList(facts));
}

drawPage((prediction) => [requestSection(prediction), splitsSection(prediction), slowdownsSection(prediction.contention.tables)]);
