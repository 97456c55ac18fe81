import { bounds } from '#core/bounds.ts';
import { replyListener } from '#core/pipeline/reply-listener.ts';
import { defineFact } from '#core/pipeline/fact.ts';
import { defineStage, type Stage } from '#core/pipeline/stage.ts';
import { ContentLines, Excerpt } from './content.ts';
import { openJournal } from './gauges.ts';
import { createRetention, retentionKey } from './partitions.ts';
import { createRequestLog } from './request-log.ts';

const replyExcerpt = defineFact<Excerpt>('log_reply_excerpt');

/**
 * Records every request, however it ends. Stands last: its `enter` then knows that the request is about to go upstream,
 * and its `done` knows what all the others have to say.
 */
export const logStage = defineStage({
  name: 'log',
  description: 'Records every request, by way of a journal on disk that outlives crashes and a database that is away.',
  after: ['auth', 'plan', 'rate-limit', 'cache', 'format', 'upstream'],
  options: {
    type: 'object',
    properties: {
      keep_days: {
        type: 'integer',
        minimum: 1,
        maximum: 3650,
        default: 30,
        description: 'Days that records are kept, today not counted.',
      },
      max_journal_bytes: {
        type: 'integer',
        minimum: 16_777_216,
        default: 1_073_741_824,
        description:
          'Bytes of records that may wait on disk while the database is away. Beyond it, requests are served but not recorded.',
      },
      content: {
        type: 'boolean',
        default: false,
        description:
          'Keeps prompts and replies too: what callers wrote and what they were answered, for as many days as the records. Tell them.',
      },
      max_content_bytes: {
        type: 'integer',
        minimum: 1,
        maximum: bounds.loggedContent,
        default: 65_536,
        description: 'Bytes of a prompt, and of a reply, that `content` keeps; what is longer is cut and marked.',
      },
    },
    additionalProperties: false,
  },
  create(options, host) {
    const { journal } = host.keep('log/journal', () => createRequestLog(host));
    const recording: Stage = {
      activate() {
        openJournal(host).journal = journal;
        journal.maxBytes = options.max_journal_bytes;
        host.keep(retentionKey, createRetention).keepDays = options.keep_days;
      },
      start: (exchange) => journal.begin(exchange),
      enter: (exchange) => journal.enter(exchange),
      done: (exchange, outcome) => journal.end(exchange, outcome),
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
        const excerpt = exchange.find(replyExcerpt);
        journal.end(exchange, outcome, excerpt === undefined ? [] : lines.of(exchange, excerpt));
      },
    };
  },
});
