/*===- reinforcement.h - Reinforcement learning ------------------------*- C -*-===*\
|*
|* Part of brew.h, which says what holds for all calls.
|*
|* A learner trains a policy, a net that a trainer was opened over, by what it
|* does in environments: MyCaffe's policy gradients (PG.SIMPLE, PG.ST, PG.MT)
for
|* nets with a MemoryLoss layer, PPO and A2C for nets whose losses are layers.
|* docs/reinforcement-learning.md says what each of them computes.
|*
\*===----------------------------------------------------------------------===*/
#ifndef BREW_REINFORCEMENT_H
#define BREW_REINFORCEMENT_H

#include <brew/training.h>

#ifdef __cplusplus
extern "C" {
#endif

/*===-- Environments -----------------------------------------------------===*/

/* How a step has left an episode. */
typedef enum brew_episode_state {
  BREW_EPISODE_RUNNING = 0,
  BREW_EPISODE_TERMINATED = 1, /* it has come to its own end */
  BREW_EPISODE_TRUNCATED = 2   /* it was cut, and could have gone on */
} brew_episode_state;

/* An environment that the program computes. Its functions return anything but
 * BREW_OK to end the call that asked them with that status. They are called by
 * one thread at a time: that of the call, or with PG.MT and several threads one
 * of the learner's. */
typedef struct brew_environment_functions {
  size_t struct_size;
  const char *name;          /* for messages; NULL: "environment" */
  int64_t observation_count; /* how many numbers an observation has */
  int action_count;          /* actions are 0, 1, ..., action_count - 1 */
  /* Between which numbers observations lie, observation_count of each; NULL:
   * unknown. For the property NormalizeInput. */
  const float *low;
  const float *high;
  /* Begins the episode of that seed, below 2^31, and writes what is seen. */
  brew_status (*reset)(uint64_t seed, float *observation, void *user);
  brew_status (*step)(int action, float *observation, double *reward,
                      brew_episode_state *state, void *user);
  void *user; /* must stay until the environment is destroyed */
} brew_environment_functions;

BREW_API brew_status
brew_environment_create(const brew_environment_functions *functions,
                        brew_environment **environment);
/* One of the library's own: "cartpole" and "cartpole-v0" (Gymnasium's
 * CartPole-v1 and -v0), "cartpole-mycaffe" (MyCaffe's). BREW_USAGE: there is
 * none of this name. */
BREW_API brew_status brew_environment_open(const char *name,
                                           brew_environment **environment);
BREW_API const char *
brew_environment_message(const brew_environment *environment);
BREW_API void brew_environment_destroy(brew_environment *environment);

BREW_API int64_t
brew_environment_observation_count(const brew_environment *environment);
BREW_API int brew_environment_action_count(const brew_environment *environment);
/* `observation` has room for observation_count values. */
BREW_API brew_status brew_environment_reset(brew_environment *environment,
                                            uint64_t seed, float *observation);
/* BREW_USAGE: there is no such action. */
BREW_API brew_status brew_environment_step(brew_environment *environment,
                                           int action, float *observation,
                                           double *reward,
                                           brew_episode_state *state);

/* Where an environment stands. */
typedef struct brew_scene {
  size_t struct_size;
  int64_t step; /* of the episode; 0: it has just begun */
  int action;   /* that led here; -1 at the beginning */
  brew_episode_state state;
  double reward; /* of the episode so far */
  const float *observation; /* valid during the call */
  int64_t observation_count;
} brew_scene;

typedef void (*brew_scene_function)(const brew_scene *scene, void *user);
/* Has a function called after each reset and step of the environment, on the
 * thread that calls these, which waits for it. NULL: nobody. Not while a
 * learner uses the environment. */
BREW_API brew_status brew_environment_set_observer(brew_environment *environment,
                                            brew_scene_function function,
                                            void *user);

/* Pictures of an environment, from the next reset to the end of that episode:
 * an animated GIF, or a PNG with some of them side by side. */
typedef struct brew_episode_recorder_options {
  size_t struct_size;
  int width, height; /* of a picture, in pixels, 32 to 2048; 0: 300 x 200 */
  int steps;    /* GIF: a picture for so many steps, which it then lasts; 0: 2 */
  int pictures; /* PNG: how many at most, 1 to 64; 0: 12 */
} brew_episode_recorder_options;

/* Begins one. `path` ends in .gif or .png. At most 1500 pictures are taken: of
 * a longer episode a GIF shows the beginning. The environment outlives the
 * film. BREW_USAGE: another kind of file, sizes out of their range, or an
 * environment of the caller's, of which nobody knows how it looks. */
BREW_API brew_status brew_episode_recorder_open(brew_environment *environment,
                                    const char *path,
                                    const brew_episode_recorder_options *options,
                                    brew_episode_recorder **film);
BREW_API const char *brew_episode_recorder_message(const brew_episode_recorder *film);
/* Writes the file, whole or not at all. BREW_USAGE: no episode was begun. */
BREW_API brew_status brew_episode_recorder_finish(brew_episode_recorder *film);
/* Without brew_episode_recorder_finish() there is no file. */
BREW_API void brew_episode_recorder_destroy(brew_episode_recorder *film);

/*===-- Learners ---------------------------------------------------------===*/

/* How far learning has come. */
typedef struct brew_learning_progress {
  size_t struct_size;
  int64_t episodes,
      steps;             /* in all, those before a resumed snapshot included */
  double running_reward; /* 0.99 of what it was and 0.01 of the last one's */
  double mean_reward;    /* of the last 100 episodes, or of those there are */
  double maximum_reward; /* of an episode */
  double mean_entropy;   /* of the policy, over the last 20 episodes, in nats */
  int collapsed;         /* entropy near 0: nothing new is tried any more */
} brew_learning_progress;

/* Called after each episode, which `agent` has played, on the thread that is in
 * brew_learner_train(). May read the trainer and call its functions of any
 * thread, such as brew_trainer_stop(). */
typedef void (*brew_episode_function)(int agent, double reward, int64_t steps,
                                      const brew_learning_progress *progress,
                                      void *user);

typedef struct brew_learner_options {
  size_t struct_size;
  /* "PG.SIMPLE", "PG.ST", "PG.MT", "PPO" or "A2C"; NULL: TrainerType of the
   * properties. */
  const char *trainer;
  /* "KEY=VALUE;...", over the solver's custom_trainer_properties; NULL: none.
   */
  const char *properties;
  /* As many as brew_learner_environment_count() says. They must outlive the
   * learner, which uses them while it trains and evaluates. */
  brew_environment *const *environments;
  size_t environment_count;
  /* Cuts episodes after so many steps; 0: leaves that to the environment. */
  int64_t max_steps;
  brew_episode_function episode; /* NULL: nobody */
  void *episode_user;
} brew_learner_options;

/* How many environments a learner of these options takes: one for each thread
 * of PG.MT, one for each row of the test net with PPO and A2C, else one. The
 * environments of `options` are not looked at. */
BREW_API brew_status brew_learner_environment_count(
    brew_session *session, const brew_learner_options *options, size_t *count,
    char *message, size_t size);

/* Learns by the trainer, whose solver, snapshots, requests and events are those
 * of any training; the trainer and its session must not be used otherwise while
 * a call on the learner runs, nor be destroyed before it. One learner per
 * trainer. BREW_BAD_INPUT: the net is no policy over the environments' actions.
 * BREW_USAGE: a trainer or property that does not exist, or environments that
 * do not fit. */
BREW_API brew_status brew_learner_open(brew_session *session,
                                       brew_trainer *trainer,
                                       const brew_learner_options *options,
                                       brew_learner **learner);
BREW_API const char *brew_learner_message(const brew_learner *learner);
BREW_API void brew_learner_destroy(brew_learner *learner);

/* Learns until so many more episodes have ended (0: no such limit), the
 * solver's max_iter updates are done or the trainer is asked to stop. Snapshots
 * are written as the solver says, after updates. A stop also ends an episode
 * that is under way; it holds for this call alone. BREW_BAD_INPUT: an
 * environment gives numbers that are not finite. */
BREW_API brew_status brew_learner_train(brew_learner *learner,
                                        int64_t episodes);
/* Plays episodes without learning from them; the mean of their rewards; if the
 * trainer is asked to stop, of those that have ended by then (0 of none). */
BREW_API brew_status brew_learner_evaluate(brew_learner *learner,
                                           int64_t episodes,
                                           double *mean_reward);
BREW_API brew_status brew_learner_get_progress(
    const brew_learner *learner, brew_learning_progress *progress);

#ifdef __cplusplus
}
#endif

#endif
