/** The benchmark's baseline, in a separate process: Node's http server in front of undici. */
import { createServer } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { Agent, request } from 'undici';
import { reportFigures } from './process-figures.ts';

const upstream = process.argv[2] as string;
const agent = new Agent({ keepAliveTimeout: 60_000 });

const server = createServer(async (incoming, outgoing) => {
  const { statusCode, headers, body } = await request(`${upstream}${incoming.url}`, {
    dispatcher: agent,
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(incoming.headers['content-length'] && { 'content-length': incoming.headers['content-length'] }),
    },
    body: incoming,
  });
  outgoing.writeHead(statusCode, {
    'content-type': String(headers['content-type']),
    ...(headers['content-length'] !== undefined && { 'content-length': String(headers['content-length']) }),
  });
  await pipeline(body, outgoing).catch(() => undefined);
});

server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  reportFigures({ port: typeof address === 'object' ? (address?.port ?? 0) : 0, key: 'none' });
});
