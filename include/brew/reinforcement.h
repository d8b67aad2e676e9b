/*===- reinforcement.h - Reinforcement learning -------------------*- C -*-===*\
|*
|* Part of brew.h, which documents the rules common to all calls.
|*
|* A learner trains a policy, a net with an open trainer, by acting in
|* environments: with MyCaffe's policy gradients (PG.SIMPLE, PG.ST, PG.MT) for
|* nets with a MemoryLoss layer, and with PPO and A2C for nets whose losses are
|* layers. docs/reinforcement-learning.md describes the algorithms.
|*
\*===----------------------------------------------------------------------===*/
#ifndef BREW_REINFORCEMENT_H
#define BREW_REINFORCEMENT_H

#include <brew/training.h>

#ifdef __cplusplus
extern "C" {
#endif

/*===-- Environments -----------------------------------------------------===*/

/* The state of an episode after a step. */
typedef enum brew_episode_state {
  BREW_EPISODE_RUNNING = 0,
  BREW_EPISODE_TERMINATED = 1, /* it reached its end */
  BREW_EPISODE_TRUNCATED = 2   /* it was cut off before its end */
} brew_episode_state;

/* An environment implemented by the caller. A status other than BREW_OK ends
 * the call that needed the environment with that status. One thread at a time
 * calls the functions: the calling thread or, with PG.MT and several threads,
 * one of the learner's. */
typedef struct brew_environment_functions {
  size_t struct_size;
  const char *name;          /* for messages; NULL: "environment" */
  int64_t observation_count; /* numbers in an observation */
  int action_count;          /* actions are 0, 1, ..., action_count - 1 */
  /* Lower and upper bounds of the numbers in an observation, observation_count
   * of each; NULL if unknown. The property NormalizeInput uses them. */
  const float *low;
  const float *high;
  /* Starts the episode with this seed, below 2^31, and writes the first
   * observation. */
  brew_status (*reset)(uint64_t seed, float *observation, void *user);
  brew_status (*step)(int action, float *observation, double *reward,
                      brew_episode_state *state, void *user);
  void *user; /* must stay valid until the environment is destroyed */
} brew_environment_functions;

BREW_API brew_status
brew_environment_create(const brew_environment_functions *functions,
                        brew_environment **environment);
/* Opens a built-in environment: "cartpole" and "cartpole-v0" (Gymnasium's
 * CartPole-v1 and -v0), "cartpole-mycaffe" (MyCaffe's) or "acrobot"
 * (Gymnasium's Acrobot-v1). Properties may follow the name:
 * "cartpole:FailureReward=0". A learner chooses the values of others. Returns
 * BREW_USAGE for an unknown name or an invalid property. */
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
/* Returns BREW_USAGE if there is no such action. */
BREW_API brew_status brew_environment_step(brew_environment *environment,
                                           int action, float *observation,
                                           double *reward,
                                           brew_episode_state *state);

/* The state of an environment. */
typedef struct brew_scene {
  size_t struct_size;
  int64_t step; /* of the episode; 0: its start */
  int action;   /* the last one; -1 at the start */
  brew_episode_state state;
  double reward;            /* of the episode so far */
  const float *observation; /* valid during the call */
  int64_t observation_count;
} brew_scene;

typedef void (*brew_scene_function)(const brew_scene *scene, void *user);
/* Calls `function` after each reset and step of the environment, on the calling
 * thread, which waits for it. NULL removes the observer. Must not be called
 * while a learner uses the environment. */
BREW_API brew_status brew_environment_set_observer(
    brew_environment *environment, brew_scene_function function, void *user);

/* Options of an image file that shows an environment from the next reset to the
 * end of that episode: an animated GIF, or a PNG with several pictures side by
 * side. */
typedef struct brew_episode_recorder_options {
  size_t struct_size;
  int width, height; /* of a picture, in pixels, 32 to 2048; 0: 300 x 200 */
  int steps;    /* GIF: steps per picture, and its duration in steps; 0: 2 */
  int pictures; /* PNG: maximum number of pictures, 1 to 64; 0: 12 */
} brew_episode_recorder_options;

/* Starts recording. `path` ends in .gif or .png. At most 1500 pictures are
 * taken: a GIF shows only the start of a longer episode. The environment must
 * outlive the recorder. Returns BREW_USAGE for another file extension, a size
 * out of range, or an environment of the caller, which cannot be drawn. */
BREW_API brew_status
brew_episode_recorder_open(brew_environment *environment, const char *path,
                           const brew_episode_recorder_options *options,
                           brew_episode_recorder **recorder);
BREW_API const char *
brew_episode_recorder_message(const brew_episode_recorder *recorder);
/* Writes the file atomically. Returns BREW_USAGE if no episode was started. */
BREW_API brew_status
brew_episode_recorder_finish(brew_episode_recorder *recorder);
/* Destroys the recorder. Without brew_episode_recorder_finish(), no file is
 * written. */
BREW_API void brew_episode_recorder_destroy(brew_episode_recorder *recorder);

/*===-- Learners ---------------------------------------------------------===*/

/* The progress of learning. */
typedef struct brew_learning_progress {
  size_t struct_size;
  int64_t episodes,
      steps; /* in total, including those before a resumed snapshot */
  double running_reward; /* exponential average with weight 0.01 for the last
                          * episode */
  double mean_reward;    /* of the last 100 episodes, or of all if fewer */
  double maximum_reward; /* of an episode */
  double mean_entropy;   /* of the policy, over the last 20 episodes, in nats */
  int collapsed;         /* entropy near 0: the policy no longer explores */
} brew_learning_progress;

/* Called after each episode, which `agent` has played, on the thread that is in
 * brew_learner_train(). The function may read the trainer and call functions
 * marked "any thread", such as brew_trainer_stop(). */
typedef void (*brew_episode_function)(int agent, double reward, int64_t steps,
                                      const brew_learning_progress *progress,
                                      void *user);

typedef struct brew_learner_options {
  size_t struct_size;
  /* "PG.SIMPLE", "PG.ST", "PG.MT", "PPO" or "A2C"; NULL: the session's option
   * `trainer`, else TrainerType of the properties. */
  const char *trainer;
  /* "KEY=VALUE;...", overrides the solver's custom_trainer_properties; NULL:
   * the session's option `trainer-properties`. */
  const char *properties;
  /* The number of environments that brew_learner_environment_count() returns.
   * They must outlive the learner, which uses them while it trains and
   * evaluates. */
  brew_environment *const *environments;
  size_t environment_count;
  /* Truncates episodes after this number of steps; 0: the session's option
   * `max-steps`, else the environment decides. */
  int64_t max_steps;
  brew_episode_function episode; /* NULL: no callback */
  void *episode_user;
  /* NULL, or environment_count further environments. Tests and
   * brew_learner_evaluate() play in them: every test_interval updates, a test
   * plays test_iter episodes without learning. Without them there are no tests,
   * and evaluation uses `environments`. */
  brew_environment *const *test_environments;
} brew_learner_options;

/* Computes the number of environments that a learner with these options needs:
 * one per thread with PG.MT, one per row of the test net with PPO and A2C, else
 * one. Ignores the environments of `options`. */
BREW_API brew_status brew_learner_environment_count(
    brew_session *session, const brew_learner_options *options, size_t *count,
    char *message, size_t size);

/* Opens a learner over a trainer, whose solver, snapshots, requests and events
 * work as in any training. While a call on the learner runs, nothing else may
 * use the trainer and the session, which must outlive the learner. A trainer
 * can have one learner. Returns BREW_BAD_INPUT if the net is not a policy over
 * the environments' actions, and BREW_USAGE for an unknown trainer or property,
 * or environments that do not match. */
BREW_API brew_status brew_learner_open(brew_session *session,
                                       brew_trainer *trainer,
                                       const brew_learner_options *options,
                                       brew_learner **learner);
BREW_API const char *brew_learner_message(const brew_learner *learner);
BREW_API void brew_learner_destroy(brew_learner *learner);

/* Learns until `episodes` more episodes have ended (0: no limit), the solver's
 * max_iter updates are done, or the trainer receives a stop request. Writes
 * snapshots after updates, as the solver says. A stop also ends the current
 * episode; it applies to this call only. Returns BREW_BAD_INPUT if an
 * environment returns numbers that are not finite. */
BREW_API brew_status brew_learner_train(brew_learner *learner,
                                        int64_t episodes);
/* Plays episodes without learning from them and returns their mean reward.
 * After a stop request, returns the mean of the episodes that have ended (0 if
 * there are none). */
BREW_API brew_status brew_learner_evaluate(brew_learner *learner,
                                           int64_t episodes,
                                           double *mean_reward);
/* The results of episodes. */
typedef struct brew_evaluation {
  size_t struct_size;
  int64_t episodes;                                   /* that have ended */
  double mean_reward, minimum_reward, maximum_reward; /* 0 without episodes */
  double mean_steps;
} brew_evaluation;
/* Plays episodes like brew_learner_evaluate() and returns more results. */
BREW_API brew_status brew_learner_play(brew_learner *learner, int64_t episodes,
                                       brew_evaluation *evaluation);
BREW_API brew_status brew_learner_get_progress(
    const brew_learner *learner, brew_learning_progress *progress);

#ifdef __cplusplus
}
#endif

#endif
