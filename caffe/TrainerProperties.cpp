//===- TrainerProperties.cpp - Properties of trainers ---------------------===//

#include "caffe/TrainerProperties.h"

#include "caffe/PropertyList.h"
#include "support/Error.h"
#include "support/Suggest.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <limits>
#include <map>
#include <optional>

namespace brew::caffe {
namespace {

struct Range {
  double low, high;
};
constexpr Range kFraction = {0, 1};
constexpr Range kCount = {1, 1e9};
constexpr Range kCountOrZero = {0, 1e9};

/// Parses properties one by one.
class PropertyReader {
public:
  PropertyReader(TrainerProperties &properties, std::string where,
                 ExitStatus status)
      : properties(properties), where(std::move(where)), status(status) {}

  /// Sets a property. Returns false if the key is unknown.
  bool set(const std::string &key, const std::string &text);
  std::vector<std::string> keys; ///< all known keys, after set()

private:
  [[noreturn]] void fail(const std::string &text) const {
    throw Error(status, where + ": " + text);
  }
  /// Parses a number in `range`; `expectation` describes it in errors.
  double parseNumber(const std::string &text, Range range,
                     const char *expectation) {
    double value = 0;
    const auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() ||
        !(value >= range.low && value <= range.high))
      fail(key + "=" + text + " is not " + expectation);
    return value;
  }
  void readFraction(const char *name, double &value, const std::string &text) {
    if (matchesKey(name))
      value = parseNumber(text, kFraction, "a number from 0 to 1");
  }
  void readCount(const char *name, int &value, const std::string &text,
                 Range range = kCount) {
    if (!matchesKey(name))
      return;
    const double parsed =
        parseNumber(text, range, "a whole number in its range");
    value = static_cast<int>(parsed);
    if (value != parsed)
      fail(key + "=" + text + " is not a whole number");
  }
  void readFlag(const char *name, bool &value, const std::string &text) {
    if (!matchesKey(name))
      return;
    std::string lower = text;
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](unsigned char c) { return std::tolower(c); });
    if (lower != "true" && lower != "false")
      fail(key + "=" + text + " is neither True nor False");
    value = lower == "true";
  }
  /// Adds `name` to the known keys and returns whether it is the current key.
  bool matchesKey(const char *name) {
    keys.emplace_back(name);
    isKnown |= key == name;
    return key == name;
  }
  void readRewardType(const std::string &text);
  void readGpuIds(const std::string &text);

  TrainerProperties &properties;
  std::string where;
  ExitStatus status;
  std::string key;
  bool isKnown = false;
};

void PropertyReader::readRewardType(const std::string &text) {
  using Reward = TrainerProperties::Reward;
  constexpr struct {
    const char *brief, *full;
    Reward reward;
  } rows[] = {{"VAL", "VALUE", Reward::Value},
              {"AVE", "AVERAGE", Reward::Average},
              {"MAX", "MAXIMUM", Reward::Maximum}};
  if (!matchesKey("RewardType"))
    return;
  for (const auto &row : rows)
    if (text == row.brief || text == row.full) {
      properties.rewardType = row.reward;
      return;
    }
  fail("RewardType=" + text + " is not VAL, AVE or MAX");
}

void PropertyReader::readGpuIds(const std::string &text) {
  if (!matchesKey("GPUIDs"))
    return;
  properties.gpuIds.clear();
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    properties.gpuIds.push_back(static_cast<int>(parseNumber(
        text.substr(begin, end - begin), {0, 1023}, "a list of GPU numbers")));
    begin = end + 1;
  }
}

bool PropertyReader::set(const std::string &name, const std::string &text) {
  key = name;
  isKnown = false;
  keys.clear();
  if (matchesKey("TrainerType"))
    properties.trainerType = text;
  readRewardType(text);
  readFraction("Gamma", properties.gamma, text);
  readCount("MiniBatch", properties.miniBatch, text);
  readFlag("UseRawInput", properties.useRawInput, text);
  readFlag("AllowDiscountReset", properties.allowDiscountReset, text);
  readFlag("NormalizeInput", properties.normalizeInput, text);
  bool accelerated = false;
  readFlag("UseAcceleratedTraining", accelerated, text);
  if (accelerated)
    fail("UseAcceleratedTraining=True is not supported: it updates a copy of "
         "the weights before all gradients are accumulated");
  readFlag("ShowActionProb", properties.showActionProb, text);
  readFlag("Verbose", properties.verbose, text);
  readCount("Threads", properties.threads, text, {1, 1024});
  readGpuIds(text);
  readCount("EpsSteps", properties.epsSteps, text, kCountOrZero);
  readFraction("EpsStart", properties.epsStart, text);
  readFraction("EpsEnd", properties.epsEnd, text);
  readCount("EpisodeBatchSize", properties.episodeBatchSize, text);
  readFraction("EpisodeElitePercent", properties.episodeElitePercent, text);
  readFraction("Lambda", properties.lambda, text);
  readCount("Steps", properties.steps, text);
  readCount("Epochs", properties.epochs, text);
  readFlag("StandardizeAdvantage", properties.standardizeAdvantage, text);
  if (isKnown)
    properties.explicitKeys.push_back(name);
  return isKnown;
}

/// Calls `use` with each key and value.
template <typename Use>
void forEachProperty(const std::string &text, const std::string &where,
                     ExitStatus status, Use &&use) {
  for (const PropertyEntry &entry : parsePropertyList(text)) {
    if (!entry.isProperty())
      throw Error(status, where + ": " + entry.syntaxError());
    use(entry.key(), entry.value());
  }
}

constexpr const char *kTrainers[] = {"PG.SIMPLE", "PG.ST", "PG.MT", "PPO",
                                     "A2C"};

/// Properties of MyCaffe's trainers and environments that Brew ignores.
constexpr const char *kIgnoredProperties[] = {"ActionForceGray",
                                              "AllowNegativeRewards",
                                              "DisableVocabulary",
                                              "EnableBinaryActions",
                                              "FrameSkip",
                                              "GameROM",
                                              "Init1",
                                              "Init2",
                                              "InputSize",
                                              "MaxMemory",
                                              "Preprocess",
                                              "SequenceLength",
                                              "TerminateOnRallyEnd",
                                              "ValueType",
                                              "VocabularyType"};

bool isIgnoredProperty(const std::string &key) {
  return std::find(std::begin(kIgnoredProperties), std::end(kIgnoredProperties),
                   key) != std::end(kIgnoredProperties);
}

/// A property that was set but that the trainer does not use, and a message
/// about it.
struct UnusedProperty {
  std::string name, text;
};

/// Returns the first unused property.
std::optional<UnusedProperty>
findUnusedProperty(const TrainerProperties &properties) {
  enum Users { PolicyGradients, AgentsOnThreads, ActorCritics };
  using Predicate = bool (*)(const TrainerProperties &);
  constexpr Predicate never = nullptr;
  constexpr struct {
    const char *name;
    Users users;
    Predicate isNeutral; ///< whether the value describes what other trainers do
  } rows[] = {
      {"MiniBatch", PolicyGradients, never},
      {"UseRawInput", PolicyGradients,
       [](const TrainerProperties &p) { return p.useRawInput; }},
      {"AllowDiscountReset", PolicyGradients,
       [](const TrainerProperties &p) { return !p.allowDiscountReset; }},
      {"NormalizeInput", PolicyGradients,
       [](const TrainerProperties &p) { return !p.normalizeInput; }},
      {"ShowActionProb", PolicyGradients,
       [](const TrainerProperties &p) { return !p.showActionProb; }},
      {"Verbose", PolicyGradients,
       [](const TrainerProperties &p) { return !p.verbose; }},
      {"Threads", AgentsOnThreads,
       [](const TrainerProperties &p) { return p.threads == 1; }},
      {"GPUIDs", AgentsOnThreads, never},
      {"EpsSteps", AgentsOnThreads,
       [](const TrainerProperties &p) { return p.epsSteps == 0; }},
      {"EpsStart", AgentsOnThreads,
       [](const TrainerProperties &p) { return p.epsStart == 0; }},
      {"EpsEnd", AgentsOnThreads,
       [](const TrainerProperties &p) { return p.epsEnd == 0; }},
      {"EpisodeBatchSize", AgentsOnThreads,
       [](const TrainerProperties &p) { return p.episodeBatchSize == 1; }},
      {"EpisodeElitePercent", AgentsOnThreads,
       [](const TrainerProperties &p) { return p.episodeElitePercent == 1; }},
      {"Lambda", ActorCritics, never},
      {"Steps", ActorCritics, never},
      {"Epochs", ActorCritics, never}};
  const std::string &trainer = properties.trainerType;
  const bool hasAgentThreads = trainer == "PG.MT";
  const bool isPolicyGradient = trainer.rfind("PG.", 0) == 0;
  for (const auto &row : rows) {
    const bool isUsed = row.users == PolicyGradients ? isPolicyGradient
                        : row.users == ActorCritics  ? !isPolicyGradient
                                                     : hasAgentThreads;
    if (std::find(properties.explicitKeys.begin(),
                  properties.explicitKeys.end(),
                  row.name) == properties.explicitKeys.end())
      continue;
    if (!isUsed && !(row.isNeutral && row.isNeutral(properties)))
      return UnusedProperty{row.name, "the trainer " + trainer +
                                          " does not use the property " +
                                          row.name};
    if (isUsed && row.name == std::string("GPUIDs") && properties.threads == 1)
      return UnusedProperty{
          row.name, "the trainer " + trainer +
                        " uses the property GPUIDs with several Threads only"};
  }
  return std::nullopt;
}

} // namespace

void rejectUnusedProperties(const TrainerProperties &properties) {
  if (const std::optional<UnusedProperty> unused =
          findUnusedProperty(properties))
    throw usageError(unused->text);
}

std::vector<std::string> trainerNames() {
  return {std::begin(kTrainers), std::end(kTrainers)};
}

std::string canonicalTrainerName(const std::string &name) {
  return name == "PG" ? "PG.MT" : name;
}

std::vector<PropertyDiagnostic>
checkProperties(const std::string &solverProperties) {
  std::vector<PropertyDiagnostic> diagnostics;
  TrainerProperties properties;
  PropertyReader reader(properties, "custom_trainer_properties",
                        ExitStatus::BadInput);
  const std::vector<std::string> trainers = trainerNames();
  std::map<std::string, std::size_t> offsets;
  for (const PropertyEntry &entry : parsePropertyList(solverProperties)) {
    if (!entry.isProperty()) {
      diagnostics.push_back({true, entry.offset, entry.syntaxError()});
      continue;
    }
    const std::string key = entry.key(), value = entry.value();
    offsets[key] = entry.offset;
    if (key == "TrainerType" &&
        std::find(trainers.begin(), trainers.end(),
                  canonicalTrainerName(value)) == trainers.end()) {
      // A similar name is a typo; otherwise it is a trainer of MyCaffe.
      const std::string guess = didYouMean(value, trainers);
      std::string supportedTrainers;
      for (const std::string &name : trainers)
        supportedTrainers += (supportedTrainers.empty() ? "" : ", ") + name;
      return {{!guess.empty(), entry.valueOffset(),
               "there is no trainer '" + value + "'" + guess +
                   " (known: " + supportedTrainers + ")"}};
    }
    try {
      if (reader.set(key, value))
        continue;
      if (isIgnoredProperty(key))
        diagnostics.push_back(
            {false, entry.offset,
             "property " + key +
                 " has no effect: it is for "
                 "other trainers and environments of MyCaffe"});
      else
        diagnostics.push_back({true, entry.offset,
                               "there is no property '" + key + "'" +
                                   didYouMean(key, reader.keys)});
    } catch (const Error &error) {
      diagnostics.push_back({true, entry.valueOffset(), error.what()});
    }
  }
  if (properties.epsEnd > properties.epsStart)
    diagnostics.push_back(
        {true, offsets["EpsEnd"], "EpsEnd must not be above EpsStart"});
  properties.trainerType = canonicalTrainerName(properties.trainerType);
  if (!properties.trainerType.empty())
    if (const std::optional<UnusedProperty> unused =
            findUnusedProperty(properties))
      diagnostics.push_back({true, offsets[unused->name], unused->text});
  return diagnostics;
}

double TrainerProperties::exploration(long long episode) const {
  if (epsSteps == 0)
    return 0;
  if (episode >= epsSteps)
    return epsEnd;
  return epsStart +
         static_cast<double>(episode) * (epsEnd - epsStart) / epsSteps;
}

TrainerProperties
parseProperties(const std::string &solverProperties,
                const std::string &overrides,
                const std::function<void(const std::string &)> &warn) {
  TrainerProperties properties;
  const std::string solverWhere = "the solver's custom_trainer_properties",
                    overrideWhere = "trainer properties";
  PropertyReader reader(properties, solverWhere, ExitStatus::BadInput);
  forEachProperty(solverProperties, solverWhere, ExitStatus::BadInput,
                  [&](const std::string &key, const std::string &value) {
                    if (!reader.set(key, value))
                      warn(solverWhere + ": " + key + " has no effect" +
                           didYouMean(key, reader.keys));
                  });
  PropertyReader overrideReader(properties, overrideWhere, ExitStatus::Usage);
  forEachProperty(overrides, overrideWhere, ExitStatus::Usage,
                  [&](const std::string &key, const std::string &value) {
                    if (!overrideReader.set(key, value))
                      throw Error(ExitStatus::Usage,
                                  overrideWhere + ": there is no property '" +
                                      key + "'" +
                                      didYouMean(key, overrideReader.keys));
                  });
  if (properties.epsEnd > properties.epsStart)
    throw Error(overrides.empty() ? ExitStatus::BadInput : ExitStatus::Usage,
                (overrides.empty() ? solverWhere : overrideWhere) +
                    ": EpsEnd must not be above EpsStart");
  return properties;
}

} // namespace brew::caffe
