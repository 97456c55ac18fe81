import { Socket } from 'node:net';
import type { OnReadOpts } from 'node:net';
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { type CallControl, type CallHandler, Connection } from '../../../../plugins/upstream/connections/connection.ts';
import { runs } from '../../../support/runs.ts';
import { cut, mutate, mutations, responses } from './responses-fixture.ts';

const request = [Buffer.from('POST / HTTP/1.1\r\n\r\n')];
const answer = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';

/** A connection over a socket that sends nothing, and what happens on it. */
function openConnection(isCancelled = false) {
  const socket = new Socket();
  const written = vi.spyOn(socket, 'write').mockReturnValue(true);
  let onread: OnReadOpts | undefined;
  let open: (() => void) | undefined;
  const owner = { onIdle: vi.fn<() => void>(), onClosed: vi.fn<() => void>(), onSurplus: vi.fn<() => void>() };
  const connection = new Connection(
    owner,
    (given, report) => {
      onread = given;
      open = report;
      return socket;
    },
    true,
  );
  open?.();
  /** What the system does with bytes that have arrived. */
  const receive = (bytes: string) => {
    const buffer = onread?.buffer as Buffer;
    return onread?.callback(buffer.write(bytes, 'latin1'), buffer);
  };
  const heard: string[] = [];
  const onData = vi.fn<() => void>();
  let control: CallControl | undefined;
  const handler: CallHandler = {
    onRequestStart: (given) => {
      control = given;
      if (isCancelled) given.abort(new Error('cancelled'));
    },
    onResponseStart: (_control, status) => heard.push(String(status)),
    onResponseData: (_control, chunk) => {
      heard.push(chunk.toString('latin1'));
      onData();
    },
    onResponseEnd: () => heard.push('end'),
    onResponseError: (_control, error) => heard.push(error.message),
  };
  const ask = () => connection.send(request, true, handler);
  return { socket, written, connection, ...owner, receive, heard, onData, ask, control: () => control as CallControl };
}

/** A connection whose request has been answered. */
function idleConnection() {
  const opened = openConnection();
  opened.ask();
  opened.receive(answer);
  return opened;
}

describe('bytes on an idle connection', () => {
  it.each(['HTTP/1.1 200 OK\r\n', 'H', '{"text":"more than its length said"}', 'HTTP/1.1 500 Oops\r\n\r\n'])(
    'are an answer that no request asked for: %j',
    (bytes) => {
      const { receive, onSurplus, connection } = idleConnection();
      receive(bytes);
      expect(onSurplus).toHaveBeenCalledOnce();
      expect(connection.isDestroyed).toBe(true);
    },
  );

  it.each([
    ['the 408 with which a load balancer closes it', 'HTTP/1.1 408 Request Timeout\r\n\r\n'],
    ['the 408 of an old one', 'HTTP/1.0 408 Request Time-out\r\n\r\n'],
    ['an empty line', '\r\n'],
  ])('are nothing to worry about: %s', (_name, bytes) => {
    const { receive, onSurplus } = idleConnection();
    receive(bytes);
    expect(onSurplus).not.toHaveBeenCalled();
  });

  it('are the next answer once a request has gone out', () => {
    const { ask, receive, heard, onSurplus } = idleConnection();
    ask();
    receive(answer);
    expect(onSurplus).not.toHaveBeenCalled();
    expect(heard).toEqual(['200', 'ok', 'end', '200', 'ok', 'end']);
  });

  it('are a surplus also in one read with the end of an answer, which is whole', () => {
    const { ask, receive, heard, onSurplus, connection } = openConnection();
    ask();
    receive(answer + answer);
    expect(onSurplus).toHaveBeenCalledOnce();
    expect(heard).toEqual(['200', 'ok', 'end']);
    expect(connection.isDestroyed).toBe(true);
  });
});

describe('a request that is cancelled before it was sent', () => {
  it('leaves its connection to the next one, as one that was idle', () => {
    const { ask, heard, written, connection, onIdle } = openConnection(true);
    ask();
    expect(heard).toEqual(['cancelled']);
    expect(written).not.toHaveBeenCalled();
    expect(onIdle).toHaveBeenCalledOnce();
    expect([connection.isDestroyed, connection.requests]).toEqual([false, 1]);
  });

  it('leaves no room for an answer', () => {
    const { ask, receive, onSurplus } = openConnection(true);
    ask();
    receive(answer);
    expect(onSurplus).toHaveBeenCalledOnce();
  });
});

describe('the chunks of one read', () => {
  const head = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n';

  it('are delivered at once', () => {
    const { ask, receive, heard } = openConnection();
    ask();
    receive(`${head}1\r\na\r\n3;x\r\nbcd\r\n2\r\ne`);
    receive('f\r\n00001\r\ng\r\n0\r\n\r\n');
    expect(heard).toEqual(['200', 'abcde', 'fg', 'end']);
  });

  it('are delivered before what is wrong behind them', () => {
    const { ask, receive, heard } = openConnection();
    ask();
    receive(`${head}1\r\na\r\n1\r\nb\r\nx\r\n`);
    expect(heard).toEqual(['200', 'ab', expect.stringContaining('malformed chunk size')]);
  });

  it('are followed by nothing once they have ended the request', () => {
    const { ask, receive, heard, control, onData } = openConnection();
    ask();
    receive(head);
    onData.mockImplementation(() => control().abort(new Error('enough')));
    receive('1\r\na\r\n0\r\n\r\n');
    expect(heard).toEqual(['200', 'a', 'enough']);
  });
});

describe('a pause', () => {
  const chunked = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\na\r\n';

  it('keeps what has been read, and counts it once', () => {
    const { ask, receive, heard, control, connection } = openConnection();
    ask();
    receive(chunked);
    for (let count = 0; count < 20; count++) {
      control().pause();
      receive(`1;${'x'.repeat(60_000)}\r\nb\r\n`.slice(0, 100) + `\r\nb\r\n`);
      expect(heard.length).toBe(2 + count);
      control().resume();
    }
    expect(heard.filter((text) => text === 'b')).toHaveLength(20);
    expect(connection.isDestroyed).toBe(false);
  });

  it('does not lose bytes before the end of the connection', () => {
    const { ask, receive, heard, control, socket } = openConnection();
    ask();
    receive('HTTP/1.1 200 OK\r\n\r\na');
    control().pause();
    receive('b');
    socket.emit('end');
    expect(heard).toEqual(['200', 'a']);
    control().resume();
    expect(heard).toEqual(['200', 'a', 'b', 'end']);
  });

  it('stops the socket, also one that has begun to read', () => {
    const { ask, receive, control } = openConnection();
    ask();
    expect(receive(chunked)).toBe(true);
    control().pause();
    expect(receive('1\r\nb\r\n')).toBe(false);
    control().resume();
    expect(receive('1\r\nc\r\n')).toBe(true);
  });

  it('ends with the answer', () => {
    const { ask, receive, heard, control, onData } = openConnection();
    ask();
    onData.mockImplementationOnce(() => control().pause());
    receive(`${chunked}0\r\n\r\n`);
    ask();
    expect(receive(answer)).toBe(true);
    expect(heard).toEqual(['200', 'a', 'end', '200', 'ok', 'end']);
  });

  it('has no effect once the answer is complete, when another request uses the connection', () => {
    const { ask, receive, heard, control } = idleConnection();
    const former = control();
    ask();
    former.pause();
    former.abort(new Error('late'));
    receive(answer);
    expect(heard.slice(3)).toEqual(['200', 'ok', 'end']);
  });
});

/** What a request hears of these packets, behind which the upstream closes the connection. @param pauses before each read and each packet */
function hear(packets: readonly Buffer[], pauses: readonly boolean[] = []): string {
  const { ask, receive, heard, onData, control, socket } = openConnection();
  let turn = 0;
  const pauseOr = (otherwise: () => void) =>
    pauses[turn++ % pauses.length] === true ? control().pause() : otherwise();
  onData.mockImplementation(() => pauseOr(() => undefined));
  ask();
  for (const packet of packets) {
    receive(packet.toString('latin1'));
    pauseOr(() => control().resume());
  }
  socket.emit('end');
  for (let count = 0; count < 1_000; count++) control().resume();
  return heard.join('').replace(/not a valid HTTP.*|other side closed$/s, ' error');
}

describe('any response', () => {
  const places = fc.array(fc.nat(2_000), { maxLength: 12 });
  const pauses = fc.array(fc.boolean(), { minLength: 1, maxLength: 8 });

  it('any response, also a damaged one, is heard alike, however it is divided into packets and paused', () => {
    fc.assert(
      fc.property(responses, fc.oneof(fc.constant([]), mutations), places, pauses, ({ text }, changes, at, when) => {
        const changed = mutate(text, changes);
        expect(hear(cut(changed, at), [false, ...when])).toBe(hear(cut(changed, [])));
      }),
      runs(300),
    );
  });
});

describe('an error of a connection', () => {
  it('reaches the request once, with what the connection has brought', () => {
    const { ask, receive, heard, socket } = idleConnection();
    ask();
    const error = Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });
    socket.emit('error', error);
    socket.emit('close');
    receive(answer);
    expect(heard.slice(3)).toEqual(['read ECONNRESET']);
    expect(error).toMatchObject({ socket: { requests: 2, bytesRead: answer.length, bytesReadBefore: answer.length } });
  });

  it('is no surplus', () => {
    const { ask, receive, heard, onSurplus } = openConnection();
    ask();
    receive('220 mail.example.com ESMTP\r\n');
    expect(heard).toEqual(['not a valid HTTP/1.1 response: not HTTP']);
    expect(onSurplus).not.toHaveBeenCalled();
  });
});

describe('a request that is still being sent when its answer is complete', () => {
  it('is followed by none on its connection', () => {
    const { ask, receive, socket, connection, onIdle } = openConnection();
    Object.defineProperty(socket, 'writableLength', { value: 1 });
    ask();
    receive(answer);
    expect(connection.isDestroyed).toBe(true);
    expect(onIdle).not.toHaveBeenCalled();
  });
});
