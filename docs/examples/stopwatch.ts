/**
 * A stage with all its moments. It adds the time until the answer as a header, counts slow requests, and refuses requests
 * outside opening hours:
 *
 *     plugins: [./docs/examples/stopwatch.ts]
 *     pipeline:
 *       - auth
 *       - stopwatch: { slow_after: 2 }
 *       - plan
 *       …
 *
 * A file may export stages, as here, or a hapi plugin named `plugin`; see docs/plugins.md.
 */
import { defineFact, defineStage, GatewayError, principal } from 'daypass';

/** What this stage tells later stages. */
export const stopwatch = defineFact<{ readonly isSlow: () => boolean }>('stopwatch');

export const stopwatchStage = defineStage({
  name: 'stopwatch',
  description: 'Adds the elapsed time as a header, and keeps opening hours.',
  // Facts that an earlier stage must have written; gateway.yaml is refused otherwise.
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
    // State that outlives an exchange is created here, once for each configuration. Throw to refuse the configuration. Change nothing
    // outside of the stage: a stage further down may still refuse, and this one then never serves.
    let slow = 0;

    return {
      // Once, when the whole pipeline serves. Changes of shared parts, such as those of `host.keep`, belong here.
      activate() {
        host.log.info(`answers are slow after ${slow_after} s`);
      },

      // In list order. Return nothing to continue, a reply to answer, or a function to answer after the later stages have
      // entered; throw a GatewayError to refuse. Make it async only if it waits.
      enter(exchange) {
        if (new Date(host.now()).getUTCHours() < opens_at) {
          throw new GatewayError('forbidden', `The gateway opens at ${opens_at}:00 UTC.`);
        }
        exchange.set(stopwatch, { isSlow: () => exchange.elapsed > slow_after * 1000 });
      },

      // In reverse order, when status and headers are known and nothing has been sent. Refusals of later stages pass too.
      leave(exchange, reply) {
        return { ...reply, headers: { ...reply.headers, 'x-elapsed': `${Math.round(exchange.elapsed)}ms` } };
      },

      // Once, however the exchange ended: answered, refused, failed or aborted.
      done(exchange, outcome) {
        if (outcome.duration > slow_after * 1000) slow++;
        // `find`, not `get`: the fact is missing when an earlier stage has refused.
        if (exchange.find(stopwatch)?.isSlow())
          host.log.info(`${exchange.id} was slow, the ${slow}. since the last reload`);
      },

      // After the last exchange of this configuration.
      [Symbol.asyncDispose]() {
        host.log.info(`${slow} slow exchanges`);
      },
    };
  },
});
