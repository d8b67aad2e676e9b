/*===- brew.h - Brew's runtime as a library -----------------------*- C -*-===*\
|*
|* Runs plans compiled by brewc or by the compiler library (compiler.h):
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
|* Errors. A function returns a status. The error message belongs to the handle
|* that was passed to the function and is valid until the next call on that
|* handle. A function that opens an object sets its handle even if it fails (to
|* NULL only if memory ran out): read the message, then destroy the handle;
|* nothing else can be done with it. Message functions accept NULL ("out of
|* memory"), and destroying NULL has no effect. BREW_USAGE reports invalid
|* calls, such as an unknown name, an index out of range, or NULL for a required
|* value.
|*
|* Ownership. The library copies the names, values and options that a caller
|* passes in, unless the function says otherwise. Memory that the library
|* returns belongs to the handle it came from.
|*
|* Threads. Any number of threads may use a plan. Every other handle must be
|* used by one thread at a time; the thread may change from call to call.
|* Functions marked "any thread" may run concurrently with another call on
|* their handle. Different handles are independent of each other.
|*
|* Callbacks run on the thread that is inside a call on the session or trainer.
|* They must not unwind through the library (no exception, no longjmp). Until a
|* callback returns, its session and its trainer may only be read, and passed to
|* functions marked "any thread": they must not be run, fed, changed, assigned
|* other inputs, listeners or callbacks, or destroyed. Functions that set
|* inputs, feed or change listeners then fail with BREW_USAGE.
|*
|* Values are row-major in Caffe's order of dimensions unless stated otherwise.
|* Text is zero-terminated UTF-8. The library neither prints nor exits.
|*
|* The headers included below may also be included one by one.
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
#include <brew/options.h>
#include <brew/plan.h>
#include <brew/records.h>
#include <brew/reinforcement.h>
#include <brew/running.h>
#include <brew/session.h>
#include <brew/solver.h>
#include <brew/tensors.h>
#include <brew/training.h>
#include <brew/types.h>
#include <brew/weights.h>

#endif
