import type { Host } from '#core/gateway/host/host.ts';
import type { Exchange } from '#core/gateway/pipeline/exchange.ts';
import { defineFact } from '#core/gateway/pipeline/fact.ts';
import { replyListener } from '#core/gateway/pipeline/reply.ts';
import type { Outcome, Stage } from '#core/gateway/pipeline/stage.ts';
import { getRecordSpool } from '#core/gateway/records/record-spool.ts';
import { getActiveLog } from './active-log.ts';
import { ContentLines, Excerpt } from './content.ts';
import type { LogOptions } from './options.ts';
import { createRetention, retentionKey } from './partitions.ts';
import { createRequestLog } from './request-log.ts';
import { isUnauthenticated } from './unauthenticated-counts.ts';

const replyExcerpt = defineFact<Excerpt>('log_reply_excerpt');

/** Commands do not load this module, because they serve no requests. */
export function createLogStage(options: LogOptions, host: Host): Stage {
  const requestLog = host.keep('log/journal', () => createRequestLog(host));
  const { journal } = requestLog;
  /** Most requests without an account are only counted. */
  const skipIfUnrecorded = (exchange: Exchange, { status }: Outcome): boolean => {
    if (!isUnauthenticated(exchange) || requestLog.unauthenticated.count(exchange.remoteAddress, status)) return false;
    journal.skip(exchange);
    return true;
  };
  const stage: Stage = {
    // Needs no timeout, because the journal limits its own waits.
    timeout: Infinity,
    activate() {
      const activeLog = getActiveLog(host);
      activeLog.requestLog = requestLog;
      activeLog.lateAfterMs = options.late_after * 1000;
      getRecordSpool(host).spool = requestLog.spool;
      journal.maxBytes = options.max_journal_bytes;
      host.keep(retentionKey, createRetention).keepDays = options.keep_days;
    },
    start: (exchange) => journal.begin(exchange),
    // The line is written while the upstream works on the request; `hold` waits for the write.
    enter: (exchange) => journal.enter(exchange),
    hold: (exchange) => journal.whenWritten(exchange),
    done(exchange, outcome) {
      if (!skipIfUnrecorded(exchange, outcome)) journal.end(exchange, outcome);
    },
  };
  if (!options.content) return stage;
  const { max_content_bytes: maxBytes } = options;
  const lines = new ContentLines(maxBytes, host.service.prefix);
  return {
    ...stage,
    start(exchange) {
      journal.begin(exchange);
      const excerpt = new Excerpt(maxBytes);
      exchange.set(replyExcerpt, excerpt);
      exchange.set(replyListener, excerpt.add);
    },
    done(exchange, outcome) {
      if (skipIfUnrecorded(exchange, outcome)) return;
      const excerpt = exchange.find(replyExcerpt);
      journal.end(exchange, outcome, excerpt === undefined ? [] : lines.createLines(exchange, excerpt));
    },
  };
}
