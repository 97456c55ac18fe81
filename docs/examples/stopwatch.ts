/**
 * A stage that uses every moment. It adds the time until the answer as a header, counts slow requests, and refuses requests
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

/** A fact for later stages. */
export const stopwatch = defineFact<{ readonly isSlow: () => boolean }>('stopwatch');

export const stopwatchStage = defineStage({
  name: 'stopwatch',
  description: 'Adds the elapsed time as a header, and keeps opening hours.',
  // Facts that an earlier stage must write; otherwise gateway.yaml is rejected.
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
    // State that outlives an exchange is created here, once for each configuration. Throw to reject the configuration. Change nothing
    // outside of the stage: a later stage may still reject the configuration, and this stage then never serves.
    let slow = 0;

    return {
      // Called once, when the pipeline begins to serve. Change shared parts, such as those of `host.keep`, here.
      activate() {
        host.log.info(`answers are slow after ${slow_after} s`);
      },

      // Called in list order. Return nothing to continue, a reply to answer, or a function to answer after the later stages have
      // entered; throw a GatewayError to refuse. Make it async only if it waits.
      enter(exchange) {
        if (new Date(host.now()).getUTCHours() < opens_at) {
          throw new GatewayError('forbidden', `The gateway opens at ${opens_at}:00 UTC.`);
        }
        exchange.set(stopwatch, { isSlow: () => exchange.elapsed > slow_after * 1000 });
      },

      // Called in reverse order, before anything is sent, with status and headers. Also called for refusals of later stages.
      leave(exchange, reply) {
        return { ...reply, headers: { ...reply.headers, 'x-elapsed': `${Math.round(exchange.elapsed)}ms` } };
      },

      // Called once, whether the exchange was answered, refused, failed or aborted.
      done(exchange, outcome) {
        if (outcome.duration > slow_after * 1000) slow++;
        // `find`, not `get`: the fact is missing when an earlier stage has refused.
        if (exchange.find(stopwatch)?.isSlow())
          host.log.info(`${exchange.id} was slow, the ${slow}. since the last reload`);
      },

      // Called after the last exchange of this configuration.
      [Symbol.asyncDispose]() {
        host.log.info(`${slow} slow exchanges`);
      },
    };
  },
});
