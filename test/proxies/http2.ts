import { once } from 'node:events';
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  type IncomingHttpHeaders,
  type Settings,
} from 'node:http2';
import { testCertificate } from '../support/tls-upstream.ts';

/** Ms for each step. */
const patience = 20_000;

/** What came of a WebSocket over HTTP/2, with the status or error where it failed. */
export type Http2WebSocket = 'works' | 'not offered' | `offered, but ${string}`;

/**
 * Opens a WebSocket over HTTP/2 (extended CONNECT, RFC 8441), if the server offers that, and sends a ping. Where it is not offered,
 * clients open a connection of HTTP/1.1.
 */
export async function openHttp2WebSocket(url: string, authorization: string): Promise<Http2WebSocket> {
  const session = connect(url, { ca: testCertificate, ALPNProtocols: ['h2', 'http/1.1'] });
  session.on('error', () => undefined);
  try {
    if (!(await isOffered(session))) return 'not offered';
    return await ping(
      session.request({
        ':method': 'CONNECT',
        ':protocol': 'websocket',
        ':path': '/v1/responses',
        ':scheme': 'https',
        ':authority': new URL(url).host,
        'sec-websocket-version': '13',
        authorization,
      }),
    );
  } catch (error) {
    return `offered, but ${String(error)}`;
  } finally {
    session.destroy();
  }
}

async function isOffered(session: ClientHttp2Session): Promise<boolean> {
  try {
    const [settings] = await once(session, 'remoteSettings', { signal: AbortSignal.timeout(patience) });
    return (settings as Settings).enableConnectProtocol === true;
  } catch {
    // It speaks HTTP/1.1 only.
    return false;
  }
}

async function ping(stream: ClientHttp2Stream): Promise<Http2WebSocket> {
  stream.on('error', () => undefined);
  const signal = AbortSignal.timeout(patience);
  const [headers] = (await once(stream, 'response', { signal })) as [IncomingHttpHeaders];
  const status = headers[':status'];
  if (Number(status) !== 200) return `offered, but answered with ${status}`;
  // An empty, masked ping; its answer is an empty pong.
  stream.write(Buffer.from([0x89, 0x80, 1, 2, 3, 4]));
  const [answer] = (await once(stream, 'data', { signal })) as [Buffer];
  return answer.equals(Buffer.from([0x8a, 0])) ? 'works' : `offered, but a ping gets ${answer.toString('hex')}`;
}
