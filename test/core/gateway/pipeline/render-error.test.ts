import { describe, expect, it } from 'vitest';
import { type Caller, renderError, renderKeepAlive, renderStreamError } from '#core/gateway/pipeline/render-error.ts';
import { type ErrorCode, type ErrorDetails, errorKinds, GatewayError } from '#core/platform/errors/table.ts';
import { renderResponseFailed } from '../../../../plugins/format/formats/responses/reply/reply-object.ts';
import { type Format, descriptors } from '../../../support/formats.ts';

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
      return { name: /^event: (.*)$/m.exec(event)?.[1], data: JSON.parse(data) };
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

  it('follows the dialect on a path without a format', () => {
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
  const message = 'Connection error: connection reset by the upstream. line\nbreak';

  it.each(['chat', 'images'] as const)('of %s is a data event, without the mark of a complete stream', (format) => {
    const expected = { error: { message, type: 'server_error', param: null, code: 'upstream_failed' } };
    expect(eventsIn(renderStreamError(error, callerOf(format)))).toEqual([{ name: undefined, data: expected }]);
  });

  it('of messages is an error event, and nothing after it', () => {
    expect(eventsIn(renderStreamError(error, callerOf('messages')))).toEqual([
      { name: 'error', data: { type: 'error', error: { type: 'api_error', message }, request_id: 'req_1' } },
    ]);
  });

  it('of gemini is a chunk with an error, and nothing after it', () => {
    expect(eventsIn(renderStreamError(error, callerOf('gemini')))).toEqual([
      { name: undefined, data: { error: { code: 502, message, status: 'UNAVAILABLE' } } },
    ]);
  });

  it('of responses is an error event and response.failed, as OpenAI writes them, and nothing after it', () => {
    const events = eventsIn(renderStreamError(error, callerOf('responses')));
    expect(events).toHaveLength(2);
    expect(events[0]).toEqual({
      name: 'error',
      data: {
        type: 'error',
        sequence_number: 0,
        error: { type: 'server_error', code: 'server_error', message, param: null },
      },
    });
    expect(events[1]).toMatchObject({
      name: 'response.failed',
      data: {
        type: 'response.failed',
        sequence_number: 1,
        response: {
          id: 'req_1',
          object: 'response',
          status: 'failed',
          output: [],
          error: { code: 'server_error', message },
        },
      },
    });
  });

  // Codex repeats after server_error and rate_limit_exceeded, and shows the message of invalid_prompt.
  it.each(codes)('of responses has a code of OpenAI for %s', (code) => {
    const failure = new GatewayError(code, 'no');
    const [first, event] = eventsIn(renderStreamError(failure, callerOf('responses')));
    const expected = failure.isFinal ? /^(invalid_prompt|insufficient_quota)$/ : /^(server_error|rate_limit_exceeded)$/;
    expect(event?.data).toMatchObject({ response: { error: { code: expect.stringMatching(expected) } } });
    expect(first?.data).toMatchObject({ error: { code: expect.stringMatching(expected) } });
  });

  it('of responses keeps the code on which clients shorten the conversation', () => {
    const failure = new GatewayError('upstream_rejected', 'no', { upstream: { status: 400, isContextOverflow: true } });
    expect(renderStreamError(failure, callerOf('responses'))).toContain('"code":"context_length_exceeded"');
  });

  it('continues in Responses the numbering of earlier events and ends as failed, whatever their status', () => {
    const sent = { id: 'resp_9', model: 'test', status: 'in_progress' };
    const [first, event] = eventsIn(renderResponseFailed(error, 'req_1', 7, sent));
    expect(first?.data).toMatchObject({ sequence_number: 7 });
    expect(event?.data).toMatchObject({
      sequence_number: 8,
      response: { id: 'resp_9', model: 'test', status: 'failed' },
    });
  });
});

/** What each client looks for in the message of an error that ends a stream, to repeat the turn. See docs/clients.md. */
const recovers: Readonly<Record<string, RegExp>> = {
  opencode: /\b(server[_\s-]?error|overloaded|rate[_\s-]?limit|connection (error|refused|lost)|stream timed? out)\b/i,
  kilo: /server error|overloaded|rate limit|connection error|\bstream timed out\b/i,
  pi: /overloaded|rate.?limit|server.?error|connection.?error|terminated/i,
  continue: /connection reset|overloaded|aborted/i,
};

/** The message of an error that ends a stream of Messages. */
function messageIn(error: GatewayError): string {
  const [event] = eventsIn(renderStreamError(error, callerOf('messages')));
  const data = event?.data as { error: { message: string } } | undefined;
  return data?.error.message ?? '';
}

describe('the words of an error in a stream', () => {
  it.each(codes)('let clients repeat the turn after %s if that can help, and only then', (code) => {
    const error = new GatewayError(code, 'no', code === 'request_timeout' ? {} : { retryAfter: 5 });
    // It reports that the client stopped reading: nobody reads it.
    const isTransient = !error.isFinal && code !== 'request_timeout';
    for (const [client, words] of Object.entries(recovers))
      expect([client, words.test(messageIn(error))]).toEqual([client, isTransient]);
  });

  it('report a stall as a timeout of the stream', () => {
    expect(messageIn(new GatewayError('upstream_timeout', 'no'))).toMatch(/\bstream timed out\b/);
  });

  it('report how long to wait, as there is no header', () => {
    expect(messageIn(new GatewayError('rate_limited', 'no', { retryAfter: 4.2 }))).toContain('Try again in 5s.');
  });

  it('are not those of a whole error', () => {
    expect(bodyOf(new GatewayError('upstream_failed', 'no'), 'chat').error.message).toBe('no');
  });
});

describe('what keeps a stream alive', () => {
  it('is a ping event in Messages', () => {
    expect(eventsIn(renderKeepAlive(descriptors.messages))).toEqual([{ name: 'ping', data: { type: 'ping' } }]);
  });

  it.each(['chat', 'responses', 'images', undefined] as const)('is a comment in %s', (format) => {
    expect(renderKeepAlive(format && descriptors[format])).toMatch(/^:.*\n\n$/);
  });
});
