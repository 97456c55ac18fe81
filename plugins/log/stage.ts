import { bounds } from '#core/platform/bounds.ts';
import type { Exchange } from '#core/gateway/pipeline/exchange.ts';
import { replyListener } from '#core/gateway/pipeline/reply.ts';
import { defineFact } from '#core/gateway/pipeline/fact.ts';
import { defineStage, type Outcome, type Stage } from '#core/gateway/pipeline/stage.ts';
import { openRecordSpool } from '#core/gateway/records/record-spool.ts';
import { ContentLines, Excerpt } from './content.ts';
import { openLog } from './open-log.ts';
import { createRetention, retentionKey } from './partitions.ts';
import { createRequestLog } from './request-log.ts';
import { isUnauthenticated } from './unauthenticated-counts.ts';
import { boolean, integer, object } from '#core/platform/schema.ts';

const replyExcerpt = defineFact<Excerpt>('log_reply_excerpt');

/**
 * Records every request, however it ends; those of no account are counted, and a few of them recorded. It is the last stage: at its `enter` the request is about to go upstream, and at
 * its `done` every other stage has written its facts.
 */
export const logStage = defineStage({
  name: 'log',
  description: 'Records every request: first in a journal on disk that survives crashes, then in the database.',
  after: ['auth', 'plan', 'rate-limit', 'cache', 'format', 'upstream'],
  expectedFor: 'recording requests',
  shared: ['keep_days', 'max_journal_bytes', 'late_after'],
  options: object({
    keep_days: integer({ minimum: 1, maximum: 3650, default: 30 }, 'Days to keep records, not counting today.'),
    max_journal_bytes: integer(
      { minimum: 16_777_216, default: 1_073_741_824 },
      'Maximum bytes of records on disk waiting for the database. Over the limit, requests are served but not recorded.',
    ),
    late_after: integer(
      { minimum: 5, maximum: 3600, default: 15 },
      'Seconds that a record may wait for the database before the health check `records` fails. A database that refuses records fails it at once.',
    ),
    content: boolean(
      { default: false },
      'Also records prompts and responses, for as many days as the records. Inform your users.',
    ),
    max_content_bytes: integer(
      { minimum: 1, maximum: bounds.loggedContent, default: 65_536 },
      'Maximum bytes of each prompt and response that `content` records; longer ones are truncated and marked.',
    ),
  }),
  create(options, host) {
    const requestLog = host.keep('log/journal', () => createRequestLog(host));
    const { journal } = requestLog;
    /** True when the request is only counted; true for all but a few of those that belong to no account. */
    const skips = (exchange: Exchange, { status }: Outcome): boolean => {
      if (!isUnauthenticated(exchange) || requestLog.unauthenticated.count(exchange.remoteAddress, status))
        return false;
      journal.skip(exchange);
      return true;
    };
    const recording: Stage = {
      // The journal bounds its waits itself.
      timeout: Infinity,
      activate() {
        Object.assign(openLog(host), { requestLog, lateAfter: options.late_after * 1000 });
        openRecordSpool(host).spool = requestLog.spool;
        journal.maxBytes = options.max_journal_bytes;
        host.keep(retentionKey, createRetention).keepDays = options.keep_days;
      },
      start: (exchange) => journal.begin(exchange),
      // Its line is written while the upstream works on it; `hold` waits for that.
      enter: (exchange) => journal.enter(exchange),
      hold: (exchange) => journal.written(exchange),
      done(exchange, outcome) {
        if (!skips(exchange, outcome)) journal.end(exchange, outcome);
      },
    };
    if (!options.content) return recording;
    const { max_content_bytes: maxBytes } = options;
    const lines = new ContentLines(maxBytes, host.service.prefix);
    return {
      ...recording,
      start(exchange) {
        journal.begin(exchange);
        const excerpt = new Excerpt(maxBytes);
        exchange.set(replyExcerpt, excerpt);
        exchange.set(replyListener, excerpt.add);
      },
      done(exchange, outcome) {
        if (skips(exchange, outcome)) return;
        const excerpt = exchange.find(replyExcerpt);
        journal.end(exchange, outcome, excerpt === undefined ? [] : lines.of(exchange, excerpt));
      },
    };
  },
});
