import { describe, expect, it } from 'vitest';
import {
  isEventStream,
  toClientContentType,
  looksLikeEvents,
} from '../../../../plugins/upstream/attempt/content-type.ts';

describe('a content type', () => {
  it.each([
    'text/event-stream',
    'Text/Event-Stream',
    'TEXT/EVENT-STREAM;charset=UTF-8',
    ' text/event-stream ; a=b',
    'application/x-ndjson',
  ])('%j is a stream of events', (type) => {
    expect(isEventStream(type)).toBe(true);
  });

  it.each([
    '',
    'application/json',
    'text/plain',
    'text/html; charset=utf-8',
    'application/x-ndjsons',
    'text/event-streams',
  ])('%j does not say so', (type) => {
    expect(isEventStream(type)).toBe(false);
  });

  it.each([
    ['', 'application/json'],
    ['text/plain; charset=utf-8', 'application/json'],
    ['application/problem+json; charset=utf-8', 'application/problem+json; charset=utf-8'],
  ])('%j of an answer that is JSON becomes %j', (type, expected) => {
    expect(toClientContentType(type)).toBe(expected);
  });
});

describe('the first bytes', () => {
  it.each([
    'data: {}',
    'data:{}',
    'event: message_start',
    'id: 1',
    'retry: 10',
    ': ping',
    '\n\ndata: 1',
    '\u{FEFF}data:',
  ])('%j are a stream of events', (text) => {
    expect(looksLikeEvents(Buffer.from(text))).toBe(true);
  });

  it.each(['{"choices":[]}', '  {', '[', '<!doctype html>', 'database is down', 'eventually', ' '.repeat(1024)])(
    '%j are something whole',
    (text) => {
      expect(looksLikeEvents(Buffer.from(text))).toBe(false);
    },
  );

  it.each(['', 'd', 'data', 'even', ' \r\n', '\u{FEFF}'])('%j are too few to tell', (text) => {
    expect(looksLikeEvents(Buffer.from(text))).toBeUndefined();
  });
});
