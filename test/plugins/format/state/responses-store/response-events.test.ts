import { describe, expect, it } from 'vitest';
import type { JsonObject } from '#core/platform/json.ts';
import {
  writeStreamEnd,
  parseEvents,
  recreateEvents,
} from '../../../../../plugins/format/state/responses-store/response-events.ts';

const response = (status: string, more: JsonObject = {}): JsonObject => ({
  id: 'resp_1',
  object: 'response',
  created_at: 1,
  model: 'test',
  status,
  output: [],
  ...more,
});
const error = { code: 'server_error', message: 'The server has stopped.' };
const dataOf = ({ text }: { readonly text: string }) => JSON.parse(text.slice(text.indexOf('{'))) as JsonObject;

describe('the stream of a stored response whose own events are gone', () => {
  it('ends a failed one with an error and the response, numbered without gaps', () => {
    const events = recreateEvents(response('failed', { error }));
    expect(events.map(({ type }) => type)).toEqual([
      'response.created',
      'response.in_progress',
      'error',
      'response.failed',
    ]);
    expect(events.map(({ sequence }) => sequence)).toEqual([0, 1, 2, 3]);
    expect(dataOf(events[2] as never)).toEqual({
      type: 'error',
      sequence_number: 2,
      error: { type: 'server_error', ...error, param: null },
    });
    expect(dataOf(events[3] as never)).toMatchObject({ response: { status: 'failed', error } });
  });

  it.each([
    ['completed', 'response.completed'],
    ['incomplete', 'response.incomplete'],
    ['cancelled', 'response.failed'],
  ])('ends one that is %s with its own event alone', (status, type) => {
    const types = recreateEvents(response(status, { error: null })).map((event) => event.type);
    expect([types.includes('error'), types.at(-1)]).toEqual([false, type]);
  });
});

it('the events of a response whose numbers the database knows are numbered one behind the other', () => {
  expect(parseEvents(writeStreamEnd(response('failed', { error }))).map(({ sequence }) => sequence)).toEqual([-1, -2]);
});
