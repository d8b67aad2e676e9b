//===- TrainerProperties.cpp - The settings of a learner ------------------===//

#include "caffe/TrainerProperties.h"

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
constexpr Range kShare = {0, 1};
constexpr Range kCount = {1, 1e9};
constexpr Range kCountOrNone = {0, 1e9};

/// Parses properties one by one.
class Reader {
public:
  Reader(TrainerProperties &properties, std::string where, ExitStatus status)
      : to(properties), where(std::move(where)), status(status) {}

  /// Sets a property. Returns false if the key is unknown.
  bool take(const std::string &key, const std::string &text);
  std::vector<std::string> keys;

private:
  [[noreturn]] void fail(const std::string &text) const {
    throw Error(status, where + ": " + text);
  }
  double number(const std::string &text, Range range, const char *what) {
    double value = 0;
    const auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() ||
        !(value >= range.low && value <= range.high))
      fail(key + "=" + text + " is not " + what);
    return value;
  }
  void share(const char *name, double &value, const std::string &text) {
    if (is(name))
      value = number(text, kShare, "a number from 0 to 1");
  }
  void count(const char *name, int &value, const std::string &text,
             Range range = kCount) {
    if (!is(name))
      return;
    const double given = number(text, range, "a whole number in its range");
    value = static_cast<int>(given);
    if (value != given)
      fail(key + "=" + text + " is not a whole number");
  }
  void flag(const char *name, bool &value, const std::string &text) {
    if (!is(name))
      return;
    std::string lower = text;
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](unsigned char c) { return std::tolower(c); });
    if (lower != "true" && lower != "false")
      fail(key + "=" + text + " is neither True nor False");
    value = lower == "true";
  }
  bool is(const char *name) {
    keys.emplace_back(name);
    known |= key == name;
    return key == name;
  }
  void rewardType(const std::string &text);
  void gpus(const std::string &text);

  TrainerProperties &to;
  std::string where;
  ExitStatus status;
  std::string key;
  bool known = false;
};

void Reader::rewardType(const std::string &text) {
  using Reward = TrainerProperties::Reward;
  constexpr struct {
    const char *brief, *full;
    Reward reward;
  } rows[] = {{"VAL", "VALUE", Reward::Value},
              {"AVE", "AVERAGE", Reward::Average},
              {"MAX", "MAXIMUM", Reward::Maximum}};
  if (!is("RewardType"))
    return;
  for (const auto &row : rows)
    if (text == row.brief || text == row.full) {
      to.rewardType = row.reward;
      return;
    }
  fail("RewardType=" + text + " is not VAL, AVE or MAX");
}

void Reader::gpus(const std::string &text) {
  if (!is("GPUIDs"))
    return;
  to.gpuIds.clear();
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    to.gpuIds.push_back(static_cast<int>(number(
        text.substr(begin, end - begin), {0, 1023}, "a list of GPU numbers")));
    begin = end + 1;
  }
}

bool Reader::take(const std::string &name, const std::string &text) {
  key = name;
  known = false;
  keys.clear();
  if (is("TrainerType"))
    to.trainerType = text;
  rewardType(text);
  share("Gamma", to.gamma, text);
  count("MiniBatch", to.miniBatch, text);
  flag("UseRawInput", to.useRawInput, text);
  flag("AllowDiscountReset", to.allowDiscountReset, text);
  flag("NormalizeInput", to.normalizeInput, text);
  bool accelerated = false;
  flag("UseAcceleratedTraining", accelerated, text);
  if (accelerated)
    fail("UseAcceleratedTraining=True is not supported: it updates a copy of "
         "the weights before all gradients are accumulated");
  flag("ShowActionProb", to.showActionProb, text);
  flag("Verbose", to.verbose, text);
  count("Threads", to.threads, text, {1, 1024});
  gpus(text);
  count("EpsSteps", to.epsSteps, text, kCountOrNone);
  share("EpsStart", to.epsStart, text);
  share("EpsEnd", to.epsEnd, text);
  count("EpisodeBatchSize", to.episodeBatchSize, text);
  share("EpisodeElitePercent", to.episodeElitePercent, text);
  share("Lambda", to.lambda, text);
  count("Steps", to.steps, text);
  count("Epochs", to.epochs, text);
  flag("StandardizeAdvantage", to.standardizeAdvantage, text);
  if (known)
    to.given.push_back(name);
  return known;
}

std::string trimmed(const std::string &text) {
  const char *blanks = " \t\r\n";
  const std::size_t from = text.find_first_not_of(blanks);
  if (from == text.npos)
    return "";
  return text.substr(from, text.find_last_not_of(blanks) - from + 1);
}

/// A property and its location in the text.
struct Entry {
  std::string text;
  std::size_t offset;

  bool isProperty() const { return text.find('=') != text.npos; }
  std::string key() const { return trimmed(text.substr(0, text.find('='))); }
  std::string value() const { return trimmed(text.substr(text.find('=') + 1)); }
  /// Offset of the value.
  std::size_t valueOffset() const {
    const std::size_t after = text.find('=') + 1;
    return offset +
           std::min(text.find_first_not_of(" \t\r\n", after), text.size() - 1);
  }
  std::string complaint() const { return "'" + text + "' is not KEY=VALUE"; }
};

std::vector<Entry> entriesOf(const std::string &text) {
  std::vector<Entry> entries;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(';', begin), text.size());
    const std::string between = text.substr(begin, end - begin);
    if (const std::string entry = trimmed(between); !entry.empty())
      entries.push_back({entry, begin + between.find(entry)});
    begin = end + 1;
  }
  return entries;
}

/// Calls `use` with each key and value.
template <typename Use>
void forEach(const std::string &text, const std::string &where,
             ExitStatus status, Use &&use) {
  for (const Entry &entry : entriesOf(text)) {
    if (!entry.isProperty())
      throw Error(status, where + ": " + entry.complaint());
    use(entry.key(), entry.value());
  }
}

constexpr const char *kTrainers[] = {"PG.SIMPLE", "PG.ST", "PG.MT", "PPO",
                                     "A2C"};

/// Properties of MyCaffe's trainers and environments that Brew ignores.
constexpr const char *kOfMyCaffe[] = {"ActionForceGray",
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

bool isMyCaffes(const std::string &key) {
  return std::find(std::begin(kOfMyCaffe), std::end(kOfMyCaffe), key) !=
         std::end(kOfMyCaffe);
}

} // namespace

namespace {

/// Returns the first property that was set but is not used by the trainer.
struct Unused {
  std::string name, text;
};

std::optional<Unused> unusedOf(const TrainerProperties &properties) {
  enum Users { PolicyGradients, AgentsOnThreads, ActorCritics };
  using Says = bool (*)(const TrainerProperties &);
  constexpr Says never = nullptr;
  constexpr struct {
    const char *name;
    Users users;
    Says isNothing; ///< whether the value equals the other trainers' behaviour
  } rows[] = {
      {"MiniBatch", PolicyGradients, never},
      {"UseRawInput", PolicyGradients,
       [](const TrainerProperties &it) { return it.useRawInput; }},
      {"AllowDiscountReset", PolicyGradients,
       [](const TrainerProperties &it) { return !it.allowDiscountReset; }},
      {"NormalizeInput", PolicyGradients,
       [](const TrainerProperties &it) { return !it.normalizeInput; }},
      {"ShowActionProb", PolicyGradients,
       [](const TrainerProperties &it) { return !it.showActionProb; }},
      {"Verbose", PolicyGradients,
       [](const TrainerProperties &it) { return !it.verbose; }},
      {"Threads", AgentsOnThreads,
       [](const TrainerProperties &it) { return it.threads == 1; }},
      {"GPUIDs", AgentsOnThreads, never},
      {"EpsSteps", AgentsOnThreads,
       [](const TrainerProperties &it) { return it.epsSteps == 0; }},
      {"EpsStart", AgentsOnThreads,
       [](const TrainerProperties &it) { return it.epsStart == 0; }},
      {"EpsEnd", AgentsOnThreads,
       [](const TrainerProperties &it) { return it.epsEnd == 0; }},
      {"EpisodeBatchSize", AgentsOnThreads,
       [](const TrainerProperties &it) { return it.episodeBatchSize == 1; }},
      {"EpisodeElitePercent", AgentsOnThreads,
       [](const TrainerProperties &it) { return it.episodeElitePercent == 1; }},
      {"Lambda", ActorCritics, never},
      {"Steps", ActorCritics, never},
      {"Epochs", ActorCritics, never},
      {"StandardizeAdvantage", ActorCritics, never}};
  const std::string &trainer = properties.trainerType;
  const bool agents = trainer == "PG.MT";
  const bool gradients = trainer.rfind("PG.", 0) == 0;
  for (const auto &row : rows) {
    const bool used = row.users == PolicyGradients ? gradients
                      : row.users == ActorCritics  ? !gradients
                                                   : agents;
    if (std::find(properties.given.begin(), properties.given.end(), row.name) ==
        properties.given.end())
      continue;
    if (!used && !(row.isNothing && row.isNothing(properties)))
      return Unused{row.name, "the trainer " + trainer +
                                  " does not use the property " + row.name};
    if (used && row.name == std::string("GPUIDs") && properties.threads == 1)
      return Unused{row.name,
                    "the trainer " + trainer +
                        " uses the property GPUIDs with several Threads only"};
  }
  return std::nullopt;
}

} // namespace

void rejectUnusedProperties(const TrainerProperties &properties) {
  if (const std::optional<Unused> unused = unusedOf(properties))
    throw usageError(unused->text);
}

std::vector<std::string> trainerNames() {
  return {std::begin(kTrainers), std::end(kTrainers)};
}

std::string canonicalTrainerName(const std::string &name) {
  return name == "PG" ? "PG.MT" : name;
}

std::vector<PropertyDiagnostic> checkProperties(const std::string &own) {
  std::vector<PropertyDiagnostic> findings;
  TrainerProperties properties;
  Reader reader(properties, "custom_trainer_properties", ExitStatus::BadInput);
  const std::vector<std::string> trainers = trainerNames();
  std::map<std::string, std::size_t> places;
  for (const Entry &entry : entriesOf(own)) {
    if (!entry.isProperty()) {
      findings.push_back({true, entry.offset, entry.complaint()});
      continue;
    }
    const std::string key = entry.key(), value = entry.value();
    places[key] = entry.offset;
    if (key == "TrainerType" &&
        std::find(trainers.begin(), trainers.end(),
                  canonicalTrainerName(value)) == trainers.end()) {
      // A similar name is a typo; otherwise it is a trainer of MyCaffe.
      const std::string guess = didYouMean(value, trainers);
      std::string known;
      for (const std::string &name : trainers)
        known += (known.empty() ? "" : ", ") + name;
      return {{!guess.empty(), entry.valueOffset(),
               "there is no trainer '" + value + "'" + guess +
                   " (known: " + known + ")"}};
    }
    try {
      if (reader.take(key, value))
        continue;
      if (isMyCaffes(key))
        findings.push_back({false, entry.offset,
                            "property " + key +
                                " has no effect: it is for "
                                "other trainers and environments of MyCaffe"});
      else
        findings.push_back({true, entry.offset,
                            "there is no property '" + key + "'" +
                                didYouMean(key, reader.keys)});
    } catch (const Error &error) {
      findings.push_back({true, entry.valueOffset(), error.what()});
    }
  }
  if (properties.epsEnd > properties.epsStart)
    findings.push_back(
        {true, places["EpsEnd"], "EpsEnd must not be above EpsStart"});
  properties.trainerType = canonicalTrainerName(properties.trainerType);
  if (!properties.trainerType.empty())
    if (const std::optional<Unused> unused = unusedOf(properties))
      findings.push_back({true, places[unused->name], unused->text});
  return findings;
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
parseProperties(const std::string &own, const std::string &given,
                const std::function<void(const std::string &)> &warn) {
  TrainerProperties properties;
  const std::string ownWhere = "the solver's custom_trainer_properties",
                    givenWhere = "trainer properties";
  Reader reader(properties, ownWhere, ExitStatus::BadInput);
  forEach(own, ownWhere, ExitStatus::BadInput,
          [&](const std::string &key, const std::string &value) {
            if (!reader.take(key, value))
              warn(ownWhere + ": " + key + " has no effect" +
                   didYouMean(key, reader.keys));
          });
  Reader over(properties, givenWhere, ExitStatus::Usage);
  forEach(given, givenWhere, ExitStatus::Usage,
          [&](const std::string &key, const std::string &value) {
            if (!over.take(key, value))
              throw Error(ExitStatus::Usage,
                          givenWhere + ": there is no property '" + key + "'" +
                              didYouMean(key, over.keys));
          });
  if (properties.epsEnd > properties.epsStart)
    throw Error(given.empty() ? ExitStatus::BadInput : ExitStatus::Usage,
                (given.empty() ? ownWhere : givenWhere) +
                    ": EpsEnd must not be above EpsStart");
  return properties;
}

} // namespace brew::caffe
