import { Socket } from 'node:net';
import { describe, expect, it, vi } from 'vitest';
import { WatchedConnection } from '../../../../plugins/upstream/connections/connection.ts';

/** A connection whose request has been answered, and what it does with further bytes. */
function idleConnection() {
  const onSurplus = vi.fn<() => void>();
  const connection = new WatchedConnection(new Socket(), onSurplus);
  connection.begin();
  connection.finish();
  return { connection, onSurplus };
}

describe('bytes on an idle connection', () => {
  it.each(['HTTP/1.1 200 OK\r\n', 'H', '{"text":"more than its length said"}', 'HTTP/1.1 500 Oops\r\n\r\n'])(
    'are an answer that no request asked for: %j',
    (bytes) => {
      const { connection, onSurplus } = idleConnection();
      connection.receive(Buffer.from(bytes));
      expect(onSurplus).toHaveBeenCalledOnce();
    },
  );

  it.each([
    ['the 408 with which a load balancer closes it', 'HTTP/1.1 408 Request Timeout\r\n\r\n'],
    ['the 408 of an old one', 'HTTP/1.0 408 Request Time-out\r\n\r\n'],
    ['an empty line', '\r\n'],
  ])('are nothing to worry about: %s', (_name, bytes) => {
    const { connection, onSurplus } = idleConnection();
    connection.receive(Buffer.from(bytes));
    expect(onSurplus).not.toHaveBeenCalled();
  });

  it('are the next answer once a request has gone out', () => {
    const { connection, onSurplus } = idleConnection();
    connection.begin();
    connection.receive(Buffer.from('HTTP/1.1 200 OK\r\n'));
    expect(onSurplus).not.toHaveBeenCalled();
  });
});

describe('bytes around a body', () => {
  it('count once, also when the parser was paused and reads them again', () => {
    const { connection } = idleConnection();
    connection.begin();
    connection.deliver(1);
    const chunk = Buffer.alloc(64 * 1024, 'x');
    for (let pause = 0; pause < 100; pause++) {
      expect(connection.receive(chunk)).toBe(chunk);
      connection.return(chunk.length);
    }
  });
});

const bad = (message: string, code: string) => Object.assign(new Error(message), { code });

describe('an error of a connection', () => {
  it.each([
    bad('bad response', 'UND_ERR_SOCKET'),
    bad('Response does not match the HTTP/1.1 protocol', 'HPE_INVALID_CONSTANT'),
  ])('shows bytes that came in one read with the end of an answer: $code', (error) => {
    const { connection, onSurplus } = idleConnection();
    connection.fail(error);
    expect(onSurplus).toHaveBeenCalledOnce();
  });

  it.each([bad('other side closed', 'UND_ERR_SOCKET'), bad('read ECONNRESET', 'ECONNRESET')])(
    'is no surplus when the upstream closed: $message',
    (error) => {
      const { connection, onSurplus } = idleConnection();
      connection.fail(error);
      expect(onSurplus).not.toHaveBeenCalled();
    },
  );

  it('is no surplus inside an answer', () => {
    const { connection, onSurplus } = idleConnection();
    connection.begin();
    connection.fail(bad('Response does not match the HTTP/1.1 protocol', 'HPE_INVALID_CONSTANT'));
    expect(onSurplus).not.toHaveBeenCalled();
  });
});
