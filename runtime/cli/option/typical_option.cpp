// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/option/typical_option.hpp"

#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "cli/option/option_values.hpp"

namespace hierbar {
namespace {

constexpr const char* kList = "list";

void print_origin(const network::Origin& origin) {
  std::cout << "  " << origin.number << "\n    published  " << origin.published << "\n    by         " << origin.source
            << "\n    so         " << origin.derivation << '\n';
}

void print_typical_networks() {
  std::cout << "Typical networks, from published measurements. None of them is yours; 'hierbar tune --network' measures that.\n";
  for (const network::TypicalNetwork& one : network::typical_networks()) {
    std::cout << '\n' << one.name << "\n  " << one.description << "\n  " << describe(one.parameters) << '\n';
    for (const network::Origin& origin : one.origins) print_origin(origin);
  }
  std::cout << "\nInside a node of each of them\n";
  print_origin(network::origin_inside_a_node());
}

}  // namespace

CLI::Option* add_network_option(CLI::App& command, const std::string& names, std::string& text, const std::string& file_help) {
  return command
      .add_option_function<std::string>(
          names,
          [&text](const std::string& value) {
            text = value;
            if (value != kList) return;
            print_typical_networks();
            throw CLI::Success();
          },
          file_help + ".\nOr a typical network, by its name: " + network::typical_names() + ";\n" + kList +
              " prints where their figures are from. A name wins over a file; ./NAME is the file")
      ->trigger_on_parse()  // "list" is an answer by itself, without the options that the command requires
      ->type_name("FILE|NAME");
}

const network::TypicalNetwork* find_typical(const std::string& text) {
  if (const network::TypicalNetwork* found = network::find_typical_network(text)) return found;
  std::error_code ignored;
  if (text.find('/') != std::string::npos || std::filesystem::exists(text, ignored)) return nullptr;
  const std::string nearest = network::nearest_typical_names(text);
  refuse(
      kNetworkOption, text,
      "no typical network is called so, and there is no such file" + (nearest.empty() ? "" : "; did you mean " + nearest + "?"),
      network::typical_names() + ", " + kList + ", or a file that 'hierbar tune --network' has written");
}

std::string typical_source(const network::TypicalNetwork& network) {
  return std::string("typical ") + network.name + ", not measured here: " + network.description;
}

std::string typical_note(const network::TypicalNetwork* network) {
  if (network == nullptr) return "";
  return std::string("\ntypical, not measured: these are others' published figures for ") + network->name +
         ", and bounds drawn from them.\n'hierbar tune --network --contention' measures your network; "
         "'hierbar meet --network list' has the sources.\n";
}

nlohmann::ordered_json typical_json(const network::TypicalNetwork* network) {
  return network == nullptr ? nlohmann::ordered_json() : nlohmann::ordered_json(network->name);
}

}  // namespace hierbar
