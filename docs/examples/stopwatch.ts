/**
 * A stage to copy from. It tells clients how long the gateway took to begin its answer, counts the slow ones, and may
 * refuse callers from outside opening hours. Load it from gateway.yaml:
 *
 *     plugins: [./docs/examples/stopwatch.ts]
 *     pipeline:
 *       - auth
 *       - stopwatch: { slow_after: 2 }
 *       - plan
 *       …
 *
 * The file may export stages, as here, or a hapi plugin called `plugin` whose `register(server)` adds stages, endpoints,
 * jobs and sections of gateway.yaml through `server.gateway`.
 */
import { defineFact, defineStage, GatewayError, principal } from 'daypass';

/** What this stage found out, for stages of yours that stand behind it. */
export const stopwatch = defineFact<{ readonly isSlow: () => boolean }>('stopwatch');

export const stopwatchStage = defineStage({
  name: 'stopwatch',
  description: 'Tells clients how long the gateway took, and keeps opening hours.',
  // Facts that earlier stages must have written. A gateway.yaml in which none does is refused.
  reads: [principal],
  writes: [stopwatch],
  // Validates gateway.yaml, completes it in editors, fills in defaults, and gives `create` its types.
  options: {
    type: 'object',
    properties: {
      slow_after: {
        type: 'number',
        minimum: 0,
        default: 5,
        description: 'Seconds after which an answer counts as slow.',
      },
      opens_at: {
        type: 'integer',
        minimum: 0,
        maximum: 23,
        default: 0,
        description: 'Hour (UTC) before which callers are refused.',
      },
    },
    additionalProperties: false,
  },
  create({ slow_after, opens_at }, host) {
    // What outlives an exchange is made here, once for each configuration. Throw to refuse the configuration. Change nothing
    // outside of the stage: a stage further down may still refuse, and this one then never serves.
    let slow = 0;

    return {
      // Once, when the whole pipeline serves. Changes of shared parts, such as those of `host.keep`, belong here.
      activate() {
        host.log.info(`answers are slow after ${slow_after} s`);
      },

      // Down the list. Return nothing to go on, a reply to answer, a function to answer after the stages behind have
      // entered; throw a GatewayError to refuse. Make it async only if it has to wait.
      enter(exchange) {
        if (new Date(host.now()).getUTCHours() < opens_at) {
          throw new GatewayError('forbidden', `the gateway opens at ${opens_at}:00 UTC`);
        }
        exchange.set(stopwatch, { isSlow: () => exchange.elapsed > slow_after * 1000 });
      },

      // Back up, when status and headers are known and nothing has been sent. Refusals of later stages come by as well.
      leave(exchange, reply) {
        return { ...reply, headers: { ...reply.headers, 'x-elapsed': `${Math.round(exchange.elapsed)}ms` } };
      },

      // Once, however the exchange ended: answered, refused, failed or aborted.
      done(exchange, outcome) {
        if (outcome.duration > slow_after * 1000) slow++;
        // Missing where an earlier stage has refused: `find` instead of `get`.
        if (exchange.find(stopwatch)?.isSlow())
          host.log.info(`${exchange.id} was slow, the ${slow}. since the last reload`);
      },

      // When no exchange runs on this configuration any more.
      [Symbol.asyncDispose]() {
        host.log.info(`${slow} slow exchanges`);
      },
    };
  },
});
