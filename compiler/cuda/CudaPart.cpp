//===- CudaPart.cpp - The statements of one part of a kernel --------------===//
#include "compiler/cuda/CudaBody.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace brew::compiler {

void CudaLines::line(const llvm::Twine &content) {
  text.append(2 * depth, ' ');
  text += content.str();
  text += '\n';
}

void CudaLines::open(const llvm::Twine &content) {
  line(content.isTriviallyEmpty() ? llvm::Twine("{") : content + " {");
  ++depth;
}

void CudaLines::close(const llvm::Twine &rest) {
  --depth;
  line("}" + rest);
}

void CudaLines::comment(const llvm::Twine &content) {
  if (hasComments)
    line("// " + content);
}

namespace {

constexpr unsigned kWarp = 32;

/// "'conv1' (lenet.prototxt:34)" for a nest.
std::string originOf(linalg::GenericOp nest) {
  std::string text;
  if (auto layer = nest->getAttrOfType<StringAttr>("brew.layer"))
    text = "'" + layer.str() + "'";
  nest->getLoc()->walk([&](Location each) {
    auto file = dyn_cast<FileLineColLoc>(each);
    if (!file)
      return WalkResult::advance();
    text += (text.empty() ? "" : " ") + ("(" + file.getFilename().str()) + ":" +
            std::to_string(file.getLine()) + ")";
    return WalkResult::interrupt();
  });
  return text;
}

class PartEmitter {
public:
  PartEmitter(Part &part, const PartSchedule &schedule, CudaText &text)
      : part(part), schedule(schedule), text(text), lines(text.lines),
        body(part, schedule, text, values) {}

  void emit() {
    nameKept();
    bool guarded = enterPoint();
    if (schedule.pack > 1)
      emitPack();
    else
      for (unsigned n = 0; n < part.nests.size(); ++n)
        emitNest(n);
    copyOut();
    if (guarded)
      lines.close();
  }

private:
  bool isTeam() const { return schedule.team > 1; }

  /// Names values that stay after their nest; shared memory is declared at
  /// once, variables where they get their value.
  void nameKept() {
    for (auto [nest, inner] : llvm::zip(part.nests, schedule.nests)) {
      auto layer = nest.op->getAttrOfType<StringAttr>("brew.layer");
      values.names.emplace_back();
      for (auto [output, place] : llvm::zip(nest.outputs, inner.places)) {
        values.names.back().emplace_back();
        if (place == Place::Buffer)
          continue;
        std::string wanted = layer && lines.hasComments ? layer.str() + "_value"
                                                        : std::string("value");
        std::string &name = values.names.back().back() =
            text.names.unique(wanted);
        if (place == Place::Shared)
          text.shared.push_back(
              "BREW_SHARED(" + text.scalars.type(output.element) + ", " + name +
              ", " +
              std::to_string(text.threads / schedule.team * output.localSize) +
              ");");
      }
    }
  }

  /// Declares variables for the iteration `counter` of the loops `which`
  /// together; the last one's may be called otherwise.
  void unravel(const std::string &counter, ArrayRef<unsigned> which,
               const Nest &nest, SmallVectorImpl<std::string> &at,
               StringRef prefix, int64_t lastExtent = 0,
               const std::string &lastName = "") {
    std::string rest = counter;
    for (unsigned i = which.size(); i-- > 0;) {
      bool last = i + 1 == which.size();
      int64_t extent = nest.loops[which[i]].extent;
      if (last && lastExtent)
        extent = lastExtent;
      std::string name =
          last && !lastName.empty() ? lastName : text.names.numbered(prefix);
      std::string value = rest;
      if (i > 0)
        value += " % " + text.count(extent);
      if (last && lastExtent)
        value = (i > 0 ? "(" + value + ")" : value) + " * " +
                text.count(schedule.pack);
      lines.line("const " + text.index() + " " + name + " = " + value + ";");
      at[which[i]] = name;
      if (i == 0)
        continue;
      std::string quotient = rest + " / " + text.count(extent);
      if (i == 1) {
        rest = quotient;
        continue;
      }
      std::string next = text.names.numbered("q");
      lines.line("const " + text.counter() + " " + next + " = " + quotient +
                 ";");
      rest = next;
    }
  }

  /// Finds the thread's grid point. Returns whether a block was opened for
  /// threads that have one.
  bool enterPoint() {
    int64_t perBlock = text.threads / schedule.team,
            points = schedule.points / schedule.pack;
    std::string block = "blockIdx.x";
    if (schedule.firstBlock)
      block = "(" + block + " - " + text.count(schedule.firstBlock) + ")";
    if (text.prelude.wide)
      block = "(unsigned long long)" + block;
    if (isTeam()) {
      bool one = perBlock == 1;
      lines.line(std::string("const unsigned lane = threadIdx.x") +
                 (one ? "" : " % 32u") + ";");
      if (!one)
        lines.line("const unsigned team = threadIdx.x / 32u;");
    }
    if (part.grid == 0 && !isTeam()) {
      // One thread of the block does it.
      lines.open("if (threadIdx.x == 0u)");
      return true;
    }
    bool guarded = points % perBlock != 0;
    if (part.grid == 0) {
      if (guarded)
        lines.open("if (team == 0u)");
      return guarded;
    }
    std::string point = block;
    if (perBlock != 1)
      point += " * " + text.count(perBlock) + " + " +
               (isTeam() ? "team" : "threadIdx.x");
    lines.line("const " + text.counter() + " point = " + point + ";");
    if (guarded)
      lines.open("if (point < " + text.count(points) + ")");
    SmallVector<unsigned> grid =
        llvm::to_vector(llvm::seq<unsigned>(0, part.grid));
    const Nest &first = part.nests.front();
    gridAt.resize(part.grid);
    if (schedule.pack > 1) {
      packBegin = text.names.numbered("i");
      unravel("point", grid, first, gridAt, "i",
              first.loops[part.grid - 1].extent / schedule.pack, packBegin);
    } else {
      unravel("point", grid, first, gridAt, "i");
    }
    return guarded;
  }

  SmallVector<std::string> startOf(const Nest &nest) {
    SmallVector<std::string> at(gridAt);
    at.resize(nest.loops.size());
    return at;
  }

  void commentOn(const Nest &nest) {
    std::string origin = originOf(nest.op);
    if (!origin.empty() && origin != lastOrigin)
      lines.comment(origin);
    lastOrigin = origin;
  }

  // --- Packs ----------------------------------------------------------------

  std::string packType(Type element) {
    return "BREW_VECTOR(" + storageType(element) + ", " +
           std::to_string(schedule.pack) + ")";
  }

  /// `pack` neighbouring points: what they read and write moves 16 bytes at a
  /// time.
  void emitPack() {
    unsigned last = part.grid - 1;
    for (Nest &nest : part.nests)
      for (const std::optional<Access> &input : nest.inputs) {
        if (!input || input->source.kind != Source::Kind::Argument ||
            input->address.coefs[last] == 0)
          continue;
        auto key = CudaBody::packKey(input->source.argument, input->address);
        auto [entry, isNew] = values.packs.try_emplace(key);
        if (!isNew)
          continue;
        const CudaArgument &buffer = text.arguments[input->source.argument];
        entry->second = text.names.unique(buffer.name + "_pack");
        SmallVector<std::string> at = startOf(nest);
        at[last] = packBegin;
        lines.line("const " + packType(buffer.element) + " " + entry->second +
                   " = BREW_LOAD(" + packType(buffer.element) + ", " +
                   buffer.name + ", " + body.address(input->address, at) +
                   ");");
      }
    // [nest][result][buffer]
    std::vector<std::vector<std::vector<std::string>>> results;
    for (Nest &nest : part.nests) {
      results.emplace_back();
      for (Output &output : nest.outputs) {
        results.back().emplace_back();
        for (unsigned argument : output.arguments) {
          const CudaArgument &buffer = text.arguments[argument];
          std::string name = text.names.unique(buffer.name + "_result");
          lines.line(packType(buffer.element) + " " + name + ";");
          results.back().back().push_back(name);
        }
      }
    }
    lines.line("#pragma unroll");
    lines.open("for (int k = 0; k < " + std::to_string(schedule.pack) +
               "; ++k)");
    std::string index = text.names.numbered("i");
    lines.line("const " + text.index() + " " + index + " = " + packBegin +
               " + k;");
    gridAt[last] = index;
    for (auto [n, nest] : llvm::enumerate(part.nests)) {
      commentOn(nest);
      SmallVector<std::string> at = startOf(nest);
      SmallVector<std::string> texts =
          body.iterate(nest, at, initials(nest, at));
      for (auto [r, output] : llvm::enumerate(nest.outputs)) {
        std::string value = texts[r];
        if (schedule.nests[n].places[r] == Place::Variable) {
          lines.line("const " + text.scalars.type(output.element) + " " +
                     values.names[n][r] + " = " + value + ";");
          value = values.names[n][r];
        }
        for (auto [argument, name] : llvm::zip(output.arguments, results[n][r]))
          lines.line(
              name + "[k] = " +
              text.scalars.stored(text.arguments[argument].element, value) +
              ";");
      }
    }
    lines.close();
    gridAt[last] = packBegin;
    for (auto [n, nest] : llvm::enumerate(part.nests))
      for (auto [r, output] : llvm::enumerate(nest.outputs))
        for (auto [argument, name] :
             llvm::zip(output.arguments, results[n][r])) {
          const CudaArgument &buffer = text.arguments[argument];
          lines.line("BREW_STORE(" + packType(buffer.element) + ", " +
                     buffer.name + ", " +
                     body.address(output.address, startOf(nest)) + ", " + name +
                     ");");
        }
  }

  // --- Nests ----------------------------------------------------------------

  /// What the results hold before the first iteration; empty where the body
  /// does not read them.
  SmallVector<std::string> initials(const Nest &nest,
                                    ArrayRef<std::string> at) {
    SmallVector<std::string> texts;
    for (const Output &output : nest.outputs)
      texts.push_back(output.initial ? body.load(*output.initial, at) : "");
    return texts;
  }

  void sync() {
    lines.line(schedule.team == kWarp ? "BREW_SYNC_WARP();" : "BREW_SYNC();");
    written.clear();
    readArguments.clear();
  }

  /// Waits for the team where this nest reads what other lanes have written, or
  /// overwrites what they may still have to read.
  void syncBefore(const Nest &nest) {
    if (!isTeam())
      return;
    bool wait = false;
    forEachSource(nest, [&](const Source &source) {
      if (source.kind == Source::Kind::Result)
        wait |= written.count({source.nest, source.result}) != 0;
    });
    for (const Output &output : nest.outputs)
      for (unsigned argument : output.arguments)
        wait |= readArguments.count(argument) != 0;
    if (wait)
      sync();
  }

  void noteAccesses(unsigned n) {
    const Nest &nest = part.nests[n];
    forEachSource(nest, [&](const Source &source) {
      if (source.kind == Source::Kind::Argument)
        readArguments.insert(source.argument);
      else if (source.kind == Source::Kind::Result)
        // In shared memory nobody overwrites it, in a buffer later nests may.
        for (unsigned argument :
             part.nests[source.nest].outputs[source.result].arguments)
          readArguments.insert(argument);
    });
    for (unsigned r = 0; r < nest.outputs.size(); ++r)
      if (schedule.nests[n].places[r] != Place::Variable)
        written.insert({n, r});
  }

  template <typename Function>
  static void forEachSource(const Nest &nest, const Function &function) {
    for (const std::optional<Access> &input : nest.inputs)
      if (input)
        function(input->source);
    for (const Output &output : nest.outputs)
      if (output.initial)
        function(output.initial->source);
    for (const auto &entry : nest.extracts)
      function(entry.second.source);
  }

  void emitNest(unsigned n) {
    Nest &nest = part.nests[n];
    commentOn(nest);
    syncBefore(nest);
    if (isTeam())
      emitTeamNest(n);
    else
      emitThreadNest(n);
    noteAccesses(n);
  }

  void openLoop(const std::string &name, const std::string &type,
                const std::string &begin, const std::string &end,
                const std::string &step) {
    std::string next = step == "1" || step == "1u" || step == "1ull"
                           ? "++" + name
                           : name + " += " + step;
    lines.open("for (" + type + " " + name + " = " + begin + "; " + name +
               " < " + end + "; " + next + ")");
  }

  /// Loops `which`, one inside the other.
  unsigned openLoops(ArrayRef<unsigned> which, const Nest &nest,
                     SmallVectorImpl<std::string> &at, StringRef prefix) {
    for (unsigned loop : which) {
      at[loop] = text.names.numbered(prefix);
      openLoop(at[loop], text.index(), "0",
               std::to_string(nest.loops[loop].extent), "1");
    }
    return which.size();
  }
  void closeLoops(unsigned count) {
    while (count--)
      lines.close();
  }

  /// Declares accumulators with what they start from.
  SmallVector<std::string> declareAccumulators(const Nest &nest,
                                               ArrayRef<std::string> start) {
    SmallVector<std::string> names;
    for (auto [output, value] : llvm::zip(nest.outputs, start)) {
      names.push_back(text.names.numbered("a"));
      lines.line(text.scalars.type(output.element) + " " + names.back() +
                 " = " + value + ";");
    }
    return names;
  }

  void assign(ArrayRef<std::string> names, ArrayRef<std::string> texts) {
    for (auto [name, value] : llvm::zip(names, texts))
      if (name != value)
        lines.line(name + " = " + value + ";");
  }

  /// All reductions of one value, in order. Returns the accumulators.
  SmallVector<std::string> reduceInOrder(const Nest &nest,
                                         ArrayRef<unsigned> reductions,
                                         SmallVectorImpl<std::string> &at) {
    SmallVector<std::string> names =
        declareAccumulators(nest, initials(nest, at));
    unsigned opened = openLoops(reductions, nest, at, "r");
    assign(names, body.iterate(nest, at, names));
    closeLoops(opened);
    return names;
  }

  /// Results of one place of a nest: into variables, arrays, buffers.
  void store(unsigned n, ArrayRef<std::string> at,
             SmallVector<std::string> texts, bool declareVariables = true) {
    const Nest &nest = part.nests[n];
    // A result must not read what storing another one has overwritten.
    if (texts.size() > 1)
      for (auto [output, value] : llvm::zip(nest.outputs, texts))
        if (value.find('[') != std::string::npos) {
          std::string name = text.names.numbered("v");
          lines.line("const " + text.scalars.type(output.element) + " " + name +
                     " = " + value + ";");
          value = name;
        }
    for (auto [r, output] : llvm::enumerate(nest.outputs)) {
      std::string value = texts[r];
      if (schedule.nests[n].places[r] != Place::Buffer) {
        std::string target = body.kept(n, r, body.address(output.local, at));
        bool variable = schedule.nests[n].places[r] == Place::Variable;
        lines.line((variable && declareVariables
                        ? "const " + text.scalars.type(output.element) + " "
                        : "") +
                   target + " = " + value + ";");
        value = target;
      }
      if (!output.overwritesRead)
        body.storeToBuffers(output, at, value);
    }
  }

  /// One thread does the whole nest of its grid point.
  void emitThreadNest(unsigned n) {
    const Nest &nest = part.nests[n];
    const NestSchedule &inner = schedule.nests[n];
    for (auto [r, output] : llvm::enumerate(nest.outputs))
      if (inner.places[r] == Place::Array)
        lines.line(text.scalars.type(output.element) + " " +
                   values.names[n][r] + "[" + std::to_string(output.localSize) +
                   "];");
    SmallVector<std::string> at = startOf(nest);
    unsigned opened = openLoops(inner.parallel, nest, at, "j");
    store(n, at,
          inner.reductions.empty() ? body.iterate(nest, at, initials(nest, at))
                                   : reduceInOrder(nest, inner.reductions, at));
    closeLoops(opened);
  }

  /// A value that changes nothing where partial results are combined.
  std::string neutral(const Output &output, Combine combine,
                      const std::string &initial) {
    if (combine == Combine::Maximum || combine == Combine::SelectMaximum)
      return initial; // the larger of equal values is no other
    return isa<FloatType>(output.element)
               ? text.scalars.literal(output.element, 0)
               : "0";
  }

  std::string combined(const Output &output, Combine combine,
                       const std::string &a, const std::string &b) {
    switch (combine) {
    case Combine::Maximum:
      return text.scalars.maximum(output.element, a, b);
    case Combine::SelectMaximum:
      return b + " > " + a + " ? " + b + " : " + a;
    case Combine::First:
      text.prelude.helpers.insert("brewFirst");
      return "brewFirst(" + a + ", " + b + ")";
    case Combine::Sum:
    case Combine::None:
      break;
    }
    return a + " + " + b;
  }

  /// Combines `name` over groups of `lanes` lanes; every lane gets the result.
  void combineLanes(const Output &output, Combine combine,
                    const std::string &name, unsigned lanes, bool repeats) {
    std::string type = text.scalars.type(output.element);
    unsigned inWarp = std::min(lanes, kWarp);
    lines.line("#pragma unroll");
    lines.open("for (unsigned offset = " + std::to_string(inWarp / 2) +
               "u; offset > 0u; offset /= 2u)");
    std::string other = text.names.numbered("v");
    lines.line("const " + type + " " + other + " = BREW_SHUFFLE_XOR(" + name +
               ", offset);");
    lines.line(name + " = " + combined(output, combine, name, other) + ";");
    lines.close();
    if (lanes <= kWarp)
      return;
    unsigned warps = text.threads / kWarp, inGroup = lanes / kWarp;
    std::string shared = text.names.unique("partial");
    text.shared.push_back("BREW_SHARED(" + type + ", " + shared + ", " +
                          std::to_string(warps) + ");");
    lines.open("if (lane % 32u == 0u)");
    lines.line(shared + "[lane / 32u] = " + name + ";");
    lines.close();
    lines.line("BREW_SYNC();");
    std::string first = inGroup == warps
                            ? "0u"
                            : "lane / " + std::to_string(lanes) + "u * " +
                                  std::to_string(inGroup) + "u";
    lines.line(name + " = " + shared + "[" + first + "];");
    lines.open("for (unsigned offset = 1u; offset < " +
               std::to_string(inGroup) + "u; ++offset)");
    other = text.names.numbered("v");
    lines.line("const " + type + " " + other + " = " + shared + "[" +
               (first == "0u" ? "" : first + " + ") + "offset];");
    lines.line(name + " = " + combined(output, combine, name, other) + ";");
    lines.close();
    // Before another round overwrites what slower lanes still read.
    if (repeats)
      lines.line("BREW_SYNC();");
  }

  void emitTeamNest(unsigned n) {
    const NestSchedule &inner = schedule.nests[n];
    if (inner.lanes > 1)
      return emitSharedReduction(n);
    const Nest &nest = part.nests[n];
    SmallVector<std::string> at = startOf(nest);
    bool serial = inner.iterations > 1;
    if (inner.values == 1) {
      if (!serial) {
        // Every lane knows it, one stores it.
        SmallVector<std::string> texts =
            body.iterate(nest, at, initials(nest, at));
        return storeOnce(n, at, texts);
      }
      lines.open("if (lane == 0u)");
      store(n, at, reduceInOrder(nest, inner.reductions, at));
      lines.close();
      return;
    }
    std::string position = text.names.numbered("p");
    openLoop(position, text.counter(), "lane", text.count(inner.values),
             text.count(schedule.team));
    unravel(position, inner.parallel, nest, at, "j");
    store(n, at,
          serial ? reduceInOrder(nest, inner.reductions, at)
                 : body.iterate(nest, at, initials(nest, at)));
    lines.close();
  }

  /// Values that every lane has: variables for all, the rest by lane 0.
  void storeOnce(unsigned n, ArrayRef<std::string> at,
                 SmallVector<std::string> texts) {
    const Nest &nest = part.nests[n];
    const NestSchedule &inner = schedule.nests[n];
    bool stores = false;
    for (auto [r, output] : llvm::enumerate(nest.outputs)) {
      bool variable = inner.places[r] == Place::Variable;
      stores |=
          !variable || (!output.arguments.empty() && !output.overwritesRead);
      std::string name =
          variable ? values.names[n][r] : text.names.numbered("v");
      if (name == texts[r])
        continue;
      lines.line("const " + text.scalars.type(output.element) + " " + name +
                 " = " + texts[r] + ";");
      texts[r] = name;
    }
    if (!stores)
      return;
    // Other lanes may still have to read what the result overwrites.
    bool overwrites = false;
    forEachSource(nest, [&](const Source &source) {
      for (const Output &output : nest.outputs)
        overwrites |= source.kind == Source::Kind::Argument &&
                      llvm::is_contained(output.arguments, source.argument);
    });
    if (overwrites)
      sync();
    lines.open("if (lane == 0u)");
    for (auto [r, output] : llvm::enumerate(nest.outputs)) {
      if (inner.places[r] == Place::Shared || inner.places[r] == Place::Array)
        lines.line(body.kept(n, r, body.address(output.local, at)) + " = " +
                   texts[r] + ";");
      if (!output.overwritesRead)
        body.storeToBuffers(output, at, texts[r]);
    }
    lines.close();
  }

  /// Groups of lanes share the reduction of a value each.
  void emitSharedReduction(unsigned n) {
    const Nest &nest = part.nests[n];
    const NestSchedule &inner = schedule.nests[n];
    SmallVector<std::string> at = startOf(nest);
    unsigned groups = schedule.team / inner.lanes;
    bool repeats = inner.values > groups, partial = inner.values % groups != 0;
    std::string position;
    if (repeats) {
      std::string round = text.names.numbered("p");
      openLoop(round, text.counter(), text.count(0), text.count(inner.values),
               text.count(groups));
      position = round + " + ";
    }
    std::string lanes = std::to_string(inner.lanes) + "u";
    bool single = groups == 1;
    std::string lane = single ? "lane" : "lane % " + lanes;
    std::string value;
    if (inner.values > 1) {
      value = text.names.numbered("p");
      lines.line("const " + text.counter() + " " + value + " = " + position +
                 (single ? "0u" : "lane / " + lanes) + ";");
      if (partial) {
        // Lanes without a value of their own compute along with the last one.
        std::string clamped = text.names.numbered("p");
        std::string limit = text.count(inner.values - 1);
        lines.line("const " + text.counter() + " " + clamped + " = " + value +
                   " < " + limit + " ? " + value + " : " + limit + ";");
        unravel(clamped, inner.parallel, nest, at, "j");
      } else {
        unravel(value, inner.parallel, nest, at, "j");
      }
    }
    SmallVector<std::string> initial = initials(nest, at), start;
    for (auto [r, output] : llvm::enumerate(nest.outputs))
      start.push_back(neutral(output, inner.combine[r], initial[r]));
    SmallVector<std::string> names = declareAccumulators(nest, start);
    std::string reduction = text.names.numbered("r");
    openLoop(reduction, text.counter(), lane, text.count(inner.iterations),
             text.count(inner.lanes));
    unravel(reduction, inner.reductions, nest, at, "r");
    assign(names, body.iterate(nest, at, names));
    lines.close();
    for (auto [r, output] : llvm::enumerate(nest.outputs)) {
      combineLanes(output, inner.combine[r], names[r], inner.lanes, repeats);
      if (start[r] != initial[r] && !isZero(output.initial->source))
        lines.line(names[r] + " = " +
                   combined(output, inner.combine[r], initial[r], names[r]) +
                   ";");
    }
    if (inner.values == 1 && single)
      return storeOnce(n, at, names);
    std::string mine = single ? "lane == 0u" : lane + " == 0u";
    if (inner.values == 1)
      mine = "lane == 0u";
    else if (partial)
      mine += " && " + value + " < " + text.count(inner.values);
    lines.open("if (" + mine + ")");
    store(n, at, names);
    lines.close();
    if (repeats)
      lines.close();
  }

  static bool isZero(const Source &source) {
    return source.kind == Source::Kind::Constant &&
           (matchPattern(source.constant, m_AnyZeroFloat()) ||
            matchPattern(source.constant, m_Zero()));
  }

  /// Results that share a buffer with what was read until now.
  void copyOut() {
    bool first = true;
    for (auto [n, nest] : llvm::enumerate(part.nests))
      for (auto [r, output] : llvm::enumerate(nest.outputs)) {
        if (!output.overwritesRead || output.arguments.empty())
          continue;
        if (first && isTeam())
          sync();
        first = false;
        const NestSchedule &inner = schedule.nests[n];
        SmallVector<std::string> at = startOf(nest);
        unsigned opened = 1;
        if (!isTeam()) {
          opened = openLoops(inner.parallel, nest, at, "j");
        } else if (inner.values == 1) {
          lines.open("if (lane == 0u)");
        } else {
          std::string position = text.names.numbered("p");
          openLoop(position, text.counter(), "lane", text.count(inner.values),
                   text.count(schedule.team));
          unravel(position, inner.parallel, nest, at, "j");
        }
        body.storeToBuffers(output, at,
                            body.kept(n, r, body.address(output.local, at)));
        closeLoops(opened);
      }
  }

  Part &part;
  const PartSchedule &schedule;
  CudaText &text;
  CudaLines &lines;
  CudaValues values;
  CudaBody body;
  SmallVector<std::string> gridAt;
  std::string packBegin, lastOrigin;
  /// Since the team last waited: results written, arguments read.
  std::set<std::pair<unsigned, unsigned>> written;
  std::set<unsigned> readArguments;
};

} // namespace

void emitCudaPart(const Kernel &kernel, Part &part,
                  const PartSchedule &schedule, CudaText &text) {
  PartEmitter(part, schedule, text).emit();
}

} // namespace brew::compiler
