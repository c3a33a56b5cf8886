// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "symbol/call_frames.hpp"

#include <dlfcn.h>

#include <optional>

#include "symbol/code_place.hpp"

namespace hierbar {
namespace {

const Libdw* load() {
  void* const library = dlopen("libdw.so.1", RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr) return nullptr;
  static Libdw functions;
  bool is_complete = true;
#define HIERBAR_LOAD(name)                                                            \
  functions.name = reinterpret_cast<decltype(functions.name)>(dlsym(library, #name)); \
  is_complete = is_complete && functions.name != nullptr;
  HIERBAR_LIBDW_FUNCTIONS(HIERBAR_LOAD)
#undef HIERBAR_LOAD
  return is_complete ? &functions : nullptr;
}

}  // namespace

const Libdw* load_libdw() {
  static const Libdw* const loaded = load();
  return loaded;
}

namespace {

constexpr int kMostJumps = 8;  // a loop of jumps has no end

class CallFrames {
 public:
  CallFrames(const Libdw& dw, Dwarf_Die& unit) : dw_(dw), unit_(unit), code_(unit) {
    // With split debug information the unit in the program has the lines, and another one the
    // functions.
    Dwarf_Die split{};
    std::uint8_t type = 0;
    if (dw.dwarf_cu_info(unit.cu, nullptr, &type, nullptr, &split, nullptr, nullptr, nullptr) ==
            0 &&
        type == DW_UT_skeleton && split.addr != nullptr)
      code_ = split;
  }

  std::vector<CodeFrame> of_call(Dwarf_Addr address) {
    Dwarf_Addr at = address - 1;
    std::optional<Dwarf_Die> jumping = jumping_function(address);
    for (int i = 0; i < kMostJumps && jumping; ++i) {
      const std::optional<Jump> jump = only_jump(*jumping);
      if (!jump) break;
      at = jump->at;
      jumping = jump->to;
    }
    return frames_at(at);
  }

 private:
  using Scopes = std::vector<Dwarf_Die>;
  struct Jump {
    Dwarf_Addr at = 0;            // within the instruction
    std::optional<Dwarf_Die> to;  // its definition, if it is in the same unit
  };

  bool covers(Dwarf_Die& die, Dwarf_Addr address) { return dw_.dwarf_haspc(&die, address) == 1; }

  // Adds the blocks and inlined functions within `parent` that contain the address.
  void add_inner(Dwarf_Die& parent, Dwarf_Addr address, Scopes& path) {
    Dwarf_Die die;
    if (dw_.dwarf_child(&parent, &die) != 0) return;
    do {
      const int tag = dw_.dwarf_tag(&die);
      if ((tag != DW_TAG_lexical_block && tag != DW_TAG_inlined_subroutine) ||
          !covers(die, address))
        continue;
      path.push_back(die);
      return add_inner(die, address, path);
    } while (dw_.dwarf_siblingof(&die, &die) == 0);
  }

  static bool may_contain_functions(int tag) {
    return tag == DW_TAG_subprogram || tag == DW_TAG_namespace || tag == DW_TAG_module ||
           tag == DW_TAG_lexical_block || tag == DW_TAG_class_type || tag == DW_TAG_structure_type;
  }

  // The path to the function with the address. libdw's own search goes only into what contains the
  // address itself, and GCC's functions for parallel regions lie in functions that do not.
  bool find_function(Dwarf_Die& parent, Dwarf_Addr address, Scopes& path) {
    Dwarf_Die die;
    if (dw_.dwarf_child(&parent, &die) != 0) return false;
    do {
      const int tag = dw_.dwarf_tag(&die);
      if (!may_contain_functions(tag)) continue;
      path.push_back(die);
      if (tag == DW_TAG_subprogram && covers(die, address)) {
        add_inner(die, address, path);
        return true;
      }
      if (find_function(die, address, path)) return true;
      path.pop_back();
    } while (dw_.dwarf_siblingof(&die, &die) == 0);
    return false;
  }

  // The innermost first.
  Scopes scopes_at(Dwarf_Addr address) {
    Scopes path;
    find_function(code_, address, path);
    return {path.rbegin(), path.rend()};
  }

  static bool is_definition(const Libdw& dw, Dwarf_Die& die) {
    Dwarf_Addr begin = 0;
    return dw.dwarf_tag(&die) == DW_TAG_subprogram && dw.dwarf_lowpc(&die, &begin) == 0;
  }

  std::optional<Dwarf_Die> callee(Dwarf_Die& call) {
    Dwarf_Attribute attribute;
    Dwarf_Die die;
    for (const unsigned name : {DW_AT_call_origin, DW_AT_abstract_origin}) {
      if (dw_.dwarf_attr(&call, name, &attribute) == nullptr ||
          dw_.dwarf_formref_die(&attribute, &die) == nullptr)
        continue;
      if (is_definition(dw_, die)) return die;
    }
    return std::nullopt;
  }

  bool is_call(Dwarf_Die& die) {
    const int tag = dw_.dwarf_tag(&die);
    return tag == DW_TAG_call_site || tag == DW_TAG_GNU_call_site;
  }

  // The byte within the call instruction that a call site stands for. 0 if it does not say.
  Dwarf_Addr address_of(Dwarf_Die& call) {
    Dwarf_Attribute attribute;
    Dwarf_Addr address = 0;
    if (dw_.dwarf_attr(&call, DW_AT_call_pc, &attribute) != nullptr &&
        dw_.dwarf_formaddr(&attribute, &address) == 0)
      return address;
    for (const unsigned name : {DW_AT_call_return_pc, DW_AT_low_pc}) {
      if (dw_.dwarf_attr(&call, name, &attribute) != nullptr &&
          dw_.dwarf_formaddr(&attribute, &address) == 0)
        return address - 1;
    }
    return 0;
  }

  // Calls `visit` for each call in a function, without the functions nested in it.
  template <class Visitor>
  void for_each_call(Dwarf_Die& parent, Visitor&& visit) {
    Dwarf_Die die;
    if (dw_.dwarf_child(&parent, &die) != 0) return;
    do {
      if (is_call(die)) visit(die);
      const int tag = dw_.dwarf_tag(&die);
      if (tag == DW_TAG_lexical_block || tag == DW_TAG_inlined_subroutine)
        for_each_call(die, visit);
    } while (dw_.dwarf_siblingof(&die, &die) == 0);
  }

  // The function that must have ended with a jump, if there is one: the one that is called before
  // `address`, or, if `address` is the byte behind a function's first one, that function.
  std::optional<Dwarf_Die> jumping_function(Dwarf_Addr address) {
    for (Dwarf_Die& scope : scopes_at(address - 1)) {
      if (dw_.dwarf_tag(&scope) != DW_TAG_subprogram) continue;
      Dwarf_Addr begin = 0;
      if (dw_.dwarf_lowpc(&scope, &begin) == 0 && begin == address - 1) return scope;
      std::optional<Dwarf_Die> found;
      for_each_call(scope, [&](Dwarf_Die& call) {
        if (address_of(call) == address - 1) found = callee(call);
      });
      return found;
    }
    return std::nullopt;
  }

  // The only jump to another function with which a function ends; none if there are several, since
  // nothing says which one was taken.
  std::optional<Jump> only_jump(Dwarf_Die& function) {
    std::optional<Jump> jump;
    int count = 0;
    for_each_call(function, [&](Dwarf_Die& call) {
      if (dw_.dwarf_hasattr(&call, DW_AT_call_tail_call) == 0 &&
          dw_.dwarf_hasattr(&call, DW_AT_GNU_tail_call) == 0)
        return;
      ++count;
      jump = Jump{address_of(call), callee(call)};
    });
    return count == 1 && jump->at != 0 ? jump : std::nullopt;
  }

  std::string name_of(Dwarf_Die& function, const Scopes& outer, std::size_t next) {
    const char* const name = dw_.dwarf_diename(&function);
    if (name == nullptr) return "";
    if (is_outlined(name)) {  // GCC puts it into the function of the source
      for (std::size_t i = next; i < outer.size(); ++i) {
        Dwarf_Die around = outer[i];
        if (dw_.dwarf_tag(&around) == DW_TAG_subprogram) return name_of(around, outer, i + 1);
      }
      return source_function(name);
    }
    Dwarf_Attribute attribute;
    for (const unsigned linkage : {DW_AT_linkage_name, DW_AT_MIPS_linkage_name}) {
      if (dw_.dwarf_attr_integrate(&function, linkage, &attribute) == nullptr) continue;
      const char* const mangled = dw_.dwarf_formstring(&attribute);
      if (mangled != nullptr && mangled[0] == '_' && mangled[1] == 'Z')
        return source_function(mangled);
    }
    return name;
  }

  std::uint32_t number(Dwarf_Die& die, unsigned name) {
    Dwarf_Attribute attribute;
    Dwarf_Word value = 0;
    return dw_.dwarf_attr(&die, name, &attribute) != nullptr &&
                   dw_.dwarf_formudata(&attribute, &value) == 0
               ? static_cast<std::uint32_t>(value)
               : 0;
  }

  // Where an inlined function was called.
  void read_call(Dwarf_Die& inlined, std::string& file, std::uint32_t& line) {
    line = number(inlined, DW_AT_call_line);
    Dwarf_Files* files = nullptr;
    const char* name = nullptr;
    if (dw_.dwarf_getsrcfiles(&unit_, &files, nullptr) == 0)
      name = dw_.dwarf_filesrc(files, number(inlined, DW_AT_call_file), nullptr, nullptr);
    file = name == nullptr ? "" : name;
  }

  std::vector<CodeFrame> frames_at(Dwarf_Addr address) {
    std::string file;
    std::uint32_t line = 0;
    if (Dwarf_Line* const row = dw_.dwarf_getsrc_die(&unit_, address)) {
      int number = 0;
      const char* const name = dw_.dwarf_linesrc(row, nullptr, nullptr);
      if (name != nullptr && dw_.dwarf_lineno(row, &number) == 0) {
        file = name;
        line = static_cast<std::uint32_t>(number);
      }
    }
    std::vector<CodeFrame> frames;
    Scopes scopes = scopes_at(address);
    for (std::size_t i = 0; i < scopes.size(); ++i) {
      const int tag = dw_.dwarf_tag(&scopes[i]);
      if (tag != DW_TAG_subprogram && tag != DW_TAG_inlined_subroutine) continue;
      add(frames, {name_of(scopes[i], scopes, i + 1), file, line});
      // A Fortran program is inlined into a main() that the compiler has written.
      Dwarf_Attribute is_program;
      if (tag == DW_TAG_subprogram ||
          dw_.dwarf_attr_integrate(&scopes[i], DW_AT_main_subprogram, &is_program) != nullptr)
        break;
      read_call(scopes[i], file, line);
    }
    if (frames.empty() && line != 0) frames.push_back({"", file, line});
    return frames;
  }

  // Clang makes two functions of a parallel region, one inlined into the other. The outer one says
  // nothing more.
  static void add(std::vector<CodeFrame>& frames, const CodeFrame& frame) {
    if (frames.empty() || frames.back().function != frame.function || frame.function.empty())
      frames.push_back(frame);
  }

  const Libdw& dw_;
  Dwarf_Die& unit_;
  Dwarf_Die code_;
};

}  // namespace

std::vector<CodeFrame> frames_of_call(const Libdw& dw, Dwarf_Die& unit, Dwarf_Addr address) {
  return CallFrames(dw, unit).of_call(address);
}

}  // namespace hierbar
