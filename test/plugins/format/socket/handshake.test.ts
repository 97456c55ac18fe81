import { describe, expect, it } from 'vitest';
import { chooseProtocol, hasKey, createSocketHeaders } from '../../../../plugins/format/socket/handshake.ts';

describe('the headers of requests on a socket', () => {
  it('are those with which it was opened, without cookies and what belongs to the connection', () => {
    const opened = {
      host: 'x',
      connection: 'Upgrade',
      upgrade: 'websocket',
      cookie: 'session=1',
      'sec-websocket-key': 'k',
      'sec-websocket-version': '13',
      'content-type': 'text/plain',
      'user-agent': 'u',
      authorization: 'Bearer dp-1',
    };
    expect(createSocketHeaders(opened)).toEqual({
      host: 'x',
      'user-agent': 'u',
      authorization: 'Bearer dp-1',
      'content-type': 'application/json',
    });
  });

  it.each([
    [{ 'sec-websocket-protocol': 'openai-insecure-api-key.dp-1, p' }, 'Bearer dp-1'],
    [{ 'sec-websocket-protocol': 'openai-insecure-api-key.dp-1', authorization: 'Bearer dp-2' }, 'Bearer dp-2'],
    [{ 'sec-websocket-protocol': 'openai-insecure-api-key.', authorization: 'Bearer dp-2' }, 'Bearer dp-2'],
    [{ 'sec-websocket-protocol': 'p' }, undefined],
    [{}, undefined],
  ])('of %o have the key %s', (opened, authorization) => {
    const headers = createSocketHeaders(opened);
    expect([headers.authorization, hasKey(headers)]).toEqual([authorization, authorization !== undefined]);
  });
});

it.each([
  [['openai-insecure-api-key.dp-1', 'p', 'q'], 'p'],
  [['openai-insecure-api-key.dp-1'], false],
])('of the protocols %o, %s is answered, and never that with the key', (offered, chosen) => {
  expect(chooseProtocol(offered)).toBe(chosen);
});
