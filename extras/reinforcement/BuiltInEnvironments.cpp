//===- BuiltInEnvironments.cpp - Environments by name ---------------------===//

#include "caffe/PropertyList.h"
#include "extras/reinforcement/Acrobot.h"
#include "extras/reinforcement/CartPole.h"
#include "support/Error.h"
#include "support/Suggest.h"

namespace brew::reinforcement {
namespace {

std::string joinNames(const std::vector<std::string> &names) {
  std::string text;
  for (const std::string &name : names)
    text += (text.empty() ? "" : ", ") + name;
  return text;
}

std::unique_ptr<Environment> makeByName(const std::string &name) {
  for (const CartPoleRules &rules : kCartPoleVariants)
    if (name == rules.name)
      return std::make_unique<CartPole>(rules);
  if (name == Acrobot::kName)
    return std::make_unique<Acrobot>();
  throw usageError("there is no environment '" + name + "'" +
                   didYouMean(name, environmentNames()) +
                   " (known: " + joinNames(environmentNames()) + ")");
}

} // namespace

void Environment::setProperty(const std::string &key, const std::string &) {
  const std::vector<std::string> known = propertyNames();
  throw usageError("the environment '" + name() + "' has no property '" + key +
                   "'" + didYouMean(key, known) +
                   (known.empty() ? "" : " (known: " + joinNames(known) + ")"));
}

std::unique_ptr<Environment> makeEnvironment(const std::string &text) {
  const std::size_t colon = std::min(text.find(':'), text.size());
  std::unique_ptr<Environment> environment = makeByName(text.substr(0, colon));
  if (colon == text.size())
    return environment;
  for (const caffe::PropertyEntry &entry :
       caffe::parsePropertyList(text.substr(colon + 1))) {
    if (!entry.isProperty())
      throw usageError("environment '" + environment->name() +
                       "': " + entry.syntaxError());
    environment->setProperty(entry.key(), entry.value());
  }
  return environment;
}

std::vector<std::string> environmentNames() {
  std::vector<std::string> names;
  for (const CartPoleRules &rules : kCartPoleVariants)
    names.emplace_back(rules.name);
  names.emplace_back(Acrobot::kName);
  return names;
}

} // namespace brew::reinforcement
