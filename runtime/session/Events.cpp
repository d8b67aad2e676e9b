//===- Events.cpp - What a session tells its caller -----------------------===//

#include "runtime/session/Events.h"

#include "support/Error.h"

#include <algorithm>

namespace brew::runtime {

/// Listeners are called where they are stored.
void Events::refuseWhileTelling() const {
  if (telling)
    throw Error(ExitStatus::Usage, "a listener cannot add or remove listeners");
}

int Events::add(Listener listener) {
  refuseWhileTelling();
  listeners.emplace_back(nextNumber, std::move(listener));
  return nextNumber++;
}

void Events::remove(int listener) {
  refuseWhileTelling();
  listeners.erase(std::remove_if(listeners.begin(), listeners.end(),
                                 [&](const auto &entry) {
                                   return entry.first == listener;
                                 }),
                  listeners.end());
}

void Events::tell(const Event &event) {
  struct Telling {
    int &count;
    explicit Telling(int &it) : count(it) { ++count; }
    ~Telling() { --count; }
  } const now(telling);
  for (const auto &[number, listener] : listeners)
    listener(event);
}

void Events::emit(const Event &event) {
  deliver();
  tell(event);
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
    tell(event);
}

} // namespace brew::runtime
