import type { Readable } from 'node:stream';
import type { Host } from '#core/gateway/host/host.ts';
import { createReplyStream } from '#core/gateway/pipeline/reply-stream.ts';
import type { Reply } from '#core/gateway/pipeline/reply.ts';
import { renderStreamMessage } from '#core/platform/errors/stream-wording.ts';
import type { GatewayError } from '#core/platform/errors/table.ts';
import { findResponse, createResponseNotFoundError } from './find-response.ts';
import {
  parseEvents,
  recreateEvents,
  isEnding,
  type WrittenEvent,
  writeError,
  writeStreamEnd,
} from './response-events.ts';
import { type RunKey, RunRows } from './run-rows.ts';
import { getBackgroundRuns } from './runs.ts';

const pollIntervalMs = 1_000; // how often a reader checks for events from other instances
const keepAliveIntervalMs = 10_000; // after this long without events, a comment keeps client and proxies connected
const keepAliveComment = ': keep-alive\n\n';

/** @param afterSequence sequence number of the last event to skip; -1 for all events */
export function streamResponse(host: Host, key: RunKey, afterSequence: number): Reply {
  const position = { lastSequence: afterSequence };
  return {
    status: 200,
    headers: { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' },
    body: createBody(host, key, position),
    renderFailure: (error) => renderReadFailure(error, Math.max(0, position.lastSequence)),
    keepAlive: keepAliveComment,
    // The next event may be minutes away.
    isAwaited: true,
  };
}

interface StreamPosition {
  lastSequence: number;
}

function createBody(host: Host, key: RunKey, position: StreamPosition): Readable {
  const abortController = new AbortController();
  return createReplyStream(readEvents(host, key, position, abortController.signal), () => abortController.abort());
}

/**
 * Renders the error event for a stream that could not be read to the end. No `response.failed` follows, because the response may be complete
 * or still running. The error repeats the sequence number of the preceding event, so that a client that resumes from the last number it saw
 * misses no events.
 */
function renderReadFailure(error: GatewayError, sequence: number): string {
  const { type, code } = error.wording('openai');
  return writeError({ type, code, message: renderStreamMessage(error, error.messageFor('openai')) }, sequence);
}

async function* readEvents(
  host: Host,
  key: RunKey,
  position: StreamPosition,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const rows = new RunRows(host.database);
  const runs = getBackgroundRuns(host);
  // The number stored with the last batch. The batch may end with an event that has no number.
  let lastStoredSequence = position.lastSequence;
  let lastSent = performance.now();
  while (!signal.aborted) {
    // The state must be read first: once it is `ended`, all events are stored.
    const state = await rows.findState(key, host.now());
    if (state === 'deleted') throw createResponseNotFoundError(key.id);
    const batches = await rows.listEventsAfter(key, lastStoredSequence);
    lastStoredSequence = batches.at(-1)?.last_sequence ?? lastStoredSequence;
    for (const event of batches.flatMap(({ events }) => parseEvents(events))) {
      if (event.sequence === undefined || event.sequence <= position.lastSequence) continue;
      position.lastSequence = event.sequence;
      lastSent = performance.now();
      yield event.text;
      if (isEnding(event)) return;
    }
    // More events may have been stored in the meantime: only an empty read counts as caught up.
    if (batches.length > 0) continue;
    if (state === 'ended') {
      for (const { text } of await readRemainingEvents(host, key, position.lastSequence)) yield text;
      return;
    }
    // Finding an abandoned response marks it as failed.
    if (state === 'abandoned') await findResponse(host, key);
    else await runs.waitForWake(key, pollIntervalMs, signal);
    if (performance.now() - lastSent < keepAliveIntervalMs) continue;
    lastSent = performance.now();
    yield keepAliveComment;
  }
}

/**
 * Recreates a response's events if the stored ones have been deleted or never existed. The original stream may have had more events. A
 * client that has already read past the recreated ones gets only the final events.
 */
async function readRemainingEvents(host: Host, key: RunKey, lastSequence: number): Promise<WrittenEvent[]> {
  const { response } = await findResponse(host, key);
  const storedEvents = await new RunRows(host.database).listEventsAfter(key, -1);
  if (storedEvents.length > 0) return [];
  const events = recreateEvents(response).filter(({ sequence = 0 }) => sequence > lastSequence);
  return events.length > 0 ? events : parseEvents(writeStreamEnd(response, lastSequence + 1));
}
