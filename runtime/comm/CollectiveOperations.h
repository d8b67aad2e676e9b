//===- CollectiveOperations.h - Collective operations of ranks --*- C++ -*-===//
#pragma once

#include "caffe/weights/Float16.h"
#include "runtime/comm/Communicator.h"
#include "runtime/comm/Plugin.h"

#include <string>
#include <vector>

namespace brew::runtime::comm {

/// Throws Error (3) with `failure`, the result of a function of the plugin,
/// unless it is null.
void check(const BrewCommPlugin &plugin, const char *failure);

/// A sequence of collective operations. Only the communicator's thread uses it.
class CollectiveOperation {
public:
  virtual ~CollectiveOperation() = default;
  /// Starts the next operation. Returns false if there is none left.
  virtual bool startNext(const BrewCommPlugin &plugin) = 0;
  /// Returns the description for errors, such as "the sum of bucket 3".
  virtual std::string describe() const = 0;
};

/// An all-reduce that sums in the transport's own order.
class TransportAllReduce : public CollectiveOperation {
public:
  TransportAllReduce(std::uint32_t bucket,
                     std::vector<ReductionBuffer> buffers);
  bool startNext(const BrewCommPlugin &plugin) override;
  std::string describe() const override;

private:
  std::uint32_t bucket;
  std::vector<ReductionBuffer> buffers;
  std::size_t next = 0;
};

/// An all-reduce that sums in the order of ranks: each rank receives one slice
/// of the values of all ranks, sums it, and sends the sum to all.
class OrderedAllReduce : public CollectiveOperation {
public:
  OrderedAllReduce(std::uint32_t bucket, std::vector<ReductionBuffer> buffers,
                   int rank, int ranks);
  bool startNext(const BrewCommPlugin &plugin) override;
  std::string describe() const override;

private:
  std::uint32_t bucket;
  std::vector<ReductionBuffer> buffers;
  int rank, ranks;
  std::size_t next = 0;
  bool hasExchanged = false;
  std::vector<int> counts, offsets; ///< of the slices, by rank
  std::vector<double> received;     ///< received slices, aligned for f64
};

/// An all-reduce that transfers bf16: each rank rounds its values, receives one
/// slice of the rounded values of all ranks, sums it in f32 in the order of
/// ranks, and sends the rounded sum to all.
class Bf16AllReduce : public CollectiveOperation {
public:
  /// The elements of `buffers` are f32.
  Bf16AllReduce(std::uint32_t bucket, std::vector<ReductionBuffer> buffers,
                int rank, int ranks);
  bool startNext(const BrewCommPlugin &plugin) override;
  std::string describe() const override;

private:
  void round(const ReductionBuffer &buffer);
  void sumSlices();
  void widen(const ReductionBuffer &buffer) const;

  std::uint32_t bucket;
  std::vector<ReductionBuffer> buffers;
  int rank, ranks;
  std::size_t next = 0;
  enum { Exchange, AllGather, Widen } stage = Exchange;
  std::vector<int> counts, offsets;      ///< bytes of the slices, by rank
  std::vector<caffe::BFloat16> rounded;  ///< own values of a buffer
  std::vector<caffe::BFloat16> received; ///< all ranks' values of a slice
};

/// Copies each rank's slice of `data` to all ranks. The slice of rank r begins
/// at byte bounds[r] and ends at byte bounds[r + 1].
class AllGatherSlices : public CollectiveOperation {
public:
  AllGatherSlices(std::byte *data, std::vector<std::size_t> bounds);
  bool startNext(const BrewCommPlugin &plugin) override;
  std::string describe() const override { return "the slices of all ranks"; }

private:
  std::byte *data;
  std::vector<int> counts, offsets; ///< in units of 8 bytes
  bool hasStarted = false;
};

/// Copies the bytes of rank 0 to all ranks.
class Broadcast : public CollectiveOperation {
public:
  Broadcast(void *data, std::size_t bytes)
      : data(data), remainingBytes(bytes) {}
  bool startNext(const BrewCommPlugin &plugin) override;
  std::string describe() const override { return "the values of rank 0"; }

private:
  void *data;
  std::size_t remainingBytes;
};

/// Copies the values of each rank, a block of equal size, to all ranks.
class AllGatherBlocks : public CollectiveOperation {
public:
  using Blocks = std::shared_ptr<std::vector<std::uint64_t>>;
  AllGatherBlocks(Blocks blocks, int ranks, const char *description);
  bool startNext(const BrewCommPlugin &plugin) override;
  std::string describe() const override { return description; }

private:
  Blocks blocks;
  std::vector<int> counts, offsets;
  const char *description;
  bool hasStarted = false;
};

} // namespace brew::runtime::comm
