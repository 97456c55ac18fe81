import { describe, expect, it } from 'vitest';
import { describeUnexpectedResponse, type PublicResponse } from '../../../plugins/public-check/caller.ts';
import { describeArrival } from '../../../plugins/public-check/checks/address.ts';
import { describeChunks } from '../../../plugins/public-check/checks/stream.ts';
import { testStream } from '../../../plugins/public-check/paths.ts';

/** A stream whose events arrive at the times that this returns, ms. */
function arriving(at: (sent: number) => number, more: Partial<PublicResponse> = {}): PublicResponse {
  const sent = Array.from({ length: testStream.events }, (_, index) => index * testStream.interval);
  const chunks = [
    ...sent.map((ms) => ({ receivedAt: at(ms), text: `data: {"ms":${ms}}\n\n` })),
    { receivedAt: at(testStream.events * testStream.interval), text: 'data: [DONE]\n\n' },
  ];
  const text = chunks.map((chunk) => chunk.text).join('');
  return { status: 200, headers: {}, chunks, text, isComplete: true, seconds: 2, ...more };
}

describe('a stream through a proxy', () => {
  it('is in order when each event arrives on its own, however far the gateway is', () => {
    expect(describeChunks(arriving((sent) => 5_000 + sent))).toMatchObject({ state: 'ok' });
  });

  it('is in order where the network delays some events', () => {
    expect(describeChunks(arriving((sent) => sent + (sent % 300 === 0 ? 35 : 0)))).toMatchObject({ state: 'ok' });
  });

  it('is buffered when all events arrive at the end', () => {
    const { state, text } = describeChunks(arriving(() => 2_000));
    expect([state, text]).toEqual(['failed', 'is buffered: 20 events in 1 bursts, delayed by up to 1900 ms']);
  });

  it('is gathered when events arrive in groups of 200 ms', () => {
    const { state, advice } = describeChunks(arriving((sent) => Math.ceil(sent / 200) * 200));
    expect([state, advice]).toEqual(['warning', expect.stringContaining('http-no-delay')]);
  });

  it('counts events that are cut anywhere, when their end arrives', () => {
    const whole = arriving((sent) => sent);
    for (const length of [1, 5, 9, 14]) {
      const chunks = whole.chunks.flatMap(({ receivedAt, text }) => [
        { receivedAt: receivedAt - 50, text: text.slice(0, length) },
        { receivedAt, text: text.slice(length) },
      ]);
      expect(describeChunks({ ...whole, chunks })).toEqual(describeChunks(whole));
    }
  });

  it('that has lost its events, but not its end, fails', () => {
    const whole = arriving((sent) => sent);
    const chunks = whole.chunks.slice(-1);
    expect(describeChunks({ ...whole, chunks, text: 'data: [DONE]\n\n' })).toMatchObject({
      state: 'failed',
      text: 'contains none of the events',
    });
  });

  it('that ends early fails, also where it looks complete', () => {
    const whole = arriving((sent) => sent);
    expect(describeChunks({ ...whole, isComplete: false }).state).toBe('failed');
    const early = { ...whole, chunks: whole.chunks.slice(0, 1), text: whole.chunks[0]?.text ?? '' };
    expect(describeChunks(early)).toMatchObject({ state: 'failed', text: 'ends after 1 of 20 events' });
  });
});

function find(address: string, headers: Record<string, string>, isSecure = true): string {
  const { state, text } = describeArrival({ path: '', address, headers }, isSecure);
  return `${state}: ${text}`;
}

describe('the address of a client behind a proxy', () => {
  it('is right where the proxy replaces what the client sends, or adds to it', () => {
    const headers = { 'x-forwarded-for': '198.51.100.4', 'x-forwarded-proto': 'https' };
    expect(find('198.51.100.4', headers)).toBe('ok: the gateway sees 198.51.100.4');
    expect(find('198.51.100.4', { ...headers, 'x-forwarded-for': '192.0.2.77, 198.51.100.4' })).toMatch(/^ok/);
  });

  it('is found among the hops that carry a port, brackets or a mapped IPv4 address', () => {
    for (const [address, hop] of [
      ['198.51.100.4', '198.51.100.4:4711'],
      ['198.51.100.4', '::ffff:198.51.100.4'],
      ['2001:db8::7', '[2001:db8::7]:4711'],
    ] as const)
      expect(find(address, { 'x-forwarded-for': hop, 'x-forwarded-proto': 'https' })).toMatch(/^ok/);
  });

  it('is not taken from a longer address that contains it', () => {
    const headers = { 'x-forwarded-for': '110.0.0.1', 'x-forwarded-proto': 'https' };
    expect(find('10.0.0.1', headers)).toMatch(
      /^warning: all clients appear with the address of the proxy, 10\.0\.0\.1/,
    );
  });

  it('is that of an untrusted proxy that writes only the standard header', () => {
    const headers = { forwarded: 'for=198.51.100.4;proto=https' };
    expect(find('10.0.0.1', headers)).toMatch(/^warning: all clients appear with the address of the proxy/);
    expect(find('10.0.0.1', { ...headers, 'x-forwarded-for': '192.0.2.77' })).toMatch(/^warning: all clients/);
    expect(find('198.51.100.4', headers)).toMatch(/^ok/);
  });

  it('is forged where the proxy passes it on, in either header', () => {
    expect(find('192.0.2.77', { 'x-forwarded-for': '192.0.2.77' })).toMatch(/^failed: clients can spoof/);
    expect(find('192.0.2.77', { forwarded: 'for=192.0.2.77' })).toMatch(/^failed: clients can spoof/);
  });

  it('may be chosen by a client at the address of a trusted proxy, as doctor on its machine is', () => {
    const headers = { 'x-forwarded-for': '192.0.2.77, 127.0.0.1', 'x-forwarded-proto': 'https' };
    expect(find('192.0.2.77', headers)).toMatch(/^warning: the proxy appends 127\.0\.0\.1,/);
  });

  it('is that of the proxy where the gateway does not trust it', () => {
    const headers = { 'x-forwarded-for': '198.51.100.4', 'x-forwarded-proto': 'https' };
    expect(find('10.0.0.1', headers)).toBe('warning: all clients appear with the address of the proxy, 10.0.0.1');
  });

  it('is unknown where no proxy names it', () => {
    expect(find('10.0.0.1', { 'x-forwarded-for': '192.0.2.77' })).toMatch(/^warning: no proxy reports/);
  });

  it('comes with a scheme, which must be that of the public address', () => {
    const headers = { 'x-forwarded-for': '198.51.100.4' };
    expect(find('198.51.100.4', headers)).toMatch(/^failed: X-Forwarded-Proto is ""/);
    expect(find('198.51.100.4', { ...headers, 'x-forwarded-proto': 'gopher' })).toMatch(/^failed: .*"gopher"/);
    expect(find('198.51.100.4', headers, false)).toMatch(/^ok/);
  });
});

it('an unexpected response is distinguished from that of a proxy by the ids that the gateway adds', () => {
  const answer = { ...arriving(() => 0), status: 504, headers: { 'content-type': 'text/html' }, seconds: 60.04 };
  expect(describeUnexpectedResponse(answer, 'Raise it.')).toEqual({
    state: 'failed',
    text: 'a proxy answers 504 (text/html) after 60.0 s; the gateway did not answer',
    advice: 'Raise it.',
  });
  const own = { ...answer, headers: { 'x-request-id': 'req_1', 'request-id': 'req_1' }, text: 'no' };
  expect(describeUnexpectedResponse(own, '').text).toBe('the gateway answers 504: no');
});
