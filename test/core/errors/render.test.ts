import { describe, expect, it } from 'vitest';
import { type ErrorCode, type ErrorDetails, errorKinds, GatewayError } from '#core/errors/table.ts';
import { renderResponseFailed } from '../../../plugins/format/responses/failed-event.ts';
import { type Format, descriptors } from '../../support/formats.ts';
import { type Caller, renderError, renderKeepAlive, renderStreamError } from '#core/errors/render.ts';

const formats = ['chat', 'responses', 'messages', 'images'] as const;
const codes = Object.keys(errorKinds) as ErrorCode[];
const callerOf = (format: Format): Caller => ({
  id: 'req_1',
  format: descriptors[format],
  dialect: descriptors[format].dialect,
});
const bodyOf = (error: GatewayError, format: Format) => JSON.parse(String(renderError(error, callerOf(format)).body));
const headersOf = (code: ErrorCode, details?: ErrorDetails) =>
  renderError(new GatewayError(code, 'no', details), callerOf('chat')).headers;

/** The events of a stream: their names and what they hold. */
function eventsIn(text: string): { name: string | undefined; data: unknown }[] {
  expect(text.endsWith('\n\n')).toBe(true);
  return text
    .slice(0, -2)
    .split('\n\n')
    .map((event) => {
      const data = /^data: (.*)$/m.exec(event)?.[1] ?? '';
      return { name: /^event: (.*)$/m.exec(event)?.[1], data: data === '[DONE]' ? data : JSON.parse(data) };
    });
}

describe('a whole error', () => {
  it.each(codes)('%s has the shape of OpenAI in chat, responses and images', (code) => {
    const { type, code: said } = errorKinds[code].openai;
    for (const format of ['chat', 'responses', 'images'] as const)
      expect(bodyOf(new GatewayError(code, 'no'), format)).toEqual({
        error: { message: 'no', type, param: null, code: said },
      });
  });

  it.each(codes)('%s has the shape of Anthropic in messages', (code) => {
    expect(bodyOf(new GatewayError(code, 'no'), 'messages')).toEqual({
      type: 'error',
      error: { type: errorKinds[code].anthropic, message: 'no' },
      request_id: 'req_1',
    });
  });

  it.each(formats)('has the status of its format: %s', (format) => {
    const error = new GatewayError('plan_inactive', 'no');
    expect(renderError(error, callerOf(format)).status).toBe(error.status(descriptors[format]));
  });

  it('does not repeat a parameter that begins its message', () => {
    const error = new GatewayError('model_not_found', 'Model "x" not found.', { param: 'model' });
    expect(bodyOf(error, 'messages').error.message).toBe('Model "x" not found.');
  });

  it('names the parameter at fault', () => {
    const error = new GatewayError('invalid_request', 'no', { param: 'messages[0].content' });
    expect(bodyOf(error, 'chat')).toMatchObject({ error: { param: 'messages[0].content' } });
  });

  it.each(['messages', 'gemini'] as const)('names it in the message where there is no other place: %s', (format) => {
    const { message } = bodyOf(new GatewayError('invalid_request', 'no', { param: 'contents[0]' }), format).error;
    expect(message).toBe('contents[0]: no');
  });

  it('never shows its cause', () => {
    const error = new GatewayError('internal_error', 'no', { cause: new Error('secret') });
    for (const format of formats) expect(JSON.stringify(renderError(error, callerOf(format)))).not.toContain('secret');
  });

  // Claude Code shows "Please run /login" instead of a message with this word, whatever the status.
  it.each(['chat', 'responses', 'messages', 'gemini', 'images'] as const)(
    'never contains the word x-api-key, even in the words of an upstream: %s',
    (format) => {
      const error = new GatewayError('upstream_rejected', 'Invalid X-Api-Key: set x-api-key', {
        upstream: { status: 400 },
      });
      const texts = [String(renderError(error, callerOf(format)).body), renderStreamError(error, callerOf(format))];
      for (const text of texts) {
        expect(text).not.toMatch(/x-api-key/i);
        expect(text).toContain('Invalid API key: set API key');
      }
    },
  );

  it('on a path without a format follows the dialect', () => {
    const caller: Caller = { id: 'req_1', format: undefined, dialect: 'anthropic' };
    expect(String(renderError(new GatewayError('not_found', 'no'), caller).body)).toContain('"type":"error"');
  });
});

describe('the headers of an error', () => {
  it('say that it is JSON', () => {
    expect(headersOf('internal_error')).toEqual({ 'content-type': 'application/json; charset=utf-8' });
  });

  it.each([
    [12, '12'],
    [1.2, '2'],
    [0.01, '1'],
    [0, '1'],
    [-3, '1'],
  ])('say to come back in whole seconds, never too early: %d is %s', (retryAfter, header) => {
    expect(headersOf('rate_limited', { retryAfter })['retry-after']).toBe(header);
  });

  it.each(codes)('say not to repeat what cannot succeed: %s', (code) => {
    const expected = new GatewayError(code, '').isFinal ? 'false' : undefined;
    expect(headersOf(code)['x-should-retry']).toBe(expected);
  });

  it('carry those that explain the refusal', () => {
    expect(headersOf('method_not_allowed', { headers: { allow: 'POST' } })).toMatchObject({ allow: 'POST' });
  });
});

describe('an error in a stream', () => {
  const error = new GatewayError('upstream_failed', 'line\nbreak');

  it.each(['chat', 'images'] as const)('of %s is a data event, and then the end', (format) => {
    const expected = { error: { message: 'line\nbreak', type: 'server_error', param: null, code: 'upstream_failed' } };
    expect(eventsIn(renderStreamError(error, callerOf(format)))).toEqual([
      { name: undefined, data: expected },
      { name: undefined, data: '[DONE]' },
    ]);
  });

  it('of messages is an error event, and nothing after it', () => {
    expect(eventsIn(renderStreamError(error, callerOf('messages')))).toEqual([
      {
        name: 'error',
        data: { type: 'error', error: { type: 'api_error', message: 'line\nbreak' }, request_id: 'req_1' },
      },
    ]);
  });

  it('of responses is response.failed, and nothing after it', () => {
    const events = eventsIn(renderStreamError(error, callerOf('responses')));
    expect(events).toHaveLength(1);
    expect(events[0]).toMatchObject({
      name: 'response.failed',
      data: {
        type: 'response.failed',
        sequence_number: 0,
        response: {
          id: 'req_1',
          object: 'response',
          status: 'failed',
          output: [],
          error: { code: 'upstream_failed', message: 'line\nbreak' },
        },
      },
    });
  });

  it.each(codes)('of responses has a code for %s, as its clients expect one', (code) => {
    const [event] = eventsIn(renderStreamError(new GatewayError(code, 'no'), callerOf('responses')));
    expect(event?.data).toMatchObject({ response: { error: { code: expect.stringMatching(/./) } } });
  });

  it('of responses goes on from what was sent before, and is failed whatever that said', () => {
    const sent = { id: 'resp_9', model: 'test', status: 'in_progress' };
    const [event] = eventsIn(renderResponseFailed(error, 'req_1', 7, sent));
    expect(event?.data).toMatchObject({
      sequence_number: 7,
      response: { id: 'resp_9', model: 'test', status: 'failed' },
    });
  });
});

describe('what keeps a stream alive', () => {
  it('is an event of its own in messages', () => {
    expect(eventsIn(renderKeepAlive(descriptors.messages))).toEqual([{ name: 'ping', data: { type: 'ping' } }]);
  });

  it.each(['chat', 'responses', 'images', undefined] as const)('is a comment in %s', (format) => {
    expect(renderKeepAlive(format && descriptors[format])).toMatch(/^:.*\n\n$/);
  });
});
