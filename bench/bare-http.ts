/** The benchmark's second baseline, in a separate process: Node's http server in front of Node's http client. */
import { Agent, createServer, request } from 'node:http';
import { reportFigures } from './process-figures.ts';

const upstream = new URL(process.argv[2] as string);
const agent = new Agent({ keepAlive: true, maxSockets: 256 });

const server = createServer((incoming, outgoing) => {
  const { 'content-length': length } = incoming.headers;
  const outward = request(
    {
      agent,
      host: upstream.hostname,
      port: upstream.port,
      path: incoming.url,
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(length !== undefined && { 'content-length': length }) },
    },
    (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    },
  );
  outward.on('error', () => outgoing.destroy());
  incoming.pipe(outward);
});

server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  reportFigures({ port: typeof address === 'object' ? (address?.port ?? 0) : 0, key: 'none' });
});
