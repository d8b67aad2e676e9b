/*===- brew.h - Brew's runtime as a library -----------------------*- C -*-===*\
|*
|* Runs plans that brewc or the compiler library (compiler.h) made:
|*
|*   brew_plan *plan;
|*   brew_session *session;
|*   if (brew_plan_open("net.plan", &plan) != BREW_OK)
|*     fail(brew_plan_message(plan));
|*   if (brew_session_open(plan, NULL, &session) != BREW_OK ||
|*       brew_session_initialise(session, NULL, 0, 0) != BREW_OK)
|*     fail(brew_session_message(session));
|*   int program = brew_plan_find_program(plan, "deploy");
|*   brew_session_set_input(session, program, "data", BREW_F32, image, count);
|*   brew_session_feed_and_run(session, program);
|*   brew_tensor_name name = BREW_STRUCT(brew_tensor_name);
|*   name.program = program;
|*   name.name = "prob";
|*   brew_session_read(session, &name, BREW_F32, probabilities, classes);
|*   brew_session_destroy(session);
|*   brew_plan_destroy(plan);
|*
|* Failures. A call returns a status; its words are the message of the handle
|* that the call was made on, valid until the next call on that handle. A
|* function that opens something sets its handle also when it fails (to NULL
|* only when memory is gone): read the message, then destroy the handle, on
|* which nothing else can be done. Message functions take NULL ("out of
|* memory") and destroying NULL does nothing. BREW_USAGE stands for calls that
|* make no sense, such as an unknown name, an index out of range or NULL where a
|* value is needed.
|*
|* Ownership. What a caller hands in (names, values, options) is copied unless
|* the function says otherwise. What the library hands out belongs to the handle
|* it came from.
|*
|* Threads. A plan may be used by any number of threads. Every other handle is
|* used by one thread at a time, which may change from call to call; functions
|* marked "any thread" may be called beside another call on their handle.
|* Different handles are independent of each other.
|*
|* Callbacks are called on the thread that is inside a call of the session or
|* trainer, and must not unwind through the library (no exception, no longjmp).
|* Until a callback returns, its session and its trainer may only be read, and
|* called by functions marked "any thread": not run, fed, changed, given other
|* inputs, listeners or callbacks, or destroyed. Functions that set inputs, feed
|* or change listeners then fail with BREW_USAGE.
|*
|* Values are row-major in Caffe's order of dimensions unless said otherwise.
|* Text is UTF-8 that ends in a zero. Nothing is printed and nothing exits.
|*
|* The parts that are included below may also be included one by one.
|*
\*===----------------------------------------------------------------------===*/
#ifndef BREW_BREW_H
#define BREW_BREW_H

#include <brew/base.h>
#include <brew/communicator.h>
#include <brew/device.h>
#include <brew/embedding.h>
#include <brew/events.h>
#include <brew/hooks.h>
#include <brew/inputs.h>
#include <brew/reinforcement.h>
#include <brew/plan.h>
#include <brew/records.h>
#include <brew/running.h>
#include <brew/session.h>
#include <brew/tensors.h>
#include <brew/training.h>
#include <brew/types.h>

#endif
