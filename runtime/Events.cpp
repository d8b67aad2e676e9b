//===- Events.cpp - What a session tells its caller -----------------------===//

#include "runtime/Events.h"

#include <algorithm>

namespace brew::runtime {

int Events::add(Listener listener) {
  listeners.emplace_back(nextNumber, std::move(listener));
  return nextNumber++;
}

void Events::remove(int listener) {
  listeners.erase(std::remove_if(listeners.begin(), listeners.end(),
                                 [&](const auto &entry) {
                                   return entry.first == listener;
                                 }),
                  listeners.end());
}

void Events::tell(const Event &event) const {
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
