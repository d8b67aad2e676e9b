//===- Events.cpp - Events of a session -----------------------------------===//

#include "runtime/events/Events.h"

#include "support/Error.h"

#include <algorithm>

namespace brew::runtime {

/// Throws if a listener is running, since adding or removing listeners would
/// invalidate it.
void Events::throwIfNotifying() const {
  if (notifying)
    throw Error(ExitStatus::Usage, "a listener cannot add or remove listeners");
}

int Events::add(Listener listener) {
  throwIfNotifying();
  listeners.emplace_back(nextNumber, std::move(listener));
  return nextNumber++;
}

void Events::remove(int listener) {
  throwIfNotifying();
  listeners.erase(std::remove_if(listeners.begin(), listeners.end(),
                                 [&](const auto &entry) {
                                   return entry.first == listener;
                                 }),
                  listeners.end());
}

void Events::notify(const Event &event) {
  struct NotifyScope {
    int &count;
    explicit NotifyScope(int &running) : count(running) { ++count; }
    ~NotifyScope() { --count; }
  } const scope(notifying);
  for (const auto &[number, listener] : listeners)
    listener(event);
}

void Events::emit(const Event &event) {
  deliver();
  notify(event);
}

void Events::post(Event event) {
  std::lock_guard<std::mutex> lock(mutex);
  posted.push_back(std::move(event));
}

void Events::deliver() {
  std::vector<Event> events;
  {
    std::lock_guard<std::mutex> lock(mutex);
    events.swap(posted);
  }
  for (const Event &event : events)
    notify(event);
}

} // namespace brew::runtime
