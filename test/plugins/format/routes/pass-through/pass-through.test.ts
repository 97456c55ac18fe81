import { describe, expect, it } from 'vitest';
import { mergeProfiles } from '#core/config/catalog/profile.ts';
import { PassThrough } from '../../../../../plugins/format/routes/pass-through/pass-through.ts';
import { routeTo, upstreamAt } from '../../../upstream/fixture.ts';
import { exchange, requestOf } from '../../invariants/fixture.ts';

const route = routeTo(upstreamAt('http://127.0.0.1:1/v1'), { profile: mergeProfiles({ quirks: { stop: 0 } }) });
const asks = { model: 'asked-for', messages: [{ role: 'user', content: 'count' }] };
const wayFor = (body: object) => new PassThrough(exchange, requestOf('chat', { ...asks, ...body }), route);
const head = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'there' };
const chunk = (delta: object, finish_reason: string | null = null) =>
  `data: ${JSON.stringify({ ...head, choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
const stream = `${['one ', 'two E', 'ND three'].map((content) => chunk({ content })).join('')}${chunk({}, 'stop')}data: [DONE]\n\n`;

function said(text: string): string {
  const events = text.split('\n\n').flatMap((event) => (event.startsWith('data: {') ? [event.slice(6)] : []));
  return events
    .map((event) => (JSON.parse(event) as { choices: { delta: { content?: string } }[] }).choices[0]?.delta.content)
    .join('');
}

describe('a Chat route that refuses stop sequences', () => {
  it('does not get them, and its stream is cut at the first one', () => {
    const way = wayFor({ stream: true, stop: 'END' });
    expect(JSON.parse(String(way.request.body))).not.toHaveProperty('stop');
    const reader = way.createReader();
    const written = String(Buffer.concat([reader.push(Buffer.from(stream)), reader.end()]));
    expect(said(written)).toBe('one two ');
    expect(written).toContain('"finish_reason":"stop"');
    expect(written).toContain('data: [DONE]');
  });

  it('has its whole answer cut', () => {
    const message = { role: 'assistant', content: 'one END two' };
    const reply = { ...head, object: 'chat.completion', choices: [{ index: 0, message, finish_reason: 'length' }] };
    const { body } = wayFor({ stop: ['END'] })
      .createReader()
      .whole(Buffer.from(JSON.stringify(reply)), 'application/json');
    expect(JSON.parse(String(body))).toMatchObject({
      choices: [{ message: { content: 'one ' }, finish_reason: 'stop' }],
    });
  });

  it('passes its answers through where none is asked for, or several answers are', () => {
    for (const body of [{ stream: true }, { stream: true, n: 2, stop: 'END' }]) {
      expect(said(String(wayFor(body).createReader().push(Buffer.from(stream))))).toBe('one two END three');
    }
  });
});

const callFor = (body: object, betas: boolean) => {
  const to = routeTo(upstreamAt('http://127.0.0.1:1/v1'), { profile: mergeProfiles({ quirks: { betas } }) });
  return new PassThrough(exchange, requestOf('responses', { model: 'm', input: 'Hi', ...body }), to).request;
};

describe('a turn of a WebSocket', () => {
  const lite = 'ws_request_header_x_openai_internal_codex_responses_lite';
  const metadata = {
    [lite]: 'true',
    ws_request_header_authorization: 'Bearer x',
    ws_request_header_x_codex_a: 'a\r\nb: c',
  };

  it('has the headers of its metadata that OpenAI knows, and no others', () => {
    const { headers } = callFor({ client_metadata: metadata }, true);
    expect(headers).toMatchObject({ 'x-openai-internal-codex-responses-lite': 'true' });
    expect(Object.keys(headers)).not.toContain('authorization');
    expect(Object.keys(headers)).not.toContain('x-codex-a');
  });

  it('has none of them on a route to another vendor', () => {
    const { headers } = callFor({ client_metadata: metadata }, false);
    expect(Object.keys(headers).filter((name) => name.startsWith('x-'))).toEqual([]);
  });

  it.each([true, false])('sends no members of events by POST (a vendor that knows betas: %s)', (betas) => {
    const { body, notes } = callFor({ generate: false, stream_id: 'a' }, betas);
    expect(JSON.parse(String(body))).toEqual({ model: 'model-there', input: 'Hi' });
    expect(notes).toEqual(['dropped generate', 'dropped stream_id']);
  });
});
