//===- PlanValidator.cpp - Rules for everything but programs --------------===//
#include "plan/PlanValidator.h"

#include "plan/PlanFile.h"
#include "support/Error.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>
#include <vector>

namespace brew::plan {

void validateManifest(const Manifest &manifest, SegmentRange range,
                      const std::string &name) {
  Validator(manifest, range, name).run();
}

/// Returns the name of the first field whose enumeration value is unknown to
/// this program, or "". Protobuf parses such a field as absent, so its default
/// would replace the value that was written.
static std::string
findFieldWithUnknownValue(const google::protobuf::Message &message) {
  const auto *type = message.GetDescriptor();
  const auto *reflection = message.GetReflection();
  const auto &unknown = reflection->GetUnknownFields(message);
  for (int i = 0; i < unknown.field_count(); ++i)
    if (const auto *field = type->FindFieldByNumber(unknown.field(i).number()))
      return type->name() + "." + field->name();
  std::vector<const google::protobuf::FieldDescriptor *> fields;
  reflection->ListFields(message, &fields);
  for (const auto *field : fields) {
    if (!field->message_type())
      continue;
    const int count =
        field->is_repeated() ? reflection->FieldSize(message, field) : 1;
    for (int i = 0; i < count; ++i) {
      const auto &inner =
          field->is_repeated()
              ? reflection->GetRepeatedMessage(message, field, i)
              : reflection->GetMessage(message, field);
      if (std::string found = findFieldWithUnknownValue(inner); !found.empty())
        return found;
    }
  }
  return "";
}

void Validator::run() {
  if (std::string field = findFieldWithUnknownValue(manifest); !field.empty())
    fail(field, "its value is unknown to this program");
  checkTarget();
  checkSegments();
  checkArenas();
  checkBuffers();
  checkParameters();
  checkPersistent();
  checkKernels();
  checkPrograms();
}

void Validator::fail(const std::string &where,
                     const std::string &problem) const {
  // Names in a damaged plan may contain anything, but control characters must
  // not reach a terminal.
  std::string printable = where;
  for (char &character : printable)
    if (static_cast<unsigned char>(character) < 0x20 || character == 0x7f)
      character = '?';
  throw badInput(name + ": damaged plan: " + printable + ": " + problem);
}

/// Returns whether `arch` is "sm_" or "compute_" and a number of two or three
/// digits, optionally followed by the letter of architecture- or
/// family-specific features.
static bool isCudaArch(const std::string &arch) {
  std::size_t number = arch.rfind("sm_", 0) == 0        ? 3
                       : arch.rfind("compute_", 0) == 0 ? 8
                                                        : arch.size();
  std::size_t end =
      std::min(arch.find_first_not_of("0123456789", number), arch.size());
  if (end - number < 2 || end - number > 3 || arch[number] == '0')
    return false;
  return end == arch.size() ||
         (end + 1 == arch.size() && (arch[end] == 'a' || arch[end] == 'f'));
}

void Validator::checkTarget() const {
  const Target &target = manifest.target();
  require(manifest.has_target(), "target", "missing");
  require(target.has_kind(), "target", "kind is missing");
  require(target.has_precision(), "target", "precision is missing");
  require(target.precision() == F32 || target.precision() == F64, "target",
          "precision is neither F32 nor F64");
  if (target.kind() != Target::CUDA) {
    require(target.archs().empty() && !target.has_nvrtc_version() &&
                !target.has_math(),
            "target", "a CPU has no CUDA architectures, NVRTC or math mode");
    return;
  }
  require(!target.archs().empty(), "target", "archs are missing");
  require(target.math() == Target::STRICT || target.precision() == F32,
          "target", "only F32 can be multiplied as TF32");
  bool hasCompiledArch = false;
  std::set<std::string> archs;
  for (const std::string &arch : target.archs()) {
    require(arch == "sim" || isCudaArch(arch), "target",
            "an architecture is not sm_N, compute_N or sim");
    require(archs.insert(arch).second, "target",
            "an architecture is listed twice");
    hasCompiledArch |= arch != "sim";
  }
  require(target.has_nvrtc_version() == hasCompiledArch, "target",
          "the version of NVRTC is missing, or present although NVRTC "
          "compiled nothing");
}

void Validator::checkSegments() const {
  std::uint64_t end = range.begin;
  for (int i = 0; i < manifest.segments_size(); ++i) {
    const Segment &segment = manifest.segments(i);
    std::string where = "segment " + std::to_string(i);
    require(segment.has_kind(), where, "kind is missing");
    require(segment.has_offset() && segment.has_size(), where,
            "offset or size is missing");
    require(segment.offset() % kAlignment == 0, where,
            "offset is not a multiple of 64");
    require(segment.offset() >= end, where,
            "it overlaps the manifest or the segment before it");
    require(segment.offset() <= range.end &&
                segment.size() <= range.end - segment.offset(),
            where, "it reaches beyond the end of the file");
    end = segment.offset() + segment.size();
  }
}

void Validator::checkArenas() const {
  std::set<int> kinds;
  for (int i = 0; i < manifest.arenas_size(); ++i) {
    const Arena &arena = manifest.arenas(i);
    std::string where = "arena " + std::to_string(i);
    require(arena.has_kind(), where, "kind is missing");
    require(arena.has_size(), where, "size is missing");
    require(arena.size() <= kMaxBytes, where, "size is too large");
    require(kinds.insert(arena.kind()).second, where,
            "there is another arena of its kind");
    if (arena.kind() == SCALARS)
      require(arena.size() >= scalarOffset(kScalarCount), where,
              "it is too small for the solver's scalars");
    if (!arena.has_initial_segment_index()) {
      require(arena.kind() != CONSTANTS, where, "initial segment is missing");
      continue;
    }
    require(arena.kind() == CONSTANTS || arena.kind() == PARAMETERS, where,
            "an arena of this kind has no initial segment");
    require(arena.initial_segment_index() <
                static_cast<std::uint32_t>(manifest.segments_size()),
            where, "initial segment does not exist");
    const Segment &segment =
        manifest.segments(static_cast<int>(arena.initial_segment_index()));
    require(segment.kind() == (arena.kind() == CONSTANTS
                                   ? Segment::CONSTANT_DATA
                                   : Segment::WEIGHTS),
            where, "initial segment is of the wrong kind");
    require(segment.size() <= arena.size(), where,
            "initial segment is larger than the arena");
  }
}

void Validator::checkBuffers() const {
  for (int i = 0; i < manifest.buffers_size(); ++i) {
    const Buffer &buffer = manifest.buffers(i);
    checkBuffer(buffer,
                "buffer " + std::to_string(i) + " ('" + buffer.name() + "')");
  }
}

void Validator::checkBuffer(const Buffer &buffer,
                            const std::string &where) const {
  require(buffer.has_arena_index(), where, "arena index is missing");
  require(buffer.arena_index() <
              static_cast<std::uint32_t>(manifest.arenas_size()),
          where, "its arena does not exist");
  require(buffer.has_offset() && buffer.has_size(), where,
          "offset or size is missing");
  // Subviews of concatenated blobs start at any element.
  require(buffer.offset() % elementSize(buffer.type()) == 0, where,
          "offset is not a multiple of its element size");
  const Arena &arena = manifest.arenas(static_cast<int>(buffer.arena_index()));
  require(buffer.offset() <= arena.size() &&
              buffer.size() <= arena.size() - buffer.offset(),
          where, "it reaches beyond the end of its arena");
  require(buffer.dims_size() == buffer.strides_size(), where,
          "numbers of dimensions and strides differ");
  require(buffer.dims_size() <= kMaxRank, where, "too many dimensions");

  // Arithmetic below cannot overflow: each factor is bounded by kMaxBytes
  // before it is used, and products are taken in 128 bits.
  std::uint64_t count = 1, lastElement = 0;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> axes; // stride, dim
  for (int d = 0; d < buffer.dims_size(); ++d) {
    std::int64_t dim = buffer.dims(d), stride = buffer.strides(d);
    require(dim >= 1, where, "a dimension is not positive");
    require(stride >= 1, where, "a stride is not positive");
    auto total = static_cast<unsigned __int128>(count) * dim;
    require(total <= kMaxBytes, where, "it has too many elements");
    count = static_cast<std::uint64_t>(total);
    auto reach = static_cast<unsigned __int128>(dim - 1) * stride + lastElement;
    require(reach <= kMaxBytes, where, "its strides reach too far");
    lastElement = static_cast<std::uint64_t>(reach);
    if (dim > 1)
      axes.emplace_back(stride, dim);
  }
  require((lastElement + 1) * elementSize(buffer.type()) <= buffer.size(),
          where, "its strides reach beyond its size");
  // Elements do not overlap if each axis steps over all faster ones.
  std::sort(axes.begin(), axes.end());
  std::uint64_t covered = 1;
  for (auto [stride, dim] : axes) {
    require(stride >= covered, where, "its strides make elements overlap");
    covered += (dim - 1) * stride;
  }

  if (buffer.has_program_index())
    require(buffer.program_index() <
                static_cast<std::uint32_t>(manifest.programs_size()),
            where, "its program does not exist");
  require(!buffer.zero_gaps() || manifest.target().kind() == Target::CUDA,
          where, "zero_gaps is set in a CPU plan");
  require(buffer.has_first_step() == buffer.has_last_step(), where,
          "only one of first and last step is given");
  if (!buffer.has_first_step())
    return;
  require(buffer.has_program_index(), where,
          "live steps are given without a program");
  const Program &program =
      manifest.programs(static_cast<int>(buffer.program_index()));
  // A last step equal to the number of steps means that the host reads the
  // buffer after the run.
  require(buffer.first_step() <= buffer.last_step() &&
              buffer.last_step() <=
                  static_cast<std::uint32_t>(program.steps_size()),
          where, "live steps lie outside the program");
}

void Validator::checkFileDims(
    const google::protobuf::RepeatedField<std::int64_t> &dims,
    std::int64_t count, const std::string &where) const {
  require(dims.size() <= kMaxRank, where, "too many file dimensions");
  unsigned __int128 product = 1;
  for (std::int64_t dim : dims) {
    require(dim >= 1, where, "a file dimension is not positive");
    product *= static_cast<std::uint64_t>(dim);
    require(product <= kMaxBytes, where, "file dimensions are too large");
  }
  require(product == static_cast<std::uint64_t>(count), where,
          "file dimensions and buffer differ in their number of elements");
}

/// Checks a gradient or history buffer. It must have the parameter's layout,
/// since update kernels access all three with one index. `message` reports a
/// missing or constant buffer.
void Validator::checkCompanion(const Buffer &parameter, std::uint32_t index,
                               const std::string &where,
                               const char *message) const {
  require(index < static_cast<std::uint32_t>(manifest.buffers_size()), where,
          message);
  const Buffer &buffer = manifest.buffers(static_cast<int>(index));
  bool layoutsMatch =
      buffer.type() == parameter.type() &&
      std::equal(buffer.dims().begin(), buffer.dims().end(),
                 parameter.dims().begin(), parameter.dims().end()) &&
      std::equal(buffer.strides().begin(), buffer.strides().end(),
                 parameter.strides().begin(), parameter.strides().end());
  require(layoutsMatch, where,
          "type, dimensions or strides of a gradient or history buffer differ "
          "from the parameter's");
  ArenaKind kind =
      manifest.arenas(static_cast<int>(buffer.arena_index())).kind();
  require(kind != CONSTANTS, where, message);
  ArenaKind parameterKind =
      manifest.arenas(static_cast<int>(parameter.arena_index())).kind();
  if (kind == GRADIENTS && parameterKind == PARAMETERS)
    require(buffer.offset() == parameter.offset(), where,
            "the gradient's offset differs from the parameter's");
}

void Validator::checkInitialValues(std::uint32_t segment, const Buffer &buffer,
                                   const std::string &where) const {
  require(segment < static_cast<std::uint32_t>(manifest.segments_size()), where,
          "the segment of its initial values does not exist");
  const Segment &values = manifest.segments(static_cast<int>(segment));
  require(values.kind() == Segment::WEIGHTS, where,
          "the segment of its initial values contains no weights");
  require(values.size() == static_cast<std::uint64_t>(elementCount(buffer)) *
                               elementSize(buffer.type()),
          where, "the segment of its initial values has another size");
}

void Validator::checkPersistent() const {
  std::set<std::string> names;
  for (const NamedBuffer &state : manifest.persistent()) {
    const std::string where = "persistent state '" + state.name() + "'";
    require(names.insert(state.name()).second, where,
            "there is another of its name");
    const Buffer &values =
        buffer(state.has_buffer_index(), state.buffer_index(), -1, where,
               "its buffer");
    require(manifest.arenas(static_cast<int>(values.arena_index())).kind() ==
                PARAMETERS,
            where, "its buffer does not outlive programs");
    require(values.type() == F32 || values.type() == F64, where,
            "its type is neither F32 nor F64");
  }
}

void Validator::checkParameters() const {
  std::set<std::pair<std::string, std::uint32_t>> names;
  for (int i = 0; i < manifest.parameters_size(); ++i) {
    const Parameter &parameter = manifest.parameters(i);
    std::string where = "parameter " + std::to_string(i) + " (" +
                        parameter.layer() + "/" +
                        std::to_string(parameter.index()) + ")";
    require(parameter.has_layer() && parameter.has_index(), where,
            "layer or index is missing");
    require(names.insert({parameter.layer(), parameter.index()}).second, where,
            "another parameter has its name");
    require(std::isfinite(parameter.lr_mult()) &&
                std::isfinite(parameter.decay_mult()),
            where, "its lr_mult or decay_mult is not finite");
    require(parameter.has_buffer_index() &&
                parameter.buffer_index() <
                    static_cast<std::uint32_t>(manifest.buffers_size()),
            where, "its buffer does not exist");
    const Buffer &buffer =
        manifest.buffers(static_cast<int>(parameter.buffer_index()));
    require(!buffer.has_program_index(), where,
            "its buffer belongs to one program");
    require(buffer.type() == manifest.target().precision(), where,
            "its type is not the plan's precision");
    if (parameter.has_gradient_buffer_index())
      checkCompanion(buffer, parameter.gradient_buffer_index(), where,
                     "its gradient buffer does not exist or is constant");
    for (std::uint32_t state : parameter.state_buffer_indices())
      checkCompanion(buffer, state, where,
                     "a history buffer does not exist or is constant");
    checkFileDims(parameter.file_dims(), elementCount(buffer), where);
    if (parameter.has_initial_segment_index())
      checkInitialValues(parameter.initial_segment_index(), buffer, where);
    for (const Parameter::Sharer &sharer : parameter.sharers()) {
      require(sharer.has_layer() && sharer.has_index(), where,
              "layer or index of a sharer is missing");
      require(names.insert({sharer.layer(), sharer.index()}).second, where,
              "another parameter has the name of a sharer");
      checkFileDims(sharer.file_dims(), elementCount(buffer), where);
    }
  }
}

void Validator::checkKernels() const {
  for (int i = 0; i < manifest.kernels_size(); ++i) {
    const Kernel &kernel = manifest.kernels(i);
    std::string where =
        "kernel " + std::to_string(i) + " ('" + kernel.symbol() + "')";
    require(!kernel.symbol().empty() &&
                kernel.symbol().find('\0') == std::string::npos,
            where, "symbol is missing");
    require(kernel.has_argument_count(), where, "argument count is missing");
    if (manifest.target().kind() == Target::CUDA)
      checkCudaKernel(kernel, where);
    else
      checkCpuKernel(kernel, where);
  }
}

void Validator::checkImage(bool present, std::uint32_t segment,
                           const std::string &where) const {
  require(present &&
              segment < static_cast<std::uint32_t>(manifest.segments_size()),
          where, "its image segment does not exist");
  require(manifest.segments(static_cast<int>(segment)).kind() ==
              Segment::KERNEL_IMAGE,
          where, "its segment is not a kernel image");
}

void Validator::checkCpuKernel(const Kernel &kernel,
                               const std::string &where) const {
  checkImage(kernel.has_image_segment_index(), kernel.image_segment_index(),
             where);
  require(kernel.has_domain() && kernel.domain() >= 1 &&
              static_cast<std::uint64_t>(kernel.domain()) <= kMaxBytes,
          where, "domain is missing or out of range");
  require(kernel.grain() >= 1 &&
              static_cast<std::uint64_t>(kernel.grain()) <= kMaxBytes,
          where, "grain is out of range");
  require(kernel.images().empty() && !kernel.has_blocks() &&
              !kernel.has_threads() && !kernel.has_stages(),
          where, "it has CUDA images or a launch geometry in a CPU plan");
}

void Validator::checkCudaKernel(const Kernel &kernel,
                                const std::string &where) const {
  require(!kernel.has_image_segment_index() && !kernel.has_domain() &&
              !kernel.has_grain(),
          where, "it has a CPU image or range in a CUDA plan");
  require(kernel.has_blocks() && kernel.blocks() >= 1 &&
              kernel.blocks() <= kMaxBlocks,
          where, "the number of blocks is missing or out of range");
  require(kernel.has_threads() && kernel.threads() >= 1 &&
              kernel.threads() <= kMaxThreads,
          where, "the number of threads is missing or out of range");
  require(kernel.stages() >= 1 && kernel.stages() <= kMaxStages, where,
          "the number of stages is out of range");
  std::set<std::string> archs;
  for (const KernelImage &image : kernel.images()) {
    checkImage(image.has_segment_index(), image.segment_index(), where);
    require(archs.insert(image.arch()).second, where,
            "it has two images for one architecture");
  }
  const auto &targetArchs = manifest.target().archs();
  require(archs ==
              std::set<std::string>(targetArchs.begin(), targetArchs.end()),
          where,
          "it does not have one image for each of the target's architectures");
}

} // namespace brew::plan
