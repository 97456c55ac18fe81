import type { Readable } from 'node:stream';
import type { Host } from '#core/gateway/host/host.ts';
import { createReplyStream } from '#core/gateway/pipeline/reply-stream.ts';
import type { Reply } from '#core/gateway/pipeline/reply.ts';
import { eventsIn, eventsOf, isEnding, type WrittenEvent } from './response-events.ts';
import { findResponse, responseNotFound } from './find-response.ts';
import { type RunKey, RunRows } from './run-rows.ts';
import { runsOf } from './runs.ts';

const pollEvery = 1_000; // ms after which a reader checks for events of another instance
const keepAliveEvery = 10_000; // ms of silence before a comment keeps client and proxies connected
const keepAlive = ': keep-alive\n\n';

/**
 * Streams the events of a response after a given event, until it ends.
 *
 * @param after sequence number of that event; -1 for all events
 */
export function streamOf(host: Host, key: RunKey, after: number): Reply {
  return {
    status: 200,
    headers: { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' },
    body: tailOf(host, key, after),
    keepAlive,
    // The next event may be minutes away.
    isAwaited: true,
  };
}

function tailOf(host: Host, key: RunKey, after: number): Readable {
  const abandoned = new AbortController();
  return createReplyStream(tail(host, key, after, abandoned.signal), () => abandoned.abort());
}

/** @throws GatewayError `response_not_found` if the response is deleted meanwhile */
async function* tail(host: Host, key: RunKey, after: number, signal: AbortSignal): AsyncGenerator<string> {
  const rows = new RunRows(host.database);
  const runs = runsOf(host);
  let last = after;
  let lastSent = performance.now();
  while (!signal.aborted) {
    // The state must be read first: once it is `ended`, all events are stored.
    const state = await rows.state(key, host.now());
    if (state === 'deleted') throw responseNotFound(key.id);
    const stored = await rows.eventsAfter(key, last);
    for (const event of stored.flatMap(({ events }) => eventsIn(events))) {
      if ((event.sequence ?? last) <= last) continue;
      last = event.sequence ?? last;
      lastSent = performance.now();
      yield event.text;
      if (isEnding(event)) return;
    }
    if (stored.length > 0) continue;
    if (state === 'abandoned') await findResponse(host, key);
    else if (state === 'ended') return yield* (await remainingEvents(host, key, last)).map(({ text }) => text);
    else await runs.woken(key, pollEvery, signal);
    if (performance.now() - lastSent < keepAliveEvery) continue;
    lastSent = performance.now();
    yield keepAlive;
  }
}

/** Recreates the events of an ended response, whose own events have been deleted or were never stored. */
async function remainingEvents(host: Host, key: RunKey, last: number): Promise<WrittenEvent[]> {
  const { response } = await findResponse(host, key);
  return eventsOf(response).filter(({ sequence }) => sequence === undefined || sequence > last);
}
