import { defineStage } from '#core/gateway/pipeline/stage.ts';
import { logOptions } from './options.ts';

/**
 * Records every request, however it ends. Requests without an account are counted, and only a few of them recorded. It is the last
 * stage: at its `enter` the request is about to go upstream, and at its `done` every other stage has written its facts.
 */
export const logStage = defineStage({
  name: 'log',
  description: 'Records every request: first in a journal on disk that survives crashes, then in the database.',
  after: ['auth', 'plan', 'rate-limit', 'cache', 'format', 'upstream'],
  expectedFor: 'recording requests',
  shared: ['keep_days', 'max_journal_bytes', 'late_after'],
  options: logOptions,
  create: async (options, host) => (await import('./recording.ts')).createRecording(options, host),
});
