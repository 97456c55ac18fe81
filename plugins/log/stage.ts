import { defineStage } from '#core/gateway/pipeline/stage.ts';
import { logOptions } from './options.ts';

/**
 * Records every request, however it ends. Requests without an account are counted, but only a few of them are recorded. It is the last
 * stage: at its `enter`, the request is about to go upstream, and at its `done`, all other stages have written their facts.
 */
export const logStage = defineStage({
  name: 'log',
  description: 'Records every request: first in a journal on disk that survives crashes, then in the database.',
  after: ['auth', 'plan', 'rate-limit', 'cache', 'format', 'upstream'],
  expectedFor: 'recording requests',
  shared: ['keep_days', 'max_journal_bytes', 'late_after'],
  options: logOptions,
  create: async (options, host) => (await import('./create-stage.ts')).createLogStage(options, host),
});
